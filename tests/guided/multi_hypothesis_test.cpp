// SPDX-License-Identifier: MIT
// Multi-hypothesis on chosen tracks and scenes, on every target, with the bits of the reference.
#include "guided/label_choice.hpp"
#include "on.hpp"
#include "parafield/flow.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

using MultiHypothesisSteps = LabelsOnTarget;

TEST_P(MultiHypothesisSteps, OneLabel) {
  Tracked scene = moving({64, 40}, 5, [](double, double) { return Motion{3, -2}; });
  add_tracks(scene, 30, 1, [](float, float) { return Motion{3.25f, -2.25f}; });
  for (const FlowLabels labels : {FlowLabels::distinct, FlowLabels::grid}) {
    MultiHypothesis method = small_method();
    method.labels = labels;
    Chosen result = expect_like_reference(scene, method, "one label");
    ASSERT_EQ(result.count.labels, 1);
    EXPECT_EQ(result.labels[0].u, 3);
    EXPECT_EQ(result.labels[0].v, -2);
    for (int y = 2; y < 40; ++y)
      for (int x = 0; x < 61; ++x) {
        ASSERT_NEAR(result.u.view()(x, y), 3.25f, 1e-5);
        ASSERT_NEAR(result.v.view()(x, y), -2.25f, 1e-5);
        ASSERT_TRUE(result.valid.view()(x, y)) << x << ", " << y;
        ASSERT_NEAR(result.confidence.view()(x, y), std::exp(-0.0625), 1e-5);
      }
    EXPECT_FALSE(result.valid.view()(62, 20)) << "ends outside";
  }
}

TEST_P(MultiHypothesisSteps, NoFeatures) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), far = std::numeric_limits<float>::infinity();
  for (const bool none : {true, false}) {
    Tracked scene = two_motions({33, 17}, 0);
    if (!none) scene.tracks = {{5, 5, nan, 0}, {5, nan, 1, 1}, {-1, 3, 1, 1}, {40, 3, 1, 1}, {3, 3, 0, far}};
    for (const FlowLabels labels : {FlowLabels::distinct, FlowLabels::grid}) {
      MultiHypothesis method = small_method();
      method.labels = labels;
      Chosen result = expect_like_reference(scene, method, "no features");
      EXPECT_EQ(result.count.needed, 0);
      for (int y = 0; y < 17; ++y)
        for (int x = 0; x < 33; ++x) {
          ASSERT_EQ(result.u.view()(x, y), 0);
          ASSERT_EQ(result.v.view()(x, y), 0);
          ASSERT_EQ(result.confidence.view()(x, y), 0);
          ASSERT_EQ(result.valid.view()(x, y), 0);
        }
    }
  }
}

/// One feature decides everywhere. A feature or pixels that are not finite change nothing.
TEST_P(MultiHypothesisSteps, OneFeatureAndNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Tracked scene = moving({70, 30}, 9, [](double, double) { return Motion{1, 0}; });
  scene.tracks = {{50, 20, 1, 0}};
  MultiHypothesis method = small_method();
  Chosen alone = expect_like_reference(scene, method, "one feature");
  EXPECT_EQ(alone.u.view()(2, 3), 1);
  EXPECT_EQ(alone.confidence.view()(2, 3), 1);
  scene.tracks.insert(scene.tracks.begin(), {nan, 20, 7, 7});
  Chosen beside = expect_like_reference(scene, method, "one feature beside another");
  expect_same(alone, beside, "a feature that is not finite");
  for (int i = 0; i < 6; ++i) scene.at(i / 3, i % 3, 10 + 3 * i, 12) = i % 2 ? nan : 1e30f;
  Chosen pixels = expect_like_reference(scene, method, "pixels that are not finite");
  EXPECT_FALSE(pixels.valid.view()(13, 12));
  EXPECT_EQ(pixels.u.view()(13, 12), 1);
}

