// SPDX-License-Identifier: MIT
// The variational refinement against float64.
#include <string>

#include "oracle/refinement.hpp"
#include "parafield/parafield.hpp"
#include "random_method.hpp"
#include "steps/variational_on.hpp"
#include "tolerance.hpp"

namespace parafield {
namespace {

constexpr Size refined_sizes[] = {{1, 1}, {1, 40}, {40, 1},  {2, 3},  {5, 7},
                                  {8, 8}, {17, 9}, {33, 21}, {90, 61}};

class RefinementOracle : public OnTarget {
 protected:
  static void expect_agreement(const RefinementCase& c, const VariationalRefinement& parameters,
                               const Tolerance& tolerance) {
    const RefinedValues found = refined_on(GetParam(), c, parameters);
    const auto grid = [&](const std::vector<float>& values) {
      return oracle::tabulate(c.size, [&](int x, int y) { return double(values[c.at(x, y)]); });
    };
    const oracle::Flow back =
        c.back_u.empty() ? oracle::Flow{} : oracle::Flow{grid(c.back_u), grid(c.back_v)};
    const oracle::Flow expected = oracle::refined_flow(c.frame(0), c.frame(1), {grid(c.u), grid(c.v)},
                                                       c.back_u.empty() ? nullptr : &back, parameters);
    std::vector<double> differences;
    for (std::size_t i = 0; i < found.u.size(); ++i)
      differences.push_back(std::hypot(found.u[i] - expected.u.values[i], found.v[i] - expected.v.values[i]));
    expect_within(differences, tolerance);
  }

  /// Random textures of every size, with and without flow back.
  static void expect_agreement(VariationalRefinement parameters, const Tolerance& tolerance) {
    unsigned seed = 1;
    for (const RefineData data : {RefineData::luma, RefineData::color})
      for (const Size size : refined_sizes)
        for (const bool back : {false, true})
          for (const float error : {0.02f, 0.3f}) {
            parameters.refine_data = data;
            SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " seed " << seed
                                            << (back ? " with back, " : ", ") << described(parameters));
            expect_agreement(RefinementCase(size, seed++, error, back), parameters, tolerance);
          }
  }
};

TEST_P(RefinementOracle, AgreesAfterOneWarp) {
  expect_agreement({.refine = 1, .refine_sweeps = 8, .refine_median = 0}, {});
}

TEST_P(RefinementOracle, AgreesAfterTwoWarps) {
  expect_agreement({.refine = 2, .refine_sweeps = 8, .refine_median = 0}, {.median = 3e-5});
}

TEST_P(RefinementOracle, AgreesWithOtherParameters) {
  unsigned seed = 100;
  for (const int sweeps : {1, 2, 5, 6, 23})
    for (const float smoothness : {0.1f, 3.0f, 200.0f})
      for (const RefineData data : {RefineData::luma, RefineData::color}) {
        const VariationalRefinement parameters{.refine = 1,
                                               .refine_sweeps = sweeps,
                                               .refine_data = data,
                                               .refine_median = 0,
                                               .refine_smoothness = smoothness};
        SCOPED_TRACE(described(parameters));
        ++seed;
        expect_agreement(RefinementCase({70, 37}, seed - 1, 0.1f, seed % 2), parameters, {});
      }
}

/// The median is rounded to 1/256 px, and if half of the weight is nearly reached it may take the next
/// sample.
TEST_P(RefinementOracle, AgreesWithMedians) {
  for (const int warps : {1, 2, 3})
    for (const int between : {1, 2})
      expect_agreement({.refine = warps, .refine_median = between},
                       {.median = 0.002, .percentile99 = 0.02, .largest = 1.5});
}

TEST_P(RefinementOracle, AgreesOnRenderedScenes) {
  for (const char* name : {"layers", "rotation", "pole"}) {
    const Size size{101, 67};
    const Scene scene = render_scene(name, {.size = size, .color = true});
    const FlowField start = estimate_flow(scene.frames[0], scene.frames[1], preset<AdaptiveRidge>("fastest"),
                                          {.device = Device::cpu(1)});
    RefinementCase c(size, 1, 0, false);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        c.u[c.at(x, y)] = start.u(x, y), c.v[c.at(x, y)] = start.v(x, y);
        for (int i = 0; i < 2; ++i)
          for (int channel = 0; channel < 3; ++channel)
            c.frames[i][3 * c.at(x, y) + std::size_t(channel)] =
                static_cast<const std::uint8_t*>(scene.frames[std::size_t(i)].row(y))[3 * x + channel];
      }
    for (const RefineData data : {RefineData::luma, RefineData::color}) {
      SCOPED_TRACE(testing::Message() << name << " " << int(data));
      expect_agreement(c, {.refine = 2, .refine_data = data, .refine_median = 0}, {});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RefinementOracle, every_target(), target_name);

}  // namespace
}  // namespace parafield
