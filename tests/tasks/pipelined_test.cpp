// SPDX-License-Identifier: MIT
// Pipelined estimators give the same bits one call later. Results without some planes have the same bits,
// too.
#include <cstring>
#include <future>
#include <random>

#include "noise.hpp"
#include "parafield/parafield.hpp"
#include "targets.hpp"
#include "tasks/any_case.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

constexpr Size frame_size{sanitized ? 50 : 90, sanitized ? 31 : 61};  // rows of no multiple of 16 bytes

std::vector<FrameBuffer> noise_frames(int count, PixelFormat format = PixelFormat::gray_u8) {
  std::vector<FrameBuffer> frames;
  for (int i = 0; i < count; ++i) {
    const GuardedFrame noise(frame_size, format, 5, 1.3f * float(i), 0, 0);
    const Frame from = noise.frame();
    FrameBuffer frame(frame_size, format);
    for (int y = 0; y < frame_size.height; ++y)
      std::memcpy(frame.row(y), static_cast<const char*>(from.data) + y * from.pitch,
                  std::size_t(frame_size.width) * std::size_t(bytes_per_pixel(format)));
    frames.push_back(std::move(frame));
  }
  return frames;
}

/// Hashes of all results of pushed frames. A frame in host memory is overwritten when the call has returned.
template <class Task>
std::vector<std::uint64_t> pushed(Estimator<Task>& estimator, const std::vector<FrameBuffer>& frames) {
  std::vector<std::uint64_t> hashes;
  const auto add = [&](const typename Task::Result* result) {
    if (!result) return;
    if (!result->memory().on_host()) estimator.synchronize();
    hashes.push_back(hash_of(result->to(Memory::host())));
  };
  estimator.reset();
  const bool on_host = frames[0].frame().memory.on_host();
  for (const FrameBuffer& frame : frames) {
    FrameBuffer own = frame.to(on_host ? Memory::host() : frame.frame().memory);
    add(estimator.push(own));
    if (on_host)
      for (int y = 0; y < frame_size.height; ++y)
        std::memset(own.row(y), 0x55,
                    std::size_t(frame_size.width) * std::size_t(bytes_per_pixel(own.format())));
    else
      estimator.synchronize();  // `own` goes
  }
  add(estimator.finish());
  EXPECT_EQ(estimator.finish(), nullptr);
  return hashes;
}

class PipelinedOn : public OnDevice {
 protected:
  bool cuda() const { return device().kind == Device::Kind::cuda; }
  template <class Task, class Method>
  Estimator<Task> made(const Method& method, bool pipelined) const {
    typename Task::Options options;
    options.device = device();
    options.pipelined = pipelined;
    return Estimator<Task>(method, frame_size, options);
  }
};

TEST_P(PipelinedOn, GivesTheSameResultsForEveryMethod) {
  const auto frames = noise_frames(9);
  std::vector<FrameBuffer> resident;
  for (const FrameBuffer& frame : frames)
    resident.push_back(frame.to(cuda() ? Memory::cuda(device().index) : Memory::host()));
  const auto compare = [&]<class Task>(const Task*, const auto& method) {
    SCOPED_TRACE(method.name);
    Estimator<Task> plain = made<Task>(method, false), pipelined = made<Task>(method, true);
    const auto expected = pushed(plain, frames);
    EXPECT_GE(expected.size(), 3u);
    EXPECT_EQ(pushed(pipelined, frames), expected);
    EXPECT_EQ(pushed(pipelined, resident), expected);
    EXPECT_EQ(pushed(plain, resident), expected);
  };
  for_each_method<FlowMethod>([&](const auto& method) {
    compare(static_cast<const Flow*>(nullptr), fitted(restrained(method), frame_size));
  });
  for_each_method<DetectionMethod>([&](const auto& method) {
    compare(static_cast<const Detection*>(nullptr), fitted(restrained(method), frame_size));
  });
}

TEST_P(PipelinedOn, AResultStaysUntilTheNextCall) {
  const auto frames = noise_frames(6);
  FlowEstimator estimator = made<Flow>(AdaptiveRidge{}, true), pairs = made<Flow>(AdaptiveRidge{}, false);
  EXPECT_EQ(estimator.finish(), nullptr) << "nothing was pushed";
  EXPECT_EQ(estimator.push(frames[0]), nullptr) << "one frame";
  EXPECT_EQ(estimator.push(frames[1]), nullptr) << "the first call had no result";
  for (std::size_t i = 2; i < frames.size(); ++i) {
    const FlowField* before = estimator.push(frames[i]);
    ASSERT_NE(before, nullptr);
    estimator.synchronize();  // the newest result is complete, too
    EXPECT_EQ(hash_of(*before), hash_of(pairs(frames[i - 2], frames[i - 1])));
  }
  const FlowField* last = estimator.finish();
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(hash_of(*last), hash_of(pairs(frames[4], frames[5])));
  EXPECT_EQ(estimator.push(frames[3]), nullptr) << "finish() has given the last one";
  const FlowField* more = estimator.finish();
  ASSERT_NE(more, nullptr) << "the sequence goes on";
  EXPECT_EQ(hash_of(*more), hash_of(pairs(frames[5], frames[3])));
}

