// Belief propagation: exact where the neighbours form a chain, low energies elsewhere, blocks, and what is refused.
#include "oracle/belief_propagation.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <regex>

#include "markov/labels_of.hpp"
#include "markov/random_frames.hpp"
#include "random_method.hpp"
#include "tasks/on_device.hpp"
#include "textures.hpp"

namespace parafield {
namespace {

template <class Task>
struct Solved {
  typename Task::Result field;
  std::vector<double> energies;
};

struct TwoFrames {
  Frame frame0, frame1;
};

/// A part of frames of floats.
struct Part {
  FloatFrame frame0, frame1;

  Part(const RandomPair& pair, int x0, int y0, Size size)
      : frame0(size, PixelFormat::gray_f32), frame1(size, PixelFormat::gray_f32) {
    RandomPair whole = pair;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        frame0(x, y) = whole.frame0(x0 + x, y0 + y);
        frame1(x, y) = whole.frame1(x0 + x, y0 + y);
      }
  }
};

std::vector<const Image<float>*> planes_of(const DisparityField& field) {
  return {&field.d, &field.confidence};
}
std::vector<const Image<float>*> planes_of(const FlowField& field) {
  return {&field.u, &field.v, &field.confidence};
}

/// The same bits in `part` as in `whole` from (x0, y0) on.
template <class Result>
void expect_part(const Result& whole, int x0, int y0, const Result& part, const std::string& what) {
  const auto a = planes_of(whole), b = planes_of(part);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (int y = 0; y < part.size().height; ++y)
      for (int x = 0; x < part.size().width; ++x)
        ASSERT_EQ((*a[i])(x0 + x, y0 + y), (*b[i])(x, y))
            << "plane " << i << " at " << x << ", " << y << " of the part\n  " << what;
}

/// The paper's smoothness with all labels of a small search; costs of single pixels.
template <class Energy>
Energy small_energy() {
  Energy energy = BeliefPropagation<Energy>{}.energy;
  if constexpr (requires { energy.disparities; })
    energy.disparities = 6;
  else
    energy.max_displacement = 2;
  energy.cost.presmooth = 0;
  return energy;
}

struct Refusal {
  ErrorCode code = {};
  std::string message = "no error";
};
Refusal refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

class Propagates : public OnDevice {
 protected:
  template <class Task, class Method, class Images>
  Solved<Task> solve(const Method& method, const Images& images,
                     EnergyReport report = EnergyReport::result) const {
    typename Task::Options options;
    options.energies = report;
    Estimator<Task> estimator(method, Frame(images.frame0).size(), device(), {}, options);
    const auto& result = estimator(images.frame0, images.frame1);
    estimator.synchronize();
    return {result.to(Memory::host()), estimator.energies()};
  }

  /// On a chain, messages that have gone from end to end are exact, whatever they began with.
  template <class Task, class Energy>
  void expect_chain(Energy energy, Size size, unsigned seed) {
    const RandomPair pair(size, seed, seed % 2, 90);
    const int longest = std::max(size.width, size.height);
    energy.cost = {.truncation = 300, .aggregation = 1};  // a match outside is worse than any inside
    energy.smoothness.neighbors = 4;
    energy.smoothness.edge_scale = seed % 3 == 0 ? 60.0f : 0.0f;
    const oracle::LabelEnergy costs = oracle::energy_of(pair.frame0, pair.frame1, energy);
    const double least = oracle::chain_minimum(costs);
    for (const int levels : {1, 2, 6}) {
      BeliefPropagation<Energy> method;
      method.energy = energy;
      method.levels = levels;
      method.iterations = 2 * longest;
      const auto solved = solve<Task>(method, pair);
      EXPECT_NEAR(solved.energies.at(0), least, 2e-6 * least + 1e-3)
          << described(method) << ", " << size.width << "x" << size.height << ", seed " << seed;
      EXPECT_NEAR(total(costs, labels_of(solved.field, energy)), least, 1e-6 * least + 1e-3)
          << described(method) << ", " << size.width << "x" << size.height << ", seed " << seed;
    }
  }

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

