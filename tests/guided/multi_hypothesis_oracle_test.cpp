// SPDX-License-Identifier: MIT
// Labels and choices of multi-hypothesis with all kinds of parameters, on every target: equal to the
// oracle's, with the bits of the reference.
#include "guided/label_choice.hpp"
#include "oracle/multi_hypothesis.hpp"

namespace parafield {
namespace {

using MultiHypothesisOracle = LabelsOnTarget;

std::string described_as(const MultiHypothesis& method) {
  return std::string(detail::text_of(method.labels)) + " " + std::to_string(method.label_step) +
         " px, window " + std::to_string(method.change_window) + ", softness " +
         std::to_string(method.change_softness) + ", ranked " + std::to_string(method.ranked) + ", unvoted " +
         std::to_string(method.unvoted) + ", sub-pixel " + std::to_string(method.sub_pixel);
}

/// All kinds of parameters; from few labels to several chunks of them.
std::vector<MultiHypothesis> methods() {
  std::vector<MultiHypothesis> all;
  for (const FlowLabels labels : {FlowLabels::distinct, FlowLabels::grid})
    for (const float step : {2.0f, 1.0f, 0.5f})
      for (const int kind : {0, 1, 2, 3}) {
        MultiHypothesis method = small_method();
        method.labels = labels;
        method.label_step = step;
        method.change_window = kind == 0 ? 1 : kind == 1 ? 3 : 5;
        method.change_softness = kind == 2 ? 2.0f : 0.0f;
        method.ranked = kind == 3 ? 3 : 0;
        method.sub_pixel = kind % 2 == 0;
        method.unvoted = (kind % 2 == 1) == (labels == FlowLabels::distinct);
        all.push_back(method);
      }
  for (const bool unvoted : {true, false}) {  // gaussians so narrow that most labels have no votes
    MultiHypothesis method = small_method();
    method.sigma_position = 2;
    method.sigma_color = 10;
    method.sigma_flow = 0.25f;
    method.unvoted = unvoted;
    all.push_back(method);
  }
  return all;
}

TEST_P(MultiHypothesisOracle, SameBits) {
  for (const Size size : {Size{41, 23}, Size{1, 9}, Size{130, 11}})
    for (const MultiHypothesis& method : methods()) {
      expect_like_reference(two_motions(size, 90), method, text_of(size) + " " + described_as(method));
      if (HasFatalFailure()) return;
    }
}

TEST_P(MultiHypothesisOracle, AgreesWithTheOracle) {
  const Size size{41, 23};
  for (const MultiHypothesis& method : methods()) {
    const std::string what = described_as(method);
    Tracked scene = two_motions(size, 60);
    const bool narrow = method.sigma_flow < 1;
    if (narrow)  // the left's labels come from its upper border alone
      for (Track& track : scene.tracks)
        if (track.x < float(size.width / 2) && track.y > 5) track.u = -1, track.v = 0.6f;
    Chosen actual = run_choice(GetParam(), scene, method);
    std::array<oracle::Grid, 3> frame0, frame1;
    for (std::size_t c = 0; c < 3; ++c) {
      frame0[c] = oracle::tabulate(size, [&](int x, int y) { return scene.at(0, int(c), x, y); });
      frame1[c] = oracle::tabulate(size, [&](int x, int y) { return scene.at(1, int(c), x, y); });
    }
    std::vector<oracle::Seven> features;
    for (const Track& track : scene.tracks) {
      const int x = std::min(int(track.x), size.width - 2), y = std::min(int(track.y), size.height - 2);
      const double a = double(track.x) - x, b = double(track.y) - y;
      oracle::Seven feature{track.x, track.y, 0, 0, 0, track.u, track.v};
      for (std::size_t c = 0; c < 3; ++c)
        feature[2 + c] = (1 - b) * ((1 - a) * frame0[c](x, y) + a * frame0[c](x + 1, y)) +
                         b * ((1 - a) * frame0[c](x, y + 1) + a * frame0[c](x + 1, y + 1));
      features.push_back(feature);
    }
    const std::vector<oracle::Node> nodes =
        oracle::flow_nodes(features, method.label_step, method.labels == FlowLabels::grid);
    ASSERT_EQ(actual.count.needed, (long long)(nodes.size())) << what;
    ASSERT_EQ(actual.count.labels, int(nodes.size())) << what;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      ASSERT_EQ(double(actual.labels[i].u), nodes[i].u) << what;
      ASSERT_EQ(double(actual.labels[i].v), nodes[i].v) << what;
    }
    const oracle::Seven sigma =
        oracle::deviations(method.sigma_position, method.sigma_color, method.sigma_flow * method.label_step);
    int compared = 0, compared_unvoted = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const oracle::Seven pixel{double(x), double(y), frame0[0](x, y), frame0[1](x, y), frame0[2](x, y),
                                  0,         0};
        const auto scores_of = [&](double cut) {
          return oracle::scores(features, nodes, pixel, sigma, cut * std::log(2.0));
        };
        const std::vector<double> scores = scores_of(cutoff);
        std::vector<double> differences;
        for (const oracle::Node& node : nodes)
          differences.push_back(oracle::difference(frame0, frame1, method.change_window, x, y, node));
        // Makes every second label a little better.
        const auto choose = [&](std::vector<double> changed, double more, double threshold) {
          for (std::size_t i = 0; i < changed.size(); i += 2) changed[i] *= 1 + more;
          return method.change_softness > 0
                     ? oracle::softly_unchanged(changed, differences, threshold, method.change_softness)
                     : oracle::first_unchanged(changed, differences, threshold,
                                               method.ranked > 0 ? std::size_t(method.ranked) : nodes.size(),
                                               method.unvoted);
        };
        const oracle::Choice expected = choose(scores, 0, method.change_threshold);
        bool clear = true;
        for (const double cut : {cutoff - 1e-3, cutoff + 1e-3}) {
          const std::vector<double> cut_scores = scores_of(cut);
          for (const double more : {-1e-4, 1e-4})
            for (const double threshold : {method.change_threshold - 1e-3, method.change_threshold + 1e-3}) {
              const oracle::Choice other = choose(cut_scores, more, threshold);
              clear = clear && other.label == expected.label && other.valid == expected.valid &&
                      (cut_scores[std::size_t(other.label)] > 0) == (scores[std::size_t(expected.label)] > 0);
            }
        }
        const bool unvoted = scores[std::size_t(expected.label)] == 0;
        if (!clear || (!unvoted && scores[std::size_t(expected.label)] < 1e-3)) continue;
        ++compared;
        compared_unvoted += unvoted;
        const oracle::Node& node = nodes[std::size_t(expected.label)];
        const std::string where = what + " at (" + std::to_string(x) + ", " + std::to_string(y) + ")";
        const double score = scores[std::size_t(expected.label)];
        ASSERT_NEAR(double(actual.confidence.view()(x, y)), score, 1e-5 * score + 1e-6) << where;
        ASSERT_EQ(actual.valid.view()(x, y) != 0, expected.valid) << where;
        const oracle::Node flow =
            method.sub_pixel && !unvoted ? oracle::mean_flow(features, node, pixel, sigma) : node;
        ASSERT_NEAR(double(actual.u.view()(x, y)), flow.u, 1e-4) << where;
        ASSERT_NEAR(double(actual.v.view()(x, y)), flow.v, 1e-4) << where;
      }
    ASSERT_GT(compared, size.width * size.height / 4) << what;
    ASSERT_EQ(compared_unvoted > 100, narrow && method.unvoted) << compared_unvoted << " of " << what;
  }
}

/// Alg. 2 with all labels is Alg. 3.
TEST_P(MultiHypothesisOracle, RankedByAllLabelsIsAlgorithm3) {
  const Tracked scene = two_motions({60, 40}, 70);
  for (const float step : {2.0f, 1.0f, 0.5f}) {
    MultiHypothesis method = small_method();
    method.label_step = step;
    Chosen all = run_choice(GetParam(), scene, method);
    method.unvoted = step == 1;
    if (method.unvoted) all = run_choice(GetParam(), scene, method);
    for (const int ranked : {all.count.labels, all.count.labels - 1, all.count.labels + 1}) {
      method.ranked = ranked;
      Chosen some = run_choice(GetParam(), scene, method);
      if (ranked >= all.count.labels) expect_same(all, some, described_as(method));
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MultiHypothesisOracle, every_target(), target_name);

}  // namespace
}  // namespace parafield
