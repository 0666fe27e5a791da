// SPDX-License-Identifier: MIT
#include "storage.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <utility>

#include "forks.hpp"

namespace parafield::python {
namespace {

/// Pool of memory blocks that results no longer use. The system clears every page of new memory, which takes
/// longer than solving for a small result.
class Pool {
 public:
  std::shared_ptr<void> take(std::size_t bytes, Memory memory) {
    // Round sizes up, with 4 steps per power of two, so that results of similar size can reuse a block.
    std::size_t step = 1024;
    while (step * 8 < bytes) step *= 2;
    bytes = (bytes + step - 1) / step * step;
    Block block;
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find_if(
          free_, [&](const Block& one) { return one.bytes == bytes && one.memory == memory; });
      if (found != free_.end()) {
        block = std::move(*found);
        free_.erase(found);
        free_bytes_ -= bytes;
      }
    }
    if (!block.data)
      block = {bytes, memory,
               detail::allocate(std::ptrdiff_t(step), std::ptrdiff_t(bytes / step), memory).data};
    void* const data = block.data.get();
    return {data, [this, block](void*) { give_back(block); }};
  }

  void clear() {
    std::list<Block> unused;
    const std::lock_guard lock(mutex_);
    unused.swap(free_);
    free_bytes_ = 0;
  }

 private:
  static constexpr std::size_t most_free = std::size_t(1) << 30;
  struct Block {
    std::size_t bytes = 0;
    Memory memory = {};
    std::shared_ptr<void> data = {};
  };

  void give_back(const Block& block) {
    std::list<Block> unused;
    const std::lock_guard lock(mutex_);
    free_.push_front(block);
    free_bytes_ += block.bytes;
    while (free_bytes_ > most_free) {
      free_bytes_ -= free_.back().bytes;
      unused.splice(unused.begin(), free_, std::prev(free_.end()));
    }
  }

  ForkMutex mutex_;
  std::list<Block> free_;
  std::size_t free_bytes_ = 0;
};

/// Never destroyed, because results may be destroyed at exit.
Pool& pool = *new Pool;

/// An array library and its value types, looked up once. Never destroyed, because Python may shut down before
/// static objects are destroyed.
struct LibraryNames {
  nb::module_ module;
  nb::object float32, boolean, uint8;

  LibraryNames(const char* name, const char* boolean_name)
      : module(nb::module_::import_(name)),
        float32(module.attr("float32")),
        boolean(module.attr(boolean_name)),
        uint8(module.attr("uint8")) {}
  const nb::object& of(nb::dlpack::dtype type) const {
    return type == nb::dtype<bool>() ? boolean : type.bits == 8 ? uint8 : float32;
  }
};

/// The caller must hold the GIL. An import may release it, so that another thread looks up the same library.
const LibraryNames& names_of(Library library) {
  static const LibraryNames *torch = nullptr, *cupy = nullptr;
  const LibraryNames*& names = library == Library::torch ? torch : cupy;
  if (!names) {
    const auto* const found =
        library == Library::torch ? new LibraryNames("torch", "bool") : new LibraryNames("cupy", "bool_");
    if (!names) names = found;
  }
  return *names;
}

/// Makes a CuPy array on a device, which need not be the current one.
nb::object cupy_empty(std::size_t floats, int device) {
  const LibraryNames& cupy = names_of(Library::cupy);
  const nb::object cuda = cupy.module.attr("cuda");
  const auto empty = [&] { return nb::object(cupy.module.attr("empty")(floats, cupy.float32)); };
  if (nb::cast<int>(cuda.attr("runtime").attr("getDevice")()) == device) return empty();
  const nb::object context = cuda.attr("Device")(device);
  context.attr("__enter__")();
  const auto leave = [&] { context.attr("__exit__")(nb::none(), nb::none(), nb::none()); };
  try {
    nb::object array = empty();
    leave();
    return array;
  } catch (nb::python_error&) {
    leave();
    throw;
  }
}

/// Makes `array` the storage's memory.
void hold(Storage& storage, nb::object array) {
  storage.array = std::move(array);
  const nb::object address = storage.library == Library::torch ? storage.array.attr("data_ptr")()
                                                               : storage.array.attr("data").attr("ptr");
  storage.data = reinterpret_cast<char*>(nb::cast<std::uintptr_t>(address));
}

nb::object torch_view(const Storage& storage, std::size_t offset, nb::dlpack::dtype type,
                      const nb::object& shape, const nb::object& strides) {
  const std::size_t value = type.bits / 8;
  if (value == 4) return storage.array.attr("as_strided")(shape, strides, offset / value);
  return storage.array.attr("view")(names_of(Library::torch).of(type))
      .attr("as_strided")(shape, strides, offset);
}

nb::object cupy_view(const Storage& storage, std::size_t offset, nb::dlpack::dtype type,
                     const nb::object& shape, std::vector<std::int64_t> strides) {
  for (std::int64_t& stride : strides) stride *= type.bits / 8;
  const LibraryNames& cupy = names_of(Library::cupy);
  const nb::object pointer = storage.array.attr("data") + nb::cast(offset);
  return cupy.module.attr("ndarray")(shape, cupy.of(type), pointer, nb::tuple(nb::cast(strides)));
}

}  // namespace

