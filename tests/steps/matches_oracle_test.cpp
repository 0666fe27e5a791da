// SPDX-License-Identifier: MIT
// Descriptors and matches against the oracle's. A byte of a descriptor may differ by 1 if float and float64
// round it differently. Equal descriptors give equal matches.
#include "noise.hpp"
#include "oracle/matches.hpp"
#include "oracle/steps.hpp"
#include "parafield/scenes.hpp"
#include "steps/matches_on.hpp"

namespace parafield {
namespace {

/// Levels of an image, as Grids and as the library's descriptors.
struct DescribedLevels {
  std::vector<oracle::Grid> luma;
  std::vector<oracle::DescribedImage> descriptors;

  DescribedLevels(const Image<float>& image, const FeatureMatching& matching) {
    const Device device = targets().front().device();
    const Forced forced(targets().front());
    with_backend(device, [&]<class Backend>() {
      if constexpr (!Backend::is_gpu) {
        Backend backend(device, {});
        Workspace workspace(backend.memory());
        Pyramid pyramid;
        std::vector<Descriptors> all;
        for (const Size level : FeatureMatcher<Backend>::level_sizes(matching, image.size())) {
          pyramid.level[pyramid.levels++] = workspace.image<float>(level);
          all.push_back(make_descriptors(workspace, level));
        }
        backend.reserve_scratch(descriptor_scratch(image.size().width));
        const Frame frame = frame_of(image);
        convert(backend, &frame, pyramid.level, 1);
        build_pyramids(backend, &pyramid, 1);
        describe(backend, &pyramid, 1, all.data(), nullptr);
        for (int i = 0; i < pyramid.levels; ++i) {
          luma.push_back(oracle::grid_of(pyramid.level[i]));
          descriptors.push_back(copy_of(all[std::size_t(i)]));
        }
      }
    });
  }

 private:
  /// Also checks that the margin has the nearest pixels' descriptors.
  static oracle::DescribedImage copy_of(const Descriptors& from) {
    oracle::DescribedImage image{{from.width, from.height}, {}};
    const auto bytes_at = [&](int x, int y) {
      std::array<int, 8> bytes;
      for (std::size_t k = 0; k < 8; ++k) bytes[k] = int(*from.at(x, y) >> (8 * k) & 255);
      return bytes;
    };
    for (int y = 0; y < from.height; ++y)
      for (int x = 0; x < from.width; ++x) image.bytes.push_back(bytes_at(x, y));
    for (int y = -6; y < from.height + 6; ++y)
      for (int x = -6; x < from.width + 6; ++x) EXPECT_EQ(bytes_at(x, y), image.at(x, y)) << x << ", " << y;
    return image;
  }
};

void expect_agreement(const Image<float>& frame0, const Image<float>& frame1,
                      const FeatureMatching& matching) {
  SCOPED_TRACE(testing::Message() << frame0.size().width << "x" << frame0.size().height << " stride "
                                  << matching.match_stride);
  const DescribedLevels levels[] = {{frame0, matching}, {frame1, matching}};
  std::int64_t all = 0, different = 0;
  for (const DescribedLevels& frame : levels) {
    const std::vector<Size> sizes = oracle::match_levels(frame0.size(), matching.match_levels);
    ASSERT_EQ(frame.luma.size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      ASSERT_EQ(frame.luma[i].size, sizes[i]);
      const oracle::DescribedImage expected = oracle::describe(frame.luma[i]);
      for (std::size_t pixel = 0; pixel < expected.bytes.size(); ++pixel)
        for (std::size_t k = 0; k < 8; ++k) {
          const int difference = std::abs(expected.bytes[pixel][k] - frame.descriptors[i].bytes[pixel][k]);
          ASSERT_LE(difference, 1) << "level " << i << ", pixel " << pixel << ", direction " << k;
          ++all;
          different += difference;
        }
    }
  }
  EXPECT_LE(double(different), 0.002 * double(all) + 2);

  using oracle::PatchMatch;
  const int stride = matching.match_stride, iterations = matching.match_iterations;
  const oracle::SeedFlows ways[] = {
      PatchMatch(levels[0].descriptors, levels[1].descriptors, stride, iterations).run(),
      PatchMatch(levels[1].descriptors, levels[0].descriptors, stride, iterations).run()};
  for (const int first : {0, 1}) {
    const DescribedLevels &from = levels[first], &to = levels[1 - first];
    const auto expected = oracle::checked_matches(ways[first], ways[1 - first], from.descriptors[0],
                                                  to.descriptors[0], from.luma[0], to.luma[0], stride,
                                                  matching.match_check, matching.match_region);
    const FoundSeeds found = matches_on(targets().front(), frame0, frame1, matching, 1, first == 1);
    ASSERT_EQ(found.valid.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found.grid.x(int(i) % found.grid.columns), expected[i].x);
      EXPECT_EQ(found.grid.y(int(i) / found.grid.columns), expected[i].y);
      ASSERT_EQ(found.valid[i] != 0, expected[i].flow.has_value()) << "seed " << i;
      if (!expected[i].flow) continue;
      ASSERT_NEAR(found.u[i], (*expected[i].flow)[0], 1e-4) << "seed " << i;
      ASSERT_NEAR(found.v[i], (*expected[i].flow)[1], 1e-4) << "seed " << i;
    }
  }
}

const FeatureMatching parameters[] = {
    {},
    {.match_stride = 2, .match_levels = 1, .match_iterations = 1},
    {.match_stride = 3, .match_levels = 2, .match_iterations = 2, .match_region = 5},
    {.match_stride = 5, .match_levels = 3, .match_check = 0, .match_region = 0},
    {.match_stride = 6, .match_iterations = 3, .match_check = 0.5f, .match_region = 1},
    {.match_stride = 32, .match_levels = 16, .match_iterations = 7, .match_check = 10, .match_region = 2},
};

class MatchesOracle : public testing::TestWithParam<FeatureMatching> {};

TEST_P(MatchesOracle, RandomTextures) {
  for (const Size size : {Size{1, 1}, Size{3, 2}, Size{1, 40}, Size{17, 13}, Size{64, 48}, Size{101, 67}}) {
    const Pair pair(size, 17);
    expect_agreement(pair.frame0, pair.frame1, GetParam());
  }
}

TEST_P(MatchesOracle, RenderedScenes) {
  for (const SceneInfo& info : scenes()) {
    SCOPED_TRACE(info.name);
    if (sanitized && info.name != "layers" && info.name != "large") continue;
    const Scene scene = render_scene(info.name, {.size = {101, 67}});
    const auto gray = [](const Frame& frame) {
      const oracle::Grid luma = oracle::luma(frame);
      Image<float> image(frame.size());
      for (int y = 0; y < frame.height; ++y)
        for (int x = 0; x < frame.width; ++x) image(x, y) = float(luma(x, y));
      return image;
    };
    expect_agreement(gray(scene.frames[0]), gray(scene.frames[1]), GetParam());
  }
}

TEST_P(MatchesOracle, PixelsThatAreNotFinite) {
  Pair pair({64, 48}, 29);
  for (int i = 0; i < 9; ++i) {
    pair.frame0(20 + i, 30) = std::numeric_limits<float>::quiet_NaN();
    pair.frame0(10 + i, 8) = 1e37f;
    pair.frame1(50, 11 + i) = std::numeric_limits<float>::infinity();
  }
  expect_agreement(pair.frame0, pair.frame1, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Parameters, MatchesOracle, testing::ValuesIn(parameters),
                         [](const auto& info) { return std::to_string(info.index); });

}  // namespace
}  // namespace parafield
