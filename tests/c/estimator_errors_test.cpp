// SPDX-License-Identifier: MIT
// Estimators of the C interface: options, structs, frames and fields that they refuse.
#include <cmath>
#include <filesystem>
#include <limits>
#include <new>
#include <stdexcept>

#include "c/c_support.hpp"
#include "c/call.hpp"

namespace parafield {
namespace {

/// Tries to make an estimator of flow.
parafield_code try_options(const COptions& options, Size of = c_size, int task = PARAFIELD_FLOW) {
  const parafield_settings settings = c_settings(task, of, options);
  parafield_estimator* estimator = nullptr;
  const parafield_code code = parafield_create(&settings, &estimator);
  EXPECT_EQ(estimator == nullptr, code != PARAFIELD_OK);
  EXPECT_OK(parafield_destroy(estimator));
  return code;
}

TEST_F(CEstimators, RefuseOptions) {
  EXPECT_EQ(try_options({{"levels", "2"}, {"method", "lucas_kanade"}, {"device", "cpu"}}), PARAFIELD_OK);
  EXPECT_INVALID(try_options({{"methods", "icm"}}),
                 "no option of adaptive-ridge 'methods' (did you mean 'method'?)");
  EXPECT_INVALID(try_options({{"method", "lucas"}}),
                 "there is no method 'lucas' (did you mean 'lucas-kanade'?)");
  EXPECT_INVALID(try_options({{"preset", "best"}}), "there is no preset of adaptive-ridge 'best'");
  EXPECT_INVALID(try_options({{"method", "lucas-kanade"}, {"window", "99"}}),
                 "lucas-kanade: window cannot be 99; allowed: 1 to 31");
  EXPECT_INVALID(try_options({{"fb_check", "nan"}}), "flow options: fb_check cannot be nan; allowed: 0 to ");
  EXPECT_INVALID(try_options({{"fill", "maybe"}}), "fill cannot be maybe; allowed: true or false");
  EXPECT_INVALID(try_options({{"valid", ""}}), "options: valid cannot be ''; allowed: true or false");
  EXPECT_INVALID(try_options({{"energies", "all"}}), "energies cannot be all; allowed: none, result, sweeps");
  EXPECT_INVALID(try_options({{"threads", "two"}}), "threads cannot be two");
  EXPECT_INVALID(try_options({{"threads", "-1"}}), "threads cannot be -1");
  EXPECT_INVALID(try_options({{"device", "gpu"}}), "there is no device 'gpu'");
  EXPECT_EQ(try_options({{"device", "cuda:77"}}), PARAFIELD_DEVICE);
  EXPECT_INVALID(try_options({{"fill", "true"}, {"fill", "true"}}), "option 'fill' is given twice");
  EXPECT_INVALID(try_options({{"fb-check", "1"}, {"fb_check", "1"}}), "is given twice");
  EXPECT_INVALID(try_options({{nullptr, "1"}}), "option 0 has no name");
  EXPECT_INVALID(try_options({{"fill", nullptr}}), "option 0 has no value");
  EXPECT_INVALID(try_options({{"pipelined", "true"}}, c_size, PARAFIELD_STEREO),
                 "no option of belief-propagation 'pipelined'");
  EXPECT_INVALID(try_options(cpu, {0, 40}), "0x40");
  EXPECT_INVALID(try_options(cpu, {-3, 40}), "-3x40");
  EXPECT_INVALID(try_options(cpu, {500'001, 1}), "500001x1");
  EXPECT_INVALID(try_options(cpu, c_size, 0), "task cannot be 0; allowed: PARAFIELD_FLOW");

  parafield_settings settings = c_settings(PARAFIELD_FLOW, c_size, cpu);
  parafield_estimator* estimator = nullptr;
  EXPECT_INVALID(parafield_create(&settings, nullptr), "pointer to the estimator is null");
  EXPECT_INVALID(parafield_create(nullptr, &estimator), "settings is null");
  settings.option_count = -1;
  EXPECT_INVALID(parafield_create(&settings, &estimator), "number of options cannot be -1");
  settings.option_count = 2;
  settings.options = nullptr;
  EXPECT_INVALID(parafield_create(&settings, &estimator), "list of options is null");
}

TEST_F(CEstimators, ReadStructsOfOtherVersions) {
  struct {
    parafield_settings settings;
    std::uint64_t later[3] = {};
  } newer{c_settings(PARAFIELD_FLOW, c_size, cpu)};
  newer.settings.size = sizeof newer;
  parafield_estimator* estimator = nullptr;
  ASSERT_OK(parafield_create(&newer.settings, &estimator));
  EXPECT_OK(parafield_destroy(estimator));
  newer.later[2] = 1;
  EXPECT_FAILS(parafield_create(&newer.settings, &estimator), PARAFIELD_UNSUPPORTED,
               "bytes and sets a field behind");
  EXPECT_EQ(estimator, nullptr);
  for (const std::size_t wrong : {std::size_t(0), sizeof(parafield_settings) - 1, ~std::size_t(0)}) {
    newer.settings.size = wrong;
    EXPECT_INVALID(parafield_create(&newer.settings, &estimator),
                   "settings: size cannot be " + std::to_string(wrong));
  }
}

TEST_F(CEstimators, RefuseFramesAndFields) {
  CEstimator estimator(PARAFIELD_FLOW, c_size, {{"method", "lucas-kanade"}, {"device", "cpu"}});
  CInput input({scene.frames[0], scene.frames[1]});
  const auto with = [&](auto change) {
    CInput changed({scene.frames[0], scene.frames[1]});
    parafield_field field = output;
    change(changed, field);
    return parafield_solve(estimator, changed, &field);
  };
  using Field = parafield_field;
  const std::uint8_t before = flow.valid(3, 3);
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[1].size = 8; }), "frame 1: size cannot be 8");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.pointers[1] = nullptr; }), "frame 1 is null");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].data = nullptr; }), "frame 0 has no data");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].width = 47; }),
                 "frame 0 is 47x40, expected 48x40");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].pitch = 47; }),
                 "frame 0 has a pitch of 47 bytes");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].pitch = -48; }),
                 "frame 0 has a pitch of -48 bytes");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].format = 9; }), "frame 0: format cannot be 9");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].format = -1; }), "frame 0: format cannot be -1");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].memory = 3; }), "frame 0: memory cannot be 3");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].device = 1; }),
                 "device cannot be 1 for host memory");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].reserved = 5; }), "reserved cannot be 5");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].memory = PARAFIELD_CUDA; }), "cuda:0");
  EXPECT_INVALID(
      with([](CInput& in, Field&) { in.frames[0].memory = PARAFIELD_CUDA, in.frames[0].device = -1; }),
      "device cannot be -1; it is 0 or above");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.frames[0].white = std::nanf(""); }), "to nan (white)");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.input.frame_count = 1; }), "2 frames, not 1");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.input.frame_count = 0; }), "2 frames, not 0");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.input.frames = nullptr; }), "list of frames is null");
  EXPECT_INVALID(with([](CInput& in, Field&) { in.input.size = 1; }), "the input: size cannot be 1");
  EXPECT_INVALID(with([](CInput&, Field& to) { to.size = 0; }), "the output: size cannot be 0");
  EXPECT_INVALID(with([](CInput&, Field& to) { to.width = 0; }), "the output cannot have 0x40 pixels");
  EXPECT_INVALID(with([](CInput&, Field& to) { to.height = 39; }), "48x39, the frames are 48x40");
  EXPECT_INVALID(with([](CInput&, Field& to) { to.u.pitch = 190; }),
                 "plane u has a pitch of 190 bytes; a row has 192");
  EXPECT_INVALID(with([](CInput&, Field& to) { to.v.pitch = -192; }), "plane v has a pitch of -192 bytes");
  EXPECT_INVALID(with([](CInput&, Field& to) { to.v.data = static_cast<char*>(to.v.data) + 1; }),
                 "multiples of 4");
  EXPECT_INVALID(with([](CInput&, Field& to) { to.d = to.u; }),
                 "the output has a plane of another task: expected u and v");
  EXPECT_INVALID(with([](CInput&, Field& to) { to.u = to.v = to.valid = to.confidence = {}; }),
                 "the output has no plane");
  EXPECT_INVALID(with([](CInput&, Field& to) { to.memory = PARAFIELD_CUDA; }), "memory");
  EXPECT_INVALID(with([](CInput&, Field& to) { to.memory = -1; }), "the output: memory cannot be -1");
  EXPECT_EQ(flow.valid(3, 3), before);
  std::vector<const parafield_frame*> many(1000, &input.frames[0]);
  EXPECT_INVALID(
      with([&](CInput& in, Field&) { in.input.frames = many.data(), in.input.frame_count = 1000; }),
      "1000 frames");
  EXPECT_INVALID(parafield_solve(estimator, nullptr, &output), "the input is null");
  EXPECT_INVALID(parafield_solve(estimator, input, nullptr), "the output is null");
  EXPECT_INVALID(parafield_solve(nullptr, input, &output), "the estimator is null");
  int32_t complete = -1;
  EXPECT_INVALID(parafield_push(estimator, nullptr, &output, &complete), "the frame is null");
  EXPECT_EQ(complete, 0);
  EXPECT_INVALID(parafield_push(estimator, &input.frames[0], &output, nullptr),
                 "pointer to complete is null");
  EXPECT_INVALID(parafield_push(estimator, &input.frames[0], nullptr, &complete), "the output is null");
  EXPECT_INVALID(parafield_push(nullptr, &input.frames[0], &output, &complete), "the estimator is null");
  EXPECT_FAILS(parafield_push_pair(estimator, &input.frames[0], &input.frames[1], &output),
               PARAFIELD_UNSUPPORTED, "flow takes single frames: parafield_push");
  EXPECT_FAILS(parafield_save_background(estimator, "no"), PARAFIELD_UNSUPPORTED,
               "flow learns no background");
  EXPECT_INVALID(parafield_finish(estimator, nullptr), "pointer to complete is null");
  for (const auto call : {parafield_reset, parafield_cancel, parafield_synchronize})
    EXPECT_INVALID(call(nullptr), "the estimator is null");
  EXPECT_OK(parafield_destroy(nullptr));
  // Planes that are null are not written; results without a validity have no such plane.
  EXPECT_EQ(with([](CInput&, Field& to) { to.u = to.confidence = {}; }), PARAFIELD_OK)
      << parafield_error_text();
  CEstimator plain(PARAFIELD_FLOW, c_size, {{"method", "lucas-kanade"}, {"device", "cpu"}, {"valid", "0"}});
  EXPECT_INVALID(parafield_solve(plain, input, &output), "valid plane");
}

