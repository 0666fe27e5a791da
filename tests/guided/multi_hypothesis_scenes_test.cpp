// SPDX-License-Identifier: MIT
// The paper's pole in rendered scenes: multi-hypothesis finds a thin bar without features.
#include <cmath>

#include "parafield/parafield.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

class MultiHypothesisOfScenes : public OnDevice {};

struct Found {
  double bar = 0, ground = 0;  ///< shares of pixels whose error is below 1 px
};

/// Flow from tracks of the background, none of them within a window of the bar. One more track, in the corner
/// farthest from the bar, moves like it.
Found find_bar(const char* name, std::uint64_t seed, const MultiHypothesis& method, const Device& device) {
  const Size size{320, 240};
  const Scene scene = render_scene(name, {.size = size, .seed = seed, .color = true});
  const FlowField& truth = scene.flow[0];
  const auto on_bar = [&](int x, int y) { return std::hypot(truth.u(x, y), truth.v(x, y)) > 11; };
  int left = 0, right = size.width - 1;
  while (!on_bar(left, 0)) ++left;
  while (!on_bar(right, 0)) --right;
  std::vector<Track> tracks = find_tracks(scene.frames[0], scene.frames[1],
                                          {.features = FeatureChoice::corners, .max_features = 200}, device);
  const float reach = float(FeatureTracking{}.track_window) / 2;
  std::erase_if(tracks, [&](const Track& track) {
    return track.x >= float(left) - reach && track.x <= float(right) + reach;
  });
  tracks.push_back(
      {left < size.width / 2 ? float(size.width - 8) : 8.0f, 8, truth.u(left, 0), truth.v(left, 0)});
  FlowEstimator estimator(method, size, {.device = device});
  const Frame frames[] = {scene.frames[0], scene.frames[1]};
  const FlowField flow = estimator({.frames = frames, .tracks = tracks}).to(Memory::host());
  double bar = 0, ground = 0, all_bar = 0, all_ground = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const bool hit = std::hypot(flow.u(x, y) - truth.u(x, y), flow.v(x, y) - truth.v(x, y)) < 1;
      if (on_bar(x, y))
        ++all_bar, bar += hit;
      else if (!scene.occluded[0](x, y))
        ++all_ground, ground += hit;
    }
  return {bar / all_bar, ground / all_ground};
}

Found mean_of_seeds(const char* name, const MultiHypothesis& method, const Device& device) {
  Found mean;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Found found = find_bar(name, seed, method, device);
    mean.bar += found.bar / 5, mean.ground += found.ground / 5;
  }
  return mean;
}

TEST_P(MultiHypothesisOfScenes, AThinThingNeedsNoFeature) {
  const Found found = mean_of_seeds("bar", {}, device());
  EXPECT_GE(found.bar, 0.95);
  EXPECT_GE(found.ground, 0.99);
  EXPECT_LE(mean_of_seeds("bar", {.unvoted = false}, device()).bar, 0.1) << "its label has no votes";
}

/// The bar resembles the background. Without noise, a low threshold separates them.
TEST_P(MultiHypothesisOfScenes, AThinThingLikeTheBackgroundNeedsNoFeature) {
  const Found found = mean_of_seeds("camouflage", preset<MultiHypothesis>("thin"), device());
  EXPECT_GE(found.bar, 0.90);
  EXPECT_GE(found.ground, 0.99);
}

/// Precision `fast` leaves out features of low weight.
TEST_P(MultiHypothesisOfScenes, FastChangesFewLabels) {
  const Scene scene = render_scene("layers", {.size = {320, 240}, .frames = 2, .color = true});
  const Frame frames[] = {scene.frames[0], scene.frames[1]};
  for (const FlowLabels labels : {FlowLabels::distinct, FlowLabels::grid}) {
    const auto flow_of = [&](Precision precision) {
      FlowEstimator estimator(MultiHypothesis{.labels = labels, .precision = precision}, {320, 240},
                              {.device = device()});
      return estimator({.frames = frames}).to(Memory::host());
    };
    const FlowField exact = flow_of(Precision::exact), fast = flow_of(Precision::fast);
    int other = 0, differ = 0;
    for (int y = 0; y < 240; ++y)
      for (int x = 0; x < 320; ++x) {
        const double difference = std::hypot(fast.u(x, y) - exact.u(x, y), fast.v(x, y) - exact.v(x, y));
        other += difference > 0.5, differ += difference > 0;
      }
    EXPECT_GT(differ, 0);
    EXPECT_LT(other, 0.01 * 320 * 240);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, MultiHypothesisOfScenes, every_device(), device_name);

}  // namespace
}  // namespace parafield
