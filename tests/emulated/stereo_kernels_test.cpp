// SPDX-License-Identifier: MIT
// CUDA kernels of stereo's steps, run by emulated threads on random frames and disparities: they give the
// bits of the CPU's steps, whatever the order of the threads.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "emulated/emulated_cuda.hpp"
#include "markov/mix/words.hpp"
#include "markov/values/values.hpp"
#include "planes_on.hpp"
#include "steps/consistency/consistency.hpp"
#include "steps/repetition/repetition.hpp"
#include "targets.hpp"

namespace parafield {
namespace {

/// Random images that repeat in places, and disparities.
struct StereoCase {
  Size size;
  int disparities;
  std::vector<std::uint32_t> colors[2];
  std::vector<float> planes[4], d, confidence, flatness;
  std::vector<std::uint8_t> valid;
  std::vector<Label> labels;
  std::vector<float> costs[3];

  explicit StereoCase(unsigned seed) {
    std::mt19937 random(seed);
    const auto one_of = [&](std::initializer_list<int> some) { return some.begin()[random() % some.size()]; };
    size = {one_of({1, 5, 31, 70, 150, 203}), one_of({1, 3, 20, 45, 66})};
    disparities = std::min(one_of({3, 20, 64, 90}), size.width);
    const int period = one_of({5, 9, 14, 31}), noise = one_of({1, 4, 40});
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        for (std::vector<std::uint32_t>& color : colors)
          color.push_back((x % period * 150u / unsigned(period) + 7u * (unsigned(y) % 9) + random() % noise) *
                          0x10101u);
        for (std::vector<float>& plane : planes) plane.push_back(float(random() % 2550) / 10);
        d.push_back(float(random() % unsigned(4 * disparities)) / 4);
        labels.push_back(Label(x / 9 % disparities + (random() % 5 == 0)));
        for (std::vector<float>& plane : costs) plane.push_back(float(random() % 500) / 16);
        confidence.push_back(float(random() % 100) / 50);
        valid.push_back(random() % 4 > 0);
        flatness.push_back(x < 64 ? 0.0f : float(random() % 5) / 4);
      }
  }
};

/// All results of the steps.
struct StereoResults {
  std::vector<std::int32_t> before, after;
  std::vector<std::uint8_t> repeated, valid, kept, unsure;
  std::vector<float> confidence, right, whole, refined, certainty;
  std::vector<std::uint32_t> words[3], plain_words[3];
};

template <class Backend>
StereoResults results_with(Backend& backend, const StereoCase& c) {
  Workspace workspace(backend.memory());
  const auto put = [&](const auto& values) { return stored(backend, workspace, c.size, values); };
  const auto take = [&](auto plane) { return values_of(backend, plane); };
  StereoResults results;
  const View<std::uint32_t> left = put(c.colors[0]), right = put(c.colors[1]);
  const View<float> d = put(c.d), confidence = put(c.confidence);
  const View<std::uint8_t> valid = put(c.valid);

  const Size size = repeated_blocks(c.size);
  const RepeatedBlocks blocks{workspace.image<std::int32_t>(size), workspace.image<std::int32_t>(size),
                              workspace.image<std::uint8_t>(size)};
  backend.reserve_scratch(repetition_scratch(c.size.width));
  find_periods(backend, View<const std::uint32_t>(left), c.disparities, blocks);
  find_repetition(backend, RepetitionInput{left, right, d, 0, c.disparities - 1}, blocks);
  results.before = take(blocks.before), results.after = take(blocks.after);
  results.repeated = take(blocks.repeated);
  withhold_repeated<Backend>(backend, blocks.repeated, c.size.width % 2 ? 0.5f : 0.0f, valid, confidence);
  results.valid = take(valid), results.confidence = take(confidence);

  const View<float> projected = put(c.d);
  const View<std::uint8_t> kept = put(c.valid), unsure = put(c.valid);
  project_disparities<Backend>(backend, d, projected, 1.0f, kept, unsure);
  results.right = take(projected), results.kept = take(kept), results.unsure = take(unsure);

  const Size half{(c.size.width + 1) / 2, (c.size.height + 1) / 2};
  const RefinedLabels refined{workspace.image<float>(half), workspace.image<float>(half)};
  const View<float> whole = put(c.d);
  label_values(backend,
               Values{put(c.labels),
                      {put(c.costs[0]), put(c.costs[1]), put(c.costs[2])},
                      {},
                      {.nx = c.disparities, .x0 = -2}},
               whole, {}, {}, refined);
  results.whole = take(whole), results.refined = take(refined.d), results.certainty = take(refined.certainty);

  const Taps taps = gaussian_taps(flat_sigma);
  backend.reserve_scratch(word_scratch(c.size.width));
  MixSource source;
  for (int i = 0; i < (c.disparities % 2 ? 1 : 4); ++i) source.plane[i] = put(c.planes[i]);
  for (const bool is_plain : {false, true}) {
    const WordViews words{put(c.colors[0]), put(c.colors[0]), put(c.colors[0])};
    const View<float> flatness = is_plain ? View<float>{} : put(c.flatness);
    mix_words(backend, &source, &flatness, taps, &words, 1);
    auto& found = is_plain ? results.plain_words : results.words;
    found[0] = take(words.color), found[1] = take(words.gradient), found[2] = take(words.census);
  }
  return results;
}

StereoResults results_on_cpu(const StereoCase& c) {
  const Target target = reference_target();
  const Forced forced(target);
  const Device device = target.device(2);
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    return results_with(backend, c);
  });
}

TEST(EmulatedStereoKernels, GiveTheBitsOfTheCpu) {
  int repeated = 0, others = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    const StereoCase c(seed);
    SCOPED_TRACE(testing::Message() << "case " << seed << ": " << c.size.width << "x" << c.size.height << ", "
                                    << c.disparities << " disparities");
    EmulatedCuda emulated{ThreadOrder(seed % 3)};
    const StereoResults expected = results_on_cpu(c), found = results_with(emulated, c);
    EXPECT_EQ(found.before, expected.before);
    EXPECT_EQ(found.after, expected.after);
    EXPECT_EQ(found.repeated, expected.repeated);
    EXPECT_EQ(found.valid, expected.valid);
    EXPECT_EQ(found.confidence, expected.confidence);
    EXPECT_EQ(found.right, expected.right);
    EXPECT_EQ(found.kept, expected.kept);
    EXPECT_EQ(found.unsure, expected.unsure);
    EXPECT_EQ(found.whole, expected.whole);
    EXPECT_EQ(found.refined, expected.refined);
    EXPECT_EQ(found.certainty, expected.certainty);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(found.words[i], expected.words[i]) << "words " << i;
      EXPECT_EQ(found.plain_words[i], expected.plain_words[i]) << "words " << i;
    }
    for (const std::uint8_t flag : expected.repeated) ++(flag ? repeated : others);
  }
  EXPECT_GT(repeated, 50);
  EXPECT_GT(others, 50);
}

}  // namespace
}  // namespace parafield
