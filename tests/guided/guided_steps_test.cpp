// SPDX-License-Identifier: MIT
// Steps of direct interpolation on every target: they agree with plain loops, have the bits of the reference
// target, and write nothing outside the result.
#include <functional>

#include "guided/color_test/color_test.hpp"
#include "guided/features/tracks.hpp"
#include "guided/support/features.hpp"
#include "guided/tracks_on.hpp"
#include "noise.hpp"
#include "not_finite.hpp"
#include "oracle/direct_interpolation.hpp"
#include "parity.hpp"
#include "steps/colors/colors.hpp"
#include "steps/guarded_colors.hpp"

namespace parafield {
namespace {

constexpr Size step_sizes[] = {{1, 1}, {1, 9}, {9, 1}, {2, 3}, {7, 5}, {33, 17}, {101, 67}, {300, 20}};

std::vector<Movable*> movable(std::vector<Guarded>& images) {
  std::vector<Movable*> list;
  for (Guarded& image : images) list.push_back(&image);
  return list;
}

oracle::Rgb grids_of(std::vector<Guarded>& images, std::size_t first) {
  return {oracle::grid_of(images[first].view()), oracle::grid_of(images[first + 1].view()),
          oracle::grid_of(images[first + 2].view())};
}

/// Random flow of up to 4 px, not finite here and there if `gaps`.
void fill_flow(Guarded& image, unsigned seed, bool gaps = true) {
  std::mt19937 random(seed);
  const Size size = image.view().size();
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      image.view()(x, y) = gaps && random() % 50 == 0 ? nan : float(random() % 1024) / 128 - 4;
}

class GuidedSteps : public OnTarget {
 protected:
  /// Expects the images that make(target) returns, in host memory, to have the bits of the reference target.
  static std::vector<Guarded> like_reference(const std::function<std::vector<Guarded>(const Target&)>& make,
                                             const std::string& what) {
    std::vector<Guarded> expected = make(reference_target()), actual = make(GetParam());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      actual[i].expect_intact_guard(what);
      expect_same<float>(expected[i].view(), actual[i].view(), "image", what + ", " + std::to_string(i));
    }
    return actual;
  }
};

TEST_P(GuidedSteps, TestColors) {
  const Homography rotation{{0.99f, -0.03f, 1.5f, 0.02f, 1.01f, -0.8f, 1e-4f, 2e-4f, 1}};
  constexpr float threshold = 80;  // random colors differ by that much about as often as not
  for (const Size size : step_sizes)
    for (const int window : {1, 3, 5})
      for (const bool rotates : {false, true}) {
        const std::string what =
            text_of(size) + ", window " + std::to_string(window) + (rotates ? ", the camera rotates" : "");
        const auto inputs = [&] {  // frames, flow
          std::vector<Guarded> images;
          for (unsigned i = 0; i < 6; ++i) images.emplace_back(size, 20 + i);
          for (unsigned i = 0; i < 2; ++i) fill_flow(images.emplace_back(size), 30 + i);
          if (size.width > 50) images[1].view()(40, size.height / 2) = nan;
          return images;
        };
        std::vector<Guarded> before = inputs();
        const auto make = [&](const Target& target) {  // the same, and where the flow is valid
          std::vector<Guarded> images = inputs();
          GuardedImage<std::uint8_t> valid(size);
          Guarded values({9, 1});
          std::memcpy(values.view().data, rotation.h, sizeof rotation.h);
          GuardedColors frame0(&images[0]), frame1(&images[3]);
          run_on(
              target, {&frame0, &frame1, &images[6], &images[7], &valid, &values},
              [&]<class Backend>(Backend& backend) {
                const auto* there = reinterpret_cast<const Homography*>(values.view().data);
                test_colors<Backend>(backend,
                                     {frame0.view(), frame1.view(), threshold, window,
                                      rotates ? there : nullptr, valid.view()},
                                     {images[6].view(), images[7].view()});
              },
              1);
          valid.expect_intact_guard(what);
          Guarded& passed = images.emplace_back(size);
          for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x) passed.view()(x, y) = float(valid.view()(x, y));
          return images;
        };
        std::vector<Guarded> result = like_reference(make, what);
        if (HasFatalFailure()) return;
        const oracle::Rgb frame0 = grids_of(before, 0), frame1 = grids_of(before, 3);
        const auto passes = [&](int x, int y, double u, double v) {  // -1: too close to say
          const double off = oracle::difference(frame0, frame1, window, x, y, u, v);
          return std::abs(off - threshold) < 0.02 ? -1 : off < threshold ? 1 : 0;
        };
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            double u = before[6].view()(x, y), v = before[7].view()(x, y);
            const float* const h = rotation.h;
            const double w = h[6] * x + h[7] * y + h[8], rotation_u = (h[0] * x + h[1] * y + h[2]) / w - x,
                         rotation_v = (h[3] * x + h[4] * y + h[5]) / w - y;
            const int first = passes(x, y, u, v), second = rotates ? passes(x, y, rotation_u, rotation_v) : 0;
            if (first < 0 || second < 0) continue;
            ASSERT_EQ(result[8].view()(x, y), first || second) << what << " at " << x << ", " << y;
            if (!first && second) u = rotation_u, v = rotation_v;
            ASSERT_NEAR(result[6].view()(x, y), std::isnan(u) ? 0 : u, 1e-4) << what;
            ASSERT_NEAR(result[7].view()(x, y), std::isnan(v) ? 0 : v, 1e-4) << what;
          }
      }
}

