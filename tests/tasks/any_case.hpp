// SPDX-License-Identifier: MIT
#pragma once
// One small case of any task and method, for tests of many estimators: run alone, or in parallel with others.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "noise.hpp"
#include "parafield/parafield.hpp"
#include "random_method.hpp"

namespace parafield {

/// FNV-1a of the pixels of a field in host memory. Every NaN counts alike.
template <class Field>
std::uint64_t hash_of(const Field& field, std::uint64_t hash = 1469598103934665603ull) {
  const auto add = [&](const auto& plane) {
    for (int y = 0; y < plane.size().height; ++y)
      for (int x = 0; x < plane.size().width; ++x) {
        auto value = plane(x, y);
        if (value != value) value = -1;
        unsigned char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211ull;
      }
  };
  std::apply([&](const auto&... plane) { (add(plane), ...); }, field.planes());
  return hash;
}

/// A task, a method, a size. `run` makes an estimator, calls it, and pushes frames or pairs. Where the task
/// streams, a pipelined estimator gets the same frames. Returns the hash of the results.
struct AnyCase {
  std::string name;
  std::function<std::uint64_t(const Device& device, bool device_frames)> run;
};

template <class Task>
AnyCase case_of(const typename Task::Method& method, Size size, const typename Task::Options& given = {}) {
  const auto run = [=](const Device& device, bool device_frames) {
    const int count = std::visit([](const auto& value) { return int(value.frames); }, method);
    const Memory memory = device_frames ? Memory::cuda(device.index) : Memory::host();
    std::vector<FrameBuffer> held;
    for (int i = 0; i <= count; ++i) {
      const GuardedFrame noise(size, PixelFormat::gray_u8, 5, 1.3f * float(i), 0, 0);
      FrameBuffer frame(size, PixelFormat::gray_u8);
      for (int y = 0; y < size.height; ++y)
        std::memcpy(frame.row(y), static_cast<const char*>(noise.frame().data) + y * noise.frame().pitch,
                    std::size_t(size.width));
      held.push_back(device_frames ? frame.to(memory) : std::move(frame));
    }
    typename Task::Options options = given;
    options.device = device;
    Estimator<Task> first(method, size, options);
    Estimator<Task> estimator = std::move(first);
    const std::vector<Frame> frames(held.begin(), held.begin() + count);
    const auto taken = [&](const auto& result) {
      estimator.synchronize();
      return result.to(Memory::host());
    };
    std::uint64_t hash = hash_of(taken(estimator({frames})));
    typename Task::Result own(size, memory);
    estimator({frames}, own);
    hash = hash_of(taken(own), hash);
    if constexpr (Task::streams) {
      for (const FrameBuffer& frame : held)
        if (const auto* result = estimator.push(frame)) hash = hash_of(taken(*result), hash);
      typename Task::Options ahead = options;
      ahead.pipelined = true;
      Estimator<Task> pipelined(method, size, ahead);
      const auto add = [&](const typename Task::Result* result) {
        if (!result) return;
        pipelined.synchronize();
        hash = hash_of(result->to(Memory::host()), hash);
      };
      for (const FrameBuffer& frame : held) add(pipelined.push(frame));
      add(pipelined.finish());
    }
    if constexpr (Task::pairs)
      for (std::size_t i = 0; i < 3; ++i)
        hash = hash_of(taken(estimator.push(held[i / 2], held[1 + i / 2])), hash);
    for (const double energy : estimator.energies()) hash = hash * 31 + std::uint64_t(energy * 1000);
    return hash;
  };
  return {std::visit([](const auto& m) { return described(m); }, method) + " " + std::to_string(size.width) +
              "x" + std::to_string(size.height),
          run};
}

template <class Task>
void add_cases(std::vector<AnyCase>& cases, const std::vector<Size>& sizes) {
  for_each_method<typename Task::Method>([&]<class Method>(const Method& method) {
    for (const Size size : sizes) cases.push_back(case_of<Task>(fitted(restrained(method), size), size));
  });
}

/// Every task and method at each size.
inline std::vector<AnyCase> every_case(const std::vector<Size>& sizes) {
  std::vector<AnyCase> cases;
  add_cases<Flow>(cases, sizes);
  add_cases<Stereo>(cases, sizes);
  add_cases<Detection>(cases, sizes);
  return cases;
}

}  // namespace parafield
