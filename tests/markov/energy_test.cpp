// SPDX-License-Identifier: MIT
// Reported energies and winners against the oracle, for random parameters.
#include <gtest/gtest.h>

#include "markov/labels_of.hpp"
#include "markov/random_frames.hpp"
#include "on.hpp"
#include "oracle/label_fields.hpp"
#include "parafield/parafield.hpp"
#include "random_method.hpp"
#include "targets.hpp"

namespace parafield {
namespace {

/// Sum of the magnitudes of all costs, which rounding errors are proportional to.
double scale_of(const oracle::LabelEnergy& energy, const oracle::Labels& labels) {
  oracle::LabelEnergy sizes = energy;
  for (oracle::Grid& costs : sizes.data)
    for (double& cost : costs.values) cost = std::abs(cost);
  sizes.pair = [&](oracle::Value a, oracle::Value b) { return std::abs(energy.pair(a, b)); };
  return total(sizes, labels);
}

/// Error of a pixel's cost from rounded intensities (about 2e-5), which differences retain even if they
/// cancel.
double rounding(const ChangeEnergy& energy) { return 1e-4 / (double(energy.sigma) * energy.sigma); }
template <class Energy>
double rounding(const Energy& energy) {
  // `mix` rounds intensities to bytes: float and double may round a luma of a half, or a smoothed one,
  // differently.
  return (energy.cost.data == DataTerm::mix       ? 1e-3
          : energy.cost.data == DataTerm::squared ? 4e-4
                                                  : 1e-4) *
         energy.cost.weight;
}

/// Expects the label of each pixel to have the least data cost, up to rounding.
void expect_winners(const oracle::LabelEnergy& energy, const oracle::Labels& labels, double rounding,
                    const std::string& what) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    double least = 1e300, scale = 0;
    for (const oracle::Grid& costs : energy.data) {
      least = std::min(least, costs.values[i]);
      scale = std::max(scale, std::abs(costs.values[i]));
    }
    ASSERT_LE(energy.data[std::size_t(labels[i])].values[i], least + 1e-5 * scale + rounding)
        << "pixel " << i << ", label " << labels[i] << "\n  " << what;
  }
}

class Energies : public OnTarget {
 protected:
  template <class Task, class Method>
  void expect_agreement(Method method, Size size, unsigned seed) {
    method = fitted(method, size);
    if constexpr (requires { method.energy.sub_pixel; }) method.energy.sub_pixel = false;
    if constexpr (requires { method.energy.refinement; }) method.energy.refinement.refine = 0;
    // `mix` rounds smoothed intensities to bytes: where floats and doubles round apart, costs differ.
    if constexpr (requires { method.energy.cost; })
      if (method.energy.cost.data == DataTerm::mix) method.energy.cost.presmooth = 0;
    if constexpr (requires { method.energy.disparities; }) {
      method.energy.disparities = std::max(method.energy.disparities, 1);
      method.energy.checks = {};  // they change labels
    }
    const std::string what = described(method) + ", " + std::to_string(size.width) + "x" +
                             std::to_string(size.height) + ", seed " + std::to_string(seed);
    const RandomPair pair(size, seed, seed % 2);
    typename Task::Options options;
    options.energies = EnergyReport::result;
    Estimator<Task> estimator(method, size, on(GetParam().device(2), options));
    const auto& result = estimator(pair.frame0, pair.frame1);
    const auto labels = labels_of(result, method.energy);
    const oracle::LabelEnergy energy = oracle::energy_of(pair.frame0, pair.frame1, method.energy);
    const double expected = total(energy, labels) - left_out(method.energy, size);
    const std::vector<double> reported = estimator.energies();
    ASSERT_EQ(reported.size(), 1u) << what;
    ASSERT_NEAR(reported[0], expected,
                1e-5 * scale_of(energy, labels) + double(labels.size()) * rounding(method.energy))
        << what;
    if constexpr (std::is_same_v<Method, WinnerTakesAll<typename Method::Energy>>)
      expect_winners(energy, labels, rounding(method.energy), what);
  }

  template <class Task>
  void expect_agreement() {
    const Forced forced(GetParam());
    constexpr Size sizes[] = {{1, 1}, {1, 7}, {8, 1}, {5, 4}, {13, 9}, {40, 11}};
    unsigned seed = 1;
    for_each_method<typename Task::Method>([&]<class Method>(const Method&) {
      // Energies against a learned background are ChangeEnergy's with other differences, whose bytes may
      // round differently: background_test.cpp compares them.
      constexpr bool learns = requires { requires Method::learns; };
      if constexpr (LabelMethod<Method> && !learns) {
        std::mt19937 random(seed);
        for (const Size size : sizes) {
          if (!HasFatalFailure()) expect_agreement<Task>(restrained(Method{}), size, ++seed);
          for (int i = 0; i < 8 && !HasFatalFailure(); ++i)
            expect_agreement<Task>(random_method<Method>(random), size, ++seed);
        }
      }
    });
  }
};

TEST_P(Energies, AgreeForDisparities) { expect_agreement<Stereo>(); }
TEST_P(Energies, AgreeForDisplacements) { expect_agreement<Flow>(); }
TEST_P(Energies, AgreeForMasks) { expect_agreement<Detection>(); }

