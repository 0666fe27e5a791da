// SPDX-License-Identifier: MIT
// The C interface on two threads: an estimator each, one that both would use, and a cancellation.
#include <atomic>
#include <chrono>
#include <thread>

#include "c/c_support.hpp"

namespace parafield {
namespace {

TEST(CInterfaceThreads, EachHasAnEstimator) {
  const Scene scene = render_scene("translation", {.size = c_size, .frames = 4});
  std::vector<FlowField> expected;
  FlowEstimator alone(LucasKanade{}, c_size, {.device = Device::cpu(1)});
  for (const FrameBuffer& frame : scene.frames)
    if (const FlowField* flow = alone.push(frame)) expected.push_back(flow->to({}));
  const auto work = [&] {
    CEstimator estimator(PARAFIELD_FLOW, c_size,
                         {{"method", "lucas-kanade"}, {"device", "cpu"}, {"threads", "1"}});
    FlowField flow(c_size);
    const parafield_field output = c_field(flow);
    std::size_t results = 0;
    for (const FrameBuffer& frame : scene.frames) {
      const parafield_frame c = c_frame(frame);
      int32_t complete = 0;
      ASSERT_OK(parafield_push(estimator, &c, &output, &complete));
      EXPECT_TRUE(!complete || same_planes(flow, expected[results++]));
      EXPECT_INVALID(parafield_push(estimator, nullptr, &output, &complete), "the frame is null");
    }
    EXPECT_EQ(results, expected.size());
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(CInterfaceThreads, OneIsTurnedAwayAndCancels) {
  struct Shared {
    std::atomic<bool> began = false, may_end = false;
  } shared;
  const Scene pair = render_scene("stereo", {.size = c_size});
  const COptions options = {
      {"device", "cpu"}, {"threads", "1"}, {"method", "annealing"}, {"disparities", "16"}};
  parafield_settings settings = c_settings(PARAFIELD_STEREO, c_size, options);
  settings.progress_data = &shared;
  settings.progress = [](double, void* data) {
    Shared& both = *static_cast<Shared*>(data);
    both.began = true;
    while (!both.may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  CEstimator estimator(settings);
  std::thread solving([&] {
    DisparityField field(c_size);
    const parafield_field output = c_field(field);
    CInput input({pair.frames[0], pair.frames[1]});
    EXPECT_FAILS(parafield_solve(estimator, input, &output), PARAFIELD_CANCELLED, "cancelled");
  });
  while (!shared.began) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_INVALID(parafield_synchronize(estimator), "the estimator is in use");
  EXPECT_INVALID(parafield_destroy(estimator), "the estimator is in use");
  EXPECT_OK(parafield_cancel(estimator));
  shared.may_end = true;
  solving.join();
  EXPECT_OK(parafield_reset(estimator));
}

}  // namespace
}  // namespace parafield