TEST_F(CEstimators, RefuseWhatOtherTasksTake) {
  std::vector<std::uint8_t> region(std::size_t(80) * 40, 1);
  parafield_settings settings = c_settings(PARAFIELD_STEREO, {80, 40}, cpu);
  settings.region = region.data();
  settings.region_pitch = 80;
  parafield_estimator* none = nullptr;
  EXPECT_INVALID(parafield_create(&settings, &none), "a region is for detection only, not for stereo");
  CEstimator detector(PARAFIELD_DETECTION, c_size, cpu);
  EXPECT_INVALID(parafield_solve(detector, CInput({scene.frames[0], scene.frames[1]}), &output),
                 "the output has a plane of another task: expected moving");
}

TEST_F(CEstimators, ReturnACodeForExceptionsOfACallback) {
  // A callback in C++ may throw anything.
  using Thrower = void (*)();
  const COptions options = {{"method", "annealing"}, {"device", "cpu"}, {"disparities", "16"}};
  DisparityField field({80, 40});
  const parafield_field disparities = c_field(field);
  const auto solve_with = [&](Thrower thrower) {
    parafield_settings settings = c_settings(PARAFIELD_STEREO, {80, 40}, options);
    settings.progress = [](double, void* data) { (*static_cast<Thrower*>(data))(); };
    settings.progress_data = &thrower;
    CEstimator estimator(settings);
    return parafield_solve(estimator, CInput({pair.frames[0], pair.frames[1]}), &disparities);
  };
  EXPECT_FAILS(solve_with([] { throw std::bad_alloc(); }), PARAFIELD_MEMORY, "cannot allocate host memory");
  EXPECT_FAILS(c::guarded([] { throw std::bad_alloc(); }), PARAFIELD_MEMORY, "cannot allocate host memory");
  EXPECT_FAILS(solve_with([] { throw std::runtime_error("full"); }), PARAFIELD_FAILED, "full");
  EXPECT_FAILS(solve_with([] { throw 3; }), PARAFIELD_FAILED, "an unknown error");
}

}  // namespace
}  // namespace parafield