/// All combinations of data term, color, truncation, aggregation and presmoothing.
TEST_P(Energies, AgreeForEveryDataTerm) {
  const Forced forced(GetParam());
  unsigned seed = 1;
  for (const DataTerm data :
       {DataTerm::absolute, DataTerm::squared, DataTerm::census, DataTerm::gradient, DataTerm::mix})
    for (const bool color : {false, true})
      for (const float truncation : {0.0f, 0.5f, 9.0f, 3000.0f})
        for (const int aggregation : {1, 3, 5})
          for (const float presmooth : {0.0f, 0.8f}) {
            const MatchingCost cost{.data = data,
                                    .rgb = color,
                                    .weight = 0.3f,
                                    .truncation = truncation,
                                    .aggregation = aggregation,
                                    .aggregation_sigma = seed % 3 == 0 ? 1.3f : 0.0f,
                                    .presmooth = presmooth};
            const Smoothness smoothness{.beta = 0.1f, .edge_scale = seed % 5 == 0 ? 30.0f : 0.0f};
            const StereoEnergy disparities{6, -2, cost, smoothness};
            const DisplacementEnergy displacements{1, cost, smoothness};
            expect_agreement<Stereo>(WinnerTakesAll<StereoEnergy>{disparities}, {11, 8}, ++seed);
            expect_agreement<Stereo>(Icm<StereoEnergy>{disparities, 2, SiteOrder::all_at_once}, {11, 8},
                                     seed);
            expect_agreement<Flow>(WinnerTakesAll<DisplacementEnergy>{displacements}, {9, 6}, seed);
            if (HasFatalFailure()) return;
          }
}

TEST_P(Energies, AgreeForMasksWithTemporalPrior) {
  const Forced forced(GetParam());
  const Size size{12, 9};
  const RandomPair pair(size, 5);
  MotionMask last(size);
  oracle::Labels labels;
  std::mt19937 random(7);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      labels.push_back(int(random() % 2));
      last.moving(x, y) = labels.back() ? 255 : 0;
    }
  for (const bool fades : {false, true}) {
    const ChangeEnergy energy{
        .mean = 60, .sigma = 40, .beta = 0.7f, .temporal = 0.9f, .temporal_fades = fades};
    MotionDetector detector(Icm<ChangeEnergy>{energy, 3}, size,
                            {.device = GetParam().device(2), .energies = EnergyReport::result});
    const Frame frames[] = {pair.frame0, pair.frame1};
    const MotionMask& mask = detector({frames, MotionMaskView{last.moving}});
    const oracle::LabelEnergy expected = oracle::energy_of(pair.frame0, pair.frame1, energy, labels);
    const auto found = labels_of(mask, energy);
    EXPECT_NEAR(detector.energies().at(0), total(expected, found) - left_out(energy, size),
                1e-5 * scale_of(expected, found));
    // Confidence: energy that the other label would add.
    const double least = total(expected, found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      oracle::Labels other = found;
      other[i] = 1 - other[i];
      const double more = total(expected, other) - least;
      EXPECT_NEAR(mask.confidence(int(i) % size.width, int(i) / size.width), std::max(more, 0.0), 1e-3);
    }
  }
}

/// Number of edges, data costs and an energy, by hand.
TEST(OracleLabelFields, CountsEachEdgeOnce) {
  EXPECT_EQ(oracle::edges({3, 2}, 4), 7);
  EXPECT_EQ(oracle::edges({3, 2}, 8), 11);
  EXPECT_EQ(oracle::edges({1, 1}, 8), 0);
  const FloatFrame dark({3, 2}, PixelFormat::gray_f32);
  FloatFrame bright({3, 2}, PixelFormat::gray_f32);
  bright(1, 0) = 10;
  const StereoEnergy energy{
      .disparities = 2, .cost = {.weight = 2, .truncation = 4, .aggregation = 1}, .smoothness = {.beta = 3}};
  const oracle::LabelEnergy labels = oracle::energy_of(dark, bright, energy);
  EXPECT_EQ(labels.data[0](1, 0), 8);  // 2 min(10, 4)
  EXPECT_EQ(labels.data[0](2, 1), 0);
  EXPECT_EQ(labels.data[1](2, 0), 8);  // matches (1, 0)
  EXPECT_EQ(labels.data[1](0, 1), 8);  // outside
  EXPECT_EQ(total(labels, {0, 1, 0, 0, 0, 0}), 3 * 3);
  EXPECT_EQ(oracle::ExhaustiveMinimum(labels).energy(), 8);
}

TEST(OracleLabelFields, ExhaustiveMinimumIsTheLeastOfAllFields) {
  const RandomPair pair({3, 2}, 3);
  const StereoEnergy energy{
      .disparities = 3, .cost = {.aggregation = 1}, .smoothness = {.beta = 20, .neighbors = 8}};
  const oracle::LabelEnergy labels = oracle::energy_of(pair.frame0, pair.frame1, energy);
  double least = 1e300;
  for (int i = 0; i < 729; ++i) {
    oracle::Labels field;
    for (int k = 0, rest = i; k < 6; ++k, rest /= 3) field.push_back(rest % 3);
    least = std::min(least, total(labels, field));
  }
  EXPECT_NEAR(oracle::ExhaustiveMinimum(labels).energy(), least, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Targets, Energies, every_target(), target_name);

}  // namespace
}  // namespace parafield
