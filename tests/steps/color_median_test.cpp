// SPDX-License-Identifier: MIT
// The weighted median of unreliable disparities, against float64.
#include "steps/color_median/color_median.hpp"

#include <cmath>
#include <map>

#include "oracle/grid.hpp"
#include "steps/guarded.hpp"

namespace parafield {
namespace {

using Mask = GuardedImage<std::uint8_t>;
using Words = GuardedImage<std::uint32_t>;

enum class Filling { none, some, all };
const char* text_of(Filling fill) {
  return fill == Filling::none ? "none" : fill == Filling::some ? "some" : "all";
}

/// Random disparities of a range, colors and masks.
struct Input {
  Guarded disparities;
  Words colors;
  Mask valid, unsure;
  int least, most;

  Input(Size size, int low, int high, Filling valid_pixels, Filling unsure_pixels)
      : disparities(size), colors(size), valid(size), unsure(size), least(low), most(high) {
    constexpr unsigned palette[] = {0x000000, 0x6040a0, 0x6444a3,
                                    0xa5a5a5};  // two are alike, one is a guard's
    std::mt19937 random(31);
    const auto is_set = [&](Filling fill) {
      return fill == Filling::some ? random() % 4 == 0 : fill == Filling::all;
    };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        disparities.view()(x, y) = float(low + int(random() % unsigned(high - low + 1)));
        colors.view()(x, y) =
            random() % 8 ? palette[random() % 4] + random() % 8 * 0x010001 : random() & 0xffffff;
        valid.view()(x, y) = is_set(valid_pixels) ? 1 : 0;
        unsure.view()(x, y) = is_set(unsure_pixels) ? 1 : 0;
      }
  }
  Size size() { return disparities.view().size(); }
};

/// The filter on a target. Without `has_unsure` that plane is empty.
Guarded filter(const Target& target, Input& in, int side, bool has_unsure) {
  Guarded out(in.size());
  run_on(target, {&in.disparities, &in.colors, &in.valid, &in.unsure, &out},
         [&]<class Backend>(Backend& backend) {
           const View<const std::uint8_t> unsure = in.unsure.view();
           color_median(backend,
                        {in.disparities.view(), in.colors.view(), in.valid.view(),
                         has_unsure ? unsure : View<const std::uint8_t>{}, side, in.least, in.most},
                        out.view());
         });
  return out;
}

/// Largest difference of red, green or blue.
int distance(unsigned a, unsigned b) {
  int most = 0;
  for (int i = 0; i < 3; ++i, a /= 256, b /= 256)
    most = std::max(most, std::abs(int(a % 256) - int(b % 256)));
  return most;
}

/// Sum of the weights of each disparity in the window around a pixel. A weight is a gaussian of the distance,
/// whose sigma is 9/17 of the side, times exp(-difference of color / 5), times 0.3 where the neighbor is not
/// valid.
std::map<int, double> weights_around(Input& in, int side, int x, int y) {
  const double sigma = side * 9 / 17.0;
  std::map<int, double> weights;
  for (int j = -(side / 2); j <= side / 2; j += 2)
    for (int i = -(side / 2); i <= side / 2; i += 2) {
      const int px = x + i, py = y + j;
      if (px < 0 || py < 0 || px >= in.size().width || py >= in.size().height) continue;
      const int difference = distance(in.colors.view()(x, y), in.colors.view()(px, py));
      weights[int(in.disparities.view()(px, py))] +=
          std::exp(-(i * i + j * j) / (2 * sigma * sigma) - difference / 5.0) *
          (in.valid.view()(px, py) ? 1 : 0.3);
    }
  return weights;
}

/// Whether `value` is the least disparity up to which half of the weight lies, within the rounding of the
/// weights.
bool is_median(const std::map<int, double>& weights, int value) {
  constexpr double rounded = 13 * 13 * 1e-6;
  double all = 0, below = 0, up_to = 0;
  for (const auto& [disparity, weight] : weights) {
    all += weight;
    if (disparity < value) below += weight;
    if (disparity <= value) up_to += weight;
  }
  return weights.contains(value) && below < all / 2 + rounded && up_to > all / 2 - rounded;
}

class ColorMedianStep : public OnTarget {
 protected:
  void compare(Input& in, int side, bool has_unsure, const std::string& what) {
    Guarded actual = filter(GetParam(), in, side, has_unsure);
    actual.expect_intact_guard(what);
    if (sanitized) return;
    Guarded reference = filter(reference_target(), in, side, has_unsure);
    for (int y = 0; y < in.size().height; ++y)
      for (int x = 0; x < in.size().width; ++x) {
        const float value = actual.view()(x, y);
        const std::string where = what + " at (" + std::to_string(x) + ", " + std::to_string(y) + ")";
        ASSERT_EQ(value, reference.view()(x, y)) << where;
        if (in.valid.view()(x, y) && !(has_unsure && in.unsure.view()(x, y)))
          ASSERT_EQ(value, in.disparities.view()(x, y)) << where << ": should be copied";
        else
          ASSERT_TRUE(is_median(weights_around(in, side, x, y), int(value))) << where << ": " << value;
      }
  }
};

constexpr int sides[] = {5, 9, 13, 17, 21, 25};

TEST_P(ColorMedianStep, AgreesWithTheOracle) {
  for (const Size size : {Size{1, 1}, Size{1, 7}, Size{7, 1}, Size{2, 3}, Size{33, 17}, Size{64, 48}})
    for (const int side : sides) {
      const std::string what = parafield::text_of(size) + ", side " + std::to_string(side);
      for (const auto& [least, most] : {std::pair{0, 15}, std::pair{-9, 4}}) {
        if (HasFatalFailure()) return;
        Input in(size, least, most, Filling::some, Filling::none);
        compare(in, side, false, what + ", from " + std::to_string(least));
      }
    }
}

TEST_P(ColorMedianStep, FiltersWhatIsNotValidOrUnsure) {
  for (const Size size : {Size{1, 7}, Size{37, 19}})
    for (const Filling valid : {Filling::none, Filling::some, Filling::all})
      for (const Filling unsure : {Filling::none, Filling::some, Filling::all})
        for (const bool has_unsure : {false, true}) {
          Input in(size, -3, 8, valid, unsure);
          compare(in, 9, has_unsure,
                  parafield::text_of(size) + ", valid: " + text_of(valid) +
                      ", unsure: " + (has_unsure ? text_of(unsure) : "empty"));
        }
}

TEST_P(ColorMedianStep, AnyRangeOfDisparities) {
  for (const auto& [least, most] :
       {std::pair{0, 0}, std::pair{-1, 0}, std::pair{-300, -41}, std::pair{-250, 261}, std::pair{900, 1411}})
    for (const int side : {5, 25}) {
      Input in({41, 23}, least, most, Filling::some, Filling::some);
      compare(in, side, true, "from " + std::to_string(least) + " to " + std::to_string(most));
    }
}

/// Two surfaces of different colors. A wrong disparity on one is replaced by the disparity of its surface,
/// however near the other one is.
TEST_P(ColorMedianStep, PixelsTakeTheDisparityOfTheirColor) {
  constexpr Size size{40, 30};
  constexpr int edge = 19;
  for (const int side : sides) {
    Input in(size, -6, 6, Filling::all, Filling::none);
    const auto disparity = [](int x) { return x < edge ? 4.0f : -5.0f; };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const bool hole = x >= edge - 2 && x < edge + 2;
        in.colors.view()(x, y) = x < edge ? 0x2080f0 : 0xc08020;
        in.disparities.view()(x, y) = hole ? 0 : disparity(x);
        in.valid.view()(x, y) = hole ? 0 : 1;
      }
    Guarded out = filter(GetParam(), in, side, false);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        ASSERT_EQ(out.view()(x, y), disparity(x)) << "side " << side << " at (" << x << ", " << y << ")";
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ColorMedianStep, every_target(), target_name);

}  // namespace
}  // namespace parafield
