// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <memory>
#include <parafield/image.hpp>
#include <span>
#include <vector>

#include "arrays.hpp"

namespace parafield::python {

/// Memory of results. For frames of Torch or CuPy on a CUDA device it is an array of that library, made by
/// its allocator, so that the library's stream rules apply to results. Other memory comes from a pool and
/// returns to it.
struct Storage {
  Library library = Library::numpy;
  Memory memory = {};
  char* data = nullptr;
  std::size_t bytes = 0;
  nb::object array = {};  ///< Torch's or CuPy's array that owns the memory: one axis of float32
  nb::object like = {};   ///< for the library `other`: one of its arrays, whose namespace makes results
  std::shared_ptr<void> block = {};  ///< memory from the pool

  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage();
};

/// Allocates a result for frames like `array`: in the same memory, and of the same library. `pinned` asks for
/// pinned memory if the frames are in host memory. Throws Error(memory).
std::shared_ptr<Storage> make_storage(const Array& array, std::size_t bytes, bool pinned);

/// Allocates host memory whose arrays are NumPy's.
std::shared_ptr<Storage> make_host_storage(std::size_t bytes);

/// Copies the storage to host memory. The copy's arrays are of the same library, or NumPy's if the library
/// has no arrays there.
std::shared_ptr<Storage> copy_to_host(const Storage& storage);

/// Copies the storage on its device. The library of `array` makes the copy, in the order of its stream.
std::shared_ptr<Storage> copy_on_device(const Storage& storage);

/// Returns an array of the storage's library that shows part of the storage. The values are copied only if
/// the library cannot share the memory. Strides are in values. If `storage->array` is set, `type` must be
/// float32, bool or uint8.
nb::object array_in(const std::shared_ptr<Storage>& storage, const void* data, nb::dlpack::dtype type,
                    const std::vector<std::size_t>& shape, const std::vector<std::int64_t>& strides);

/// Returns all unused memory of the pool to the system.
void empty_pool();

}  // namespace parafield::python