Storage::~Storage() {
  if (!array && !like) return;
  const nb::gil_scoped_acquire gil;
  array.reset();
  like.reset();
}

std::shared_ptr<Storage> make_storage(const Array& array, std::size_t bytes, bool pinned) {
  const auto storage = std::make_shared<Storage>();
  storage->library = array.library;
  storage->memory = array.memory;
  storage->bytes = bytes;
  const std::size_t floats = (bytes + 3) / 4;
  if (!array.memory.on_host() && array.library == Library::torch) {
    hold(*storage,
         array.object.attr("new_empty")(floats, nb::arg("dtype") = names_of(Library::torch).float32));
  } else if (!array.memory.on_host() && array.library == Library::cupy) {
    hold(*storage, cupy_empty(floats, array.memory.device));
  } else {
    storage->block = pool.take(bytes, array.memory.on_host() && pinned ? Memory::pinned() : array.memory);
    storage->data = static_cast<char*>(storage->block.get());
    if (array.library == Library::other) storage->like = array.object;
  }
  return storage;
}

std::shared_ptr<Storage> make_host_storage(std::size_t bytes) { return make_storage({}, bytes, false); }

std::shared_ptr<Storage> copy_to_host(const Storage& storage) {
  const auto copy = std::make_shared<Storage>();
  copy->bytes = storage.bytes;
  if (storage.library == Library::torch && storage.array) {
    copy->library = Library::torch;
    hold(*copy, storage.array.attr("cpu")());
    return copy;
  }
  copy->block = pool.take(storage.bytes, Memory::host());
  copy->data = static_cast<char*>(copy->block.get());
  if (storage.array) {  // CuPy copies in the order of its current stream
    const nb::object array = storage.array.attr("get")();
    const Array values = read_array(array, "result");
    std::memcpy(copy->data, values.data, storage.bytes);
  } else {
    const nb::gil_scoped_release released;
    detail::copy(copy->data, std::ptrdiff_t(storage.bytes), Memory::host(), storage.data,
                 std::ptrdiff_t(storage.bytes), storage.memory, std::ptrdiff_t(storage.bytes), 1);
  }
  if (storage.memory.on_host()) {
    copy->library = storage.library;
    copy->like = storage.like;
  }
  return copy;
}

std::shared_ptr<Storage> copy_on_device(const Storage& storage) {
  const auto copy = std::make_shared<Storage>();
  copy->library = storage.library;
  copy->memory = storage.memory;
  copy->bytes = storage.bytes;
  hold(*copy, storage.array.attr(storage.library == Library::torch ? "clone" : "copy")());
  return copy;
}

nb::object array_in(const std::shared_ptr<Storage>& storage, const void* data, nb::dlpack::dtype type,
                    const std::vector<std::size_t>& shape, const std::vector<std::int64_t>& strides) {
  const auto offset = std::size_t(static_cast<const char*>(data) - storage->data);
  if (storage->array && storage->library == Library::torch)
    return torch_view(*storage, offset, type, nb::cast(shape), nb::cast(strides));
  if (storage->array) return cupy_view(*storage, offset, type, nb::tuple(nb::cast(shape)), strides);
  const nb::capsule owner(new std::shared_ptr<Storage>(storage), [](void* pointer) noexcept {
    delete static_cast<std::shared_ptr<Storage>*>(pointer);
  });
  void* const values = const_cast<void*>(data);
  const int device_type = storage->memory.on_host() ? nb::device::cpu::value : nb::device::cuda::value;
  const auto make = [&]<class Framework>(Framework) {
    return nb::cast(nb::ndarray<Framework>(values, shape.size(), shape.data(), owner, strides.data(), type,
                                           device_type, storage->memory.device));
  };
  if (storage->library == Library::torch) return make(nb::pytorch{});
  if (storage->library != Library::other) return make(nb::numpy{});
  if (storage->memory.on_host() && !nb::hasattr(storage->like, "__array_namespace__"))
    return make(nb::numpy{});
  const nb::object names = storage->like.attr("__array_namespace__")();
  if (storage->memory.on_host()) {
    // Libraries that cannot share this memory because of its alignment or strides get a copy.
    const nb::object shown = make(nb::numpy{});
    try {
      return names.attr("from_dlpack")(shown);
    } catch (nb::python_error&) {
      return names.attr("asarray")(shown);
    }
  }
  return names.attr("from_dlpack")(make(nb::array_api{}));
}

void empty_pool() {
  const nb::gil_scoped_release released;
  pool.clear();
}

}  // namespace parafield::python
