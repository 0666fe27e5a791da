// SPDX-License-Identifier: MIT
// Energies of ICM, annealing and winner-takes-all compared with the exhaustive minimum, and their sweeps.
#include <gtest/gtest.h>

#include <functional>

#include "markov/labels_of.hpp"
#include "markov/random_frames.hpp"
#include "on.hpp"
#include "oracle/label_fields.hpp"
#include "parafield/parafield.hpp"
#include "random_method.hpp"
#include "targets.hpp"

namespace parafield {
namespace {

/// Bytes of a result, for comparisons.
std::string bytes_of(const DisparityField& field) {
  std::string bytes;
  for (int y = 0; y < field.size().height; ++y)
    bytes.append(reinterpret_cast<const char*>(field.d.view().row(y)), std::size_t(field.size().width) * 4);
  return bytes;
}
std::string bytes_of(const FlowField& field) {
  std::string bytes;
  for (const Image<float>* plane : {&field.u, &field.v})
    for (int y = 0; y < field.size().height; ++y)
      bytes.append(reinterpret_cast<const char*>(plane->view().row(y)), std::size_t(field.size().width) * 4);
  return bytes;
}
std::string bytes_of(const MotionMask& mask) {
  std::string bytes;
  for (int y = 0; y < mask.size().height; ++y)
    bytes.append(reinterpret_cast<const char*>(mask.moving.view().row(y)), std::size_t(mask.size().width));
  return bytes;
}

struct SolvedPair {
  std::vector<double> energies;
  std::string bytes;
};

template <class Task, class Method>
SolvedPair solve(const Method& method, const RandomPair& pair, const Device& device,
                 EnergyReport report = EnergyReport::result) {
  typename Task::Options options;
  options.energies = report;
  Estimator<Task> estimator(method, Frame(pair.frame0).size(), on(device, options));
  const auto& result = estimator(pair.frame0, pair.frame1);
  return {estimator.energies(), bytes_of(result)};
}

/// Energies of every smoothness model and neighborhood. `labels`: disparities or max_displacement.
template <class Energy>
std::vector<Energy> energies(int labels) {
  std::vector<Energy> list;
  if constexpr (std::is_same_v<Energy, ChangeEnergy>) {
    for (const float beta : {0.2f, 1.0f}) list.push_back({.mean = 60, .sigma = 50, .beta = beta});
  } else {
    for (const SmoothnessModel model :
         {SmoothnessModel::potts, SmoothnessModel::linear, SmoothnessModel::quadratic})
      for (const int neighbors : {4, 8})
        for (const float truncation : {0.0f, 1.5f}) {
          Energy energy;
          energy.cost = {.truncation = 60, .aggregation = 1};
          energy.smoothness = {.smoothness = model,
                               .beta = 6,
                               .smoothness_truncation = truncation,
                               .neighbors = neighbors,
                               .edge_scale = truncation > 0 ? 100.0f : 0.0f};
          if constexpr (requires { energy.disparities; })
            energy.disparities = labels;
          else
            energy.max_displacement = labels;
          list.push_back(energy);
        }
  }
  return list;
}

class Minimum : public OnTarget {
 protected:
  Device device() const { return GetParam().device(2); }

  /// Expects the energies of WTA and of both orders of ICM at or above the minimum, and slow annealing at it.
  template <class Task, class Energy>
  void expect_bounds(Size size, int labels) {
    const Forced forced(GetParam());
    for (const unsigned seed : {1u, 2u, 3u})
      for (const Energy& energy : energies<Energy>(labels)) {
        const RandomPair pair(size, seed, seed == 3, 90);
        const oracle::LabelEnergy costs = oracle::energy_of(pair.frame0, pair.frame1, energy);
        const double least = oracle::ExhaustiveMinimum(costs).energy() - left_out(energy, size);
        const double tolerance = 1e-5 * std::abs(least) + 1e-3;
        const Annealing<Energy> annealing{energy, 3000, 30, 0.01f, int(seed)};
        const std::string what = described(annealing) + ", images of seed " + std::to_string(seed);
        const auto energy_by = [&](const auto& method) {
          return solve<Task>(method, pair, device()).energies.at(0);
        };
        EXPECT_GE(energy_by(WinnerTakesAll<Energy>{energy}), least - tolerance) << what;
        EXPECT_GE(energy_by(Icm<Energy>{energy, 20, SiteOrder::all_at_once}), least - tolerance) << what;
        EXPECT_GE(energy_by(Icm<Energy>{energy, 20, SiteOrder::colored}), least - tolerance) << what;
        EXPECT_NEAR(energy_by(annealing), least, tolerance) << what;
      }
  }

