// SPDX-License-Identifier: MIT
// Belief propagation: exact on chains of pixels, low energies elsewhere.
#include "markov/propagation.hpp"

namespace parafield {
namespace {

class BeliefPropagationTest : public PropagationTest {
 protected:
  /// Expects the least energy on a chain: messages that have passed from end to end are exact.
  template <class Task, class Energy>
  void expect_chain(Energy energy, Size size, unsigned seed) {
    const RandomPair pair(size, seed, seed % 2, 90);
    const int longest = std::max(size.width, size.height);
    energy.cost = {.truncation = 300, .aggregation = 1};  // a match outside costs more than any inside
    energy.smoothness.neighbors = 4;
    energy.smoothness.edge_scale = seed % 3 == 0 ? 60.0f : 0.0f;
    const oracle::LabelEnergy costs = oracle::energy_of(pair.frame0, pair.frame1, energy);
    const double least = oracle::chain_minimum(costs);
    for (const int levels : {1, 2, 6}) {
      auto method = paper(energy);
      method.levels = levels;
      method.iterations = 2 * longest;
      const auto solved = solve<Task>(method, pair);
      EXPECT_NEAR(solved.energies.at(0), least, 2e-6 * least + 1e-3)
          << described(method) << ", " << size.width << "x" << size.height << ", seed " << seed;
      EXPECT_NEAR(total(costs, labels_of(solved.field, energy)), least, 1e-6 * least + 1e-3)
          << described(method) << ", " << size.width << "x" << size.height << ", seed " << seed;
    }
  }

  /// `across`: chains are rows, otherwise columns.
  template <class Task, class Energy>
  void expect_chains(Energy energy, bool across) {
    unsigned seed = 0;
    for (const SmoothnessModel model :
         {SmoothnessModel::potts, SmoothnessModel::linear, SmoothnessModel::quadratic})
      for (const float truncation : {0.0f, 2.5f})
        for (const float beta : {2.0f, 12.0f})
          for (const int length : {2, 3, 7, 24}) {
            energy.smoothness = {.smoothness = model, .beta = beta, .smoothness_truncation = truncation};
            if constexpr (requires { energy.disparities; }) energy.disparities = std::min(8, length);
            expect_chain<Task>(energy, across ? Size{length, 1} : Size{1, length}, ++seed);
          }
  }

  /// Expects an energy for each iteration. With one level, it is the energy after that number of iterations.
  /// Blocks report a single energy.
  template <class Task, class Energy>
  void expect_reports() {
    const RandomPair pair({31, 22}, 3);
    auto method = paper(small_energy<Energy>());
    const oracle::LabelEnergy costs = oracle::energy_of(pair.frame0, pair.frame1, method.energy);
    for (const Precision precision : {Precision::exact, Precision::fast})
      for (const int levels : {1, 4}) {
        method.precision = precision;
        method.levels = levels;
        method.iterations = 6;
        const auto each = solve<Task>(method, pair, EnergyReport::sweeps);
        ASSERT_EQ(each.energies.size(), 6u);
        expect_part(solve<Task>(method, pair, EnergyReport::none).field, 0, 0, each.field, "no report");
        for (int i = 1; i <= 6; ++i) {
          method.iterations = i;
          const auto solved = solve<Task>(method, pair);
          ASSERT_EQ(solved.energies.size(), 1u);
          const double expected = total(costs, labels_of(solved.field, method.energy));
          EXPECT_NEAR(solved.energies[0], expected, 1e-5 * expected) << described(method);
          if (levels == 1 || i == 6) {
            EXPECT_EQ(each.energies[std::size_t(i - 1)], solved.energies[0]) << described(method);
          }
        }
      }
    method.iterations = 6;
    method.blocks = 4;
    const auto in_blocks = solve<Task>(method, pair, EnergyReport::sweeps);
    ASSERT_EQ(in_blocks.energies.size(), 1u);
    const double expected = total(costs, labels_of(in_blocks.field, method.energy));
    EXPECT_NEAR(in_blocks.energies[0], expected, 1e-5 * expected);
    EXPECT_EQ(solve<Task>(method, pair, EnergyReport::none).energies.size(), 0u);
  }

