// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "parafield/device.hpp"

/// What the rest of the library needs of CUDA, in plain C++. runtime.cpp implements it with the CUDA runtime,
/// absent.cpp where the library is built without CUDA: then there are no devices and everything else throws.
namespace parafield::cuda {

int device_count();        ///< usable devices; 0 where there is no driver
std::string why_absent();  ///< why device_count() is 0
std::vector<DeviceInfo> devices();
void require(int device);  ///< throws Error(device) with the reason where it cannot be used

void* allocate(std::size_t bytes, int device);  ///< zero-filled
void release(void* data, int device);
void* allocate_pinned(std::size_t bytes);  ///< zero-filled
void release_pinned(void* data);
/// Returns when the bytes are there. `device` is that of the source or the destination.
void copy(int device, void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
          std::ptrdiff_t row_bytes, int height);

/// Makes the work that stream `waiting` gets from now on begin after what stream `awaited` has so far.
void wait_for(int device, void* waiting, void* awaited);

/// Until the end of the scope no other thread is in such a scope: for recording a graph, and for calls that CUDA
/// forbids while somebody records. May be nested.
class Exclusive {
 public:
  Exclusive();
  ~Exclusive();
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
};

/// Time between two points of a stream, by events.
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
