// SPDX-License-Identifier: MIT
// Results that come a call later, results of some planes, and results of halves: the bits of push().
#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <random>

#include "noise.hpp"
#include "parafield/parafield.hpp"
#include "tasks/any_case.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

constexpr Size size{90, 61};  // rows of no multiple of 16 bytes

std::vector<FrameBuffer> noise_frames(int count, PixelFormat format = PixelFormat::gray_u8) {
  std::vector<FrameBuffer> frames;
  for (int i = 0; i < count; ++i) {
    const GuardedFrame noise(size, format, 5, 1.3f * float(i), 0, 0);
    const Frame from = noise.frame();
    FrameBuffer frame(size, format);
    for (int y = 0; y < size.height; ++y)
      std::memcpy(frame.row(y), static_cast<const char*>(from.data) + y * from.pitch,
                  std::size_t(size.width) * std::size_t(bytes_per_pixel(format)));
    frames.push_back(std::move(frame));
  }
  return frames;
}

/// Hashes of all results that push() gives.
template <class Task>
std::vector<std::uint64_t> pushed(Estimator<Task>& estimator, const std::vector<FrameBuffer>& frames) {
  std::vector<std::uint64_t> hashes;
  estimator.reset();
  for (const FrameBuffer& frame : frames)
    if (const auto* result = estimator.push(frame)) {
      estimator.synchronize();
      hashes.push_back(hash_of(result->to(Memory::host())));
    }
  return hashes;
}

/// Hashes of all results that push_ahead() gives. Each frame is overwritten when the call has returned.
template <class Task>
std::vector<std::uint64_t> pushed_ahead(Estimator<Task>& estimator, const std::vector<FrameBuffer>& frames) {
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
    add(estimator.push_ahead(own));
    if (on_host)
      for (int y = 0; y < size.height; ++y)
        std::memset(own.row(y), 0x55, std::size_t(size.width) * std::size_t(bytes_per_pixel(own.format())));
    else
      estimator.synchronize();  // `own` goes
  }
  add(estimator.finish());
  EXPECT_EQ(estimator.finish(), nullptr);
  return hashes;
}

class AheadOn : public OnDevice {
 protected:
  bool cuda() const { return device().kind == Device::Kind::cuda; }
};

TEST_P(AheadOn, GivesTheResultsOfPushOfEveryMethod) {
  const auto frames = noise_frames(9);
  std::vector<FrameBuffer> resident;
  for (const FrameBuffer& frame : frames)
    resident.push_back(frame.to(cuda() ? Memory::cuda(device().index) : Memory::host()));
  const auto compare = [&]<class Task>(Estimator<Task> estimator) {
    const auto expected = pushed(estimator, frames);
    EXPECT_GE(expected.size(), 3u);
    EXPECT_EQ(pushed_ahead(estimator, frames), expected);
    EXPECT_EQ(pushed_ahead(estimator, resident), expected);
    EXPECT_EQ(pushed(estimator, frames), expected) << "push() after push_ahead()";
  };
  for_each_method<FlowMethod>([&]<class Method>(const Method& method) {
    SCOPED_TRACE(Method::name);
    compare(FlowEstimator(fitted(restrained(method), size), size, {.device = device()}));
  });
  for_each_method<DetectionMethod>([&]<class Method>(const Method& method) {
    SCOPED_TRACE(Method::name);
    compare(MotionDetector(fitted(restrained(method), size), size, {.device = device()}));
  });
}

TEST_P(AheadOn, AResultStaysUntilTheNextCall) {
  const auto frames = noise_frames(6);
  FlowEstimator estimator(AdaptiveRidge{}, size, {.device = device()}),
      pairs(AdaptiveRidge{}, size, {.device = device()});
  EXPECT_EQ(estimator.finish(), nullptr) << "nothing was pushed";
  EXPECT_EQ(estimator.push_ahead(frames[0]), nullptr) << "one frame";
  EXPECT_EQ(estimator.push_ahead(frames[1]), nullptr) << "the first call had no result";
  for (std::size_t i = 2; i < frames.size(); ++i) {
    const FlowField* before = estimator.push_ahead(frames[i]);
    ASSERT_NE(before, nullptr);
    estimator.synchronize();  // the newest result is complete, too
    EXPECT_EQ(hash_of(*before), hash_of(pairs(frames[i - 2], frames[i - 1])));
  }
  const FlowField* last = estimator.finish();
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(hash_of(*last), hash_of(pairs(frames[4], frames[5])));
  EXPECT_EQ(estimator.push_ahead(frames[3]), nullptr) << "finish() has given the last one";
  const FlowField* more = estimator.finish();
  ASSERT_NE(more, nullptr) << "the sequence goes on";
  EXPECT_EQ(hash_of(*more), hash_of(pairs(frames[5], frames[3])));
}

