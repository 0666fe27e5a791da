// SPDX-License-Identifier: MIT
#pragma once
// Masks and their boxes, for the tests of boxes on devices and of their kernels.
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "parafield/boxes.hpp"

namespace parafield {

/// A mask of pixels where set(x, y). Pixels that are set have any value but 0.
inline Image<std::uint8_t> mask_where(Size size, const std::function<bool(int x, int y)>& set) {
  Image<std::uint8_t> mask(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      mask(x, y) = set(x, y) ? std::uint8_t((x + y) % 3 == 0 ? 255 : 1) : 0;
  return mask;
}

/// Masks with regions of many forms.
inline std::vector<std::pair<std::string, Image<std::uint8_t>>> masks_of(Size size) {
  std::vector<std::pair<std::string, Image<std::uint8_t>>> list;
  const auto add = [&](const char* name, const std::function<bool(int, int)>& set) {
    list.emplace_back(
        name + std::string(" ") + std::to_string(size.width) + "x" + std::to_string(size.height),
        mask_where(size, set));
  };
  std::mt19937 random(unsigned(size.width * 1000 + size.height));
  const int w = size.width, h = size.height;
  add("none", [](int, int) { return false; });
  add("all", [](int, int) { return true; });
  add("first", [](int x, int y) { return x == 0 && y == 0; });
  add("last", [&](int x, int y) { return x == w - 1 && y == h - 1; });
  add("frame", [&](int x, int y) { return x == 0 || y == 0 || x == w - 1 || y == h - 1; });
  add("checkerboard", [](int x, int y) { return (x + y) % 2 == 0; });
  add("apart", [](int x, int y) { return x % 2 == 0 && y % 2 == 0; });
  add("diagonals", [](int x, int y) { return (x + y) % 4 == 0; });
  add("other diagonals", [](int x, int y) { return (x - y + 4096) % 5 == 0; });
  add("snake", [&](int x, int y) { return y % 2 == 0 || x == (y / 2 % 2 == 0 ? w - 1 : 0); });
  add("rings", [&](int x, int y) { return std::max(std::abs(x - w / 2), std::abs(y - h / 2)) % 2 == 0; });
  add("combs", [&](int x, int y) { return x % 2 == 0 || y == h - 1; });
  for (const unsigned share : {5u, 30u, 41u, 60u, 90u})  // long regions appear at 41 %
    add("noise", [&](int, int) { return random() % 100 < share; });
  return list;
}

/// Boxes by a flood fill from each pixel.
inline std::vector<Box> boxes_by_flood_fill(const Image<std::uint8_t>& mask, int min_area) {
  const int width = mask.size().width, height = mask.size().height;
  std::vector<std::uint8_t> seen(std::size_t(width) * std::size_t(height));
  const auto visit = [&](int x, int y, std::vector<std::pair<int, int>>& region) {
    if (x < 0 || y < 0 || x >= width || y >= height || !mask(x, y)) return;
    std::uint8_t& mark = seen[std::size_t(y) * std::size_t(width) + std::size_t(x)];
    if (mark) return;
    mark = 1;
    region.emplace_back(x, y);
  };
  std::vector<Box> boxes;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::vector<std::pair<int, int>> region;
      visit(x, y, region);
      if (region.empty()) continue;
      int left = x, right = x, bottom = y;
      for (std::size_t i = 0; i < region.size(); ++i) {
        const auto [px, py] = region[i];
        left = std::min(left, px);
        right = std::max(right, px);
        bottom = std::max(bottom, py);
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) visit(px + dx, py + dy, region);
      }
      if (int(region.size()) >= min_area)
        boxes.push_back({left, y, right - left + 1, bottom - y + 1, int(region.size())});
    }
  return boxes;
}

inline void PrintTo(const Box& box, std::ostream* out) {
  *out << "{" << box.x << ", " << box.y << ", " << box.width << "x" << box.height << ", " << box.area << "}";
}

}  // namespace parafield
