// SPDX-License-Identifier: MIT
// Direct interpolation: accepted and refused inputs, and flow from chosen tracks.
#include "oracle/direct_interpolation.hpp"

#include "allocations.hpp"
#include "guided/tracks_on.hpp"
#include "moving.hpp"
#include "noise.hpp"
#include "not_finite.hpp"
#include "on.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

using Tracks = std::vector<Track>;

class DirectInterpolationOn : public OnDevice {
 protected:
  static constexpr Size size{80, 60};
  /// A texture that moves by (2.3, -1.4), in floats that are not rounded.
  const std::vector<Image<float>> images_ = frames_of_motion(size, 2, 2.3f, -1.4f, 4);
  const std::vector<Frame> frames_ = as_frames(images_);

  static Tracks tracks_of_flow(int count, float u, float v, Size within = size) {
    std::mt19937 random(7);
    Tracks tracks;
    for (int i = 0; i < count; ++i)
      tracks.push_back({float(random() % 1000) / 1000 * float(within.width - 1),
                        float(random() % 1000) / 1000 * float(within.height - 1), u, v});
    return tracks;
  }

  FlowField estimate(const std::optional<Tracks>& tracks,
                     const DirectInterpolation& method = {.resampled = 0, .median = 0},
                     std::optional<CameraRotation> rotation = {}, const FlowOptions& options = {}) const {
    FlowEstimator estimator(method, frames_[0].size(), on(device(), options));
    return given(estimator, tracks, rotation);
  }
  FlowField given(FlowEstimator& estimator, const std::optional<Tracks>& tracks,
                  std::optional<CameraRotation> rotation = {}) const {
    FlowInput input{.frames = frames_, .rotation = rotation};
    if (tracks) input.tracks = *tracks;
    return estimator(input).to(Memory::host());
  }

  /// Message of the error that a method throws for tracks and a camera.
  std::string refusal(const FlowMethod& method, const std::optional<Tracks>& tracks,
                      std::optional<CameraRotation> rotation = {}) const {
    FlowEstimator estimator(method, size, {.device = device()});
    const std::string message = message_of([&] { given(estimator, tracks, rotation); });
    EXPECT_EQ(message_of([&] { given(estimator, {}); }), "no error") << "usable after errors";
    return message;
  }
};

/// Largest difference between two flows; infinite if validity differs or a value is not finite.
double difference(const FlowField& a, const FlowField& b) {
  double most = 0;
  for (int y = 0; y < a.size().height; ++y)
    for (int x = 0; x < a.size().width; ++x) {
      const double off = std::hypot(a.u(x, y) - b.u(x, y), a.v(x, y) - b.v(x, y));
      most = off >= 0 && a.valid(x, y) == b.valid(x, y) ? std::max(most, off) : INFINITY;
    }
  return most;
}

int count_valid(const FlowField& flow) {
  int count = 0;
  for (int y = 0; y < flow.size().height; ++y)
    for (int x = 0; x < flow.size().width; ++x) count += flow.valid(x, y) != 0;
  return count;
}

TEST_P(DirectInterpolationOn, NoTrackIsNoFlow) {
  const Tracks none, unusable{{nan, 1, 1, 1}, {-1, 5, 1, 1}, {3, 60, 1, 1}, {3, 3, INFINITY, 0}};
  for (const Tracks& tracks : {none, unusable})
    for (const auto& preset : presets(DirectInterpolation{})) {
      const FlowField flow = estimate(tracks, preset.method);
      const bool is_refined = preset.method.refinement.refine > 0;  // which finds some flow, still not valid
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          ASSERT_TRUE(is_refined ? std::isfinite(flow.u(x, y)) : flow.u(x, y) == 0) << x << ", " << y;
          ASSERT_TRUE(is_refined ? std::isfinite(flow.v(x, y)) : flow.v(x, y) == 0) << x << ", " << y;
          ASSERT_EQ(flow.valid(x, y), 0) << x << ", " << y;
          ASSERT_EQ(flow.confidence(x, y), 0);
        }
    }
}

