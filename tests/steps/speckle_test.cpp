// SPDX-License-Identifier: MIT
// Speckle removal, against components that a flood fill from each pixel finds.
#include "steps/speckle/speckle.hpp"

#include <cmath>
#include <functional>

#include "steps/guarded.hpp"

namespace parafield {
namespace {

using Mask = GuardedImage<std::uint8_t>;
using Labels = GuardedImage<std::int32_t>;

/// A plane's value at each pixel; `hole` where the pixel is not valid.
using Pattern = std::function<float(int x, int y)>;

constexpr float hole = -1e9f;

/// A random value for each pixel, 0..1.
float noise(int x, int y, unsigned seed) {
  unsigned bits = unsigned(x) * 0x9e3779b1u ^ unsigned(y) * 0x85ebca77u ^ seed * 0xc2b2ae3du;
  for (int i = 0; i < 3; ++i) bits = (bits ^ bits >> 15) * 0x2c1b3c6du;
  return float(bits >> 8) / float(1 << 24);
}

/// A path one pixel wide: along every other row, and down at alternating ends.
float snake(int x, int y, Size size) {
  if (y % 2 == 0) return 1;
  return x == (y / 2 % 2 == 0 ? size.width - 1 : 0) ? 1 : hole;
}

/// Rings around the middle, cut open: components that are long and enclose each other.
float rings(int x, int y, Size size) {
  const int dx = std::abs(x - size.width / 2), dy = std::abs(y - size.height / 2);
  if (x == size.width / 2 && y < size.height / 2) return hole;
  return std::max(dx, dy) % 2 == 0 ? 1 : hole;
}

/// Diagonal paths in steps, over the corners of tiles.
float stairs(int x, int y) { return (x - y + 4096) % 5 < 2 ? 1 : hole; }

/// The mask without speckles, by a flood fill from each pixel.
std::vector<std::uint8_t> expected_mask(const std::vector<Pattern>& planes, Size size, float max_difference,
                                        int max_pixels) {
  const auto index = [&](int x, int y) { return std::size_t(y) * std::size_t(size.width) + std::size_t(x); };
  std::vector<std::vector<float>> values;
  for (const Pattern& plane : planes) {
    values.emplace_back();
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) values.back().push_back(plane(x, y));
  }
  std::vector<std::uint8_t> mask, seen(values[0].size());
  for (const float value : values[0]) mask.push_back(value != hole);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      if (!mask[index(x, y)] || seen[index(x, y)]) continue;
      std::vector<std::pair<int, int>> component{{x, y}};
      seen[index(x, y)] = 1;
      for (std::size_t i = 0; i < component.size(); ++i) {
        const auto [px, py] = component[i];
        for (const auto& [qx, qy] : {std::pair{px - 1, py}, {px + 1, py}, {px, py - 1}, {px, py + 1}}) {
          if (qx < 0 || qy < 0 || qx >= size.width || qy >= size.height) continue;
          const std::size_t p = index(px, py), q = index(qx, qy);
          bool alike = values[0][q] != hole && !seen[q];
          for (const auto& plane : values) alike = alike && std::abs(plane[p] - plane[q]) <= max_difference;
          if (!alike) continue;
          seen[q] = 1;
          component.push_back({qx, qy});
        }
      }
      if (int(component.size()) <= max_pixels)
        for (const auto& [px, py] : component) mask[index(px, py)] = 0;
    }
  return mask;
}

class Speckle : public OnTarget {
 protected:
  void expect_as_by_flood_fill(const std::vector<Pattern>& planes, Size size, int max_pixels,
                               const std::string& name) {
    constexpr float max_difference = 0.25f;
    const std::string what = name + ", " + text_of(size) + ", at most " + std::to_string(max_pixels);
    std::vector<Guarded> images;
    Mask valid(size);
    Labels labels(size), counts(size);
    std::vector<Movable*> moved{&valid, &labels, &counts};
    for (const Pattern& plane : planes) {
      images.emplace_back(size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) images.back().view()(x, y) = plane(x, y);
    }
    for (Guarded& image : images) moved.push_back(&image);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) valid.view()(x, y) = planes[0](x, y) != hole;
    run_on(GetParam(), moved, [&]<class Backend>(Backend& backend) {
      const View<float> views[] = {images.front().view(), images.back().view()};
      remove_speckles<Backend>(backend, views, int(images.size()), max_difference, max_pixels, valid.view(),
                               labels.view(), counts.view());
    });
    const std::vector<std::uint8_t> expected = expected_mask(planes, size, max_difference, max_pixels);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        ASSERT_EQ(valid.view()(x, y), expected[std::size_t(y) * std::size_t(size.width) + std::size_t(x)])
            << what << " at (" << x << ", " << y << ")";
    valid.expect_intact_guard(what);
    labels.expect_intact_guard(what);
    counts.expect_intact_guard(what);
  }
};

TEST_P(Speckle, RandomPixels) {
  for (const Size size : sizes)
    for (const float share : {0.4f, 0.6f, 0.9f})  // of valid pixels; long components appear at 0.593
      for (const int max_pixels : {0, 1, 7, 100}) {
        const Pattern plane = [&](int x, int y) { return noise(x, y, 37) < share ? 1 : hole; };
        expect_as_by_flood_fill({plane}, size, max_pixels, "noise " + std::to_string(share));
        if (HasFatalFailure()) return;
      }
}

TEST_P(Speckle, OnePlaneOfLevels) {
  for (const Size size : sizes)
    for (const int max_pixels : {1, 7, 100}) {
      // 0 and 1/4 differ by exactly the limit.
      const Pattern plane = [&](int x, int y) { return std::floor(3 * noise(x, y, 41)) / 8; };
      expect_as_by_flood_fill({plane}, size, max_pixels, "levels");
      if (HasFatalFailure()) return;
    }
}

TEST_P(Speckle, TwoPlanes) {
  for (const Size size : sizes)
    for (const int max_pixels : {1, 7, 100}) {
      const Pattern u = [](int x, int y) {
        return noise(x, y, 43) < 0.05f ? hole : noise(x, y, 47) < 0.8f ? 0 : 1;
      };
      const Pattern v = [](int x, int y) { return noise(x, y, 53) < 0.8f ? 0 : 1; };
      expect_as_by_flood_fill({u, v}, size, max_pixels, "two planes");
      if (HasFatalFailure()) return;
    }
}

TEST_P(Speckle, LongComponents) {
  for (const Size size : sizes) {
    const std::pair<const char*, Pattern> patterns[] = {
        {"all", [](int, int) { return 1; }},
        {"none", [](int, int) { return hole; }},
        {"ramp", [](int x, int y) { return 0.2f * float(x + y); }},
        {"snake", [&](int x, int y) { return snake(x, y, size); }},
        {"rings", [&](int x, int y) { return rings(x, y, size); }},
        {"stairs", [](int x, int y) { return stairs(x, y); }}};
    for (const auto& [name, pattern] : patterns) {
      int valid = 0;
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) valid += pattern(x, y) != hole;
      for (const int max_pixels : {valid / 8, valid - 1, valid}) {
        expect_as_by_flood_fill({pattern}, size, max_pixels, name);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Speckle, NaNIsLinkedWithNoNeighbor) {
  const Pattern plane = [](int x, int y) { return x == 2 && y == 1 ? std::nanf("") : 1.0f; };
  expect_as_by_flood_fill({plane}, {5, 4}, 1, "NaN");
}

INSTANTIATE_TEST_SUITE_P(Targets, Speckle, every_target(), target_name);

}  // namespace
}  // namespace parafield
