// SPDX-License-Identifier: MIT
#pragma once
// Random matches and colors, and affine interpolation of them on a target.
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "steps/affine/interpolation.hpp"
#include "targets.hpp"

namespace parafield {

/// Colors of a frame, and matches of its seeds. Colors are whole numbers, so that sums of them are exact.
struct AffineCase {
  Size size;
  int stride;
  std::vector<float> u, v, colors[3];
  std::vector<std::uint8_t> valid;

  SeedGrid grid() const { return seed_grid_of(size, stride); }
  float& color(int channel, int x, int y) {
    return colors[channel][std::size_t(y) * std::size_t(size.width) + std::size_t(x)];
  }
};

/// Smooth flow with an edge and some noise, and blocks of color, some of them alike. The share `share` of the
/// seeds has a match.
inline AffineCase affine_case(Size size, int stride, double share, unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return float(random() % 4096) / 4096; };
  AffineCase c{size, stride, {}, {}, {}, {}};
  const SeedGrid grid = c.grid();
  const float ux = uniform() - 0.5f, uy = uniform() - 0.5f, edge = uniform() * float(size.width);
  for (int i = 0; i < grid.count(); ++i) {
    const auto x = float(grid.x(i % grid.columns)), y = float(grid.y(i / grid.columns));
    const bool wrong = random() % 16 == 0;
    c.u.push_back(0.1f * ux * x + 0.05f * uy * y + (x < edge ? 0.0f : 7.0f) +
                  uniform() * (wrong ? 40 : 0.3f));
    c.v.push_back(0.1f * uy * x - 0.1f * ux * y + uniform() * 0.3f);
    c.valid.push_back(double(uniform()) < share ? std::uint8_t(1 + random() % 255) : std::uint8_t(0));
  }
  const int block = 1 + int(random() % 24);
  for (std::vector<float>& channel : c.colors) {
    const unsigned key = random();
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        channel.push_back(
            float(mixed(key + unsigned(x / block % 7 + 100 * (y / block))) % 4 * 60 + random() % 12));
  }
  return c;
}

struct AffineResult {
  std::vector<float> u, v, confidence;
  std::vector<float> models[7];  ///< u, v, ux, uy, vx, vy, weight of each seed
  std::vector<std::uint64_t> nearest;
};

template <class Backend>
AffineResult interpolate_with(Backend& backend, const AffineCase& c, bool asks_confidence = true) {
  Workspace workspace(backend.memory());
  const SeedGrid grid = c.grid();
  const Size seeds{grid.columns, grid.rows};
  const auto plane = [&]<class T>(Size size, const std::vector<T>& values) {
    const View<T> image = workspace.image<T>(size);
    for (int y = 0; y < size.height; ++y)
      copy_to(backend, image.row(y), values.data() + std::ptrdiff_t(y) * size.width,
              sizeof(T) * std::size_t(size.width));
    return image;
  };
  const Matches matches{grid, plane(seeds, c.u), plane(seeds, c.v), plane(seeds, c.valid)};
  Colors colors;
  if constexpr (Backend::is_gpu) {
    std::vector<Color> pixels;
    for (std::size_t i = 0; i < c.colors[0].size(); ++i)
      pixels.push_back({c.colors[0][i], c.colors[1][i], c.colors[2][i], 0});
    colors.pixels = plane(c.size, pixels);
  } else {
    for (int k = 0; k < 3; ++k) colors.plane[k] = plane(c.size, c.colors[k]);
  }
  const FlowPlanes flow = workspace.flow(c.size);
  const View<float> confidence = asks_confidence ? workspace.image<float>(c.size) : View<float>{};
  AffineInterpolation<Backend> interpolation(backend, workspace, grid);
  for (int i = 0; i < 2; ++i)  // on CUDA recorded, then replayed
    backend.replay({}, [&] { interpolation.interpolate(matches, colors, flow, confidence); });
  const auto values = [&]<class T>(View<T> image) {
    std::vector<T> all(std::size_t(image.width) * std::size_t(image.height));
    for (int y = 0; y < image.height; ++y)
      copy_to_host(backend, all.data() + std::ptrdiff_t(y) * image.width, image.row(y),
                   sizeof(T) * std::size_t(image.width));
    return all;
  };
  const AffineModels& models = interpolation.models();
  return {values(flow.u),
          values(flow.v),
          asks_confidence ? values(confidence) : std::vector<float>{},
          {values(models.u), values(models.v), values(models.ux), values(models.uy), values(models.vx),
           values(models.vy), values(models.weight)},
          values(models.nearest)};
}

inline AffineResult interpolate_on(const Target& target, const AffineCase& c, int threads = 2,
                                   bool asks_confidence = true) {
  const Forced forced(target);
  const Device device = target.device(threads);
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    const auto active = backend.activate();
    return interpolate_with(backend, c, asks_confidence);
  });
}

/// Expects the same values; NaN is the same as NaN.
inline void expect_same_values(const std::vector<float>& expected, const std::vector<float>& found,
                               const std::string& what) {
  ASSERT_EQ(expected.size(), found.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(expected[i] == found[i] || (expected[i] != expected[i] && found[i] != found[i]))
        << what << " " << i << ": " << expected[i] << " and " << found[i];
}

inline void expect_same_result(const AffineResult& expected, const AffineResult& found) {
  EXPECT_EQ(expected.nearest, found.nearest);
  const char* const names[] = {"u", "v", "ux", "uy", "vx", "vy", "weight"};
  for (int k = 0; k < 7; ++k) expect_same_values(expected.models[k], found.models[k], names[k]);
  expect_same_values(expected.u, found.u, "flow u");
  expect_same_values(expected.v, found.v, "flow v");
  expect_same_values(expected.confidence, found.confidence, "confidence");
}

}  // namespace parafield
