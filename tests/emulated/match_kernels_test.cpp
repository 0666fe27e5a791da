// SPDX-License-Identifier: MIT
// The CUDA kernels of matches, run by emulated warps on random cases: they give the bits of the CPU's steps,
// whatever the order of the threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "core/backend.hpp"
#include "emulated/emulated_cuda.hpp"
#include "guided/features/tracks.hpp"
#include "steps/matches/matcher.hpp"

namespace parafield {
namespace {

/// Images of one case, one a shifted copy of the other, and parameters.
class MatchCase {
  std::mt19937 random_;

 public:
  Workspace workspace{Memory::host()};
  Size size;
  FeatureMatching matching;
  ThreadOrder order;

  explicit MatchCase(unsigned seed) : random_(seed) {
    const int narrow = one_of({0, 0, 0, 1, 2});
    size = {narrow == 1 ? one_of({1, 2, 7}) : uniform(1, 90),
            narrow == 2 ? one_of({1, 2, 7}) : uniform(1, 60)};
    matching = {.match_stride = one_of({2, 3, 4, 4, 7}),
                .match_levels = one_of({1, 2, 5}),
                .match_iterations = uniform(1, 4),
                .match_check = float(one_of({0, 1, 3})),
                .match_region = one_of({0, 4, 25})};
    order = ThreadOrder(one_of({0, 1, 2}));
    const int u = uniform(-20, 20), v = uniform(-9, 9), texture = one_of({0, 1, 2, 3});
    for (int frame = 0; frame < 2; ++frame) {
      Pyramid& pyramid = pyramids[frame];
      for (const Size level : sizes()) pyramid.level[pyramid.levels++] = workspace.image<float>(level);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          pyramid.level[0](x, y) = value(texture, x - frame * u, y - frame * v);
      if (uniform(0, 2) == 0)
        pyramid.level[0](uniform(0, size.width - 1), uniform(0, size.height - 1)) =
            one_of({0, 1}) ? std::numeric_limits<float>::quiet_NaN() : 1e36f;
    }
  }

  std::vector<Size> sizes() const { return FeatureMatcher<EmulatedCuda>::level_sizes(matching, size); }
  int uniform(int low, int high) { return low + int(random_() % unsigned(high - low + 1)); }
  int one_of(std::initializer_list<int> values) { return values.begin()[random_() % values.size()]; }

  Pyramid pyramids[2];

 private:
  static float value(int texture, int x, int y) {
    const auto noise = float(mixed(std::uint32_t(x * 7919 + y * 104729)) % 256);
    return texture == 0   ? noise
           : texture == 1 ? 128 + 100 * std::sin(float(x) * 0.4f + float(y * y) * 0.03f)
           : texture == 2 ? (x / 5 + y / 4) % 2 * 200 + noise / 32
                          : 77;
  }
};

void expect_same_tracks(const std::vector<Track>& expected, const std::vector<Track>& actual) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(std::memcmp(&expected[i], &actual[i], sizeof(Track)), 0)
        << "cell " << i << ": " << expected[i].x << ", " << expected[i].y << ": " << expected[i].u << ", "
        << expected[i].v << " and " << actual[i].x << ", " << actual[i].y << ": " << actual[i].u << ", "
        << actual[i].v;
}

class EmulatedMatchKernels : public testing::TestWithParam<int> {};

TEST_P(EmulatedMatchKernels, SameBits) {
  const Device device = Device::cpu(1);
  int kept = 0;
  with_backend(device, [&]<class Backend>() {
    if constexpr (!Backend::is_gpu)
      for (unsigned i = 0; i < 2; ++i) {
        const unsigned seed = 1000 * unsigned(GetParam()) + i;
        SCOPED_TRACE("case " + std::to_string(seed));
        MatchCase one(seed);
        Backend cpu(device, {});
        EmulatedCuda emulated(one.order);
        build_pyramids(cpu, one.pyramids, 2);
        const FeatureGrid grid = feature_grid_of(one.size, one.uniform(1, 300));
        const auto find = [&](auto& backend, bool back) {
          FeatureMatcher matcher(backend, one.workspace, one.matching, one.size, 2);
          matcher.describe(one.pyramids, 0, 2);
          const View<float> luma[] = {one.pyramids[0].level[0], one.pyramids[1].level[0]};
          matcher.find(0, 1, luma[0], luma[1]);
          if (back) matcher.find(1, 0, luma[1], luma[0]);
          const Matches& matches = matcher.matches();
          std::vector<Track> tracks(std::size_t(grid.count()));
          take_matches(backend, matches, grid, tracks.data());
          return std::pair{matches, tracks};
        };
        for (const bool back : {false, true}) {
          const auto [expected, expected_tracks] = find(cpu, back);
          const auto [actual, actual_tracks] = find(emulated, back);
          for (int row = 0; row < expected.grid.rows; ++row)
            for (int column = 0; column < expected.grid.columns; ++column) {
              ASSERT_EQ(expected.valid(column, row), actual.valid(column, row)) << column << ", " << row;
              kept += expected.valid(column, row);
              ASSERT_EQ(expected.u(column, row), actual.u(column, row)) << column << ", " << row;
              ASSERT_EQ(expected.v(column, row), actual.v(column, row)) << column << ", " << row;
            }
          expect_same_tracks(expected_tracks, actual_tracks);
        }
        if (testing::Test::HasFatalFailure()) return;
      }
  });
  EXPECT_GT(kept, 0);
}

INSTANTIATE_TEST_SUITE_P(Cases, EmulatedMatchKernels, testing::Range(0, 4));

}  // namespace
}  // namespace parafield