TEST_P(DirectInterpolationOn, EqualFlowsAreTheFlow) {
  for (const float sigma : {0.5f, 10.0f, 1000.0f}) {
    const FlowField flow =
        estimate(tracks_of_flow(50, 2.3f, -1.4f),
                 {.sigma_position = sigma, .sigma_color = sigma, .resampled = 0, .median = 0}, {},
                 {.min_confidence = 0});  // with a small sigma, most pixels are far from all features
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        ASSERT_NEAR(flow.u(x, y), 2.3f, 5e-6);
        ASSERT_NEAR(flow.v(x, y), -1.4f, 5e-6);
        const bool inside = oracle::inside(size, x + 2.3, y - 1.4);
        ASSERT_TRUE(inside || !flow.valid(x, y)) << "ends outside";
      }
    EXPECT_GT(count_valid(flow), 0.95 * 77 * 58);
  }
}

TEST_P(DirectInterpolationOn, TracksThatAreNotFiniteAreSkipped) {
  const Tracks good = tracks_of_flow(60, 2.3f, -1.4f);
  Tracks other = good;
  for (std::size_t i = 0; i < other.size(); ++i) other[i].u += float(i % 5);
  const FlowField expected = estimate(other);
  const Track bad[] = {{nan, 5, 9, 9},      {5, nan, 9, 9},      {5, 5, nan, 9},    {5, 5, 9, nan},
                       {INFINITY, 5, 9, 9}, {5, 5, INFINITY, 9}, {-0.01f, 5, 9, 9}, {5, -0.01f, 9, 9},
                       {79.01f, 5, 9, 9},   {5, 59.01f, 9, 9}};
  Tracks after = other, between = other;
  after.insert(after.end(), std::begin(bad), std::end(bad));
  EXPECT_EQ(difference(estimate(after), expected), 0);
  for (std::size_t i = 0; i < std::size(bad); ++i)
    between.insert(between.begin() + std::ptrdiff_t(3 * i), bad[i]);
  EXPECT_LT(difference(estimate(between), expected), 1e-5) << "sums are in another order";
}

TEST_P(DirectInterpolationOn, FindsItsOwnTracksWhereNoneAreGiven) {
  for (const auto& preset : presets(DirectInterpolation{})) {
    DirectInterpolation method = preset.method;
    method.tracking.max_features = 200;
    if (method.resampled) method.resampled = 0;
    const FlowField own = estimate({}, method);
    EXPECT_GT(count_valid(own), 0.8 * size.width * size.height) << preset.name;
    const GridOfTracks all = tracks_on(reference_target(), frames_[0], frames_[1], method.tracking);
    EXPECT_EQ(difference(estimate(all.tracks, method), own), 0) << preset.name;
    const Tracks kept = find_tracks(frames_[0], frames_[1], method.tracking, device());
    EXPECT_LT(kept.size(), all.tracks.size()) << preset.name;
    EXPECT_LT(difference(estimate(kept, method), own), 1e-5) << preset.name << ": sums are in another order";
  }
}

TEST_P(DirectInterpolationOn, RefusesTooManyTracks) {
  const DirectInterpolation method{.tracking = {.max_features = 30}};
  EXPECT_EQ(refusal(method, tracks_of_flow(31, 1, 1)), "31 tracks are given, more than max_features = 30");
  EXPECT_EQ(refusal(method, tracks_of_flow(30, 1, 1)), "no error");
  EXPECT_EQ(refusal(MultiHypothesis{.tracking = {.max_features = 5}}, tracks_of_flow(6, 1, 1)),
            "6 tracks are given, more than max_features = 5");
}

TEST_P(DirectInterpolationOn, OtherMethodsRefuseTracksAndRotation) {
  const CameraRotation camera{0, 0.01f, 0, 80, 80, 40, 30};
  for (const FlowMethod& method : {FlowMethod(LucasKanade{}), FlowMethod(AdaptiveRidge{}),
                                   FlowMethod(WinnerTakesAll<DisplacementEnergy>{})}) {
    EXPECT_EQ(refusal(method, Tracks{}), "the method has no use for tracks");
    EXPECT_EQ(refusal(method, {}, camera), "the method has no use for a camera's rotation");
  }
}