TEST_P(GuidedSteps, KeepBetter) {
  for (const Size size : step_sizes) {
    const std::string what = text_of(size);
    const auto inputs = [&] {  // two frames, flow, candidates, room
      std::vector<Guarded> images;
      for (unsigned i = 0; i < 2; ++i) images.emplace_back(size, 40 + i);
      for (unsigned i = 0; i < 4; ++i) fill_flow(images.emplace_back(size), 50 + i, i >= 2);
      if (size.width > 8) images[0].view()(4, size.height / 2) = nan;
      images.emplace_back(size);
      return images;
    };
    std::vector<Guarded> before = inputs();
    const auto make = [&](const Target& target) {
      std::vector<Guarded> images = inputs();
      run_on(
          target, movable(images),
          [&]<class Backend>(Backend& backend) {
            keep_better<Backend>(backend, images[0].view(), images[1].view(),
                                 {images[4].view(), images[5].view()}, images[6].view(),
                                 {images[2].view(), images[3].view()});
          },
          1);
      return images;
    };
    std::vector<Guarded> result = like_reference(make, what);
    if (HasFatalFailure()) return;
    const oracle::Grid frame0 = oracle::grid_of(before[0].view()), frame1 = oracle::grid_of(before[1].view());
    const oracle::Grid gain = oracle::tabulate(size, [&](int x, int y) {
      const auto off = [&](std::size_t i) {
        const double u = before[i].view()(x, y), v = before[i + 1].view()(x, y);
        if (std::isnan(u + v)) return double(nan);
        return std::abs(oracle::bilinear(frame1, x + u, y + v) - frame0(x, y));
      };
      const double value = off(2) - off(4);
      const bool stays = oracle::inside(size, x + before[4].view()(x, y), y + before[5].view()(x, y));
      return stays && std::isfinite(value) ? value : 0;
    });
    int kept = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        double sum = 0;
        for (int j = std::max(y - 2, 0); j <= std::min(y + 2, size.height - 1); ++j)
          for (int i = std::max(x - 2, 0); i <= std::min(x + 2, size.width - 1); ++i) sum += gain(i, j);
        if (std::abs(sum) < 0.02 && sum != 0) continue;
        for (std::size_t i : {2, 3})
          expect_same<float>(View<const float>{&result[i].view()(x, y), 1, 1},
                             View<const float>{&before[sum > 0 ? i + 2 : i].view()(x, y), 1, 1}, "flow",
                             what);
        if (HasFatalFailure()) return;
        kept += sum > 0;
      }
    EXPECT_TRUE(size.width < 33 || kept > size.width * size.height / 4) << what;
  }
}

TEST_P(GuidedSteps, ResampleTracks) {
  for (const Size size : step_sizes)
    for (const int count : {1, 7, 60, 100000})
      for (const unsigned sparse : {1u, 3u, 40u}) {
        const std::string what =
            text_of(size) + ", " + std::to_string(count) + " cells, one of " + std::to_string(sparse);
        const FeatureGrid grid = feature_grid_of(size, count);
        GuardedImage<std::uint8_t> valid(size);
        std::mt19937 random(9);
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) valid.view()(x, y) = random() % sparse == 0;
        const auto make = [&](const Target& target) {
          std::vector<Guarded> images;
          for (unsigned i = 0; i < 2; ++i) images.emplace_back(size, 60 + i);
          images.emplace_back(Size{4 * grid.count(), 1});
          std::vector<Movable*> all = movable(images);
          all.push_back(&valid);
          run_on(target, all, [&]<class Backend>(Backend& backend) {
            resample_tracks<Backend>(backend, {images[0].view(), images[1].view()}, valid.view(), grid,
                                     reinterpret_cast<Track*>(images[2].view().data));
          });
          return images;
        };
        std::vector<Guarded> result = like_reference(make, what);
        if (HasFatalFailure()) return;
        for (int row = 0; row < grid.rows; ++row)
          for (int column = 0; column < grid.columns; ++column) {
            const float* const track = &result[2].view()(4 * (row * grid.columns + column), 0);
            const auto distance = [&](double x, double y) {
              return std::hypot(x - grid.center_x(column), y - grid.center_y(row));
            };
            double nearest = INFINITY;
            int first_x = 0, first_y = 0;
            for (int y = grid.first_y(row); y < grid.first_y(row + 1); ++y)
              for (int x = grid.first_x(column); x < grid.first_x(column + 1); ++x)
                if (valid.view()(x, y) && distance(x, y) < nearest - 1e-4)
                  nearest = distance(x, y), first_x = x, first_y = y;
            if (nearest == INFINITY) {
              for (int i = 0; i < 4; ++i) ASSERT_TRUE(std::isnan(track[i])) << what;
              continue;
            }
            ASSERT_NEAR(distance(track[0], track[1]), nearest, 1e-3) << what;
            if (sparse == 40) continue;
            // The first of equal candidates is taken, for centers at whole and at half pixels.
            if (size.width % (2 * grid.columns) == 0 && size.height % (2 * grid.rows) == 0) {
              ASSERT_EQ(track[0], float(first_x)) << what;
              ASSERT_EQ(track[1], float(first_y)) << what;
            }
            ASSERT_EQ(track[2], result[0].view()(int(track[0]), int(track[1]))) << what;
            ASSERT_EQ(track[3], result[1].view()(int(track[0]), int(track[1]))) << what;
          }
      }
}

INSTANTIATE_TEST_SUITE_P(Targets, GuidedSteps, every_target(), target_name);

}  // namespace
}  // namespace parafield
