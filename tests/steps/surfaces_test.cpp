// SPDX-License-Identifier: MIT
// Planes through refined disparities, against float64.
#include "steps/surfaces/surfaces.hpp"

#include <cmath>

#include "oracle/surfaces.hpp"
#include "steps/guarded.hpp"

namespace parafield {
namespace {

using oracle::Grid;

/// Slanted surfaces with noise, and some pixels that are far off or not valid.
struct SurfaceInput {
  Guarded whole, fine, trust, luma, certainty, d, slope_x, slope_y, out;
  GuardedImage<std::uint8_t> valid;
  GuardedImage<std::uint32_t> colors;

  explicit SurfaceInput(Size size)
      : whole(size),
        fine(sampled(size)),
        trust(sampled(size)),
        luma(sampled(size)),
        certainty(sampled(size)),
        d(sampled(size)),
        slope_x(sampled(size)),
        slope_y(sampled(size)),
        out(size),
        valid(size),
        colors(size) {
    std::mt19937 random(71);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const bool near = (x / 20 + y / 15) % 2 == 1;
        const bool folded = y >= 200;
        const double plane = folded ? 20 + 1.5 * std::sin(x * 6.283 / 45)
                             : near ? 12 + 0.1 * x - 0.05 * y
                                    : 4 + 0.02 * x;
        whole.view()(x, y) = float(std::round(plane) + (random() % 20 ? 0 : int(random() % 9) - 4));
        valid.view()(x, y) = random() % 8 ? 1 : 0;
        const unsigned gray = (near ? 100 : 120) + random() % 8;
        colors.view()(x, y) = gray | (gray + 3) << 8 | (random() % 9 ? gray : random() % 256) << 16;
        if (x % 2 || y % 2) continue;
        const double noisy = plane + double(random() % 64) / 128 - 0.25;
        fine.view()(x / 2, y / 2) = float(std::round(64 * noisy) / 64);  // whole steps
        certainty.view()(x / 2, y / 2) = float(random() % (folded ? 64 : 16)) / 4;
      }
  }
  Size size() { return whole.view().size(); }

  void run(const Target& target) {
    run_on(
        target, {&whole, &fine, &trust, &luma, &certainty, &d, &slope_x, &slope_y, &out, &valid, &colors},
        [&]<class Backend>(Backend& backend) {
          const DisparitySamples samples{fine.view(), trust.view(), luma.view(), certainty.view()};
          const Surfaces surfaces{d.view(), slope_x.view(), slope_y.view()};
          sample_disparities<Backend>(backend, whole.view(), valid.view(), colors.view(), samples);
          fit_surfaces(backend, samples, surfaces);
          take_surfaces<Backend>(backend, whole.view(), valid.view(), surfaces, -1000, 1000, out.view());
        },
        1);
  }
};

class SurfacesOn : public OnTarget {};

TEST_P(SurfacesOn, AgreesWithTheOracle) {
  for (const Size size : sizes) {
    SurfaceInput input(size);
    const Grid fine = oracle::grid_of(input.fine.view());
    input.run(GetParam());
    for (Guarded* image : {&input.fine, &input.trust, &input.luma, &input.certainty, &input.d, &input.slope_x,
                           &input.slope_y, &input.out})
      image->expect_intact_guard(text_of(size));

    oracle::Surfaces expected;
    const Size count = oracle::sampled(size);
    expected.d = oracle::tabulate(count, [&](int i, int j) {
      const double whole = input.whole.view()(2 * i, 2 * j);
      return input.valid.view()(2 * i, 2 * j) && std::abs(fine(i, j) - whole) <= 0.5 ? fine(i, j) : whole;
    });
    expected.certainty = oracle::grid_of(input.certainty.view());
    expected.trust = oracle::tabulate(count, [&](int i, int j) {
      return oracle::trust_of(input.valid.view()(2 * i, 2 * j) != 0, expected.certainty(i, j));
    });
    expected.luma = oracle::tabulate(count, [&](int i, int j) {
      const unsigned color = input.colors.view()(2 * i, 2 * j);
      return ((color & 255) + 2 * (color >> 8 & 255) + (color >> 16 & 255)) / 4.0;
    });
    expected.fit();
    for (int j = 0; j < count.height; ++j)
      for (int i = 0; i < count.width; ++i) {
        const std::string at = text_of(size) + " at " + std::to_string(i) + ", " + std::to_string(j);
        ASSERT_EQ(input.fine.view()(i, j), float(expected.d(i, j))) << at;
        ASSERT_EQ(input.trust.view()(i, j), float(expected.trust(i, j))) << at;
        ASSERT_EQ(input.luma.view()(i, j), float(expected.luma(i, j))) << at;
        ASSERT_NEAR(input.d.view()(i, j), expected.value(i, j), 2e-5) << at;
        ASSERT_NEAR(input.slope_x.view()(i, j), expected.slope_x(i, j), 2e-5) << at;
        ASSERT_NEAR(input.slope_y.view()(i, j), expected.slope_y(i, j), 2e-5) << at;
      }
    int skipped = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const std::string at = text_of(size) + " at " + std::to_string(x) + ", " + std::to_string(y);
        const double whole = input.whole.view()(x, y);
        const auto [offset, is_certain] = expected.offset(x, y, whole, 1e-4);
        const bool valid = input.valid.view()(x, y) != 0;
        if (valid && !is_certain) {  // rounding decides
          ++skipped;
          continue;
        }
        ASSERT_NEAR(input.out.view()(x, y), whole + (valid ? offset : 0), 1e-4) << at;
      }
    EXPECT_LE(skipped, size.width * size.height / 10) << text_of(size);
    if (sanitized) continue;
    SurfaceInput reference(size);
    reference.run(reference_target());
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        ASSERT_EQ(input.out.view()(x, y), reference.out.view()(x, y))
            << text_of(size) << " at " << x << ", " << y;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SurfacesOn, every_target(), target_name);

}  // namespace
}  // namespace parafield
