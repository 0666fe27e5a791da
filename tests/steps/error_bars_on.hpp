// SPDX-License-Identifier: MIT
#pragma once
// Fields with errors, and their error bars on a target.
#include <cmath>
#include <random>
#include <vector>

#include "core/backend.hpp"
#include "planes_on.hpp"
#include "steps/error_bars/constants.hpp"
#include "steps/error_bars/disparity.hpp"
#include "steps/error_bars/flow.hpp"
#include "targets.hpp"

namespace parafield {

/// Planes of an image, row by row.
template <class T = float>
using Plane = std::vector<T>;

inline float texture_at(float x, float y, float phase) {
  return 128 + 50 * std::sin(0.35f * x + 0.1f * y + phase) + 40 * std::sin(0.5f * y - 0.2f * x) +
         25 * std::sin(0.8f * x + 0.7f * y + phase);
}

struct FlowBarsCase {
  Size size;
  Plane<> luma0, luma1, u, v, back_u, back_v;  // there may be no flow back
  Plane<std::uint8_t> valid;

  FlowBarsCase(Size s, unsigned seed, float error, bool has_back) : size(s) {
    std::mt19937 random(seed);
    const auto noise = [&](float most) { return most * (float(random() % 2001) / 1000 - 1); };
    const float motion_u = noise(1.5f), motion_v = noise(1.5f), phase = noise(3);
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x) {
        const float moves = x > s.width / 2 ? 1.0f : 0.4f;
        luma0.push_back(texture_at(float(x), float(y), phase) + noise(3));
        luma1.push_back(texture_at(float(x) - moves * motion_u, float(y) - moves * motion_v, phase) +
                        noise(3));
        u.push_back(moves * motion_u + noise(error));
        v.push_back(moves * motion_v + noise(error));
        valid.push_back(random() % 8 != 0);
        if (!has_back) continue;
        back_u.push_back(-moves * motion_u + noise(0.4f));
        back_v.push_back(-moves * motion_v + noise(2 * error));
      }
  }
  std::size_t at(int x, int y) const { return std::size_t(y) * std::size_t(size.width) + std::size_t(x); }
  const FlowErrorModel& model() const {
    return back_u.empty() ? flow_errors_without_back : flow_errors_with_back;
  }
};

struct FlowBarsValues {
  Plane<> xx, xy, yy, outlier, outlier3;
  Plane<std::uint8_t> cause;
  bool operator==(const FlowBarsValues&) const = default;
};

/// The error bars that a backend computes; on CUDA it records the steps, then replays them.
template <class Backend>
FlowBarsValues flow_bars_with(Backend& backend, const FlowBarsCase& c) {
  Workspace workspace(backend.memory());
  const auto plane = [&](const auto& values) { return stored(backend, workspace, c.size, values); };
  FlowEvidence evidence{plane(c.luma0), plane(c.luma1), {plane(c.u), plane(c.v)}, {}, plane(c.valid)};
  if (!c.back_u.empty()) evidence.back = {plane(c.back_u), plane(c.back_v)};
  const auto image = [&] { return workspace.image<float>(c.size); };
  const FlowErrorBars out{
      {image(), image(), image()}, image(), image(), workspace.image<std::uint8_t>(c.size)};
  backend.reserve_scratch(flow_bars_scratch(c.size.width));
  const View<float> deviation = image();
  for (int i = 0; i < 2; ++i)
    backend.replay({}, [&] { flow_error_bars(backend, evidence, c.model(), out, deviation); });
  backend.synchronize();
  return {values_of(backend, out.covariance.xx), values_of(backend, out.covariance.xy),
          values_of(backend, out.covariance.yy), values_of(backend, out.outlier),
          values_of(backend, out.outlier3),      values_of(backend, out.cause)};
}

struct DisparityBarsCase {
  Size size;
  Plane<std::uint32_t> left, right_colors;
  Plane<> d, right, confidence;
  Plane<std::uint8_t> valid;

  DisparityBarsCase(Size s, unsigned seed, float error) : size(s) {
    std::mt19937 random(seed);
    const auto noise = [&](float most) { return most * (float(random() % 2001) / 1000 - 1); };
    const float phase = noise(3), near = 6 + noise(2), far = 2 + noise(1);
    const auto word = [&](float value) {
      const auto byte = [&] { return std::uint32_t(std::clamp(value + noise(5), 0.0f, 255.0f)); };
      const std::uint32_t red = byte(), green = byte(), blue = byte();
      return red | green << 8 | blue << 16;
    };
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x) {
        const float true_d = x > s.width / 2 ? near : far;
        left.push_back(word(texture_at(float(x), float(y), phase)));
        right_colors.push_back(word(texture_at(float(x) + true_d, float(y), phase)));
        d.push_back(true_d + noise(error));
        right.push_back(std::round((float(x) + true_d > float(s.width / 2) ? near : far) + noise(error)));
        confidence.push_back(std::abs(noise(4)));
        valid.push_back(random() % 8 != 0);
      }
  }
};

struct DisparityBarsValues {
  Plane<> sigma, outlier, outlier3;
  Plane<std::uint8_t> cause;
  bool operator==(const DisparityBarsValues&) const = default;
};

template <class Backend>
DisparityBarsValues disparity_bars_with(Backend& backend, const DisparityBarsCase& c) {
  Workspace workspace(backend.memory());
  const auto plane = [&](const auto& values) { return stored(backend, workspace, c.size, values); };
  const DisparityBarsInput input{plane(c.left),  plane(c.right_colors), plane(c.d),
                                 plane(c.right), plane(c.valid),        plane(c.confidence)};
  const auto image = [&] { return workspace.image<float>(c.size); };
  const DisparityErrorBars out{image(), image(), image(), workspace.image<std::uint8_t>(c.size)};
  backend.reserve_scratch(disparity_bars_scratch(c.size.width));
  for (int i = 0; i < 2; ++i)
    backend.replay({}, [&] { disparity_error_bars(backend, input, disparity_errors, out); });
  backend.synchronize();
  return {values_of(backend, out.sigma), values_of(backend, out.outlier), values_of(backend, out.outlier3),
          values_of(backend, out.cause)};
}

/// Calls f(backend) with a target's backend.
template <class F>
auto with_target(const Target& target, int threads, F f) {
  const Forced forced(target);
  const Device device = target.device(threads);
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    const auto active = backend.activate();
    return f(backend);
  });
}
inline FlowBarsValues bars_on(const Target& target, const FlowBarsCase& c, int threads = 1) {
  return with_target(target, threads, [&](auto& backend) { return flow_bars_with(backend, c); });
}
inline DisparityBarsValues bars_on(const Target& target, const DisparityBarsCase& c, int threads = 1) {
  return with_target(target, threads, [&](auto& backend) { return disparity_bars_with(backend, c); });
}

}  // namespace parafield