TEST_P(AheadOn, OtherCallsForgetWhatIsStillToCome) {
  const auto frames = noise_frames(4);
  FlowEstimator estimator(LucasKanade{.temporal = false}, size, {.device = device()});
  const auto expected = pushed(estimator, frames);
  const auto begin = [&] {
    estimator.reset();
    estimator.push_ahead(frames[0]);
    estimator.push_ahead(frames[1]);
  };
  begin();
  EXPECT_EQ(hash_of(*estimator.push(frames[2])), expected[1]) << "the sequence goes on";
  EXPECT_EQ(estimator.finish(), nullptr);
  begin();
  EXPECT_EQ(hash_of(estimator(frames[2], frames[3])), expected[2]);
  EXPECT_EQ(estimator.finish(), nullptr);
  EXPECT_EQ(estimator.push_ahead(frames[0]), nullptr) << "a call forgets the frames pushed";
  begin();
  estimator.reset();
  EXPECT_EQ(estimator.finish(), nullptr);
  begin();
  EXPECT_NE(message_of([&] { estimator.push_ahead(Frame{}); }), "no error");
  const FlowField* kept = estimator.finish();
  ASSERT_NE(kept, nullptr) << "a call that fails forgets nothing";
  EXPECT_EQ(hash_of(*kept), expected[0]);
  begin();  // an estimator goes while its device works
}

TEST_P(AheadOn, WritesIntoOutputs) {
  const auto frames = noise_frames(7, PixelFormat::gray_u16);
  FlowEstimator estimator(AdaptiveRidge{}, size, {.device = device()});
  const auto expected = pushed(estimator, frames);
  std::vector<Memory> memories = {Memory::host()};
  if (cuda()) memories.push_back(Memory::pinned());
  for (const Memory memory : memories) {
    std::vector<FlowField> outputs;
    for (int i = 0; i < 7; ++i) outputs.emplace_back(size, memory);
    estimator.reset();
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(estimator.push_ahead(frames[i], outputs[i]), i >= 2);
      if (i >= 2) EXPECT_EQ(hash_of(outputs[i - 1]), expected[i - 2]);
    }
    EXPECT_EQ(estimator.finish(), &outputs[6]);
    EXPECT_EQ(hash_of(outputs[6]), expected[5]);
  }
}

TEST_P(AheadOn, LeavesOutPlanes) {
  const auto frames = noise_frames(8);
  for_each_method<FlowMethod>([&]<class Method>(const Method& given) {
    const Method method = fitted(restrained(given), size);
    FlowEstimator whole(method, size, {.device = device()});
    std::vector<FlowField> expected;
    for (const FrameBuffer& frame : frames)
      if (const FlowField* flow = whole.push(frame)) expected.push_back(flow->to(Memory::host()));
    for (const bool valid : {false, true})
      for (const bool confidence : {false, true}) {
        SCOPED_TRACE(std::string(Method::name) + (valid ? ", valid" : "") +
                     (confidence ? ", confidence" : ""));
        FlowEstimator some(method, size, {.device = device(), .valid = valid, .confidence = confidence});
        const auto compare = [&](const FlowField& flow, std::size_t i) {
          EXPECT_EQ(bool(flow.valid), valid);
          EXPECT_EQ(bool(flow.confidence), confidence);
          detail::for_each_plane(flow, expected[i], [](const auto& a, const auto& b) {
            for (int y = 0; a && y < size.height; ++y)
              ASSERT_EQ(
                  std::memcmp(a.view().row(y), b.view().row(y), std::size_t(size.width) * sizeof(a(0, 0))),
                  0);
          });
        };
        std::size_t calls = 0, ahead = 0;
        for (const FrameBuffer& frame : frames)
          if (const FlowField* flow = some.push(frame)) compare(*flow, calls++);
        some.reset();
        for (const FrameBuffer& frame : frames)
          if (const FlowField* flow = some.push_ahead(frame)) compare(*flow, ahead++);
        compare(*some.finish(), ahead++);
        EXPECT_EQ(calls, expected.size());
        EXPECT_EQ(ahead, expected.size());
      }
  });
  FlowEstimator none(LucasKanade{}, size, {.device = device(), .valid = false, .confidence = false});
  FlowField output(size);
  EXPECT_EQ(message_of([&] { none.push(frames[0], output); }),
            "the output has a valid plane, but the estimator's options leave it out");
  output.valid = {};
  EXPECT_EQ(message_of([&] { none.push(frames[0], output); }),
            "the output has a confidence, but the estimator's options leave it out");
  const FlowField one_shot =
      estimate_flow(frames[0], frames[1], AdaptiveRidge{}, {.device = device(), .confidence = false});
  EXPECT_TRUE(one_shot.valid && !one_shot.confidence);
}

TEST_P(AheadOn, ChecksAndFiltersWorkWithoutTheirPlanes) {
  const auto frames = noise_frames(2);
  const FlowOptions options{
      .device = device(), .fb_check = 1, .speckle = 30, .fill = true, .final_median = 3};
  FlowOptions none = options;
  none.valid = none.confidence = false;
  const FlowField whole = estimate_flow(frames[0], frames[1], LucasKanade{}, options),
                  flow = estimate_flow(frames[0], frames[1], LucasKanade{}, none);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      ASSERT_EQ(flow.u(x, y), whole.u(x, y));
      ASSERT_EQ(flow.v(x, y), whole.v(x, y));
    }
}

