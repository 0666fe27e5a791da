// SPDX-License-Identifier: MIT
// Blocks that belief propagation chooses by itself where memory is short.
#include "markov/blocks.hpp"
#include "markov/propagation.hpp"

namespace parafield {
namespace {

/// Expects that the kept parts of blocks cover an image once, have their margins, and begin at multiples of
/// `unit`.
void expect_cover(const BlockGrid& grid, Size image, int margin, int unit) {
  std::vector<int> covered(std::size_t(image.width) * std::size_t(image.height));
  for (const Block& block : grid.blocks) {
    EXPECT_EQ(block.x % unit, 0);
    EXPECT_EQ(block.y % unit, 0);
    EXPECT_LE(block.x + grid.size.width, image.width);
    EXPECT_LE(block.y + grid.size.height, image.height);
    const auto expect_margin = [&](int from, int to, int begin, int length, int side) {
      EXPECT_LT(from, to);
      EXPECT_GE(from, begin > 0 ? margin : 0);
      EXPECT_LE(to, begin + length < side ? length - margin : length);
    };
    expect_margin(block.x0, block.x1, block.x, grid.size.width, image.width);
    expect_margin(block.y0, block.y1, block.y, grid.size.height, image.height);
    for (int y = block.y + block.y0; y < block.y + block.y1; ++y)
      for (int x = block.x + block.x0; x < block.x + block.x1; ++x)
        ++covered[std::size_t(y) * std::size_t(image.width) + std::size_t(x)];
  }
  EXPECT_EQ(std::ranges::count(covered, 1), std::ptrdiff_t(covered.size()));
}

TEST(ChosenBlocks, CoverTheImageOnce) {
  std::mt19937 random(3);
  int divided = 0;
  for (int i = 0; i < 500; ++i) {
    const Size image{1 + int(random() % 300), 1 + int(random() % 300)};
    const int margin = int(random() % 40), unit = 2 << random() % 5;
    const double most = 1 + random() % 60000;
    const auto fits = [&](Size size) { return double(size.width) * size.height <= most; };
    const auto grid = BlockGrid::fewest(image, margin, unit, BlockGrid::most_work, fits);
    if (!grid) continue;
    EXPECT_TRUE(fits(grid->size));
    expect_cover(*grid, image, margin, unit);
    if (HasFailure())
      FAIL() << image.width << "x" << image.height << ", margin " << margin << ", unit " << unit;
    divided += grid->blocks.size() > 1;
  }
  EXPECT_GT(divided, 100);
}

TEST(ChosenBlocks, AreAsFewAsPossible) {
  const auto count = [](double most) -> std::size_t {
    const auto grid = BlockGrid::fewest({96, 64}, 4, 4, BlockGrid::most_work,
                                        [=](Size size) { return double(size.width) * size.height <= most; });
    return grid ? grid->blocks.size() : 0;
  };
  EXPECT_EQ(count(96 * 64), 1u);
  EXPECT_EQ(count(96 * 64 - 1), 2u) << "52x64";
  EXPECT_EQ(count(52 * 64), 2u);
  EXPECT_EQ(count(52 * 64 - 1), 3u) << "40x64";
  EXPECT_EQ(count(11 * 11), 0u) << "4 px and two margins are 12";
}

TEST(ChosenBlocks, HaveMarginsAsWideAsMemoryAllows) {
  const LevelIterations iterations{3, 4, 2};
  EXPECT_EQ(iterations.reach(), 2 + 4 * 2 + 4 * 4 + 4);
  EXPECT_EQ((LevelIterations{1, 7, 7}.reach()), 8);
  EXPECT_EQ((LevelIterations{3, 4, 2, 1}.reach()), 2 + (4 + 5) * 2 + 2 * (4 + 5) * 4 + 4)
      << "planes of 9x7 pixels and their neighbors, and two solves of level 2";
  EXPECT_EQ((LevelIterations{12, 10000, 10000}.reach()), 10000 * 4095 + 2048);
  const auto margin = [&](int side, int least = 0) {
    const auto grid = chosen_blocks({400, 300}, iterations, least,
                                    [=](Size size) { return std::max(size.width, size.height) <= side; });
    return grid ? grid->margin : -1;
  };
  EXPECT_EQ(margin(400), 0) << "one block";
  EXPECT_EQ(margin(300), 30);
  EXPECT_EQ(margin(300, 50), 50);
  EXPECT_EQ(margin(70), 15);
  EXPECT_EQ(margin(20), 3);
  EXPECT_EQ(margin(10), -1);
}

class ChosenBlocksOn : public PropagationTest {
 protected:
  /// Expects the bits of one block from blocks that memory_limit makes necessary.
  template <class Task, class Energy>
  void expect_one_result(Size size) {
    const RandomPair pair(size, 15, true);
    for (const Precision precision : {Precision::exact, Precision::fast})
      for (const DataTerm data : {DataTerm::absolute, DataTerm::mix})
        for (const int levels : {1, 2, 3}) {
          auto method = paper(small_energy<Energy>());
          method.energy.cost = {
              .data = data, .rgb = true, .truncation = 9, .aggregation = data == DataTerm::mix ? 1 : 3};
          method.energy.smoothness.edge_scale = 30;
          method.energy.sub_pixel = true;
          method.precision = precision;
          method.levels = levels;
          method.iterations = 2;
          method.finest_iterations = levels % 2 ? 2 : 0;
          if constexpr (requires { method.surfaces.slant; })
            method.surfaces.slant = levels == 3 ? Slant::all : Slant::coarse;
          method.blocks = 1;
          const auto whole = solve<Task>(method, pair);
          const int needed = mib_of_one<Task>(method, size);
          method.blocks = 0;
          method.memory_limit = std::max(1, needed * 3 / 4);
          const SolvedBlocks used = Estimator<Task>(method, size, {.device = device()}).blocks();
          EXPECT_GT(used.count, 1) << described(method);
          EXPECT_TRUE(used.seamless) << described(method);
          const auto solved = solve<Task>(method, pair, EnergyReport::sweeps);
          expect_part(whole.field, 0, 0, solved.field, described(method));
          ASSERT_EQ(solved.energies.size(), 1u);
          EXPECT_NEAR(solved.energies[0], whole.energies.at(0), 1e-6 * whole.energies.at(0));
          if (HasFailure()) return;
        }
  }

