// SPDX-License-Identifier: MIT
// Direct interpolation of rendered scenes.
#include "oracle/direct_interpolation.hpp"
#include "parafield/parafield.hpp"
#include "tasks/on_device.hpp"
#include "textures.hpp"

namespace parafield {
namespace {

using Tracks = std::vector<Track>;

class DirectInterpolationOfScenes : public OnDevice {};

/// A pole as in the paper: 4 px of one color, which move by 12 px over gray that moves by 2.
Scene pole(Size size) {
  const Texture gray(3), shade(8);
  Scene scene;
  for (const int time : {0, 1}) {
    FrameBuffer frame(size, PixelFormat::rgb_u8);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const int in_pole = x - 12 * time - 100;
        const double value = gray(x - 2 * time, y), shading = (shade(in_pole, y) - 127.5) / 10;
        std::uint8_t* const pixel = static_cast<std::uint8_t*>(frame.row(y)) + 3 * x;
        for (int c = 0; c < 3; ++c)
          pixel[c] = std::uint8_t(
              std::clamp(in_pole >= 0 && in_pole < 4 ? (c == 1 ? 50 : 190) + shading : value, 0.0, 255.0));
      }
    scene.frames.push_back(std::move(frame));
  }
  FlowField flow(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) flow.u(x, y) = x >= 100 && x < 104 ? 12 : 2, flow.v(x, y) = 0;
  scene.flow.push_back(std::move(flow));
  return scene;
}

/// Flow with a feature on the bar and without. The bar of the rendered scene is shaded and textured, so that
/// one feature has the color of only a part of it.
TEST_P(DirectInterpolationOfScenes, AThinThingNeedsAFeature) {
  const Size size{320, 240};
  const auto expect = [&](const Scene& scene, double with_feature) {
    const FlowField& truth = scene.flow[0];
    const auto on_bar = [&](int x, int y) { return std::abs(truth.u(x, y)) > 11; };
    const auto track = [&](int x, int y) { return Track{float(x), float(y), truth.u(x, y), truth.v(x, y)}; };
    Tracks tracks;
    for (int y = 6; y < size.height; y += 16)
      for (int x = 6; x < size.width; x += 16)
        if (!on_bar(x, y)) tracks.push_back(track(x, y));
    int left = 0;
    while (!on_bar(left, 120)) ++left;
    FlowEstimator estimator(
        DirectInterpolation{
            .sigma_position = 24, .sigma_color = 6, .presmooth = 0, .resampled = 0, .median = 0},
        size, {.device = device()});
    for (const bool has_feature : {false, true}) {
      if (has_feature) tracks.push_back(track(left + 1, 120));
      const Frame frames[] = {scene.frames[0], scene.frames[1]};
      const FlowField flow = estimator({.frames = frames, .tracks = tracks}).to(Memory::host());
      int bar = 0, found = 0, ground = 0, right = 0;
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const bool hit = std::hypot(flow.u(x, y) - truth.u(x, y), flow.v(x, y) - truth.v(x, y)) < 1;
          (on_bar(x, y) ? bar : ground) += 1;
          (on_bar(x, y) ? found : right) += hit;
        }
      EXPECT_GE(right, 0.99 * ground);
      EXPECT_GE(found, has_feature ? with_feature * bar : 0);
      EXPECT_LE(found, has_feature ? bar : 0.02 * bar);
    }
  };
  expect(pole(size), 0.95);
  expect(render_scene("bar", {.size = size, .color = true}), 0.6);
}

TEST_P(DirectInterpolationOfScenes, TwoRoundsLowerTheError) {
  const Size large{320, 240};
  for (const char* name : {"layers", "pole"}) {
    const Scene scene = render_scene(name, {.size = large, .color = true});
    const auto error = [&](const DirectInterpolation& method) {
      return evaluate(estimate_flow(scene.frames[0], scene.frames[1], method, {.device = device()}),
                      scene.flow[0])
          .epe;
    };
    DirectInterpolation two_rounds = preset<DirectInterpolation>("accurate");
    two_rounds.refinement.refine = 0;
    DirectInterpolation one_round = two_rounds;
    one_round.resampled = 0;
    const double accurate = error(two_rounds);
    EXPECT_LT(accurate, 0.9 * error(one_round)) << name;
    const DirectInterpolation few{.tracking = {}, .sigma_position = 10, .resampled = 0, .median = 0};
    EXPECT_LT(accurate, error(few)) << name;
    EXPECT_LT(error({}), error(few)) << name;
  }
}

const CameraRotation camera{0.02f, -0.05f, 0.04f, 90, 85, 39, 31},
    back{-0.02f, 0.05f, -0.04f, 90, 85, 39, 31};

/// Images of a camera before and after it rotates.
std::vector<Image<float>> turned_images(Size size) {
  const Texture texture(11);
  std::vector<Image<float>> images;
  for (int i = 0; i < 2; ++i) images.emplace_back(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const oracle::Position from = oracle::turned(back, x, y);
      images[0](x, y) = float(texture(x, y));
      images[1](x, y) = float(texture(from.x, from.y));
    }
  return images;
}