TEST_P(MultiHypothesisSteps, TooManyLabels) {
  Tracked scene = two_motions({48, 32}, 40);
  scene.tracks.push_back({3, 3, 120, -75});
  scene.tracks.push_back({9, 9, 1e25f, 1e-25f});
  for (const FlowLabels labels : {FlowLabels::distinct, FlowLabels::grid}) {
    MultiHypothesis method = small_method();
    method.labels = labels;
    method.max_labels = 5;
    Chosen result = expect_like_reference(scene, method, "too many labels");
    EXPECT_EQ(result.count.labels, 0);
    EXPECT_GT(result.count.needed, 5);
    const FlowSpace space = flow_space(labels == FlowLabels::grid, method.label_step, method.sigma_flow);
    EXPECT_THROW(check_labels(result.count, space, 5), Error);
    for (int y = 0; y < 32; ++y)
      for (int x = 0; x < 48; ++x) ASSERT_EQ(result.valid.view()(x, y), 0);
  }
  scene.tracks.pop_back();
  MultiHypothesis method = small_method();
  method.labels = FlowLabels::grid;
  try {
    const Chosen result = expect_like_reference(scene, method, "too many labels");
    check_labels(result.count, flow_space(true, 1, 1), method.max_labels);
    FAIL() << "not refused";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(" = "), std::string::npos) << message;
    EXPECT_NE(message.find("more than max_labels = 200"), std::string::npos) << message;
  }
}

/// Numbers of labels at and around the sizes of chunks: all labels are found.
TEST_P(MultiHypothesisSteps, ManyLabels) {
  for (const int count : {7, 8, 9, 16, 17, 31, 32, 33, 64, 100, 399}) {
    Tracked scene = two_motions({50, 19}, 0);
    std::mt19937 random{unsigned(count)};
    for (int i = 0; i < count; ++i)
      scene.tracks.push_back(
          {float(random() % 50), float(random() % 19), float(i % 20 - 10), float(i / 20 - 5)});
    std::shuffle(scene.tracks.begin(), scene.tracks.end(), random);
    MultiHypothesis method = small_method();
    method.max_labels = 400;
    for (const int ranked : {0, 2, 20}) {
      method.ranked = ranked;
      const Chosen result = expect_like_reference(scene, method, std::to_string(count) + " labels");
      if (HasFatalFailure()) return;
      ASSERT_EQ(result.count.labels, count);
    }
  }
}

/// The camera rotates: one more label, whose flow differs from pixel to pixel.
TEST_P(MultiHypothesisSteps, Rotation) {
  const Homography rotation{{0.98f, -0.05f, 4, 0.04f, 1.02f, -1, 1e-5f, 2e-5f, 1}};
  const auto flow = [&](double x, double y) { return rotation.flow(float(x), float(y)); };
  Tracked scene({80, 60});
  for (int channel = 0; channel < 3; ++channel) {
    const Texture texture(unsigned(7 + channel));
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < 80; ++x) {
        double from_x = x, from_y = y;  // origin of (x, y) of the second frame
        for (int i = 0; i < 20; ++i) {
          const Motion motion = rotation.flow(float(from_x), float(from_y));
          from_x = x - motion.u, from_y = y - motion.v;
        }
        scene.at(0, channel, x, y) = float(texture(x, y));
        scene.at(1, channel, x, y) = float(texture(from_x, from_y));
      }
  }
  scene.rotation = &rotation;
  add_tracks(scene, 40, 2, [&](float x, float y) { return flow(x, y); });
  for (const int ranked : {0, 1}) {
    MultiHypothesis method = small_method();
    method.ranked = ranked;
    Chosen result = expect_like_reference(scene, method, "a camera that rotates");
    int right = 0, known = 0;
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < 80; ++x) {
        const Motion motion = flow(x, y);
        if (!result.valid.view()(x, y)) continue;
        ++known;
        right += std::hypot(result.u.view()(x, y) - motion.u, result.v.view()(x, y) - motion.v) < 1e-4f;
      }
    EXPECT_GT(known, 80 * 60 * 8 / 10);
    EXPECT_GT(right, known * 9 / 10);
  }
  const Homography behind{{1, 0, 0, 0, 1, 0, 0, 0, -1}};  // nothing is seen
  scene.rotation = &behind;
  Chosen without = expect_like_reference(scene, small_method(), "a camera that looks away");
  scene.rotation = nullptr;
  Chosen none = expect_like_reference(scene, small_method(), "no camera");
  expect_same(without, none, "a camera that looks away");
}