  /// MiB of one block.
  template <class Task, class Method>
  int mib_of_one(Method method, Size size) const {
    method.blocks = method.memory_limit = 1;
    const std::string message = rejection<Task>(method, size);
    std::smatch needed;
    if (!std::regex_search(message, needed, std::regex("take ([0-9]+) MiB"))) return 1;
    return std::stoi(needed[1]);
  }

  template <class Task, class Method>
  std::string rejection(const Method& method, Size size) const {
    try {
      Estimator<Task>(method, size, {.device = device()});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::memory);
      return error.what();
    }
    return "no error";
  }
};

TEST_P(ChosenBlocksOn, HaveTheDisparitiesOfOneBlock) { expect_one_result<Stereo, StereoEnergy>({701, 503}); }
TEST_P(ChosenBlocksOn, HaveTheDisplacementsOfOneBlock) {
  expect_one_result<Flow, DisplacementEnergy>({161, 140});
}

TEST_P(ChosenBlocksOn, AreOneWhereMemoryIsEnough) {
  BeliefPropagation<StereoEnergy> method;
  EXPECT_EQ(method.blocks, 0);
  const Size size{64, 48};
  const SolvedBlocks unknown = StereoEstimator(method, size, {.device = device()}).blocks();
  EXPECT_EQ(unknown.count, 1) << "before the first pair";
  EXPECT_EQ(unknown.size, size);
  method.energy.disparities = 8;
  const SolvedBlocks one = StereoEstimator(method, size, {.device = device()}).blocks();
  EXPECT_EQ(one.count, 1);
  EXPECT_EQ(one.size, size);
  EXPECT_EQ(one.margin, 0);
  EXPECT_TRUE(one.seamless);
  const SolvedBlocks other = FlowEstimator(LucasKanade{}, size, {.device = device()}).blocks();
  EXPECT_EQ(other.count, 1);
  EXPECT_EQ(other.size, size);
}

TEST_P(ChosenBlocksOn, SayWhenMarginsAreTooNarrow) {
  auto method = paper(small_energy<StereoEnergy>());
  method.levels = 5;
  const Size size{301, 203};
  method.memory_limit = mib_of_one<Stereo>(method, size) * 2 / 3;
  const SolvedBlocks narrow = StereoEstimator(method, size, {.device = device()}).blocks();
  EXPECT_GT(narrow.count, 1);
  EXPECT_FALSE(narrow.seamless) << "messages of five levels reach 233 px";
  method.blocks = 6;
  const SolvedBlocks given = StereoEstimator(method, size, {.device = device()}).blocks();
  EXPECT_EQ(given.count, 6);
  EXPECT_EQ(given.size, block_size(size, 6, 0));
  EXPECT_FALSE(given.seamless);
}

TEST_P(ChosenBlocksOn, ThatTakeTooMuchAreAnError) {
  auto method = paper(small_energy<DisplacementEnergy>());
  method.energy.max_displacement = 10;
  method.memory_limit = 1;
  const std::string message = rejection<Flow>(method, {301, 200});
  const std::regex numbers(
      "belief-propagation: data costs and messages of 441 labels at 301x200 px take ([0-9]+) MiB, in the "
      "smallest blocks ([0-9]+) MiB; memory_limit allows 1 MiB");
  std::smatch match;
  ASSERT_TRUE(std::regex_match(message, match, numbers)) << message;
  EXPECT_GT(std::stoi(match[1]), 2 * std::stoi(match[2]));
  method.memory_limit = std::stoi(match[2]);
  EXPECT_EQ(rejection<Flow>(method, {301, 200}), "no error");
}

INSTANTIATE_TEST_SUITE_P(Devices, ChosenBlocksOn, every_device(), device_name);

}  // namespace
}  // namespace parafield
