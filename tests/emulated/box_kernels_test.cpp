// SPDX-License-Identifier: MIT
// The CUDA kernels that find the regions of a mask, run by emulated threads, against a flood fill.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/workspace.hpp"
#include "emulated/emulated_cuda.hpp"
#include "steps/boxes/boxes.hpp"
#include "tasks/random_masks.hpp"

namespace parafield {
namespace {

std::vector<Box> boxes_with(EmulatedCuda& cuda, const Image<std::uint8_t>& mask, int min_area) {
  const Size size = mask.size();
  const int most = most_regions(size, min_area);
  std::vector<int> scratch(planes_of_regions * std::size_t(size.width * size.height), 0x35a5a5a5);
  std::vector<Region> regions(std::size_t(most) + 1, Region{-1, 0, 0, 0, 0, 0});
  int count = 77;
  find_regions(cuda, mask.view(), min_area, scratch.data(), {&count, regions.data()});
  EXPECT_LE(count, most);
  EXPECT_EQ(regions.back().first, -1) << "written behind the list";
  std::sort(regions.begin(), regions.begin() + count,
            [](const Region& a, const Region& b) { return a.first < b.first; });
  std::vector<Box> boxes;
  for (int i = 0; i < count; ++i) {
    const Region& r = regions[std::size_t(i)];
    boxes.push_back({r.left, r.top, r.right - r.left + 1, r.bottom - r.top + 1, r.area});
  }
  return boxes;
}

TEST(EmulatedBoxKernels, FindTheRegionsOfAFloodFill) {
  for (const Size size : {Size{1, 1}, Size{1, 40}, Size{40, 1}, Size{31, 15}, Size{32, 16}, Size{33, 17},
                          Size{70, 40}, Size{101, 67}})
    for (const auto& [name, mask] : masks_of(size))
      for (const ThreadOrder order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::random}) {
        const int min_area = order == ThreadOrder::random ? 5 : 1;
        EmulatedCuda emulated(order);
        ASSERT_EQ(boxes_with(emulated, mask, min_area), boxes_by_flood_fill(mask, min_area))
            << name << ", order " << int(order) << ", at least " << min_area << " px";
      }
}

}  // namespace
}  // namespace parafield
