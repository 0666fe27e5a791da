// SPDX-License-Identifier: MIT
#pragma once
#include <parafield/image.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "arrays.hpp"

namespace parafield::python {

/// Memory that results lie in. On a CUDA device it is an array of Torch or CuPy, made by their allocators: so
/// their rules of streams hold for results. Other memory comes from a pool and goes back to it.
struct Storage {
  Library library = Library::numpy;
  Memory memory = {};
  char* data = nullptr;
  std::size_t bytes = 0;
  nb::object array = {};  ///< Torch's or CuPy's array that holds the memory: one axis of float32
  nb::object like = {};   ///< an array of the library `other`
  std::shared_ptr<void> block = {};  ///< the pool's

  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage();
};

/// Memory for a result of frames like `array`, in the same place. `pinned`: host memory that a GPU writes.
/// Throws Error(memory).
std::shared_ptr<Storage> make_storage(const Array& array, std::size_t bytes, bool pinned);

/// Host memory whose arrays are NumPy's.
std::shared_ptr<Storage> make_host_storage(std::size_t bytes);

/// A copy in host memory: arrays of the same library, or NumPy's if the library has none there.
std::shared_ptr<Storage> copy_to_host(const Storage& storage);

/// A copy on the same device, made by the `array` itself, in the order of its library's stream.
std::shared_ptr<Storage> copy_on_device(const Storage& storage);

/// An array of the storage's library that shows part of the storage, without a copy where the library allows
/// it. Strides are in values. `type` is float32, bool or uint8.
nb::object array_in(const std::shared_ptr<Storage>& storage, const void* data, nb::dlpack::dtype type,
                    const std::vector<std::size_t>& shape, const std::vector<std::int64_t>& strides);

/// Gives all memory that no result uses back to the system.
void empty_pool();

}  // namespace parafield::python
