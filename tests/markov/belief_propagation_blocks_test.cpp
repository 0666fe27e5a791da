// SPDX-License-Identifier: MIT
// Belief propagation of images in blocks, and errors of its parameters.
#include <regex>

#include "markov/propagation.hpp"

namespace parafield {
namespace {

struct Rejection {
  ErrorCode code = {};
  std::string message = "no error";
};
Rejection rejection_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

class BeliefPropagationBlocks : public PropagationTest {
 protected:
  /// Frames whose blocks differ by more than the truncation: matches in other blocks cost as much as outside.
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

  /// Expects each of four blocks to have the result of an image of its own.
  template <class Task, class Energy>
  void expect_blocks() {
    const Size size{38, 26}, half{19, 13};
    const RandomPair pair = apart(size, half);
    for (const Precision precision : {Precision::exact, Precision::fast})
      for (const bool edges : {false, true})
        for (const int levels : {1, 5}) {
          auto method = paper(small_energy<Energy>());
          method.energy.cost.truncation = 15;
          method.energy.sub_pixel = std::is_same_v<Task, Flow>;  // disparities out of a part stay whole
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

  /// Expects the result of the whole image if the overlaps make every block as large as the image.
  template <class Task, class Energy>
  void expect_overlap() {
    const Size size{38, 26};
    const RandomPair pair(size, 9, true);
    for (const DataTerm data : {DataTerm::absolute, DataTerm::mix}) {
      auto method = paper(small_energy<Energy>());
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
      EXPECT_NE(solve<Task>(method, pair).energies.at(0), whole.energies.at(0))
          << "blocks without overlap change nothing";
    }
  }

  /// Expects the energy of the whole field, although a volume stores the data costs of one block only.
  template <class Task, class Energy>
  void expect_energies_in_blocks() {
    const RandomPair pair({29, 23}, 10);
    for (const DataTerm data : {DataTerm::absolute, DataTerm::census, DataTerm::mix})
      for (const int aggregation : {1, 5})
        for (const int blocks : {2, 3, 5, 8}) {  // none divides the sides
          auto method = paper(small_energy<Energy>());
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
  void expect_rejections() {
    const auto rejection = [&](const auto& method, Size size) {
      return rejection_of([&] { Estimator<Task>(method, size, {.device = device()}); });
    };
    const auto expect_invalid = [&](const auto& method, Size size, const std::string& message) {
      const Rejection found = rejection(method, size);
      EXPECT_EQ(found.message, message);
      EXPECT_EQ(found.code, ErrorCode::invalid_argument);
    };
    const auto fine = paper(small_energy<Energy>());
    const auto with = [&](auto change) {
      BeliefPropagation<Energy> method = fine;
      change(method);
      return method;
    };
    const Size size{30, 20};
    EXPECT_EQ(rejection(fine, size).message, "no error");
    expect_invalid(with([](auto& m) { m.energy.smoothness.neighbors = 8; }), size,
                   "belief-propagation: neighbors cannot be 8; allowed: 4");
    expect_invalid(with([](auto& m) { m.iterations = 0; }), size,
                   "belief-propagation: iterations cannot be 0; allowed: 1 to 10000");
    expect_invalid(with([](auto& m) { m.levels = 0; }), size,
                   "belief-propagation: levels cannot be 0; allowed: 1 to 12");
    expect_invalid(with([](auto& m) { m.levels = 13; }), size,
                   "belief-propagation: levels cannot be 13; allowed: 1 to 12");
    expect_invalid(with([](auto& m) { m.blocks = -1; }), size,
                   "belief-propagation: blocks cannot be -1; allowed: 0 to 4096");
    expect_invalid(with([](auto& m) { m.block_overlap = -1; }), size,
                   "belief-propagation: block_overlap cannot be -1; allowed: 0 to 4096");
    expect_invalid(with([](auto& m) { m.memory_limit = -1; }), size,
                   "belief-propagation: memory_limit cannot be -1; allowed: 0 to 1073741824");
    expect_invalid(
        with([](auto& m) { m.blocks = 601; }), size,
        "blocks cannot be 601: an image of 30x20 px has columns x rows of blocks, at most 30 x 20");
    expect_invalid(with([](auto& m) { m.blocks = 31; }), size,
                   "blocks cannot be 31: an image of 30x20 px has columns x rows of blocks, at most 30 x 20");
    expect_invalid(with([](auto& m) { m.blocks = 100, m.block_overlap = 4096; }), size,
                   "block_overlap cannot be 4096 px: 100 blocks of 30x20 px have 100 times the pixels of the "
                   "image of 30x20 px; allowed: 32 times");
    EXPECT_EQ(rejection(with([](auto& m) { m.blocks = 30, m.block_overlap = 4096; }), size).message,
              "no error");
    EXPECT_EQ(rejection(with([](auto& m) { m.blocks = 600; }), size).message, "no error");
    EXPECT_EQ(rejection(with([](auto& m) { m.blocks = 29; }), size).message, "no error");
  }

  /// Expects that the message tells the memory needed, and a number of blocks that fits.
  template <class Task, class Energy>
  void expect_memory(Size size) {
    const RandomPair pair(size, 11);
    for (const Precision precision : {Precision::exact, Precision::fast})
      for (const DataTerm data : {DataTerm::absolute, DataTerm::census}) {
        auto method = paper(small_energy<Energy>());
        method.precision = precision;
        method.energy.cost.data = data;
        method.blocks = 1;
        method.memory_limit = 1;
        const auto rejection = [&](const auto& m) {
          return rejection_of([&] { Estimator<Task>(m, size, {.device = device()}); });
        };
        const Rejection found = rejection(method);
        const std::regex numbers(
            "belief-propagation: data costs and messages of ([0-9]+) labels at ([0-9]+)x([0-9]+) px take "
            "([0-9]+) MiB; memory_limit allows 1 MiB; with blocks = ([0-9]+) they take 1 MiB");
        std::smatch match;
        ASSERT_TRUE(std::regex_match(found.message, match, numbers)) << found.message;
        EXPECT_EQ(found.code, ErrorCode::memory);
        EXPECT_EQ(match[2], std::to_string(size.width));
        EXPECT_EQ(match[3], std::to_string(size.height));
        const int needed = std::stoi(match[4]), blocks = std::stoi(match[5]);
        method.memory_limit = needed;
        EXPECT_EQ(rejection(method).message, "no error");
        Estimator<Task> estimator(method, size, {.device = device()});
        EXPECT_GT(double(estimator.workspace_bytes()), (needed - 1) * double(1 << 20))
            << "the message tells too much";
        method.memory_limit = needed - 1;
        EXPECT_EQ(rejection(method).code, ErrorCode::memory);
        method.memory_limit = 1;
        method.blocks = blocks;
        EXPECT_EQ(rejection_of([&] { solve<Task>(method, pair); }).message, "no error")
            << blocks << " blocks";
        method.blocks = 2;
        EXPECT_NE(rejection(method).message.find(" px in 2 blocks take "), std::string::npos);
        if (precision == Precision::exact) continue;
        method.blocks = 1;
        method.block_overlap = 4096;
        EXPECT_NE(rejection(method).message.find("; no number of blocks makes them fit"), std::string::npos);
      }
  }
};

TEST_P(BeliefPropagationBlocks, BlocksOfDisparitiesAreIndependent) { expect_blocks<Stereo, StereoEnergy>(); }
TEST_P(BeliefPropagationBlocks, BlocksOfDisplacementsAreIndependent) {
  expect_blocks<Flow, DisplacementEnergy>();
}
TEST_P(BeliefPropagationBlocks, FullOverlapOfDisparitiesEqualsOneBlock) {
  expect_overlap<Stereo, StereoEnergy>();
}
TEST_P(BeliefPropagationBlocks, FullOverlapOfDisplacementsEqualsOneBlock) {
  expect_overlap<Flow, DisplacementEnergy>();
}
TEST_P(BeliefPropagationBlocks, EnergyOfDisparitiesInBlocks) {
  expect_energies_in_blocks<Stereo, StereoEnergy>();
}
TEST_P(BeliefPropagationBlocks, EnergyOfDisplacementsInBlocks) {
  expect_energies_in_blocks<Flow, DisplacementEnergy>();
}

TEST_P(BeliefPropagationBlocks, RejectsWrongParametersOfStereo) { expect_rejections<Stereo, StereoEnergy>(); }
TEST_P(BeliefPropagationBlocks, RejectsWrongParametersOfFlow) {
  expect_rejections<Flow, DisplacementEnergy>();
}
TEST_P(BeliefPropagationBlocks, TellsBlocksThatFitForStereo) {
  expect_memory<Stereo, StereoEnergy>({301, 200});
}
TEST_P(BeliefPropagationBlocks, TellsBlocksThatFitForFlow) {
  expect_memory<Flow, DisplacementEnergy>({210, 101});
}

TEST_P(BeliefPropagationBlocks, RejectsAStart) {
  const Size size{30, 20};
  const RandomPair pair(size, 12);
  const Frame frames[] = {pair.frame0, pair.frame1};
  StereoEstimator stereo(paper(small_energy<StereoEnergy>()), size, {.device = device()});
  FlowEstimator flow(paper(small_energy<DisplacementEnergy>()), size, {.device = device()});
  const DisparityField disparities(size);
  const FlowField displacements(size);
  const std::string expected = "the method, with these parameters, has no use for a start";
  EXPECT_EQ(rejection_of([&] { stereo({frames, disparities}); }).message, expected);
  EXPECT_EQ(rejection_of([&] { flow({frames, displacements}); }).message, expected);
  EXPECT_EQ(rejection_of([&] { stereo(pair.frame0, pair.frame1); }).message, "no error");
}

TEST(Levels, AreLimitedByTheSizeOfBlocks) {
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
            "blocks cannot be 109: an image of 12x9 px has columns x rows of blocks, at most 12 x 9");
  EXPECT_EQ(message_of([&] {
              block_size({12, 9}, 4, -1);
            }),
            "block_overlap cannot be -1 px; allowed: 0 or more");
  EXPECT_EQ(message_of([&] {
              block_size({12, 9}, 0, 0);
            }),
            "blocks cannot be 0: an image of 12x9 px has columns x rows of blocks, at most 12 x 9");
}

INSTANTIATE_TEST_SUITE_P(Devices, BeliefPropagationBlocks, every_device(), device_name);

}  // namespace
}  // namespace parafield