TEST_P(AheadOn, HalvesAreTheFlowRounded) {
  const auto frames = noise_frames(6);
  FlowEstimator estimator(AdaptiveRidge{}, size, {.device = device()});
  std::vector<FlowField> expected;
  for (const FrameBuffer& frame : frames)
    if (const FlowField* flow = estimator.push(frame)) expected.push_back(flow->to(Memory::host()));
  const auto compare = [&](const HalfFlowField& halves, std::size_t i, const char* what) {
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        ASSERT_EQ(halves.u(x, y).bits, Half(expected[i].u(x, y)).bits) << what;
        ASSERT_EQ(halves.v(x, y).bits, Half(expected[i].v(x, y)).bits) << what;
        if (halves.valid) ASSERT_EQ(halves.valid(x, y), expected[i].valid(x, y)) << what;
        if (halves.confidence) ASSERT_EQ(halves.confidence(x, y), expected[i].confidence(x, y)) << what;
      }
  };
  for (const bool planes : {false, true}) {
    HalfFlowField output(size, {}, planes, planes);
    for (std::size_t i = 1; i < frames.size(); ++i) {
      estimator({std::array<Frame, 2>{frames[i - 1], frames[i]}}, output);
      compare(output, i - 1, "a call");
    }
    estimator.reset();
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (estimator.push(frames[i], output)) compare(output, i - 1, "push");
    HalfFlowField outputs[2] = {HalfFlowField(size, {}, planes, planes),
                                HalfFlowField(size, {}, !planes, planes)};
    estimator.reset();
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (estimator.push_ahead(frames[i], outputs[i % 2])) compare(outputs[(i - 1) % 2], i - 2, "push_ahead");
    EXPECT_EQ(estimator.finish(), nullptr);
    compare(outputs[1], 4, "finish");
  }
  if (!cuda()) return;
  HalfFlowField there(size, Memory::cuda(device().index));
  const FrameBuffer first = frames[0].to(there.memory()), second = frames[1].to(there.memory());
  estimator({std::array<Frame, 2>{first, second}}, there);
  estimator.synchronize();
  compare(there.to(Memory::host()), 0, "on the device");
}

TEST_P(AheadOn, TwoThreadsWorkAtOnce) {
  const auto frames = noise_frames(12);
  FlowEstimator alone(AdaptiveRidge{}, size, {.device = device()});
  const auto expected = pushed(alone, frames);
  const auto work = [&] {
    int wrong = 0;
    for (int round = 0; round < 6; ++round) {
      FlowEstimator estimator(AdaptiveRidge{}, size, {.device = device()});
      for (int run = 0; run < 3; ++run) wrong += pushed_ahead(estimator, frames) != expected;
    }
    return wrong;
  };
  std::future<int> first = std::async(std::launch::async, work),
                   second = std::async(std::launch::async, work);
  EXPECT_EQ(first.get(), 0);
  EXPECT_EQ(second.get(), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, AheadOn, every_device(), device_name);

TEST(Halves, HaveTheNearestValue) {
  EXPECT_EQ(Half(1.0f).bits, 0x3c00);
  EXPECT_EQ(Half(-2.5f).bits, 0xc100);
  EXPECT_EQ(Half(0.0f).bits, 0);
  EXPECT_EQ(Half(-0.0f).bits, 0x8000);
  EXPECT_EQ(Half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65519.9f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(1e9f).bits, 0x7c00);
  EXPECT_EQ(Half(-std::numeric_limits<float>::infinity()).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(float(Half(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(float(Half(5.9604645e-8f)), 5.9604645e-8f) << "the least one";
  EXPECT_EQ(Half(2.9802322e-8f).bits, 0) << "half of it: to the even one";
  EXPECT_EQ(Half(1.0f + 0x1p-11f).bits, 0x3c00) << "between two: the even one";
  EXPECT_EQ(Half(1.0f + 3 * 0x1p-11f).bits, 0x3c02);
  for (int bits = 0; bits < 0x7c00; ++bits) {  // each value, and the middle of it and the next
    Half half, next;
    half.bits = std::uint16_t(bits);
    next.bits = std::uint16_t(bits + 1);
    ASSERT_EQ(Half(float(half)).bits, bits);
    ASSERT_EQ(Half(-float(half)).bits, bits | 0x8000);
    if (bits == 0x7bff) break;
    const float middle = (float(half) + float(next)) / 2;
    ASSERT_EQ(Half(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(Half(std::nextafter(middle, 1e9f)).bits, bits + 1);
    ASSERT_EQ(Half(std::nextafter(middle, 0.0f)).bits, bits);
  }
}

}  // namespace
}  // namespace parafield
