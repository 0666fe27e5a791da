// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "bench/bench.hpp"
#include "bench/driver.hpp"

namespace parafield::command {
namespace {

double of_cuda(const DeviceInfo& device) {
  const std::size_t bytes = std::min(std::size_t(1) << 30, device.memory / 16);
  return 2 * double(bytes) / (gpu_copy_milliseconds(device.device.index, bytes) / 1000);
}

/// Each thread copies its share several times, because otherwise starting threads would take a large part of
/// the time.
double of_cpu(const DeviceInfo& device) {
  const std::size_t bytes = std::min(std::size_t(128) << 20, device.memory / 16);
  constexpr int times = 2;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  const auto count = std::size_t(std::max(1, device.threads));
  const auto copy = [&] {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        const std::size_t begin = bytes * i / count, end = bytes * (i + 1) / count;
        for (int j = 0; j < times; ++j) std::memcpy(&to[begin], &from[begin], end - begin);
      });
    for (std::thread& thread : threads) thread.join();
  };
  copy();
  const Times measured = measure({.fixed = 7}, [&](int) {
    const auto begin = std::chrono::steady_clock::now();
    copy();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  });
  return 2 * double(bytes * times) / (measured.median / 1000);
}

}  // namespace

double copy_bandwidth(const DeviceInfo& device) {
  return device.device.kind == Device::Kind::cuda ? of_cuda(device) : of_cpu(device);
}

}  // namespace parafield::command