  /// Expects an energy below ICM's, and near that of long annealing: within 2 %, or 1 % after 20 iterations.
  template <class Task, class Energy>
  void expect_low(const Energy& energy, const TwoFrames& pair) {
    const auto energy_by = [&](const auto& method) { return solve<Task>(method, pair).energies.at(0); };
    const double icm = energy_by(Icm<Energy>{energy, 30, SiteOrder::colored});
    const double annealing = energy_by(Annealing<Energy>{energy, 500, 1, 0.05f});
    auto method = paper(energy);
    const double few = energy_by(method);
    method.iterations = 20;
    const double many = energy_by(method);
    method.precision = Precision::fast;
    const double fast = energy_by(method);
    std::printf("icm %.1f, annealing %.1f, belief propagation %.1f, of 20 iterations %.1f, fast %.1f\n", icm,
                annealing, few, many, fast);
    EXPECT_LT(few, icm);
    EXPECT_LT(few, 1.02 * annealing);
    EXPECT_LT(many, 1.01 * annealing);
    EXPECT_NEAR(fast, many, 0.005 * many);
  }
};

TEST_P(BeliefPropagationTest, IsExactOnRowsOfDisparities) { expect_chains<Stereo>(StereoEnergy{}, true); }
TEST_P(BeliefPropagationTest, IsExactOnRowsOfDisplacements) {
  expect_chains<Flow>(DisplacementEnergy{.max_displacement = 2}, true);
}
TEST_P(BeliefPropagationTest, IsExactOnColumnsOfDisplacements) {
  expect_chains<Flow>(DisplacementEnergy{.max_displacement = 2}, false);
}

TEST_P(BeliefPropagationTest, ReportsAnEnergyForEachIterationOfDisparities) {
  expect_reports<Stereo, StereoEnergy>();
}
TEST_P(BeliefPropagationTest, ReportsAnEnergyForEachIterationOfDisplacements) {
  expect_reports<Flow, DisplacementEnergy>();
}

/// A board in front of a wall, with noise.
TEST_P(BeliefPropagationTest, FindsLowEnergiesOfDisparities) {
  const Size size{96, 64};
  Image<float> left(size), right(size);
  const Texture far(6), near(7);
  std::mt19937 random(8);
  const auto noise = [&] { return float(random() % 1000) * 0.006f - 3; };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto on_board = [&](int at) { return at >= 40 && at < 70 && y >= 15 && y < 50; };
      left(x, y) = float(on_board(x) ? near(x, y) : far(x, y)) + noise();
      right(x, y) = float(on_board(x + 9) ? near(x + 9, y) : far(x + 2, y)) + noise();
    }
  StereoEnergy energy = paper<StereoEnergy>().energy;
  energy.disparities = 14;
  expect_low<Stereo>(energy, {frame_of(left), frame_of(right)});
}
TEST_P(BeliefPropagationTest, FindsLowEnergiesOfDisplacements) {
  DisplacementEnergy energy = paper<DisplacementEnergy>().energy;
  energy.max_displacement = 3;
  const Scene scene = render_scene("layers", {.size = {64, 48}, .seed = 2});
  expect_low<Flow>(energy, {scene.frames[0], scene.frames[1]});
}

TEST_P(BeliefPropagationTest, WithoutSmoothnessTakesTheWinner) {
  const RandomPair pair({45, 30}, 13);
  StereoEnergy energy = small_energy<StereoEnergy>();
  energy.smoothness.beta = 0;
  const auto winner = solve<Stereo>(WinnerTakesAll<StereoEnergy>{energy}, pair);
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    auto method = paper(energy);
    method.precision = precision;
    const auto solved = solve<Stereo>(method, pair);
    EXPECT_EQ(labels_of(solved.field, energy), labels_of(winner.field, energy));
    EXPECT_EQ(solved.energies, winner.energies);
  }
}

