// SPDX-License-Identifier: MIT
// Slopes of the coarse levels of belief propagation, and the weights and colors of coarser levels, against
// float64.
#include "markov/slopes/slopes.hpp"

#include <cmath>

#include "markov/planes/planes.hpp"
#include "oracle/slopes.hpp"
#include "steps/guarded.hpp"

namespace parafield {
namespace {

class SlopeSteps : public OnTarget {};

/// Labels of a level: planes of different slopes with some outliers, and colors.
struct RandomLevel {
  GuardedImage<Label> labels;
  Guarded middle, before, after, margin;
  GuardedImage<std::uint32_t> color;

  RandomLevel(Size size, unsigned seed)
      : labels(size), middle(size), before(size), after(size), margin(size), color(size) {
    std::mt19937 random(seed);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const double slope = x % 40 < 20 ? 0.7 : -0.3;
        const double d = 60 + slope * (x % 20) + 0.4 * (y % 30);
        labels.view()(x, y) = Label(random() % 8 ? int(d) : int(d) + int(random() % 17) - 8);
        const int least = int(random() % 100);
        middle.view()(x, y) = float(least) / 8;
        before.view()(x, y) = float(least + int(random() % 100) - 5) / 8;
        after.view()(x, y) = float(least + int(random() % 100) - 5) / 8;
        margin.view()(x, y) = random() % 50 ? float(random() % 64) / 8 : most_margin;
        color.view()(x, y) = std::uint32_t(100 + x % 20 / 10 * 12 + random() % 8) |
                             std::uint32_t(100 + random() % 8) << 8 | std::uint32_t(90 + random() % 8) << 16;
      }
  }
  LevelLabels level(int level) {
    return {labels.view(),
            {.middle = middle.view(),
             .before_x = before.view(),
             .after_x = after.view(),
             .margin = margin.view()},
            color.view(),
            level};
  }
  oracle::SlopeLevel expected(int level) {
    const Size size = labels.view().size();
    oracle::SlopeLevel of;
    of.level = level;
    of.d = oracle::tabulate(size, [&](int x, int y) {
      const double rise_before = double(before.view()(x, y)) - middle.view()(x, y),
                   rise_after = double(after.view()(x, y)) - middle.view()(x, y),
                   most = std::max(rise_before, rise_after);
      const double offset =
          std::min(rise_before, rise_after) >= 0 && most > 0 ? (rise_before - rise_after) / most / 2 : 0;
      return labels.view()(x, y) + (std::abs(offset) < 0.08 ? 0 : offset);
    });
    of.trust = oracle::tabulate(
        size, [&](int x, int y) { return std::clamp(margin.view()(x, y) / (0.5 * (1 << level)), 0.1, 1.0); });
    for (std::size_t i = 0; i < 3; ++i)
      of.color[i] =
          oracle::tabulate(size, [&](int x, int y) { return double(color.view()(x, y) >> (8 * i) & 255); });
    of.fit();
    return of;
  }
};

TEST_P(SlopeSteps, PlanesAgreeWithTheOracle) {
  int certain = 0, all = 0;
  for (const Size size : sizes)
    for (int level = 1; level <= coarsest_sloped; ++level) {
      if (size.width * size.height > 20000) continue;
      RandomLevel of(size, unsigned(level));
      Guarded slope_x(size), slope_y(size), right(size), down(size);
      const Size room = padded(size);
      Guarded d(room), trust(room);
      GuardedImage<std::uint32_t> color(room);
      run_on(GetParam(),
             {&of.labels, &of.middle, &of.before, &of.after, &of.margin, &of.color, &slope_x, &slope_y,
              &right, &down, &d, &trust, &color},
             [&]<class Backend>(Backend& backend) {
               find_rises<Backend>(backend, of.level(level), {d.view(), trust.view(), color.view()},
                                   {slope_x.view(), slope_y.view()}, false, level,
                                   {right.view(), down.view()});
             });
      slope_x.expect_intact_guard(text_of(size)), slope_y.expect_intact_guard(text_of(size));
      const oracle::SlopeLevel expected = of.expected(level);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          ++all;
          if (expected.is_certain(x, y) == 0) continue;
          ++certain;
          ASSERT_NEAR(slope_x.view()(x, y), expected.slope_x(x, y), 2e-4)
              << text_of(size) << ", level " << level << " at " << x << ", " << y;
          ASSERT_NEAR(slope_y.view()(x, y), expected.slope_y(x, y), 2e-4)
              << text_of(size) << ", level " << level << " at " << x << ", " << y;
        }
    }
  EXPECT_GT(certain, all * 0.8);
}

