// SPDX-License-Identifier: MIT
// Pixels that are not valid, filled from their rows.
#include "steps/fill/fill.hpp"

#include "steps/guarded.hpp"

namespace parafield {
namespace {

using Mask = GuardedImage<std::uint8_t>;

/// A random mask with one in `one_in` pixels valid; 0 = none.
Mask mask_of(Size size, unsigned one_in) {
  Mask valid(size);
  std::mt19937 random(19 + one_in);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) valid.view()(x, y) = one_in && random() % one_in == 0;
  return valid;
}

/// An image of small integers, many of them equal.
Guarded plane_of(Size size, unsigned seed) {
  Guarded image(size);
  std::mt19937 random(seed);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) image.view()(x, y) = float(random() % 9) - 4;
  return image;
}

/// The column from which pixel (x, y) is filled; take_right(left, right) chooses between two.
template <class TakeRight>
int expected_source(View<const std::uint8_t> valid, int x, int y, TakeRight take_right) {
  if (valid(x, y)) return x;
  int left = x, right = x;
  while (left >= 0 && !valid(left, y)) --left;
  while (right < valid.width && !valid(right, y)) ++right;
  if (left < 0 && right == valid.width) return x;
  if (left < 0) return right;
  if (right == valid.width) return left;
  return take_right(left, right) ? right : left;
}

class Fill : public OnTarget {
 protected:
  /// Fills `planes` on the target and compares them with the plain loop.
  template <class Steps, class TakeRight>
  void expect_filled(std::vector<Guarded>& planes, Mask& valid, const std::string& what, Steps steps,
                     TakeRight take_right) {
    const Size size = valid.view().size();
    std::vector<Image<float>> before;
    for (Guarded& plane : planes) {
      before.emplace_back(size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) before.back()(x, y) = plane.view()(x, y);
    }
    std::vector<Movable*> images{&valid};
    for (Guarded& plane : planes) images.push_back(&plane);
    run_on(GetParam(), images, steps);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const int source = expected_source(
            valid.view(), x, y, [&](int left, int right) { return take_right(before, left, right, y); });
        for (std::size_t i = 0; i < planes.size(); ++i)
          ASSERT_EQ(planes[i].view()(x, y), before[i](source, y))
              << what << " at (" << x << ", " << y << ") from column " << source;
      }
    for (Guarded& plane : planes) plane.expect_intact_guard(what);
    valid.expect_intact_guard(what);
  }
};

constexpr unsigned densities[] = {0, 1, 2, 5, 40, 300, 2000};

/// The sizes for all steps, and rows whose next valid pixel is thousands of pixels away.
std::vector<Size> sizes_to_fill() {
  std::vector<Size> all(std::begin(sizes), std::end(sizes));
  all.push_back({5000, 3});
  return all;
}

TEST_P(Fill, DisparitiesTakeTheSmallerNeighbor) {
  for (const Size size : sizes_to_fill())
    for (const unsigned one_in : densities) {
      std::vector<Guarded> planes;
      planes.push_back(plane_of(size, 23));
      Mask valid = mask_of(size, one_in);
      expect_filled(
          planes, valid, text_of(size) + ", valid 1 in " + std::to_string(one_in),
          [&]<class Backend>(Backend& backend) { fill_from_row(backend, planes[0].view(), valid.view()); },
          [](auto& d, int left, int right, int y) { return d[0](right, y) < d[0](left, y); });
      if (HasFatalFailure()) return;
    }
}

TEST_P(Fill, FlowTakesTheShorterNeighbor) {
  for (const Size size : sizes_to_fill())
    for (const unsigned one_in : densities) {
      std::vector<Guarded> planes;
      planes.push_back(plane_of(size, 29));
      planes.push_back(plane_of(size, 31));
      Mask valid = mask_of(size, one_in);
      expect_filled(
          planes, valid, text_of(size) + ", valid 1 in " + std::to_string(one_in),
          [&]<class Backend>(Backend& backend) {
            fill_from_row(backend, FlowPlanes{planes[0].view(), planes[1].view()}, valid.view());
          },
          [](auto& flow, int left, int right, int y) {
            const auto length2 = [&](int x) {
              return flow[0](x, y) * flow[0](x, y) + flow[1](x, y) * flow[1](x, y);
            };
            return length2(right) < length2(left);
          });
      if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, Fill, every_target(), target_name);

}  // namespace
}  // namespace parafield
