// SPDX-License-Identifier: MIT
// Estimators of the C interface: the results of the C++ library, sequences, cancellation.
#include <cmath>
#include <filesystem>
#include <limits>

#include "c/c_support.hpp"

namespace parafield {
namespace {

TEST_F(CEstimators, GiveTheLibrarysFlow) {
  CInput input({scene.frames[0], scene.frames[1]});
  for (const COptions& options :
       {cpu, COptions{{"device", "cpu"}, {"method", "lucas-kanade"}, {"levels", "2"}},
        COptions{{"preset", "fast"}, {"fill", "true"}, {"device", "cpu"}}}) {
    FlowMethod method = AdaptiveRidge{};
    FlowOptions expected_options{.device = Device::cpu()};
    if (options.size() == 3 && options[2].value == std::string("2")) method = LucasKanade{.levels = 2};
    if (options[0].name == std::string("preset")) {
      method = preset<AdaptiveRidge>("fast");
      expected_options.fill = true;
    }
    FlowEstimator expected(method, c_size, expected_options);
    CEstimator estimator(PARAFIELD_FLOW, c_size, options);
    EXPECT_OK(parafield_solve(estimator, input, &output));
    EXPECT_TRUE(same_planes(flow, expected(scene.frames[0], scene.frames[1])));
  }
}

TEST_F(CEstimators, GiveTheLibrarysDisparities) {
  StereoEstimator expected(BeliefPropagation<StereoEnergy>{}, {80, 40}, {.device = Device::cpu()});
  const DisparityField& right = expected(pair.frames[0], pair.frames[1]);
  CEstimator estimator(PARAFIELD_STEREO, {80, 40}, cpu);
  DisparityField field({80, 40});
  const parafield_field disparities = c_field(field);
  CInput input({pair.frames[0], pair.frames[1]});
  EXPECT_OK(parafield_solve(estimator, input, &disparities));
  EXPECT_TRUE(same_planes(field, right));
  DisparityField pushed({80, 40});
  const parafield_field pushed_output = c_field(pushed);
  EXPECT_OK(parafield_push_pair(estimator, &input.frames[0], &input.frames[1], &pushed_output));
  EXPECT_TRUE(same_planes(pushed, right));
  EXPECT_TRUE(contains(state_of(estimator), "\"disparities\": "));
  EXPECT_FALSE(contains(state_of(estimator), "\"disparities\": 0"));  // the number that was found
  int32_t complete = 1;
  EXPECT_FAILS(parafield_push(estimator, &input.frames[0], &disparities, &complete), PARAFIELD_UNSUPPORTED,
               "parafield_push_pair");
  EXPECT_FAILS(parafield_finish(estimator, &complete), PARAFIELD_UNSUPPORTED, "pipelined");
  EXPECT_FAILS(parafield_save_background(estimator, "no"), PARAFIELD_UNSUPPORTED, "background");
  // A start, and one of another task.
  CEstimator icm(PARAFIELD_STEREO, {80, 40}, {{"device", "cpu"}, {"method", "icm"}, {"disparities", "16"}});
  input.input.start = &disparities;
  EXPECT_OK(parafield_solve(icm, input, &pushed_output));
  input.input.start = &output;
  EXPECT_INVALID(parafield_solve(icm, input, &pushed_output),
                 "the start has a plane of another task: expected d");
}

TEST_F(CEstimators, GiveTheLibrarysMasks) {
  const Scene still = render_scene("square", {.size = c_size, .frames = 4});
  MotionDetector expected(Icm<BackgroundEnergy>{}, c_size, {.device = Device::cpu()});
  CEstimator estimator(PARAFIELD_DETECTION, c_size, {{"device", "cpu"}, {"method", "icm-background"}});
  MotionMask mask(c_size);
  const parafield_field masks = c_field(mask);
  EXPECT_INVALID(parafield_save_background(estimator, "no.background"), "");
  for (const FrameBuffer& frame : still.frames) {
    const parafield_frame c = c_frame(frame);
    int32_t complete = -1;
    EXPECT_OK(parafield_push(estimator, &c, &masks, &complete));
    const MotionMask* const right = expected.push(frame);
    ASSERT_EQ(complete, right ? 1 : 0);
    EXPECT_TRUE(!right || same_planes(mask, *right));
  }
  // The learned background goes on in another detector.
  const std::string path = testing::TempDir() + "c_interface.background";
  EXPECT_INVALID(parafield_save_background(estimator, nullptr), "path is null");
  EXPECT_FAILS(parafield_save_background(estimator, "/no/such/folder/x"), PARAFIELD_FILE,
               "/no/such/folder/x");
  ASSERT_OK(parafield_save_background(estimator, path.c_str()));
  MotionMask again(c_size);
  const parafield_field again_output = c_field(again);
  CInput last({still.frames[2], still.frames[3]});
  {
    CEstimator other(
        PARAFIELD_DETECTION, c_size,
        {{"device", "cpu"}, {"method", "icm-background"}, {"background", path.c_str()}, {"freeze", "true"}});
    EXPECT_OK(parafield_solve(other, last, &again_output));
  }
  std::filesystem::remove(path);
  const COptions lost = {{"background", path.c_str()}};
  const parafield_settings settings = c_settings(PARAFIELD_DETECTION, c_size, lost);
  parafield_estimator* none = nullptr;
  EXPECT_FAILS(parafield_create(&settings, &none), PARAFIELD_FILE, path);
  EXPECT_EQ(none, nullptr);
  EXPECT_FAILS(parafield_push_pair(estimator, &last.frames[0], &last.frames[1], &masks),
               PARAFIELD_UNSUPPORTED, "detection takes single frames");
}

TEST_F(CEstimators, DetectInARegion) {
  const Scene still = render_scene("square", {.size = c_size});
  CInput input({still.frames[0], still.frames[1]});
  MotionMask mask(c_size);
  const parafield_field masks = c_field(mask);
  std::vector<std::uint8_t> region(std::size_t(c_size.height) * 64, 0);
  parafield_settings settings = c_settings(PARAFIELD_DETECTION, c_size, cpu);
  settings.region = region.data();
  settings.region_pitch = 64;
  {
    CEstimator nowhere(settings);
    std::ranges::fill(region, 1);  // it was copied
    EXPECT_OK(parafield_solve(nowhere, input, &masks));
    for (int y = 0; y < c_size.height; ++y)
      for (int x = 0; x < c_size.width; ++x) ASSERT_EQ(mask.moving(x, y) + mask.valid(x, y), 0);
  }
  CEstimator everywhere(settings);
  EXPECT_OK(parafield_solve(everywhere, input, &masks));
  MotionDetector expected(Icm<ChangeEnergy>{}, c_size, {.device = Device::cpu()});
  EXPECT_TRUE(same_planes(mask, expected(still.frames[0], still.frames[1])));
  settings.region_pitch = 47;
  parafield_estimator* none = nullptr;
  EXPECT_INVALID(parafield_create(&settings, &none), "the region has a pitch of 47 bytes; a row has 48");
  settings.task = PARAFIELD_FLOW;
  EXPECT_INVALID(parafield_create(&settings, &none), "a region is for detection only");
}

TEST_F(CEstimators, StreamFrames) {
  for (const bool pipelined : {false, true}) {
    FlowEstimator expected(LucasKanade{}, c_size, {.device = Device::cpu()});
    std::vector<FlowField> right;
    for (const FrameBuffer& frame : scene.frames)
      if (const FlowField* field = expected.push(frame)) right.push_back(field->to({}));
    CEstimator estimator(
        PARAFIELD_FLOW, c_size,
        {{"method", "lucas-kanade"}, {"device", "cpu"}, {"pipelined", pipelined ? "yes" : "no"}});
    for (int round = 0; round < 2; ++round) {
      FlowField fields[2] = {FlowField(c_size), FlowField(c_size)};
      std::size_t results = 0, outputs = 0;
      for (const FrameBuffer& frame : scene.frames) {
        const parafield_field to = c_field(fields[outputs++ % 2]);
        const parafield_frame c = c_frame(frame);
        int32_t complete = -1;
        ASSERT_OK(parafield_push(estimator, &c, &to, &complete));
        EXPECT_TRUE(!complete || same_planes(fields[(outputs - (pipelined ? 2 : 1)) % 2], right[results++]));
      }
      int32_t complete = -1;
      if (round == 0) {
        EXPECT_OK(parafield_finish(estimator, &complete));
        EXPECT_EQ(complete, pipelined ? 1 : 0);
        EXPECT_TRUE(!complete || same_planes(fields[(outputs - 1) % 2], right[results++]));
        EXPECT_EQ(results, right.size());
        EXPECT_OK(parafield_finish(estimator, &complete));
        EXPECT_EQ(complete, 0);
      }
      EXPECT_OK(parafield_reset(estimator));  // in the second round it drops the pending result
      EXPECT_OK(parafield_finish(estimator, &complete));
      EXPECT_EQ(complete, 0);
    }
    // A call drops what is pending, too.
    FlowField pending(c_size);
    const parafield_field to = c_field(pending);
    for (const FrameBuffer& frame : scene.frames) {
      const parafield_frame c = c_frame(frame);
      int32_t complete = -1;
      EXPECT_OK(parafield_push(estimator, &c, &to, &complete));
    }
    CInput input({scene.frames[0], scene.frames[1]});
    EXPECT_OK(parafield_solve(estimator, input, &output));
    EXPECT_TRUE(same_planes(flow, right[0]));
  }
}

TEST_F(CEstimators, TakeStartTracksAndRotation) {
  CInput input({scene.frames[0], scene.frames[1]});
  std::vector<parafield_track> tracks = {{10, 10, 1, 0}, {30, 20, 1, 0}, {20, 30, 1, 0}};
  const std::vector<Track> same = {{10, 10, 1, 0}, {30, 20, 1, 0}, {20, 30, 1, 0}};
  input.input.tracks = tracks.data();
  input.input.track_count = tracks.size();
  parafield_rotation rotation{0, 0, 0.01f, 40, 40, 24, 20};
  input.input.rotation = &rotation;
  CEstimator estimator(PARAFIELD_FLOW, c_size, {{"method", "direct-interpolation"}, {"device", "cpu"}});
  EXPECT_OK(parafield_solve(estimator, input, &output));
  FlowEstimator expected(DirectInterpolation{}, c_size, {.device = Device::cpu()});
  const std::vector<Frame> frames = {scene.frames[0], scene.frames[1]};
  EXPECT_TRUE(same_planes(
      flow, expected(FlowInput{
                .frames = frames, .tracks = same, .rotation = CameraRotation{0, 0, 0.01f, 40, 40, 24, 20}})));
  rotation.fx = std::numeric_limits<float>::quiet_NaN();
  EXPECT_INVALID(parafield_solve(estimator, input, &output), "rotation: focal lengths");
  input.input.rotation = nullptr;
  input.input.tracks = nullptr;
  EXPECT_INVALID(parafield_solve(estimator, input, &output), "list of tracks is null");
  input.input.tracks = tracks.data();
  CEstimator other(PARAFIELD_FLOW, c_size, {{"method", "lucas-kanade"}, {"device", "cpu"}});
  EXPECT_INVALID(parafield_solve(other, input, &output), "tracks");
  CEstimator detector(PARAFIELD_DETECTION, c_size, cpu);
  MotionMask mask(c_size);
  const parafield_field masks = c_field(mask);
  EXPECT_INVALID(parafield_solve(detector, input, &masks), "tracks are for flow only, not for detection");
  input.input.tracks = nullptr;
  input.input.track_count = 0;
  input.input.rotation = &rotation;
  EXPECT_INVALID(parafield_solve(detector, input, &masks), "a rotation is for flow only");
  // A start of flow.
  input.input.rotation = nullptr;
  FlowField first(c_size);
  parafield_field start = c_field(first);
  input.input.start = &start;
  EXPECT_OK(parafield_solve(other, input, &output));
  start.memory = PARAFIELD_CUDA;
  EXPECT_INVALID(parafield_solve(other, input, &output), "the start is not in the frames' memory");
}

TEST_F(CEstimators, ReportEnergiesAndState) {
  CEstimator estimator(PARAFIELD_STEREO, {80, 40},
                       {{"device", "cpu"},
                        {"method", "icm"},
                        {"disparities", "16"},
                        {"energies", "result"},
                        {"examine-frames", "true"},
                        {"throughput", "off"}});
  DisparityField field({80, 40});
  const parafield_field disparities = c_field(field);
  CInput input({pair.frames[0], pair.frames[1]});
  EXPECT_OK(parafield_solve(estimator, input, &disparities));
  double energy = 0;
  std::size_t count = 0;
  EXPECT_OK(parafield_energies(estimator, nullptr, 0, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_OK(parafield_energies(estimator, &energy, 1, &count));
  EXPECT_GT(energy, 0);
  EXPECT_INVALID(parafield_energies(estimator, nullptr, 1, &count), "the buffer of energies is null");
  EXPECT_INVALID(parafield_energies(estimator, &energy, 1, nullptr), "null");
  EXPECT_FAILS(parafield_energies(estimator, &energy, 0, &count), PARAFIELD_TOO_SMALL,
               "has room for 0; 1 are needed");
  const std::string state = state_of(estimator);
  for (const char* part :
       {"{\"task\": \"stereo\", \"method\": \"icm\", ", "\"disparities\": 16", "\"device\": \"cpu\"",
        "\"width\": 80, \"height\": 40, \"range\": null, \"frames_state\": \"usable\", \"blocks\": 1"})
    EXPECT_TRUE(contains(state, part)) << state;
  std::string text(state.size() + 1, '?');
  std::size_t length = 0;
  EXPECT_FAILS(parafield_state(estimator, text.data(), state.size(), &length), PARAFIELD_TOO_SMALL,
               std::to_string(state.size() + 1) + " are needed, with the 0");
  EXPECT_EQ(text[0], '?');
  EXPECT_EQ(length, state.size());
  EXPECT_OK(parafield_state(estimator, text.data(), state.size() + 1, &length));
  EXPECT_EQ(text.c_str(), state);
  EXPECT_OK(parafield_synchronize(estimator));
  void* stream = &length;
  EXPECT_OK(parafield_stream(estimator, &stream));
  EXPECT_EQ(stream, nullptr);
  EXPECT_INVALID(parafield_stream(estimator, nullptr), "pointer to the stream is null");
}

TEST_F(CEstimators, ReportProgressAndAreCancelled) {
  struct Seen {
    parafield_estimator* estimator = nullptr;
    int calls = 0;
    double last = 0;
    bool cancels = false;
    parafield_code inner = PARAFIELD_OK;
  } seen;
  parafield_settings settings = c_settings(PARAFIELD_STEREO, {80, 40}, {});
  const COptions options = {{"device", "cpu"}, {"method", "annealing"}, {"disparities", "16"}};
  settings.options = options.data();
  settings.option_count = 3;
  settings.progress = [](double share, void* data) {
    Seen& now = *static_cast<Seen*>(data);
    EXPECT_GE(share, now.last);
    now.last = share;
    ++now.calls;
    now.inner = parafield_reset(now.estimator);
    if (now.cancels) {
      EXPECT_OK(parafield_cancel(now.estimator));
    }
  };
  settings.progress_data = &seen;
  CEstimator estimator(settings);
  seen.estimator = estimator;
  DisparityField field({80, 40});
  const parafield_field disparities = c_field(field);
  CInput input({pair.frames[0], pair.frames[1]});
  EXPECT_OK(parafield_solve(estimator, input, &disparities));
  EXPECT_GT(seen.calls, 1);
  EXPECT_EQ(seen.last, 1);
  EXPECT_EQ(seen.inner, PARAFIELD_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(parafield_error_text(), "in use"));
  seen = {.estimator = estimator, .cancels = true};
  EXPECT_FAILS(parafield_solve(estimator, input, &disparities), PARAFIELD_CANCELLED, "cancelled");
  EXPECT_EQ(seen.calls, 1);
  EXPECT_FAILS(parafield_solve(estimator, input, &disparities), PARAFIELD_CANCELLED, "cancelled");
  EXPECT_OK(parafield_reset(estimator));
  seen = {.estimator = estimator};
  EXPECT_OK(parafield_solve(estimator, input, &disparities));
}

TEST_F(CEstimators, WorkInTheMemoryOfADevice) {
  if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  const COptions options = {{"method", "lucas-kanade"}, {"device", "cuda:0"}, {"pipelined", "true"}};
  FlowEstimator expected(LucasKanade{}, c_size, {.device = Device::cpu()});
  const FlowField right = expected(scene.frames[0], scene.frames[1]).to({});
  const FrameBuffer frames[] = {scene.frames[0].to(Memory::cuda()), scene.frames[1].to(Memory::cuda())};
  CEstimator estimator(PARAFIELD_FLOW, c_size, options);
  void* stream = nullptr;
  ASSERT_OK(parafield_stream(estimator, &stream));
  EXPECT_NE(stream, nullptr);
  EXPECT_OK(parafield_wait_for("cuda:0", stream, stream));
  for (const Memory memory : {Memory::cuda(), Memory::pinned(), Memory::host()}) {
    FlowField result(c_size, memory);
    const parafield_field there = c_field(result);
    const bool on_device = !memory.on_host();
    CInput input({on_device ? frames[0] : scene.frames[0], on_device ? frames[1] : scene.frames[1]});
    EXPECT_OK(parafield_solve(estimator, input, &there));
    EXPECT_OK(parafield_synchronize(estimator));
    EXPECT_TRUE(same_planes(result.to({}), right));
    FlowField pushed[] = {FlowField(c_size, memory), FlowField(c_size, memory)};
    int32_t complete = -1;
    EXPECT_OK(parafield_reset(estimator));
    for (int i = 0; i < 2; ++i) {
      const parafield_field to = c_field(pushed[i]);
      EXPECT_OK(parafield_push(estimator, &input.frames[std::size_t(i)], &to, &complete));
      EXPECT_EQ(complete, 0);
    }
    EXPECT_OK(parafield_finish(estimator, &complete));
    EXPECT_EQ(complete, 1);
    EXPECT_OK(parafield_synchronize(estimator));
    EXPECT_TRUE(same_planes(pushed[1].to({}), right));
    EXPECT_OK(parafield_reset(estimator));
    if (on_device) {
      EXPECT_INVALID(parafield_solve(estimator, input, &output), "results are where the frames are");
    }
  }
  const parafield_settings settings = {.size = sizeof settings,
                                       .task = PARAFIELD_DETECTION,
                                       .width = c_size.width,
                                       .height = c_size.height,
                                       .option_count = 0,
                                       .options = nullptr,
                                       .stream = stream,
                                       .progress = nullptr,
                                       .progress_data = nullptr,
                                       .region = nullptr,
                                       .region_pitch = 0};
  CEstimator detector(settings);  // on the flow's stream; the default device is the GPU
  MotionMask mask(c_size, Memory::cuda());
  const parafield_field masks = c_field(mask);
  CInput input({frames[0], frames[1]});
  EXPECT_OK(parafield_solve(detector, input, &masks));
  EXPECT_OK(parafield_synchronize(detector));
  std::size_t boxes = 0, on_host = 0, tracks = 0;
  EXPECT_OK(parafield_find_boxes(&masks, 1, nullptr, 0, &boxes));
  MotionMask copy = mask.to({});
  const parafield_field copies = c_field(copy);
  EXPECT_OK(parafield_find_boxes(&copies, 1, nullptr, 0, &on_host));
  EXPECT_EQ(boxes, on_host);
  EXPECT_OK(parafield_find_tracks(&input.frames[0], &input.frames[1], nullptr, 0, nullptr, 0, &tracks));
  EXPECT_GT(tracks, 0u);
}

TEST_F(CEstimators, MarkWhereFramesAreNotFinite) {
  Image<float> frames[2] = {Image<float>(c_size), Image<float>(c_size)};
  for (int i = 0; i < 2; ++i)
    for (int y = 0; y < c_size.height; ++y)
      for (int x = 0; x < c_size.width; ++x)
        frames[i](x, y) = static_cast<const std::uint8_t*>(scene.frames[std::size_t(i)].row(y))[x];
  frames[0](20, 20) = std::numeric_limits<float>::quiet_NaN();
  std::vector<Frame> both;
  for (const Image<float>& each : frames)
    both.push_back({.data = each.view().data,
                    .width = c_size.width,
                    .height = c_size.height,
                    .pitch = each.view().pitch,
                    .format = PixelFormat::gray_f32});
  CInput input(both);
  CEstimator estimator(PARAFIELD_FLOW, c_size, cpu);
  EXPECT_OK(parafield_solve(estimator, input, &output));
  EXPECT_EQ(flow.valid(20, 20), 0);
  EXPECT_TRUE(contains(state_of(estimator), "\"range\": [0, 255]"));
}

}  // namespace
}  // namespace parafield
