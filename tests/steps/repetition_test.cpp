// SPDX-License-Identifier: MIT
// Blocks of repeated patterns, against a plain search in float64; and whole pairs of facades.
#include "steps/repetition/repetition.hpp"

#include <cmath>
#include <cstdio>

#include "parafield/stereo.hpp"
#include "steps/guarded.hpp"

namespace parafield {
namespace {

int code_of(std::uint32_t color) {
  return int(color & 255) + 2 * int(color >> 8 & 255) + int(color >> 16 & 255);
}

int gray_of(std::uint32_t color) { return code_of(color) / 4; }

/// A plain search for repetition.
struct PlainSearch {
  View<const std::uint32_t> left, right;
  View<const float> d;
  int least, most;

  bool is_inside(int x, int y) const { return x >= 0 && y >= 0 && x < d.width && y < d.height; }

  /// Period around pixel (x, y), `side` 1: to the right, -1: to the left; 0 if there is none.
  int period(int x, int y, int side) const {
    std::vector<double> means(1, 1e30);  // of each shift
    double highest = 0;
    for (int shift = 1; shift <= most - least + 1; ++shift) {
      double sum = 0;
      int rows = 0, columns = 0;
      for (int i = -8; i <= 8; ++i) columns += is_inside(x + i, y) && is_inside(x + i + side * shift, y);
      for (int j = -8; j <= 8; j += 2) {
        rows += is_inside(x, y + j);
        for (int i = -8; i <= 8; ++i)
          if (is_inside(x + i, y + j) && is_inside(x + i + side * shift, y + j))
            sum += std::abs(gray_of(left(x + i, y + j)) - gray_of(left(x + i + side * shift, y + j)));
      }
      const double mean = columns > 8 ? sum / (rows * columns) : 1e6;
      if (shift > 2 && mean >= means.back() && means.back() <= highest / 4 && highest > 4) return shift - 1;
      if (shift > 1) highest = std::max(highest, means.back());
      means.push_back(mean);
    }
    return 0;
  }
  int difference(int x, int y, int match) const {
    const auto luma = [&](int at) { return code_of(right(std::clamp(at, 0, d.width - 1), y)); };
    const int here = 2 * luma(match), before = luma(match) + luma(match - 1),
              after = luma(match) + luma(match + 1), own = 2 * code_of(left(x, y));
    const int low = std::min({here, before, after}), high = std::max({here, before, after});
    return std::min(std::max({own - high, low - own, 0}), 240);
  }
  /// Whether disparities around pixel (x, y) match nearly as well if `shift` is added.
  bool ties(int x, int y, int shift) const {
    if (shift == 0 || d(x, y) + float(shift) < float(least) || d(x, y) + float(shift) > float(most))
      return false;
    double sum = 0, squares = 0;
    int count = 0;
    for (int j = y - 8; j <= y + 8; j += 2)
      for (int i = x - 16; i <= x + 16; ++i) {
        if (!is_inside(i, j)) continue;
        const int match = i - int(std::floor(d(i, j) + 0.5f)), other = match - shift;
        if (!is_inside(match, j) || !is_inside(other, j)) continue;
        const double more = difference(i, j, other) - difference(i, j, match);
        ++count, sum += more, squares += more * more;
      }
    if (2 * count < 33 * 9) return false;
    const double mean = sum / count, variance = std::max(squares / count - mean * mean, 0.64);
    return mean <= 0 || mean < 4 * std::sqrt(variance / count);
  }
  bool is_repeated(int x, int y) const {
    const int after = period(x, y, 1), before = period(x, y, -1);
    for (int times = 1; times <= 2; ++times)
      for (int beside = -1; beside <= 1; ++beside)
        if ((after > 0 && ties(x, y, -(times * after + beside))) ||
            (before > 0 && ties(x, y, times * before + beside)))
          return true;
    return false;
  }
};

class Repetition : public OnTarget {};

TEST_P(Repetition, AgreesWithAPlainSearch) {
  int repeated = 0, others = 0;
  for (const Size size : sizes) {
    if (size.width > 1000) continue;
    const Size blocks{(size.width + 7) / 8, (size.height + 7) / 8};
    GuardedImage<std::uint32_t> left(size), right(size);
    GuardedImage<float> d(size), confidence(size);
    GuardedImage<std::uint8_t> valid(size), flags(blocks);
    GuardedImage<std::int32_t> before(blocks), after(blocks);
    std::mt19937 random(91);
    const auto gray = [&](int x, int y) {
      const bool plain = y / 60 % 2 == 1;  // without repetition
      const unsigned window = x % 11 < 5 && y % 14 < 9 ? 60u : 140u;
      const unsigned value = plain ? (unsigned(x) * 2654435761u) >> 25 : window;
      return (value + unsigned(random() % 6)) * 0x10101u;
    };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        left.view()(x, y) = gray(x, y), right.view()(x, y) = gray(x + 7, y);
        d.view()(x, y) = 7 + float(random() % 5) / 8 + (x / 90 % 2 == 1 ? 11 : 0);
        valid.view()(x, y) = 1, confidence.view()(x, y) = x % 5 == 0 ? 1.0f : 3.0f;
      }
    constexpr int least = -3, most = 40;
    const float least_confidence = size.width % 2 == 0 ? 2.0f : 0.0f;
    const PlainSearch plain{left.view(), right.view(), d.view(), least, most};
    Image<std::uint8_t> expected(blocks);
    std::vector<int> periods;
    for (int j = 0; j < blocks.height; ++j)
      for (int i = 0; i < blocks.width; ++i) {
        const int x = std::min(8 * i + 4, size.width - 1), y = std::min(8 * j + 4, size.height - 1);
        expected(i, j) = plain.is_repeated(x, y);
        periods.push_back(plain.period(x, y, -1)), periods.push_back(plain.period(x, y, 1));
        ++(expected(i, j) ? repeated : others);
      }
    run_on(
        GetParam(), {&left, &right, &d, &confidence, &valid, &flags, &before, &after},
        [&]<class Backend>(Backend& backend) {
          backend.reserve_scratch(repetition_scratch(size.width));
          find_periods(backend, View<const std::uint32_t>(left.view()), most - least + 1,
                       RepeatedBlocks{before.view(), after.view(), flags.view()});
          find_repetition(backend, RepetitionInput{left.view(), right.view(), d.view(), least, most},
                          RepeatedBlocks{before.view(), after.view(), flags.view()});
          withhold_repeated<Backend>(backend, flags.view(), least_confidence, valid.view(),
                                     confidence.view());
        },
        1);
    for (GuardedImage<std::int32_t>* image : {&before, &after}) image->expect_intact_guard(text_of(size));
    for (GuardedImage<std::uint8_t>* image : {&valid, &flags}) image->expect_intact_guard(text_of(size));
    for (int j = 0; j < blocks.height; ++j)
      for (int i = 0; i < blocks.width; ++i) {
        const std::string at = text_of(size) + " at " + std::to_string(i) + ", " + std::to_string(j);
        const auto index = std::size_t(j * blocks.width + i);
        ASSERT_EQ(before.view()(i, j), periods[2 * index]) << at;
        ASSERT_EQ(after.view()(i, j), periods[2 * index + 1]) << at;
        ASSERT_EQ(flags.view()(i, j), expected(i, j)) << at;
      }
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        int count = 0;
        for (int j = y / 8 - 2; j <= y / 8 + 2; ++j)
          for (int i = x / 8 - 2; i <= x / 8 + 2; ++i)
            count += i >= 0 && j >= 0 && i < blocks.width && j < blocks.height && expected(i, j);
        const bool withheld = expected(x / 8, y / 8) || count >= 9;
        const float sure = x % 5 == 0 ? 1.0f : 3.0f;
        ASSERT_EQ(valid.view()(x, y), !withheld && sure >= least_confidence) << x << ", " << y;
        ASSERT_EQ(confidence.view()(x, y), withheld ? 0 : sure) << x << ", " << y;
      }
  }
  EXPECT_GT(repeated, 500);
  EXPECT_GT(others, 500);
}