/// The result depends neither on the number of threads nor on earlier solves.
TEST_P(BeliefPropagationTest, IsRepeatable) {
  const RandomPair pair({61, 37}, 14);
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    auto method = paper(small_energy<StereoEnergy>());
    method.precision = precision;
    StereoEstimator one(method, {61, 37}, {.device = parse_device(GetParam(), 1)}),
        more(method, {61, 37}, {.device = parse_device(GetParam(), 3)});
    const DisparityField first = one(pair.frame0, pair.frame1).to(Memory::host());
    for (int i = 0; i < 2; ++i) {
      one(pair.frame1, pair.frame0);
      expect_part(first, 0, 0, one(pair.frame0, pair.frame1).to(Memory::host()), "again");
      expect_part(first, 0, 0, more(pair.frame0, pair.frame1).to(Memory::host()), "3 threads");
    }
  }
}

/// Without iterations on the finest level, the CPU's threads compute level 1 and the end in bands.
TEST(BeliefPropagationBands, GiveOneResultForAnyNumberOfThreads) {
  const auto expect_one = [&]<class Task>(auto energy, Size size) {
    const RandomPair pair(size, 5, true);
    for (const Precision precision : {Precision::exact, Precision::fast})
      for (const int iterations : {1, 2, 7, 9}) {
        auto method = paper(energy);
        method.levels = 3;
        method.iterations = iterations;
        method.finest_iterations = 0;
        method.precision = precision;
        const auto solved = [&](int threads) {
          Estimator<Task> estimator(method, size, {.device = Device::cpu(threads)});
          return estimator(pair.frame0, pair.frame1).to(Memory::host());
        };
        const auto expected = solved(1);
        for (const int threads : {2, 3, 16}) expect_part(expected, 0, 0, solved(threads), described(method));
        if (testing::Test::HasFailure()) return;
      }
  };
  for (const Size size : {Size{70, 421}, Size{33, 20}, Size{300, 5}}) {
    StereoEnergy stereo = small_energy<StereoEnergy>();
    expect_one.operator()<Stereo>(stereo, size);
    stereo.cost.data = DataTerm::mix;
    expect_one.operator()<Stereo>(stereo, size);
    expect_one.operator()<Flow>(small_energy<DisplacementEnergy>(), size);
  }
}

TEST(OracleBeliefPropagation, ChainMinimumIsTheExhaustiveMinimum) {
  const RandomPair row({5, 1}, 1);
  for (const float beta : {1.0f, 30.0f, 100.0f}) {
    const StereoEnergy energy{
        .disparities = 3, .cost = {.aggregation = 1}, .smoothness = {.beta = beta, .edge_scale = 50}};
    const oracle::LabelEnergy costs = oracle::energy_of(row.frame0, row.frame1, energy);
    EXPECT_NEAR(oracle::chain_minimum(costs), oracle::ExhaustiveMinimum(costs).energy(), 1e-9);
  }
}

/// Two pixels with two labels: data costs (0, 3) and (5, 1); different labels cost 2.
TEST(OracleBeliefPropagation, AgreesWithMessagesByHand) {
  const oracle::LabelEnergy energy{
      .size = {2, 1},
      .values = {{0, 0}, {1, 0}},
      .data = {oracle::Grid({2, 1}), oracle::Grid({2, 1})},
      .pair = [](oracle::Value a, oracle::Value b) { return 2.0 * (a.x != b.x); },
      .edge = [](int, int, int, int) { return 1.0; }};
  oracle::LabelEnergy costs = energy;
  costs.data[0](0, 0) = 0, costs.data[1](0, 0) = 3, costs.data[0](1, 0) = 5, costs.data[1](1, 0) = 1;
  const oracle::BeliefPropagation one(costs, 1, 1), two(costs, 1, 2), coarse(costs, 9, 1);
  EXPECT_EQ(one.beliefs(1, 0), (std::vector<double>{5, 1 + 2}));  // message of the left pixel: 0, 2
  EXPECT_EQ(one.beliefs(0, 0), (std::vector<double>{0, 3}));
  EXPECT_EQ(two.beliefs(0, 0), (std::vector<double>{2, 3}));  // message of the right one: 2, 0
  EXPECT_EQ(coarse.levels(), 1) << "a level of one pixel has no messages";
}

INSTANTIATE_TEST_SUITE_P(Devices, BeliefPropagationTest, every_device(), device_name);

}  // namespace
}  // namespace parafield