/// The paper's pole: a bar of 4 px without tracks moves by 12 px in front of a background that moves by 2.
/// Some tracks elsewhere move like the bar: either near enough to vote for its label, or farther away, where
/// only unvoted labels can find it.
TEST_P(MultiHypothesisSteps, Pole) {
  const Size size{320, 240};
  Tracked scene(size);
  for (int channel = 0; channel < 3; ++channel) {
    const Texture ground(unsigned(20 + channel)), pole(unsigned(30 + channel));
    const auto value = [&](int x, int y, int ground_shift, int pole_shift) {
      const int in_pole = x - pole_shift - 100;
      return float(in_pole >= 0 && in_pole < 4 ? 60 + pole(in_pole, y) / 2 + 40 * channel
                                               : ground(x - ground_shift, y));
    };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        scene.at(0, channel, x, y) = value(x, y, 0, 0);
        scene.at(1, channel, x, y) = value(x, y, 2, 12);
      }
  }
  for (const bool unvoted : {false, true}) {
    const float left = unvoted ? 290 : 160, right = left + 30;
    scene.tracks.clear();
    add_tracks(scene, 200, 4, [&](float x, float) {
      return Motion{x > left && x < right ? 12.0f : 2.0f, 0};
    });
    std::erase_if(scene.tracks, [](const Track& track) { return track.x > 94 && track.x < 120; });
    MultiHypothesis method;
    method.sigma_position = 24;
    method.sigma_color = unvoted ? 6 : 30;
    method.unvoted = unvoted;
    Chosen result = expect_like_reference(scene, method, "pole");
    EXPECT_EQ(result.count.labels, 2);
    int on_pole = 0, on_ground = 0, all_ground = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const bool pole = x >= 100 && x < 104, hidden = (x >= 108 && x < 116) || x >= 318;
        const float off = std::hypot(result.u.view()(x, y) - (pole ? 12.0f : 2.0f), result.v.view()(x, y));
        if (pole) on_pole += off < 1;
        if (pole || hidden || (float(x) > left - 5 && float(x) < right + 5)) continue;
        ++all_ground;
        on_ground += off < 1;
      }
    EXPECT_GE(on_pole, 4 * size.height * 95 / 100) << unvoted;
    EXPECT_GE(on_ground, all_ground * 99 / 100) << unvoted;
  }
}

/// With softness a label of score 0 has value 0.
TEST_P(MultiHypothesisSteps, TheSoftTestIgnoresUnvotedLabels) {
  const Tracked scene = two_motions({64, 40}, 30);
  MultiHypothesis method = small_method();
  method.change_softness = 2;
  Chosen with = expect_like_reference(scene, method, "soft");
  method.unvoted = false;
  Chosen without = run_choice(GetParam(), scene, method);
  expect_same(with, without, "soft, without unvoted labels");
}

/// The whole method, on given tracks and on its own.
TEST_P(MultiHypothesisSteps, Estimates) {
  const Forced forced(GetParam());
  const Size size{160, 120};
  Tracked scene = two_motions(size, 100);
  Image<float> frames[] = {Image<float>(size), Image<float>(size)};
  for (int i = 0; i < 2; ++i)
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) frames[i](x, y) = scene.at(i, 0, x, y);
  for (const auto& preset : presets(MultiHypothesis{}))
    for (const bool given : {false, true}) {
      FlowOptions options;
      options.fb_check = given ? 2.0f : 0.0f;
      FlowEstimator estimator(preset.method, size, on(GetParam().device(2), options));
      const Frame both[] = {frame_of(frames[0]), frame_of(frames[1])};
      FlowInput input{both};
      if (given) input.tracks = std::span<const Track>(scene.tracks);
      const FlowField flow = estimator(input).to(Memory::host());
      int right = 0, all = 0;
      for (int y = 5; y < size.height - 5; ++y)
        for (int x = 5; x < size.width - 5; ++x) {
          if (std::abs(x - size.width / 2) < 8) continue;
          const Motion motion = x < size.width / 2 ? Motion{2, 1} : Motion{-1, 0.6f};
          ++all;
          right += std::hypot(flow.u(x, y) - motion.u, flow.v(x, y) - motion.v) < 1;
        }
      const int least = preset.name == "paper"
                            ? 60
                            : 90;  // percent: given tracks are wrong by up to 1 px, and labels are whole px
      EXPECT_GT(right, all * least / 100) << preset.name << (given ? ", given tracks" : "");
    }
}

TEST(MultiHypothesis, RefusesRankedWithSoftness) {
  MultiHypothesis method;
  method.change_softness = 2;
  FlowEstimator(method, {20, 20}, {.device = Device::cpu(1)});
  method.ranked = 3;
  EXPECT_EQ(message_of([&] {
              FlowEstimator(method, {20, 20}, {.device = Device::cpu(1)});
            }),
            "multi-hypothesis: ranked cannot be 3; allowed: 0, as change_softness is 2");
}

INSTANTIATE_TEST_SUITE_P(Targets, MultiHypothesisSteps, every_target(), target_name);

}  // namespace
}  // namespace parafield