/// A wall of equal windows that fills both images, at disparity 8. Only its texture tells the windows apart.
struct FacadePair {
  static constexpr Size size{240, 160};
  Image<std::uint8_t> left{size}, right{size};

  explicit FacadePair(int texture) {
    std::mt19937 random(17);
    std::vector<int> wall(std::size_t(size.width + 8) * size.height);
    for (int& value : wall) value = texture > 0 ? int(random() % unsigned(2 * texture + 1)) - texture : 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width + 8; ++x) {
        const int gray = (x % 14 < 8 && y % 21 < 12 ? 80 : 150) + wall[std::size_t(y * (size.width + 8) + x)];
        const auto noisy = [&] { return std::uint8_t(gray + int(random() % 3) + int(random() % 3) - 2); };
        if (x < size.width) left(x, y) = noisy();
        if (x >= 8) right(x - 8, y) = noisy();
      }
  }
};

TEST(RepeatedFacade, IsNotValid) {
  for (const std::string_view name : {"fast", "quality", "accurate"}) {
    if (sanitized && name != "fast") break;
    auto method = preset<BeliefPropagation<StereoEnergy>>(name);
    method.energy.disparities = 48;
    const auto shares = [&](int texture, StereoOptions options) {
      const FacadePair pair(texture);
      const auto frame = [](const Image<std::uint8_t>& image) {
        const View<const std::uint8_t> view = image.view();
        return Frame{view.data, view.width, view.height, view.pitch};
      };
      options.device = Device::cpu();
      const DisparityField found = estimate_disparity(frame(pair.left), frame(pair.right), method, options);
      double right = 0, wrong = 0;
      for (int y = 0; y < FacadePair::size.height; ++y)
        for (int x = 8; x < FacadePair::size.width; ++x)
          if (found.valid(x, y)) ++(std::abs(found.d(x, y) - 8) > 1 ? wrong : right);
      const double all = (FacadePair::size.width - 8) * FacadePair::size.height;
      std::printf("%s, texture %d: valid and right %.1f %%, wrong %.1f %%\n", name.data(), texture,
                  100 * right / all, 100 * wrong / all);
      return std::pair{right / all, wrong / all};
    };
    EXPECT_LT(shares(0, {}).second, 0.07) << name;
    EXPECT_LT(shares(0, {.min_confidence = 0}).second, 0.07) << name;
    EXPECT_GT(shares(12, {}).first, 0.8) << name << ": texture tells the windows apart";
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Repetition, every_target(), target_name);

}  // namespace
}  // namespace parafield