TEST_P(PipelinedOn, ACallStartsANewSequence) {
  const auto frames = noise_frames(4);
  const LucasKanade method{.temporal = false};
  FlowEstimator plain = made<Flow>(method, false), estimator = made<Flow>(method, true);
  const auto expected = pushed(plain, frames);
  const auto begin = [&] {
    estimator.reset();
    estimator.push(frames[0]);
    estimator.push(frames[1]);
  };
  begin();
  EXPECT_EQ(hash_of(estimator(frames[2], frames[3])), expected[2]);
  EXPECT_EQ(estimator.finish(), nullptr);
  EXPECT_EQ(estimator.push(frames[0]), nullptr) << "a call forgets the frames pushed";
  begin();
  estimator.reset();
  EXPECT_EQ(estimator.finish(), nullptr);
  begin();
  EXPECT_NE(message_of([&] { estimator.push(Frame{}); }), "no error");
  const FlowField* kept = estimator.finish();
  ASSERT_NE(kept, nullptr) << "a call that fails forgets nothing";
  EXPECT_EQ(hash_of(*kept), expected[0]);
  begin();  // an estimator is destroyed while its device works
}

TEST_P(PipelinedOn, WritesIntoOutputs) {
  const auto frames = noise_frames(7, PixelFormat::gray_u16);
  FlowEstimator plain = made<Flow>(AdaptiveRidge{}, false), estimator = made<Flow>(AdaptiveRidge{}, true);
  const auto expected = pushed(plain, frames);
  std::vector<Memory> memories = {Memory::host()};
  if (cuda()) memories.push_back(Memory::pinned());
  for (const Memory memory : memories) {
    std::vector<FlowField> outputs;
    for (int i = 0; i < 7; ++i) outputs.emplace_back(frame_size, memory);
    estimator.reset();
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(estimator.push(frames[i], outputs[i]), i >= 2);
      if (i >= 2) EXPECT_EQ(hash_of(outputs[i - 1]), expected[i - 2]);
    }
    EXPECT_EQ(estimator.finish(), &outputs[6]);
    EXPECT_EQ(hash_of(outputs[6]), expected[5]);
  }
}

TEST_P(PipelinedOn, LeavesOutPlanes) {
  const auto frames = noise_frames(8);
  for_each_method<FlowMethod>([&]<class Method>(const Method& given) {
    const Method method = fitted(restrained(given), frame_size);
    FlowEstimator whole(method, frame_size, {.device = device()});
    std::vector<FlowField> expected;
    for (const FrameBuffer& frame : frames)
      if (const FlowField* flow = whole.push(frame)) expected.push_back(flow->to(Memory::host()));
    for (const bool valid : {false, true})
      for (const bool confidence : {false, true}) {
        if (sanitized && valid != confidence) continue;
        SCOPED_TRACE(std::string(Method::name) + (valid ? ", valid" : "") +
                     (confidence ? ", confidence" : ""));
        FlowEstimator some(method, frame_size,
                           {.device = device(), .valid = valid, .confidence = confidence});
        const auto compare = [&](const FlowField& flow, std::size_t i) {
          EXPECT_EQ(bool(flow.valid), valid);
          EXPECT_EQ(bool(flow.confidence), confidence);
          detail::for_each_plane(flow, expected[i], [](const auto& a, const auto& b) {
            if (a) expect_same(a, b);
          });
        };
        FlowEstimator pipelined(
            method, frame_size,
            {.device = device(), .pipelined = true, .valid = valid, .confidence = confidence});
        std::size_t count = 0, late = 0;
        for (const FrameBuffer& frame : frames)
          if (const FlowField* flow = some.push(frame)) compare(*flow, count++);
        for (const FrameBuffer& frame : frames)
          if (const FlowField* flow = pipelined.push(frame)) compare(*flow, late++);
        compare(*pipelined.finish(), late++);
        EXPECT_EQ(count, expected.size());
        EXPECT_EQ(late, expected.size());
      }
  });
  FlowEstimator none(LucasKanade{}, frame_size, {.device = device(), .valid = false, .confidence = false});
  FlowField output(frame_size);
  EXPECT_EQ(message_of([&] { none.push(frames[0], output); }),
            "the output has a valid plane, but the estimator's options leave it out");
  output.valid = {};
  EXPECT_EQ(message_of([&] { none.push(frames[0], output); }),
            "the output has a confidence, but the estimator's options leave it out");
  const FlowField one_shot =
      estimate_flow(frames[0], frames[1], AdaptiveRidge{}, {.device = device(), .confidence = false});
  EXPECT_TRUE(one_shot.valid && !one_shot.confidence);
}

TEST_P(PipelinedOn, ChecksAndFiltersWorkWithoutTheirPlanes) {
  const auto frames = noise_frames(2);
  const FlowOptions options{
      .device = device(), .fb_check = 1, .speckle = 30, .fill = true, .final_median = 3};
  FlowOptions none = options;
  none.valid = none.confidence = false;
  const FlowField whole = estimate_flow(frames[0], frames[1], LucasKanade{}, options),
                  flow = estimate_flow(frames[0], frames[1], LucasKanade{}, none);
  expect_same_motion(flow, whole);
}

TEST_P(PipelinedOn, TwoThreadsWorkAtOnce) {
  const auto frames = noise_frames(12);
  FlowEstimator alone = made<Flow>(AdaptiveRidge{}, false);
  const auto expected = pushed(alone, frames);
  const auto work = [&] {
    int wrong = 0;
    for (int round = 0; round < 6; ++round) {
      FlowEstimator estimator = made<Flow>(AdaptiveRidge{}, true);
      for (int run = 0; run < 3; ++run) wrong += pushed(estimator, frames) != expected;
    }
    return wrong;
  };
  std::future<int> first = std::async(std::launch::async, work),
                   second = std::async(std::launch::async, work);
  EXPECT_EQ(first.get(), 0);
  EXPECT_EQ(second.get(), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, PipelinedOn, every_device(), device_name);

}  // namespace
}  // namespace parafield