TEST_P(DirectInterpolationOn, RefusesImpossibleCameras) {
  const auto expect = [&](const CameraRotation& camera, const std::vector<std::string>& parts) {
    for (const FlowMethod& method : {FlowMethod(DirectInterpolation{}), FlowMethod(MultiHypothesis{})}) {
      const std::string said = refusal(method, {}, camera);
      for (const std::string& part : parts)
        EXPECT_NE(said.find(part), std::string::npos) << part << " in " << said;
    }
  };
  expect({0, 0, 0, 0, 80, 40, 30}, {"focal lengths 0, 80 px"});
  expect({0, 0, 0, 80, -5, 40, 30}, {"focal lengths 80, -5 px"});
  expect({0, 0, 0, nan, 80, 40, 30}, {"focal lengths nan, 80 px"});
  expect({0, 0, 0, 80, INFINITY, 40, 30}, {"focal lengths 80, inf px"});
  expect({0, 0, 0, 80, 80, nan, 30}, {"principal point (nan, 30)"});
  expect({}, {"focal lengths 0, 0 px"});
  expect({nan, 0, 0, 80, 80, 40, 30}, {"turn by (nan, 0, 0)", "at most pi"});
  expect({0, 3.2f, 0, 80, 80, 40, 30}, {"turn by (0, 3.2, 0)", "at most pi"});
  expect({2, 2, 2, 80, 80, 40, 30}, {"turn by (2, 2, 2)"});
  EXPECT_EQ(refusal(DirectInterpolation{}, {}, CameraRotation{0, 3.1415f, 0, 80, 80, 40, 30}), "no error");
}

TEST_P(DirectInterpolationOn, AffineModelsFollowMatches) {
  const DirectInterpolation affine{.tracking = {.features = FeatureChoice::matches},
                                   .model = MotionModel::affine};
  for (const int median : {0, 3}) {
    DirectInterpolation method = affine;
    method.median = median;
    const FlowField flow = estimate({}, method);
    for (int y = 10; y < size.height - 10; ++y)
      for (int x = 10; x < size.width - 10; ++x) {
        ASSERT_NEAR(flow.u(x, y), 2.3f, 0.5f) << x << ", " << y;
        ASSERT_NEAR(flow.v(x, y), -1.4f, 0.5f) << x << ", " << y;
      }
  }
  // Without texture there is no match.
  Image<float> flat(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) flat(x, y) = 90;
  for (const float check : {0.0f, 1.0f})
    for (const int median : {0, 5}) {
      DirectInterpolation method = affine;
      method.median = median;
      const Frame frames[] = {frame_of(flat), frame_of(flat)};
      FlowEstimator estimator(method, size, on(device(), FlowOptions{.fb_check = check}));
      const FlowField none = estimator({.frames = frames}).to(Memory::host());
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          ASSERT_EQ(none.u(x, y), 0);
          ASSERT_EQ(none.v(x, y), 0);
          ASSERT_EQ(none.valid(x, y), 0);
          ASSERT_EQ(none.confidence(x, y), 0);
        }
    }
}

TEST_P(DirectInterpolationOn, AffineModelsRefuseWhatTheyDoNotUse) {
  const auto said = [&](const DirectInterpolation& method) {
    return message_of([&] { FlowEstimator(method, size, {.device = device()}); });
  };
  DirectInterpolation method{.model = MotionModel::affine};
  EXPECT_EQ(said(method),
            "direct-interpolation: features cannot be even; allowed: matches, as model is affine");
  method.tracking.features = FeatureChoice::matches;
  EXPECT_EQ(said(method), "no error");
  EXPECT_EQ(refusal(method, tracks_of_flow(3, 1, 1)),
            "tracks are given, but model = affine finds matches itself; tracks are for model = constant");
  EXPECT_EQ(refusal(method, {}, CameraRotation{0, 0.1f, 0, 80, 80, 40, 30}), "no error");
  EXPECT_GT(method.resampled, 0) << "the default's second round is left out";
}

TEST_P(DirectInterpolationOn, ForgetsTheInputOfTheLastCall) {
  const Tracks tracks = tracks_of_flow(40, -3, 2);
  const CameraRotation camera{0.01f, 0.03f, 0, 80, 80, 40, 30};
  const DirectInterpolation method{};
  FlowEstimator estimator(method, size, {.device = device()});
  const FlowField own = given(estimator, {}), other = given(estimator, tracks, camera);
  EXPECT_GT(difference(own, other), 1);
  EXPECT_EQ(difference(given(estimator, {}), own), 0);
  EXPECT_EQ(difference(given(estimator, tracks, camera), other), 0);
  EXPECT_EQ(difference(given(estimator, tracks), estimate(tracks, method)), 0);
  estimator.push(frames_[0]);
  EXPECT_EQ(difference(estimator.push(frames_[1])->to(Memory::host()), own), 0);
  EXPECT_EQ(difference(given(estimator, Tracks{}), estimate(Tracks{}, method)), 0);
  for (const int count : {1, 17, 40, 3}) {  // one estimator, other numbers of tracks
    const Tracks some(tracks.begin(), tracks.begin() + count);
    EXPECT_EQ(difference(given(estimator, some), estimate(some, method)), 0) << count;
  }
}

