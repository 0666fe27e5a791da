// SPDX-License-Identifier: MIT
#include "core/cuda/runtime.hpp"
#include "core/fail.hpp"

namespace parafield::cuda {

int device_count() { return 0; }
std::string why_absent() { return "parafield was built without CUDA"; }
std::vector<DeviceInfo> devices() { return {}; }
void require(int device) { fail(ErrorCode::device, "cuda:", device, " cannot be used: ", why_absent()); }

void* allocate(std::size_t, int device) {
  require(device);
  return nullptr;
}
void release(void*, int) {}
void* allocate_pinned(std::size_t bytes) { return allocate(bytes, 0); }
void release_pinned(void*) {}
void copy(int device, void*, std::ptrdiff_t, const void*, std::ptrdiff_t, std::ptrdiff_t, int) {
  require(device);
}
void wait_for(int device, void*, void*) { require(device); }

EventTimer::EventTimer(int device, void* stream) : stream_(stream), device_(device) { require(device); }
EventTimer::~EventTimer() = default;
void EventTimer::start() {}
double EventTimer::stop() { return 0; }

}  // namespace parafield::cuda