/// Wrong tracks.
Tracks other_tracks() {
  Tracks tracks;
  for (int i = 0; i < 40; ++i) tracks.push_back({float(i * 37 % 79), float(i * 23 % 59), -9, 6});
  return tracks;
}

/// If the tracks' flow fails the color test and the flow of the rotation passes, the rotation's is taken.
TEST_P(DirectInterpolationOfScenes, TheRotationIsTheSecondHypothesis) {
  const Size size{80, 60};
  const std::vector<Image<float>> images = turned_images(size);
  const Frame frames[] = {frame_of(images[0]), frame_of(images[1])};
  const Tracks wrong = other_tracks();
  for (const int window : {1, 5})
    for (const int median : {0, 3})
      for (const float fb_check : {0.0f, 0.5f}) {
        SCOPED_TRACE(testing::Message()
                     << "window " << window << ", median " << median << ", check " << fb_check);
        const DirectInterpolation method{
            .sigma_position = 10, .change_window = window, .resampled = 0, .median = median};
        FlowEstimator estimator(method, size, {.device = device(), .fb_check = fb_check});
        const FlowField without = estimator({.frames = frames, .tracks = wrong}).to(Memory::host()),
                        with = estimator({.frames = frames, .tracks = wrong, .rotation = camera})
                                   .to(Memory::host());
        int turned = 0, seen = 0;
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            const oracle::Position to = oracle::turned(camera, x, y);
            if (without.valid(x, y) && fb_check == 0) {
              ASSERT_EQ(with.u(x, y), without.u(x, y)) << "the first hypothesis comes first";
              ASSERT_TRUE(with.valid(x, y));
              continue;
            }
            if (!oracle::inside(size, to.x, to.y)) continue;
            ++seen;
            if (!with.valid(x, y)) continue;
            const bool is_turn = std::hypot(with.u(x, y) - (to.x - x), with.v(x, y) - (to.y - y)) < 1e-3;
            ASSERT_TRUE(is_turn || fb_check > 0) << x << ", " << y;
            turned += is_turn;
          }
        EXPECT_GT(seen, 2000);
        EXPECT_GT(turned, (fb_check > 0 ? 0.6 : 0.95) * seen);
      }
}

/// The second round has features where the first one took the rotation's flow, there and back.
TEST_P(DirectInterpolationOfScenes, TheSecondRoundHasFeaturesOfTheRotation) {
  const Size size{80, 60};
  const std::vector<Image<float>> images = turned_images(size);
  const Frame frames[] = {frame_of(images[0]), frame_of(images[1])};
  const Tracks wrong = other_tracks();
  FlowEstimator estimator(
      DirectInterpolation{.sigma_position = 10, .change_window = 5, .resampled = 300, .median = 0}, size,
      {.device = device()});
  const FlowField without = estimator({.frames = frames, .tracks = wrong}).to(Memory::host()),
                  with =
                      estimator({.frames = frames, .tracks = wrong, .rotation = camera}).to(Memory::host());
  int near = 0, valid = 0;
  for (int y = 5; y < size.height - 5; ++y)
    for (int x = 5; x < size.width - 5; ++x) {
      near += with.confidence(x, y) > 0.1f;
      valid += with.valid(x, y) > without.valid(x, y);
    }
  EXPECT_GT(near, 0.8 * 70 * 50);
  EXPECT_GT(valid, 0.8 * 70 * 50);
}

/// Precision `fast` leaves out features of low weight.
TEST_P(DirectInterpolationOfScenes, FastIsNear) {
  const Scene scene = render_scene("layers", {.size = {320, 240}, .frames = 2, .color = true});
  const Frame frames[] = {scene.frames[0], scene.frames[1]};
  const auto flow_of = [&](Precision precision) {
    FlowEstimator estimator(
        DirectInterpolation{
            .tracking = {}, .sigma_position = 10, .resampled = 0, .median = 0, .precision = precision},
        {320, 240}, {.device = device()});
    return estimator({.frames = frames}).to(Memory::host());
  };
  const FlowField exact = flow_of(Precision::exact), fast = flow_of(Precision::fast);
  double sum = 0, most = 0, low = 0, high = 0;
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) {
      const double difference = std::hypot(fast.u(x, y) - exact.u(x, y), fast.v(x, y) - exact.v(x, y));
      sum += difference, most = std::max(most, difference);
      low = std::min({low, double(exact.u(x, y)), double(exact.v(x, y))});
      high = std::max({high, double(exact.u(x, y)), double(exact.v(x, y))});
    }
  EXPECT_GT(sum, 0);
  EXPECT_LT(sum / (320 * 240), 0.003);
  EXPECT_LT(most, 0.02 * (high - low));
}

INSTANTIATE_TEST_SUITE_P(Devices, DirectInterpolationOfScenes, every_device(), device_name);

}  // namespace
}  // namespace parafield