TEST_P(SlopeSteps, RisesAgreeWithTheOracle) {
  for (const Size size : sizes)
    for (const bool finer : {false, true})
      for (int level = 0; level <= coarsest_sloped; ++level) {
        if (size.width * size.height > 20000) continue;
        const Size of = finer ? Size{(size.width + 1) / 2, (size.height + 1) / 2} : size;
        RandomLevel labels(of, unsigned(level));
        Guarded slope_x(of), slope_y(of), right(size), down(size), d(padded(of)), trust(padded(of));
        GuardedImage<std::uint32_t> color(padded(of));
        run_on(GetParam(),
               {&labels.labels, &labels.middle, &labels.before, &labels.after, &labels.margin, &labels.color,
                &slope_x, &slope_y, &right, &down, &d, &trust, &color},
               [&]<class Backend>(Backend& backend) {
                 find_rises<Backend>(backend, labels.level(level + finer),
                                     {d.view(), trust.view(), color.view()}, {slope_x.view(), slope_y.view()},
                                     finer, level, {right.view(), down.view()});
               });
        right.expect_intact_guard(text_of(size)), down.expect_intact_guard(text_of(size));
        const oracle::Grid a = oracle::grid_of(slope_x.view()), b = oracle::grid_of(slope_y.view());
        const int shift = finer;
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            const auto expected = [&](const oracle::Grid& slope, int px, int py) {
              return oracle::SlopeLevel::rise(slope(x >> shift, y >> shift), slope(px >> shift, py >> shift),
                                              level, finer);
            };
            if (x + 1 < size.width) {
              ASSERT_NEAR(right.view()(x, y), expected(a, x + 1, y), 1e-5);
            }
            if (y + 1 < size.height) {
              ASSERT_NEAR(down.view()(x, y), expected(b, x, y + 1), 1e-5);
            }
          }
      }
}

/// An edge of the image inside a coarse pixel weakens the coarse edges beside it, and colors are means.
TEST_P(SlopeSteps, CoarserLevelsKeepEdges) {
  for (const Size size : sizes)
    for (const CoarseEdges edges : {CoarseEdges::crossed, CoarseEdges::kept}) {
      const Size half{(size.width + 1) / 2, (size.height + 1) / 2};
      Guarded fine[2] = {{size, 1}, {size, 2}}, coarse[2] = {Guarded(half), Guarded(half)};
      GuardedImage<std::uint32_t> fine_color(size), color(half);
      std::mt19937 random(3);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) fine_color.view()(x, y) = std::uint32_t(random()) & 0xffffffu;
      run_on(GetParam(), {&fine[0], &fine[1], &coarse[0], &coarse[1], &fine_color, &color},
             [&]<class Backend>(Backend& backend) {
               PropagationLevel<float> from{.width = size.width, .height = size.height},
                   to{.width = half.width, .height = half.height};
               for (int j = 0; j < 2; ++j) {
                 from.weights.plain[j] = from.weights.used[j] = fine[j].view();
                 to.weights.plain[j] = to.weights.used[j] = coarse[j].view();
               }
               from.weights.color = fine_color.view(), to.weights.color = color.view();
               find_coarser<Backend, float>(backend, {}, from,
                                            {.level = {to}, .color = {color.view()}, .edges = edges});
             });
      color.expect_intact_guard(text_of(size));
      for (int j = 0; j < 2; ++j) {
        coarse[j].expect_intact_guard(text_of(size));
        const oracle::Grid weights = oracle::grid_of(fine[j].view());
        const int dx = j == 0, dy = j == 1;
        // Least weight of the edges from pixel (x, y) to the next ones along the axis, of those that exist.
        const auto least = [&](int x, int y) {
          double value = weights(x, y);
          for (const int step : {-1, 1}) {
            const int px = x + step * dx, py = y + step * dy;
            if (edges == CoarseEdges::crossed || px < 0 || py < 0) continue;
            if (px + dx >= size.width || py + dy >= size.height) continue;
            value = std::min(value, weights(px, py));
          }
          return value;
        };
        for (int y = 0; y + dy < half.height; ++y)
          for (int x = 0; x + dx < half.width; ++x) {
            const int x0 = 2 * x + dx, y0 = 2 * y + dy;
            const int x1 = std::min(x0 + dy, size.width - 1), y1 = std::min(y0 + dx, size.height - 1);
            ASSERT_EQ(coarse[j].view()(x, y), float((least(x0, y0) + least(x1, y1)) / 2))
                << text_of(size) << " at " << x << ", " << y << ", direction " << j;
          }
      }
      for (int y = 0; y < half.height; ++y)
        for (int x = 0; x < half.width; ++x)
          for (int i = 0; i < 24; i += 8) {
            unsigned sum = 0;
            for (const int py : {2 * y, std::min(2 * y + 1, size.height - 1)})
              for (const int px : {2 * x, std::min(2 * x + 1, size.width - 1)})
                sum += fine_color.view()(px, py) >> i & 255;
            ASSERT_EQ(color.view()(x, y) >> i & 255, (sum + 2) / 4);
          }
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, SlopeSteps, every_target(), target_name);

}  // namespace
}  // namespace parafield