  /// One energy an iteration: with one level, that of as many iterations; in blocks the last one's alone.
  template <class Task, class Energy>
  void expect_reports() {
    const RandomPair pair({31, 22}, 3);
    BeliefPropagation<Energy> method{.energy = small_energy<Energy>()};
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

  /// Below ICM; as low as long annealing, or nearly so with the default's few iterations.
  template <class Task, class Energy>
  void expect_low(const Energy& energy, const TwoFrames& pair) {
    const auto energy_by = [&](const auto& method) { return solve<Task>(method, pair).energies.at(0); };
    const double icm = energy_by(Icm<Energy>{energy, 30, SiteOrder::colored});
    const double annealing = energy_by(Annealing<Energy>{energy, 500, 1, 0.05f});
    BeliefPropagation<Energy> method{.energy = energy};
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

  /// Frames in which pixels of other blocks of `block` differ by more than any truncation: what a block's pixels match
  /// beyond it costs as much as what lies outside the image.
  static RandomPair apart(Size size, Size block) {
    RandomPair pair(size, 8);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const float base = 130.0f * float(x / block.width % 2) + 65.0f * float(y / block.height % 2);
        for (FloatFrame* frame : {&pair.frame0, &pair.frame1}) {
          float& value = (*frame)(x, y);
          value = base + std::clamp(value, 0.0f, 255.0f) * (45.0f / 255);
        }
      }
    return pair;
  }

  template <class Task, class Energy>
  void expect_blocks() {
    const Size size{38, 26}, half{19, 13};
    const RandomPair pair = apart(size, half);
    for (const Precision precision : {Precision::exact, Precision::fast})
      for (const bool edges : {false, true})
        for (const int levels : {1, 5}) {
          BeliefPropagation<Energy> method{.energy = small_energy<Energy>()};
          method.energy.cost.truncation = 15;
          method.energy.sub_pixel = true;
          if (edges) method.energy.smoothness.edge_scale = 20;
          method.precision = precision;
          method.levels = levels;
          BeliefPropagation<Energy> four = method;
          four.blocks = 4;
          const auto whole = solve<Task>(four, pair);
          for (const int x : {0, half.width})
            for (const int y : {0, half.height}) {
              expect_part(whole.field, x, y, solve<Task>(method, Part(pair, x, y, half)).field,
                          described(four));
              if (HasFatalFailure()) return;
            }
        }
  }

  /// Blocks that reach over all of the image are the image.
  template <class Task, class Energy>
  void expect_overlap() {
    const Size size{38, 26};
    const RandomPair pair(size, 9, true);
    for (const DataTerm data : {DataTerm::absolute, DataTerm::mix}) {
      BeliefPropagation<Energy> method{.energy = small_energy<Energy>()};
      method.energy.cost = {.data = data, .truncation = 3, .aggregation = 5, .presmooth = 1};
      method.energy.smoothness.edge_scale = 30;
      method.energy.sub_pixel = true;
      const auto whole = solve<Task>(method, pair);
      for (const int blocks : {2, 4, 7, 12}) {
        method.blocks = blocks;
        method.block_overlap = 36;
        const auto solved = solve<Task>(method, pair);
        expect_part(whole.field, 0, 0, solved.field, described(method));
        EXPECT_NEAR(solved.energies.at(0), whole.energies.at(0), 1e-6 * whole.energies.at(0));
      }
      method.blocks = 12;
      method.block_overlap = 0;
      EXPECT_NE(solve<Task>(method, pair).energies.at(0), whole.energies.at(0)) << "blocks change something";
    }
  }

  /// Stored costs are a block's: the energy that is reported is the whole field's all the same.
  template <class Task, class Energy>
  void expect_energies_in_blocks() {
    const RandomPair pair({29, 23}, 10);
    for (const DataTerm data : {DataTerm::absolute, DataTerm::census, DataTerm::mix})
      for (const int aggregation : {1, 5})
        for (const int blocks : {2, 3, 5, 8}) {  // none divides the sides
          BeliefPropagation<Energy> method{.energy = small_energy<Energy>()};
          method.energy.cost.data = data;
          method.energy.cost.aggregation = aggregation;
          method.blocks = blocks;
          method.block_overlap = blocks % 3;
          const auto solved = solve<Task>(method, pair);
          const oracle::LabelEnergy costs = oracle::energy_of(pair.frame0, pair.frame1, method.energy);
          const double expected = total(costs, labels_of(solved.field, method.energy));
          EXPECT_NEAR(solved.energies.at(0), expected, 1e-5 * expected + 1e-2) << described(method);
        }
  }

  template <class Task, class Energy>
  void expect_refusals() {
    const auto refusal = [&](const auto& method, Size size) {
      return refusal_of([&] { Estimator<Task>(method, size, device()); });
    };
    const auto expect_invalid = [&](const auto& method, Size size, const std::string& message) {
      const Refusal found = refusal(method, size);
      EXPECT_EQ(found.message, message);
      EXPECT_EQ(found.code, ErrorCode::invalid_argument);
    };
    const BeliefPropagation<Energy> fine{.energy = small_energy<Energy>()};
    const auto with = [&](auto change) {
      BeliefPropagation<Energy> method = fine;
      change(method);
      return method;
    };
    const Size size{30, 20};
    EXPECT_EQ(refusal(fine, size).message, "no error");
    expect_invalid(with([](auto& m) { m.energy.smoothness.neighbors = 8; }), size,
                   "belief propagation sends messages to 4 neighbours, not to 8");
    expect_invalid(with([](auto& m) { m.iterations = 0; }), size,
                   "belief-propagation: iterations cannot be 0; allowed: 1 to 10000");
    expect_invalid(with([](auto& m) { m.levels = 0; }), size,
                   "belief-propagation: levels cannot be 0; allowed: 1 to 12");
    expect_invalid(with([](auto& m) { m.levels = 13; }), size,
                   "belief-propagation: levels cannot be 13; allowed: 1 to 12");
    expect_invalid(with([](auto& m) { m.blocks = 0; }), size,
                   "belief-propagation: blocks cannot be 0; allowed: 1 to 4096");
    expect_invalid(with([](auto& m) { m.block_overlap = -1; }), size,
                   "belief-propagation: block_overlap cannot be -1; allowed: 0 to 4096");
    expect_invalid(with([](auto& m) { m.memory_limit = -1; }), size,
                   "belief-propagation: memory_limit cannot be -1; allowed: 0 to 1073741824");
    expect_invalid(with([](auto& m) { m.blocks = 601; }), size,
                   "an image of 30x20 pixels cannot be divided into 601 blocks");
    expect_invalid(with([](auto& m) { m.blocks = 31; }), size,
                   "an image of 30x20 pixels cannot be divided into 31 blocks");
    EXPECT_EQ(refusal(with([](auto& m) { m.blocks = 600; }), size).message, "no error");
    EXPECT_EQ(refusal(with([](auto& m) { m.blocks = 29; }), size).message, "no error");
  }

  /// The blocks that the message asks for are what works, and no fewer do.
  template <class Task, class Energy>
  void expect_memory(Size size) {
    const RandomPair pair(size, 11);
    for (const Precision precision : {Precision::exact, Precision::fast})
      for (const DataTerm data : {DataTerm::absolute, DataTerm::census}) {
        BeliefPropagation<Energy> method{.energy = small_energy<Energy>(), .precision = precision};
        method.energy.cost.data = data;
        method.memory_limit = 1;
        const auto refusal = [&](const auto& m) {
          return refusal_of([&] { Estimator<Task>(m, size, device()); });
        };
        const Refusal found = refusal(method);
        const std::regex numbers(
            "belief propagation of ([0-9]+) labels at ([0-9]+)x([0-9]+) pixels takes ([0-9]+) MiB for data "
            "costs and messages; 1 MiB are allowed; with --blocks ([0-9]+) it takes 1 MiB");
        std::smatch match;
        ASSERT_TRUE(std::regex_match(found.message, match, numbers)) << found.message;
        EXPECT_EQ(found.code, ErrorCode::memory);
        EXPECT_EQ(match[2], std::to_string(size.width));
        EXPECT_EQ(match[3], std::to_string(size.height));
        const int needed = std::stoi(match[4]), blocks = std::stoi(match[5]);
        method.memory_limit = needed;
        EXPECT_EQ(refusal(method).message, "no error");
        Estimator<Task> estimator(method, size, device());
        EXPECT_GT(double(estimator.workspace_bytes()), (needed - 1) * double(1 << 20))
            << "it is not too much";
        method.memory_limit = needed - 1;
        EXPECT_EQ(refusal(method).code, ErrorCode::memory);
        method.memory_limit = 1;
        method.blocks = blocks;
        EXPECT_EQ(refusal_of([&] { solve<Task>(method, pair); }).message, "no error") << blocks << " blocks";
        method.blocks = 2;
        EXPECT_NE(refusal(method).message.find(" in 2 blocks takes "), std::string::npos);
        if (precision == Precision::exact) continue;
        method.blocks = 1;
        method.block_overlap = 4096;
        EXPECT_NE(refusal(method).message.find("; no number of blocks makes it fit"), std::string::npos);
      }
  }
};

TEST_P(Propagates, RowsOfDisparitiesAreExact) { expect_chains<Stereo>(StereoEnergy{}, true); }
TEST_P(Propagates, RowsOfDisplacementsAreExact) {
  expect_chains<Flow>(DisplacementEnergy{.max_displacement = 2}, true);
}
TEST_P(Propagates, ColumnsOfDisplacementsAreExact) {
  expect_chains<Flow>(DisplacementEnergy{.max_displacement = 2}, false);
}

TEST_P(Propagates, ReportsAnEnergyForEachIterationOfDisparities) { expect_reports<Stereo, StereoEnergy>(); }
TEST_P(Propagates, ReportsAnEnergyForEachIterationOfDisplacements) {
  expect_reports<Flow, DisplacementEnergy>();
}

/// A wall, and before it a board; with noise.
TEST_P(Propagates, EnergiesOfDisparitiesAreLow) {
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
  StereoEnergy energy = BeliefPropagation<StereoEnergy>{}.energy;
  energy.disparities = 14;
  expect_low<Stereo>(energy, {frame_of(left), frame_of(right)});
}
TEST_P(Propagates, EnergiesOfDisplacementsAreLow) {
  DisplacementEnergy energy = BeliefPropagation<DisplacementEnergy>{}.energy;
  energy.max_displacement = 3;
  const Scene scene = render_scene("layers", {.size = {64, 48}, .seed = 2});
  expect_low<Flow>(energy, {scene.frames[0], scene.frames[1]});
}

TEST_P(Propagates, BlocksOfDisparitiesAreImagesOfTheirOwn) { expect_blocks<Stereo, StereoEnergy>(); }
TEST_P(Propagates, BlocksOfDisplacementsAreImagesOfTheirOwn) { expect_blocks<Flow, DisplacementEnergy>(); }
TEST_P(Propagates, BlocksThatReachOverAllAreTheWholeOfDisparities) { expect_overlap<Stereo, StereoEnergy>(); }
TEST_P(Propagates, BlocksThatReachOverAllAreTheWholeOfDisplacements) {
  expect_overlap<Flow, DisplacementEnergy>();
}
TEST_P(Propagates, EnergiesInBlocksOfDisparities) { expect_energies_in_blocks<Stereo, StereoEnergy>(); }
TEST_P(Propagates, EnergiesInBlocksOfDisplacements) { expect_energies_in_blocks<Flow, DisplacementEnergy>(); }

TEST_P(Propagates, RefusesWhatDoesNotFitStereo) { expect_refusals<Stereo, StereoEnergy>(); }
TEST_P(Propagates, RefusesWhatDoesNotFitFlow) { expect_refusals<Flow, DisplacementEnergy>(); }
TEST_P(Propagates, SaysHowManyBlocksFitStereo) { expect_memory<Stereo, StereoEnergy>({301, 200}); }
TEST_P(Propagates, SaysHowManyBlocksFitFlow) { expect_memory<Flow, DisplacementEnergy>({210, 101}); }

TEST_P(Propagates, HasNoUseForAStart) {
  const Size size{30, 20};
  const RandomPair pair(size, 12);
  const Frame frames[] = {pair.frame0, pair.frame1};
  StereoEstimator stereo(BeliefPropagation<StereoEnergy>{.energy = small_energy<StereoEnergy>()}, size,
                         device());
  FlowEstimator flow(BeliefPropagation<DisplacementEnergy>{.energy = small_energy<DisplacementEnergy>()},
                     size, device());
  const DisparityField disparities(size);
  const FlowField displacements(size);
  const std::string expected = "the method, with these parameters, has no use for a start";
  EXPECT_EQ(refusal_of([&] { stereo({frames, disparities}); }).message, expected);
  EXPECT_EQ(refusal_of([&] { flow({frames, displacements}); }).message, expected);
  EXPECT_EQ(refusal_of([&] { stereo(pair.frame0, pair.frame1); }).message, "no error");
}

/// Where smoothness costs nothing, the winner of the data cost.
TEST_P(Propagates, WithoutSmoothnessIsTheWinner) {
  const RandomPair pair({45, 30}, 13);
  StereoEnergy energy = small_energy<StereoEnergy>();
  energy.smoothness.beta = 0;
  const auto winner = solve<Stereo>(WinnerTakesAll<StereoEnergy>{energy}, pair);
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    const auto solved =
        solve<Stereo>(BeliefPropagation<StereoEnergy>{.energy = energy, .precision = precision}, pair);
    EXPECT_EQ(labels_of(solved.field, energy), labels_of(winner.field, energy));
    EXPECT_EQ(solved.energies, winner.energies);
  }
}

/// The same whatever the threads, and again.
TEST_P(Propagates, IsRepeatable) {
  const RandomPair pair({61, 37}, 14);
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    const BeliefPropagation<StereoEnergy> method{.energy = small_energy<StereoEnergy>(),
                                                 .precision = precision};
    StereoEstimator one(method, {61, 37}, parse_device(GetParam(), 1)),
        more(method, {61, 37}, parse_device(GetParam(), 3));
    const DisparityField first = one(pair.frame0, pair.frame1).to(Memory::host());
    for (int i = 0; i < 2; ++i) {  // nothing of another solve is left
      one(pair.frame1, pair.frame0);
      expect_part(first, 0, 0, one(pair.frame0, pair.frame1).to(Memory::host()), "again");
      expect_part(first, 0, 0, more(pair.frame0, pair.frame1).to(Memory::host()), "3 threads");
    }
  }
}

