// SPDX-License-Identifier: MIT
// Sweeps on CUDA leave out labels that cannot win, or whose weights do not count: the labels equal the CPU's,
// which tries all of them.
#include <cmath>

#include "markov/random_frames.hpp"
#include "on.hpp"
#include "parafield/parafield.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

/// Expects `method` to give the same labels and energies on CUDA and on the CPU.
template <class Method>
void expect_same(const Method& method, const RandomPair& pair, const std::string& what) {
  const Size size = Frame(pair.frame0).size();
  constexpr bool is_flow = std::is_same_v<typename Method::Energy, DisplacementEnergy>;
  using Estimator = std::conditional_t<is_flow, FlowEstimator, StereoEstimator>;
  using Options = std::conditional_t<is_flow, FlowOptions, StereoOptions>;
  Options options;
  options.energies = EnergyReport::result;
  Estimator expected(method, size, on(Device::cpu(), options));
  const auto& truth = expected(pair.frame0, pair.frame1);
  Estimator estimator(method, size, on(Device::cuda(), options));
  const auto& found = estimator(pair.frame0, pair.frame1);
  expect_same(found, truth, what);
  EXPECT_EQ(estimator.energies().front(), expected.energies().front()) << what;
}

/// Expects equal labels for ICM in both orders, and for annealing from hot to cold. Many costs are equal if
/// the frames are rounded.
template <class Energy>
void expect_same_labels(const Energy& energy, Size size, unsigned seed, float noise,
                        const std::string& what) {
  RandomPair pair(size, seed, energy.cost.rgb, noise);
  for (FloatFrame* frame : {&pair.frame0, &pair.frame1})
    for (int y = 0; seed % 2 == 0 && y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) (*frame)(x, y) = 8 * std::round((*frame)(x, y) / 8);
  for (const SiteOrder order : {SiteOrder::all_at_once, SiteOrder::colored})
    expect_same(Icm<Energy>{energy, 4, order}, pair,
                what + ", icm " + std::string(names_of(order)[std::size_t(order)]));
  expect_same(Annealing<Energy>{energy, 12, 60, 0.02f, int(seed)}, pair, what + ", annealing");
  expect_same(Annealing<Energy>{energy, 4, 1e-3, 1e-3, int(seed)}, pair, what + ", cold annealing");
  expect_same(Annealing<Energy>{energy, 2, 1e4, 1e4, int(seed)}, pair, what + ", hot annealing");
}

class Sweeps : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  }
};

TEST_F(Sweeps, ChooseTheSameDisplacements) {
  unsigned seed = 0;
  for (const Size size : {Size{67, 45}, Size{1, 1}, Size{130, 5}})
    for (int most = 1; most <= 7; ++most)
      for (const int neighbors : {4, 8})
        for (const float beta : {4.0f, 0.7f})
          for (const float edges : {0.0f, 20.0f}) {
            if (size.height < 10 && (edges > 0 || beta < 1)) continue;
            DisplacementEnergy energy{.max_displacement = most};
            energy.smoothness = {.beta = beta, .neighbors = neighbors, .edge_scale = edges};
            expect_same_labels(energy, size, ++seed, edges > 0 ? 5 : 60,
                               std::to_string(size.width) + "x" + std::to_string(size.height) + " to " +
                                   std::to_string(most) + " px, neighbors " + std::to_string(neighbors) +
                                   ", beta " + std::to_string(beta) + ", edges " + std::to_string(edges));
          }
}

TEST_F(Sweeps, ChooseTheSameDisparities) {
  unsigned seed = 100;
  for (const Size size : {Size{97, 45}, Size{17, 3}})
    for (const int disparities : {2, 7, 8, 9, 16, 33, 64, 90})
      for (const int neighbors : {4, 8})
        for (const int aggregation : {1, 3})
          for (const float truncation : {0.0f, 3.0f}) {
            if (size.height < 10 && disparities > 16) continue;
            StereoEnergy energy{.disparities = disparities};
            energy.cost.aggregation = aggregation;
            energy.smoothness = {.beta = 3.3f, .smoothness_truncation = truncation, .neighbors = neighbors};
            expect_same_labels(energy, size, ++seed, 40,
                               std::to_string(disparities) + " disparities, neighbors " +
                                   std::to_string(neighbors) + ", window " + std::to_string(aggregation) +
                                   ", truncation " + std::to_string(truncation));
          }
}

}  // namespace
}  // namespace parafield