  /// Expects that no colored sweep raises the energy, and that ICM starts from the winners.
  template <class Task, class Energy>
  void expect_no_rise(Size size, int labels) {
    const Forced forced(GetParam());
    constexpr int sweeps = 60;
    for (const Energy& energy : energies<Energy>(labels))
      for (const SiteOrder order : {SiteOrder::colored, SiteOrder::all_at_once}) {
        const RandomPair pair(size, 4);
        const Icm<Energy> method{energy, sweeps, order};
        const auto reported = solve<Task>(method, pair, device(), EnergyReport::sweeps).energies;
        ASSERT_EQ(reported.size(), std::size_t(sweeps + 1));
        const double tolerance = 1e-6 * std::abs(reported[0]);
        EXPECT_LT(reported.back(), reported[0]) << described(method);
        EXPECT_EQ(reported[0], solve<Task>(WinnerTakesAll<Energy>{energy}, pair, device()).energies.at(0))
            << "ICM starts from the winners";
        if (order == SiteOrder::all_at_once) continue;
        for (std::size_t i = 1; i < reported.size(); ++i)
          ASSERT_LE(reported[i], reported[i - 1] + tolerance) << "sweep " << i << "\n  " << described(method);
        EXPECT_EQ(reported[sweeps], reported[sweeps - 1]) << "not converged\n  " << described(method);
      }
  }

