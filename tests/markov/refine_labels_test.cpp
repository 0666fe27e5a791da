// SPDX-License-Identifier: MIT
// Disparities refined from the data costs around labels, against float64.
#include <cmath>

#include "markov/values/values.hpp"
#include "oracle/surfaces.hpp"
#include "steps/guarded.hpp"

namespace parafield {
namespace {

class RefineLabels : public OnTarget {};

TEST_P(RefineLabels, AgreesWithTheOracle) {
  for (const Size size : sizes) {
    GuardedImage<Label> labels(size);
    Guarded before(size), middle(size), after(size), fine(oracle::sampled(size)),
        certainty(oracle::sampled(size)), whole(size);
    std::mt19937 random(81);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        labels.view()(x, y) = Label(3 + x / 7 + (random() % 6 ? 0 : 1));
        const int least = int(random() % 200);
        middle.view()(x, y) = float(least) / 8;
        before.view()(x, y) = float(least + int(random() % 100) - 10) / 8;
        after.view()(x, y) = float(least + int(random() % 100) - 10) / 8;
      }
    constexpr LabelGrid grid{.nx = 256, .x0 = -2};
    run_on(GetParam(), {&labels, &before, &middle, &after, &fine, &certainty, &whole},
           [&]<class Backend>(Backend& backend) {
             const CostsAround costs{middle.view(), before.view(), after.view()};
             label_values(backend, Values{labels.view(), costs, {}, grid}, whole.view(), {}, {},
                          {fine.view(), certainty.view()});
           });
    for (Guarded* image : {&fine, &certainty, &whole}) image->expect_intact_guard(text_of(size));
    const oracle::Grid disparities =
        oracle::tabulate(size, [&](int x, int y) { return labels.view()(x, y) - 2.0; });
    const auto rise = [&](int x, int y, int side) {
      return double((side < 0 ? before : after).view()(x, y)) - middle.view()(x, y);
    };
    for (int j = 0; j < fine.view().height; ++j)
      for (int i = 0; i < fine.view().width; ++i) {
        const oracle::CostRises rises = oracle::rises_around(disparities, 2 * i, 2 * j, rise);
        const std::string at = text_of(size) + " at " + std::to_string(i) + ", " + std::to_string(j);
        ASSERT_NEAR(fine.view()(i, j), disparities(2 * i, 2 * j) + rises.offset(), 1e-4) << at;
        ASSERT_NEAR(certainty.view()(i, j), rises.mean(), 1e-4) << at;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RefineLabels, every_target(), target_name);

}  // namespace
}  // namespace parafield
