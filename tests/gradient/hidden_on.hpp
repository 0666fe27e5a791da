// SPDX-License-Identifier: MIT
#pragma once
// Random flow there and back, and the steps of hidden pixels on a target.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gradient/adaptive_ridge/trust/trust.hpp"
#include "planes_on.hpp"
#include "targets.hpp"

namespace parafield {

/// Flow, flow back and other flow. Most pixels come back about where they began; some leave the frame. All
/// are whole eighths of px, so that places are exact.
struct HiddenCase {
  Size size;
  std::vector<float> u, v, back_u, back_v, filled_u, filled_v;

  HiddenCase(Size s, unsigned seed, bool with_unknown = true) : size(s) {
    std::mt19937 random(seed);
    const auto eighths = [&](int reach) {
      return float(int(random() % unsigned(2 * reach + 1)) - reach) / 8;
    };
    const float motion_u = eighths(60), motion_v = eighths(40);
    const int noise = 1 + int(random() % 14);
    for (int i = 0; i < size.width * size.height; ++i) {
      const bool far = random() % 16 == 0;
      u.push_back(far ? eighths(8 * size.width) : motion_u + eighths(noise));
      v.push_back(far ? eighths(8 * size.height) : motion_v + eighths(noise));
      back_u.push_back(eighths(noise) - motion_u), back_v.push_back(eighths(noise) - motion_v);
      filled_u.push_back(eighths(99)), filled_v.push_back(eighths(99));
    }
    if (!with_unknown) return;
    constexpr float inf = std::numeric_limits<float>::infinity();
    for (std::vector<float>* plane : {&u, &v, &back_u, &back_v, &filled_u, &filled_v})
      for (float& value : *plane)
        if (random() % 32 == 0)
          value = random() % 8 ? std::numeric_limits<float>::quiet_NaN() : random() % 2 ? inf : -inf;
  }

  std::size_t at(int x, int y) const { return std::size_t(y) * std::size_t(size.width) + std::size_t(x); }
  /// The library's results for a pixel.
  bool hidden(int x, int y) const {
    const std::size_t i = at(x, y);
    return is_hidden(u[i], v[i], back_u.data(), back_v.data(), size.width, size.width, size.height, x, y);
  }
  bool hidden(std::size_t i) const { return hidden(int(i) % size.width, int(i) / size.width); }
};

struct FlowValues {
  std::vector<float> u, v;
};
struct SeedValues {
  std::vector<float> u, v;
  std::vector<std::uint8_t> valid;
};

template <class Backend>
SeedValues visible_with(Backend& backend, const HiddenCase& c, int stride) {
  Workspace workspace(backend.memory());
  const FlowPlanes flow{stored(backend, workspace, c.size, c.u), stored(backend, workspace, c.size, c.v)},
      back{stored(backend, workspace, c.size, c.back_u), stored(backend, workspace, c.size, c.back_v)};
  const Matches matches = make_matches(workspace, seed_grid_of(c.size, stride));
  for (int i = 0; i < 2; ++i)  // on CUDA recorded, then replayed
    backend.replay({}, [&] { take_visible(backend, flow, back, matches); });
  return {values_of(backend, matches.u), values_of(backend, matches.v), values_of(backend, matches.valid)};
}

template <class Backend>
FlowValues filled_with(Backend& backend, const HiddenCase& c) {
  Workspace workspace(backend.memory());
  const FlowPlanes flow = workspace.flow(c.size),
                   back{stored(backend, workspace, c.size, c.back_u),
                        stored(backend, workspace, c.size, c.back_v)},
                   filled{stored(backend, workspace, c.size, c.filled_u),
                          stored(backend, workspace, c.size, c.filled_v)};
  for (int i = 0; i < 2; ++i) {
    store(backend, flow.u, c.u);
    store(backend, flow.v, c.v);
    backend.replay({}, [&] { fill_hidden(backend, flow, back, filled); });
  }
  return {values_of(backend, flow.u), values_of(backend, flow.v)};
}

/// Expects the same value; NaN is the same as NaN.
inline void expect_same_value(float expected, float found, std::size_t i) {
  ASSERT_TRUE(expected == found || (std::isnan(expected) && std::isnan(found)))
      << i << ": " << expected << " and " << found;
}

inline void expect_visible_seeds(const HiddenCase& c, int stride, const SeedValues& found) {
  const SeedGrid grid = seed_grid_of(c.size, stride);
  ASSERT_EQ(found.valid.size(), std::size_t(grid.count()));
  for (int i = 0; i < grid.count(); ++i) {
    const int x = grid.x(i % grid.columns), y = grid.y(i / grid.columns);
    const auto n = std::size_t(i);
    expect_same_value(c.u[c.at(x, y)], found.u[n], n);
    expect_same_value(c.v[c.at(x, y)], found.v[n], n);
    ASSERT_EQ(found.valid[n], c.hidden(x, y) ? 0 : 1) << x << ", " << y;
  }
}

inline void expect_filled(const HiddenCase& c, const FlowValues& found) {
  for (std::size_t i = 0; i < c.u.size(); ++i) {
    const bool takes = c.hidden(i) && !std::isnan(c.filled_u[i]) && !std::isnan(c.filled_v[i]);
    expect_same_value(takes ? c.filled_u[i] : c.u[i], found.u[i], i);
    expect_same_value(takes ? c.filled_v[i] : c.v[i], found.v[i], i);
  }
}

}  // namespace parafield