  /// Expects the same field with any number of threads, and another field from another seed.
  template <class Task, class Energy>
  void expect_repeatable(Size size, int labels) {
    const Forced forced(GetParam());
    const RandomPair pair(size, 6);
    const Energy energy = energies<Energy>(labels).back();
    const auto bytes = [&](const auto& method, int threads) {
      return solve<Task>(method, pair, GetParam().device(threads)).bytes;
    };
    const Annealing<Energy> annealing{energy, 4, 30, 5, 7};
    Annealing<Energy> other = annealing;
    other.seed = 8;
    const std::string expected = bytes(annealing, 1);
    EXPECT_EQ(bytes(annealing, 1), expected);
    EXPECT_NE(bytes(other, 1), expected);
    for (const SiteOrder order : {SiteOrder::all_at_once, SiteOrder::colored})
      for (const int threads : {2, 3, 7}) {
        EXPECT_EQ(bytes(annealing, threads), expected) << threads << " threads";
        const Icm<Energy> icm{energy, 5, order};
        EXPECT_EQ(bytes(icm, threads), bytes(icm, 1)) << threads << " threads";
      }
  }
};

TEST_P(Minimum, BoundsEnergiesOfDisparities) { expect_bounds<Stereo, StereoEnergy>({4, 4}, 3); }
TEST_P(Minimum, BoundsEnergiesOfDisplacements) { expect_bounds<Flow, DisplacementEnergy>({3, 2}, 1); }
TEST_P(Minimum, BoundsEnergiesOfMasks) { expect_bounds<Detection, ChangeEnergy>({4, 4}, 2); }

TEST_P(Minimum, ColoredSweepsNeverRaiseTheEnergyOfDisparities) {
  expect_no_rise<Stereo, StereoEnergy>({61, 37}, 6);
}
TEST_P(Minimum, ColoredSweepsNeverRaiseTheEnergyOfDisplacements) {
  expect_no_rise<Flow, DisplacementEnergy>({41, 23}, 2);
}
TEST_P(Minimum, ColoredSweepsNeverRaiseTheEnergyOfMasks) {
  expect_no_rise<Detection, ChangeEnergy>({61, 37}, 2);
}

TEST_P(Minimum, DisparitiesAreRepeatable) { expect_repeatable<Stereo, StereoEnergy>({61, 37}, 6); }
TEST_P(Minimum, DisplacementsAreRepeatable) { expect_repeatable<Flow, DisplacementEnergy>({41, 23}, 2); }
TEST_P(Minimum, MasksAreRepeatable) { expect_repeatable<Detection, ChangeEnergy>({61, 37}, 2); }

/// ICM of all sites at once may alternate between two fields. With strong data costs it converges.
TEST_P(Minimum, SweepsOfAllSitesConvergeWithStrongData) {
  const Forced forced(GetParam());
  const RandomPair pair({61, 37}, 9);
  StereoEnergy energy{.disparities = 6, .cost = {.aggregation = 1}, .smoothness = {.beta = 1.5f}};
  const auto reported = solve<Stereo>(Icm<StereoEnergy>{energy, 40, SiteOrder::all_at_once}, pair, device(),
                                      EnergyReport::sweeps)
                            .energies;
  std::size_t rest = 1;
  while (rest + 1 < reported.size() && reported[rest] != reported[rest - 1]) ++rest;
  ASSERT_LT(rest, 30u);
  ASSERT_GT(rest, 1u) << "no sweep changes anything";
  for (std::size_t i = rest; i < reported.size(); ++i) EXPECT_EQ(reported[i], reported[rest - 1]) << i;
  const auto bytes = [&](int sweeps) {
    return solve<Stereo>(Icm<StereoEnergy>{energy, sweeps, SiteOrder::all_at_once}, pair, device()).bytes;
  };
  const std::string at_rest = bytes(int(rest) - 1);
  for (const int more : {0, 1, 2, 3}) EXPECT_EQ(bytes(int(rest) + more), at_rest) << more;
  EXPECT_NE(bytes(int(rest) - 2), at_rest);
}

/// At a very high temperature all labels are equally probable; at a very low one annealing is ICM.
TEST_P(Minimum, AnnealingFollowsItsTemperature) {
  const Forced forced(GetParam());
  const Size size{150, 80};
  const RandomPair pair(size, 10);
  const StereoEnergy energy{.disparities = 5, .cost = {.aggregation = 1}, .smoothness = {.beta = 4}};
  StereoEstimator hot(Annealing<StereoEnergy>{energy, 3, 1e6f, 1e6f}, size, {.device = device()});
  int count[5] = {};
  const DisparityField& drawn = hot(pair.frame0, pair.frame1);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) ++count[int(drawn.d(x, y))];
  for (const int n : count) EXPECT_NEAR(n, 150 * 80 / 5, 4 * std::sqrt(150 * 80 * 0.2 * 0.8));
  const ChangeEnergy change{.mean = 60, .sigma = 50, .beta = 0.3f};  // no two labels cost the same
  const auto cold = solve<Detection>(Annealing<ChangeEnergy>{change, 3, 1e-4f, 1e-4f}, pair, device());
  const auto icm = solve<Detection>(Icm<ChangeEnergy>{change, 3, SiteOrder::colored}, pair, device());
  const auto start = solve<Detection>(WinnerTakesAll<ChangeEnergy>{change}, pair, device());
  EXPECT_TRUE(start.bytes != icm.bytes) << "ICM changes nothing";
  EXPECT_TRUE(cold.bytes == icm.bytes);
}

/// Without smoothness a label has the probability exp(-cost / temperature) / sum (Jodoin eq. 10).
TEST_P(Minimum, AnnealingDrawsByTheGibbsDistribution) {
  const Forced forced(GetParam());
  const Size size{200, 90};
  const RandomPair pair(size, 11);
  const StereoEnergy energy{
      .disparities = 40, .cost = {.truncation = 70, .aggregation = 1}, .smoothness = {.beta = 0}};
  constexpr float temperature = 25;
  StereoEstimator estimator(Annealing<StereoEnergy>{energy, 2, temperature, temperature}, size,
                            {.device = device()});
  const DisparityField& drawn = estimator(pair.frame0, pair.frame1);
  const oracle::LabelEnergy costs = oracle::energy_of(pair.frame0, pair.frame1, energy);
  std::vector<double> expected(40), variance(40), counted(40);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      double sum = 0;
      for (const oracle::Grid& cost : costs.data) sum += std::exp(-cost(x, y) / temperature);
      for (std::size_t i = 0; i < 40; ++i) {
        const double probability = std::exp(-costs.data[i](x, y) / temperature) / sum;
        expected[i] += probability;
        variance[i] += probability * (1 - probability);
      }
      counted[std::size_t(drawn.d(x, y))] += 1;
    }
  for (std::size_t i = 0; i < 40; ++i)
    EXPECT_NEAR(counted[i], expected[i], 4.5 * std::sqrt(variance[i])) << "disparity " << i;
}

INSTANTIATE_TEST_SUITE_P(Targets, Minimum, every_target(), target_name);

}  // namespace
}  // namespace parafield