TEST_P(DirectInterpolationOn, TheForwardBackwardCheckGoesBackByTheTracks) {
  const FlowOptions checked{.fb_check = 0.1f};
  for (const auto& preset : presets(DirectInterpolation{})) {
    const FlowField flow = estimate(tracks_of_flow(40, 2.3f, -1.4f), preset.method, {}, checked);
    EXPECT_GT(count_valid(flow), 0.9 * 77 * 58) << preset.name;
  }
  Tracks inconsistent = tracks_of_flow(40, 2.3f, -1.4f);
  for (Track& track : inconsistent)
    if (track.x > 40) track.u = -2.3f;  // they end on each other
  const DirectInterpolation one_round{.resampled = 0, .median = 0};
  EXPECT_LT(count_valid(estimate(inconsistent, one_round, {}, checked)),
            count_valid(estimate(inconsistent, one_round)));
}

TEST_P(DirectInterpolationOn, PushesGiveTheFlowOfCalls) {
  const auto images = moving({64, 48}, 4, 1.3f, 0.8f, 9);
  for (const auto& preset : presets(DirectInterpolation{}))
    expect_calls_flow_of_pushes(preset.method, as_frames(images), device());
}

TEST_P(DirectInterpolationOn, NothingIsAllocatedAfterTheFirstCalls) {
  const Tracks tracks = tracks_of_flow(50, 2.3f, -1.4f);
  const CameraRotation camera{0, 0.01f, 0, 80, 80, 40, 30};
  DirectInterpolation method = preset<DirectInterpolation>("accurate");
  method.tracking.max_features = 200, method.resampled = 300;
  FlowEstimator estimator(method, size, {.device = device(), .fb_check = 1});
  const auto calls = [&] {
    for (const bool has_tracks : {false, true})
      for (const bool turns : {false, true}) {
        FlowInput input{.frames = frames_};
        if (has_tracks) input.tracks = tracks;
        if (turns) input.rotation = camera;
        estimator(input);
      }
    for (int i = 0; i < 4; ++i) estimator.push(frames_[std::size_t(i % 2)]);
  };
  calls();
  const std::size_t workspace = estimator.workspace_bytes();
  const long before = test::allocations;
  for (int i = 0; i < 3; ++i) calls();
  EXPECT_EQ(test::allocations, before);
  EXPECT_EQ(estimator.workspace_bytes(), workspace);
}

INSTANTIATE_TEST_SUITE_P(Devices, DirectInterpolationOn, every_device(), device_name);

TEST(CudaDirectInterpolation, TakesTracksThatAreOnTheDevice) {
  if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  const Size size{96, 70};
  const Scene scene = render_scene("rotation", {.size = size, .color = true});
  const Frame on_host[] = {scene.frames[0], scene.frames[1]};
  const Tracks tracks = find_tracks(on_host[0], on_host[1]);
  FlowEstimator estimator(DirectInterpolation{}, size, {.device = Device::cuda()});
  const FlowField expected = estimator({.frames = on_host, .tracks = tracks}).to(Memory::host());
  const FrameBuffer held[] = {scene.frames[0].to(Memory::cuda()), scene.frames[1].to(Memory::cuda())};
  const Frame on_device[] = {held[0], held[1]};
  for (const std::size_t count : {tracks.size(), tracks.size() / 2, tracks.size()}) {
    Image<float> values({int(4 * count), 1});
    std::memcpy(values.view().data, tracks.data(), count * sizeof(Track));
    const Image<float> there = values.to(Memory::cuda());
    const std::span<const Track> given(reinterpret_cast<const Track*>(there.view().data), count);
    const FlowField& flow = estimator({.frames = on_device, .tracks = given});
    estimator.synchronize();
    const double off = difference(flow.to(Memory::host()), expected);
    EXPECT_TRUE(off == 0 || count < tracks.size()) << off;
  }
}

}  // namespace
}  // namespace parafield
