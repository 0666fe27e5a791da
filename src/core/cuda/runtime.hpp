// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "parafield/device.hpp"

/// The functions of CUDA that the rest of the library needs, in plain C++. runtime.cpp implements it with the
/// CUDA runtime. In builds without CUDA, absent.cpp does: there are no devices, and functions that need one
/// throw Error(device).
namespace parafield::cuda {

int device_count();        ///< usable devices; 0 where there is no driver
std::string why_absent();  ///< why device_count() is 0
std::vector<DeviceInfo> devices();
void require(int device);  ///< throws Error(device) with the reason if it cannot be used

void* allocate(std::size_t bytes, int device);  ///< zero-filled
void release(void* data, int device);
void* allocate_pinned(std::size_t bytes);  ///< zero-filled
void release_pinned(void* data);
/// Copies rows of bytes; returns when the copy is complete. `device` is the source's or the destination's
/// device.
void copy(int device, void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
          std::ptrdiff_t row_bytes, int height);

/// Work submitted to stream `waiting` after this call starts only when all work submitted to `awaited` so far
/// has ended.
void wait_for(int device, void* waiting, void* awaited);

/// Process-wide lock for recording a graph, and for calls that CUDA forbids while any thread records. One
/// thread at a time holds it, until the end of the scope. A thread that already holds it may nest another.
class Exclusive {
 public:
  Exclusive();
  ~Exclusive();
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
};

/// Measures the time between two points of a stream with CUDA events.
class EventTimer {
 public:
  EventTimer(int device, void* stream);
  ~EventTimer();
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;
  void start();
  double stop();  ///< milliseconds

 private:
  [[maybe_unused]] void *begin_ = nullptr, *end_ = nullptr, *stream_;
  [[maybe_unused]] int device_;
};

}  // namespace parafield::cuda
