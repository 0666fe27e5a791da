// SPDX-License-Identifier: MIT
#pragma once
// Random frames and matches, and the matches that they settle to on a target.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gradient/adaptive_ridge/fusion/fusion.hpp"
#include "planes_on.hpp"
#include "targets.hpp"

namespace parafield {

/// Two frames, and matches of the seeds of the first. Flow is whole quarters of px, so that places and
/// distances are exact.
struct SettleCase {
  Size size;
  int stride;
  std::vector<float> colors[2][3], luma[2];
  std::vector<float> u, v;
  std::vector<std::uint8_t> valid;

  SettleCase(Size s, int seed_stride) : size(s), stride(seed_stride) {
    const auto pixels = std::size_t(size.width) * std::size_t(size.height);
    for (int i = 0; i < 2; ++i) {
      for (std::vector<float>& channel : colors[i]) channel.assign(pixels, 0);
      luma[i].assign(pixels, 0);
    }
    u.assign(std::size_t(grid().count()), 0), v = u;
    valid.assign(u.size(), 1);
  }

  SeedGrid grid() const { return seed_grid_of(size, stride); }
  std::size_t at(int x, int y) const { return std::size_t(y) * std::size_t(size.width) + std::size_t(x); }
};

/// Blocks of color with some noise. The motion differs left and right of an edge. Near the edge a match may
/// have the flow of the other side; some have a random one.
inline SettleCase settle_case(Size size, int stride, unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&](int low, int high) { return low + int(random() % unsigned(high - low + 1)); };
  SettleCase c(size, stride);
  const int block = uniform(2, 9), edge = uniform(0, size.width), noise = uniform(1, 24);
  const int motion_u[] = {uniform(-9, 9), uniform(-9, 9)}, motion_v[] = {uniform(-6, 6), uniform(-6, 6)};
  const unsigned key = random();
  const auto texture = [&](int side, int channel, int x, int y) {  // far from 0 / block
    const unsigned place = unsigned((x + 1000 * block) / block + 8192 * ((y + 1000 * block) / block));
    return float(mixed(key + 2 * place + unsigned(side) + 777u * unsigned(channel)) % 200);
  };
  for (int i = 0; i < 2; ++i)
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const int side = x - i * motion_u[1] >= edge;
        float sum = 0;
        for (int k = 0; k < 3; ++k) {
          const float value = texture(side, k, x - i * motion_u[side], y - i * motion_v[side]) +
                              float(random() % unsigned(16 * noise)) / 16;
          c.colors[i][k][c.at(x, y)] = value;
          sum += value;
        }
        c.luma[i][c.at(x, y)] = sum / 3;
      }
  const SeedGrid grid = c.grid();
  for (int i = 0; i < grid.count(); ++i) {
    const int x = grid.x(i % grid.columns), from_edge = std::abs(x - edge);
    const int side = (x >= edge) != (from_edge < 3 * stride && random() % 2 == 0);
    const bool wrong = random() % 8 == 0;
    const auto n = std::size_t(i);
    c.u[n] = wrong ? float(uniform(-size.width, size.width)) : float(motion_u[side]);
    c.v[n] = wrong ? float(uniform(-size.height, size.height)) : float(motion_v[side]);
    c.u[n] += float(uniform(-3, 3)) / 4, c.v[n] += float(uniform(-3, 3)) / 4;
    c.valid[n] = std::uint8_t(random() % 8 == 0 ? 0 : 1 + random() % 255);
  }
  return c;
}

/// Makes about one in `share` pixels NaN or infinite, or so large that squares overflow, in colors or luma.
inline void spoil(SettleCase& c, unsigned share, unsigned seed, bool with_large = true) {
  std::mt19937 random(seed);
  constexpr float values[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(), 3e38f};
  for (int i = 0; i < 2; ++i)
    for (std::vector<float>* plane : {&c.colors[i][0], &c.colors[i][1], &c.colors[i][2], &c.luma[i]})
      for (float& value : *plane)
        if (random() % (4 * share) == 0) value = values[random() % (with_large ? 4 : 3)];
}

struct Settled {
  std::vector<float> u, v;
  std::vector<std::uint8_t> valid;
};

template <class Backend>
Settled settle_with(Backend& backend, const SettleCase& c) {
  Workspace workspace(backend.memory());
  const SeedGrid grid = c.grid();
  const Size seeds{grid.columns, grid.rows};
  const Matches matches{grid, stored(backend, workspace, seeds, c.u), stored(backend, workspace, seeds, c.v),
                        stored(backend, workspace, seeds, c.valid)};
  const Matches settled{grid, stored(backend, workspace, seeds, std::vector<float>(c.u.size(), -12345.5f)),
                        stored(backend, workspace, seeds, std::vector<float>(c.u.size(), -12345.5f)),
                        stored(backend, workspace, seeds, std::vector<std::uint8_t>(c.u.size(), 77))};
  SettleFrames frames;
  for (int i = 0; i < 2; ++i) {
    frames.colors[i] = stored_colors(backend, workspace, c.size, c.colors[i]);
    frames.luma[i] = stored(backend, workspace, c.size, c.luma[i]);
  }
  for (int i = 0; i < 2; ++i)  // on CUDA recorded, then replayed
    backend.replay({}, [&] { settle_matches(backend, matches, frames, settled); });
  EXPECT_EQ(values_of(backend, matches.u), c.u) << "matches are only read";
  EXPECT_EQ(values_of(backend, matches.valid), c.valid);
  return {values_of(backend, settled.u), values_of(backend, settled.v), values_of(backend, settled.valid)};
}

inline Settled settle_on(const Target& target, const SettleCase& c, int threads = 2) {
  const Forced forced(target);
  const Device device = target.device(threads);
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    const auto active = backend.activate();
    return settle_with(backend, c);
  });
}

inline void expect_same_settled(const Settled& expected, const Settled& found) {
  EXPECT_EQ(expected.u, found.u);
  EXPECT_EQ(expected.v, found.v);
  EXPECT_EQ(expected.valid, found.valid);
}

/// Number of matches that have another flow.
inline int changes(const SettleCase& c, const Settled& settled) {
  int count = 0;
  for (std::size_t i = 0; i < c.u.size(); ++i) count += c.u[i] != settled.u[i] || c.v[i] != settled.v[i];
  return count;
}

}  // namespace parafield
