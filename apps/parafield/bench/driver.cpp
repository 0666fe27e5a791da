// SPDX-License-Identifier: MIT
#include "bench/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "parafield/error.hpp"

namespace parafield::command {
namespace {

/// Returns a function of the driver, or null.
template <class Function>
Function* driver_function(const char* name) {
  static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<Function*>(::dlsym(library, name)) : nullptr;
}

/// Calls a function of the driver. Throws Error(device) if it fails or is missing.
template <class... Arguments>
void call(const char* name, Arguments... arguments) {
  auto* const function = driver_function<int(Arguments...)>(name);
  const int error = function ? function(arguments...) : -1;
  if (error != 0)
    throw Error(ErrorCode::device, fmt::format("{} of CUDA's driver failed: error {}", name, error));
}

/// Owns a driver object and releases it at the end of the scope.
template <class Handle>
class Held {
 public:
  explicit Held(const char* release) : release_(release) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (auto* const function = driver_function<int(Handle)>(release_); function && handle_) function(handle_);
  }
  Handle* address() { return &handle_; }
  operator Handle() const { return handle_; }

 private:
  const char* release_;
  Handle handle_ = {};
};

/// Makes the device's primary context, shared with the library, current on this thread for the object's
/// lifetime.
class Current {
 public:
  explicit Current(int index) {
    call("cuInit", 0U);
    call("cuDeviceGet", &device_, index);
    void* context = nullptr;
    call("cuDevicePrimaryCtxRetain", &context, device_);
    call("cuCtxPushCurrent_v2", context);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    void* context = nullptr;
    if (auto* const pop = driver_function<int(void**)>("cuCtxPopCurrent_v2")) pop(&context);
    if (auto* const release = driver_function<int(int)>("cuDevicePrimaryCtxRelease_v2")) release(device_);
  }

 private:
  int device_ = 0;
};

}  // namespace

std::string gpu_identifier(int index) {
  auto* const init = driver_function<int(unsigned)>("cuInit");
  auto* const get = driver_function<int(int*, int)>("cuDeviceGet");
  auto* const identify = driver_function<int(unsigned char*, int)>("cuDeviceGetUuid_v2");
  int device = 0;
  unsigned char bytes[16] = {};
  if (!init || !get || !identify || init(0) != 0 || get(&device, index) != 0 || identify(bytes, device) != 0)
    return {};
  std::string name = "GPU";
  for (int i = 0; i < 16; ++i)
    name += fmt::format("{}{:02x}", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
  return name;
}

double gpu_copy_milliseconds(int index, std::size_t bytes) {
  using Address = unsigned long long;
  constexpr int copies = 10;
  const Current current(index);
  Held<Address> from("cuMemFree_v2"), to("cuMemFree_v2");
  call("cuMemAlloc_v2", from.address(), bytes);
  call("cuMemAlloc_v2", to.address(), bytes);
  Held<void*> stream("cuStreamDestroy_v2"), begin("cuEventDestroy_v2"), end("cuEventDestroy_v2");
  call("cuStreamCreate", stream.address(), 1U);  // does not synchronize with the legacy stream
  call("cuEventCreate", begin.address(), 0U);
  call("cuEventCreate", end.address(), 0U);
  std::array<float, 5> times = {};
  for (std::size_t i = 0; i < times.size() + 1; ++i) {  // the first time is dropped
    call("cuEventRecord", static_cast<void*>(begin), static_cast<void*>(stream));
    for (int j = 0; j < copies; ++j)
      call("cuMemcpyDtoDAsync_v2", static_cast<Address>(to), static_cast<Address>(from), bytes,
           static_cast<void*>(stream));
    call("cuEventRecord", static_cast<void*>(end), static_cast<void*>(stream));
    call("cuEventSynchronize", static_cast<void*>(end));
    float elapsed = 0;
    call("cuEventElapsedTime", &elapsed, static_cast<void*>(begin), static_cast<void*>(end));
    if (i > 0) times[i - 1] = elapsed / copies;
  }
  std::ranges::sort(times);
  return double(times[times.size() / 2]);
}

}  // namespace parafield::command