TEST(OracleBeliefPropagation, ChainMinimumIsTheExhaustiveOne) {
  const RandomPair row({5, 1}, 1);
  for (const float beta : {1.0f, 30.0f, 100.0f}) {
    const StereoEnergy energy{
        .disparities = 3, .cost = {.aggregation = 1}, .smoothness = {.beta = beta, .edge_scale = 50}};
    const oracle::LabelEnergy costs = oracle::energy_of(row.frame0, row.frame1, energy);
    EXPECT_NEAR(oracle::chain_minimum(costs), oracle::ExhaustiveMinimum(costs).energy(), 1e-9);
  }
}

/// Two pixels and two labels, by hand: data costs 0, 3 and 5, 1; different labels cost 2.
TEST(OracleBeliefPropagation, IsThePapersByHand) {
  const oracle::LabelEnergy energy{
      .size = {2, 1},
      .values = {{0, 0}, {1, 0}},
      .data = {oracle::Grid({2, 1}), oracle::Grid({2, 1})},
      .pair = [](oracle::Value a, oracle::Value b) { return 2.0 * (a.x != b.x); },
      .edge = [](int, int, int, int) { return 1.0; }};
  oracle::LabelEnergy costs = energy;
  costs.data[0](0, 0) = 0, costs.data[1](0, 0) = 3, costs.data[0](1, 0) = 5, costs.data[1](1, 0) = 1;
  const oracle::BeliefPropagation one(costs, 1, 1), two(costs, 1, 2), coarse(costs, 9, 1);
  EXPECT_EQ(one.beliefs(1, 0), (std::vector<double>{5, 1 + 2}));  // the left pixel says 0, 2
  EXPECT_EQ(one.beliefs(0, 0), (std::vector<double>{0, 3}));
  EXPECT_EQ(two.beliefs(0, 0), (std::vector<double>{2, 3}));  // the right one 2, 0
  EXPECT_EQ(coarse.levels(), 1) << "a level of one pixel has no messages";
}

TEST(Levels, AreThoseThatBlocksHaveRoomFor) {
  EXPECT_EQ(block_size({640, 480}, 1, 0), (Size{640, 480}));
  EXPECT_EQ(block_size({640, 480}, 1, 1 << 30), (Size{640, 480}));
  EXPECT_EQ(block_size({640, 480}, 12, 8), (Size{176, 176}));
  EXPECT_EQ(block_size({12, 9}, 4, 0), (Size{6, 5}));
  BeliefPropagation<DisplacementEnergy> method;
  EXPECT_EQ(levels_of(method, {640, 480}), 5);
  EXPECT_EQ(levels_of(method, {12, 9}), 4);
  EXPECT_EQ(levels_of(method, {1, 1}), 1);
  method.blocks = 4;
  EXPECT_EQ(levels_of(method, {12, 9}), 3);
  method.block_overlap = 2;
  EXPECT_EQ(levels_of(method, {12, 9}), 4);
  method.blocks = 109;
  EXPECT_EQ(message_of([&] {
              levels_of(method, {12, 9});
            }),
            "an image of 12x9 pixels cannot be divided into 109 blocks");
  EXPECT_EQ(message_of([&] { block_size({12, 9}, 4, -1); }), "blocks cannot overlap by -1 px");
  EXPECT_EQ(message_of([&] {
              block_size({12, 9}, 0, 0);
            }),
            "an image of 12x9 pixels cannot be divided into 0 blocks");
}

INSTANTIATE_TEST_SUITE_P(Devices, Propagates, every_device(), device_name);

}  // namespace
}  // namespace parafield
