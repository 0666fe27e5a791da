// SPDX-License-Identifier: MIT
// The pipeline: order, errors of each stage, stops, and constant memory.
#include <future>
#include <set>

#include "parafield/pipeline.hpp"
#include "tasks/on_device.hpp"
#include "textures.hpp"

namespace parafield {
namespace {

constexpr Size size{48, 32};

/// Frame i of a texture that moves, by another distance each time.
FrameBuffer frame_number(int i) {
  const Texture texture(7);
  FrameBuffer frame(size, PixelFormat::gray_u8);
  const double shift = 0.02 * i * i;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      static_cast<std::uint8_t*>(frame.row(y))[x] = std::uint8_t(texture(x - shift, y));
  return frame;
}

/// Frames 0 to `count` - 1, in the buffers that it is given where they fit.
class Frames {
 public:
  explicit Frames(int count) {
    for (int i = 0; i < count; ++i) frames_.push_back(frame_number(i));
  }

  bool operator()(VideoFrame& into) {
    if (next_ == int(frames_.size())) return false;
    const FrameBuffer& frame = frames_[std::size_t(next_)];
    if (into.frame.size() != frame.size()) into.frame = FrameBuffer(frame.size(), frame.format());
    for (int y = 0; y < size.height; ++y)
      std::copy_n(static_cast<const char*>(frame.row(y)), size.width, static_cast<char*>(into.frame.row(y)));
    into.index = next_;
    into.time = next_++ / 25.0;
    return true;
  }
  int read() const { return next_; }
  const FrameBuffer& operator[](int i) const { return frames_[std::size_t(i)]; }

 private:
  std::vector<FrameBuffer> frames_;
  int next_ = 0;
};

/// Every device, without and with the option pipelined.
class PipelineOn : public testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  void SetUp() override {
    if (on_gpu() && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  }
  Device device() const { return parse_device(std::get<0>(GetParam()), 2); }
  bool on_gpu() const { return std::string(std::get<0>(GetParam())) == "cuda"; }
  bool pipelined() const { return std::get<1>(GetParam()); }
  FlowEstimator estimator(FlowMethod method = LucasKanade{.levels = 2}) const {
    return FlowEstimator(method, size, {.device = device(), .pipelined = pipelined()});
  }
  /// An estimator whose calls return the newest result.
  FlowEstimator alone(FlowMethod method = LucasKanade{.levels = 2}) const {
    return FlowEstimator(method, size, {.device = device()});
  }
};

/// The flow of u at (20, 16).
float probe(const FlowField& flow) { return flow.u(20, 16); }

TEST_P(PipelineOn, GivesEachFrameItsOwnResultInOrder) {
  const std::vector<FlowMethod> methods = {LucasKanade{.levels = 2}, AdaptiveRidge{.frames = 3},
                                           AdaptiveRidge{.frames = 5}};
  for (const FlowMethod& method : methods) {
    constexpr int count = 12;
    const int window = frames_of(method), first = (window - 1) / 2;
    FlowEstimator alone = this->alone(method), used = estimator(method);
    Frames frames(count);
    std::vector<std::int64_t> order;
    std::vector<float> found;
    Pipeline pipeline(used);
    const PipelineReport report =
        pipeline.run(std::ref(frames), [&](const VideoFrame& frame, FlowField& flow) {
          EXPECT_EQ(frame.time, double(frame.index) / 25);
          EXPECT_EQ(*static_cast<const std::uint8_t*>(frame.frame.row(9)),
                    *static_cast<const std::uint8_t*>(frames[int(frame.index)].row(9)));
          order.push_back(frame.index);
          found.push_back(probe(flow));
        });
    EXPECT_EQ(report.frames, count);
    EXPECT_EQ(report.results, count - window + 1);
    EXPECT_FALSE(report.stopped);
    ASSERT_EQ(int(order.size()), count - window + 1);
    std::size_t at = 0;
    for (int i = 0; i < count; ++i) {
      const FlowField* flow = alone.push(frames[i]);
      if (!flow) continue;
      EXPECT_EQ(order[at], int(at) + first) << window << " frames";
      EXPECT_EQ(found[at], probe(*flow)) << window << " frames"
                                         << ", flow " << at;
      ++at;
    }
  }
}

TEST_P(PipelineOn, TheSinkMayKeepResults) {
  constexpr int count = 12;
  FlowEstimator alone = this->alone(), used = estimator();
  Frames frames(count);
  std::vector<FlowField> kept;
  Pipeline(used).run(std::ref(frames),
                     [&](const VideoFrame&, FlowField& flow) { kept.push_back(std::move(flow)); });
  ASSERT_EQ(kept.size(), std::size_t(count - 1));
  alone.push(frames[0]);
  for (int i = 1; i < count; ++i) {
    const FlowField& flow = kept[std::size_t(i - 1)];
    ASSERT_TRUE(flow.u) << i;
    EXPECT_EQ(probe(flow), probe(*alone.push(frames[i]))) << i;
  }
}

TEST_P(PipelineOn, AMaskBelongsToTheNewerFrame) {
  MotionDetector detector(DetectionMethod{}, size, {.device = device(), .pipelined = pipelined()});
  Frames frames(5);
  std::vector<std::int64_t> order;
  Pipeline pipeline(detector);
  pipeline.run(std::ref(frames), [&](const VideoFrame& frame, MotionMask&) { order.push_back(frame.index); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 2, 3, 4}));
}

TEST_P(PipelineOn, FewFramesGiveNothing) {
  for (const int count : {0, 1}) {
    FlowEstimator used = estimator();
    Frames frames(count);
    bool finished = false;
    const PipelineReport report = Pipeline(used).run(
        std::ref(frames), [](const VideoFrame&, FlowField&) { FAIL(); }, [&] { finished = true; });
    EXPECT_EQ(report.frames, count);
    EXPECT_EQ(report.results, 0);
    EXPECT_TRUE(finished);
  }
}

TEST_P(PipelineOn, MemoryIsConstant) {
  FlowEstimator used = estimator();
  Frames frames(60);
  std::set<const void*> buffers, results;
  PipelineReport report;
  Pipeline pipeline(used, {.depth = 3});
  report = pipeline.run(
      [&](VideoFrame& frame) {
        const bool more = frames(frame);
        buffers.insert(frame.frame.frame().data);
        return more;
      },
      [&](const VideoFrame&, FlowField& flow) { results.insert(flow.u.view().data); });
  EXPECT_EQ(report.results, 59);
  // Each is pinned after its first use on a GPU.
  EXPECT_LE(buffers.size(), (2 * 3 + 3 + 1 + (pipelined() ? 1 : 0)) * (on_gpu() ? 2u : 1u));
  EXPECT_LE(results.size(), pipelined() ? 6u : 5u);
}

TEST_P(PipelineOn, ASlowSinkHoldsTheSourceBack) {
  FlowEstimator used = estimator();
  Frames frames(40);
  std::atomic<int> read = 0;
  int taken = 0, most_ahead = 0;
  Pipeline(used, {.depth = 1})
      .run(
          [&](VideoFrame& frame) {
            const bool more = frames(frame);
            read += more;
            return more;
          },
          [&](const VideoFrame&, FlowField&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            most_ahead = std::max(most_ahead, read - taken++);
          });
  EXPECT_EQ(taken, 39);
  EXPECT_LE(most_ahead, 2 * 1 + 3 + 1 + (pipelined() ? 1 : 0));
}

TEST_P(PipelineOn, AResultDoesNotWaitForTheNextFrame) {
  FlowEstimator used = estimator();
  Frames frames(4);
  std::promise<void> taken;
  const PipelineReport report = Pipeline(used).run(
      [&](VideoFrame& frame) {
        if (frames.read() == 3) taken.get_future().wait();
        return frames(frame);
      },
      [&, left = 2](const VideoFrame&, FlowField&) mutable {
        if (--left == 0) taken.set_value();
      });
  EXPECT_EQ(report.results, 3);
}

/// The end of a run: the message of its error, the number of results before, and whether it was finished.
struct Failure {
  std::string message;
  int taken = 0;
  bool finished = false;
};
template <class Source>
Failure failure_of(FlowEstimator& used, Source source) {
  Failure failure;
  failure.message = message_of([&] {
    Pipeline(used).run(
        source, [&](const VideoFrame&, FlowField&) { ++failure.taken; }, [&] { failure.finished = true; });
  });
  return failure;
}

TEST_P(PipelineOn, AnErrorOfASolveComesBehindTheResultsBefore) {
  FlowEstimator used = estimator(MultiHypothesis{.label_step = 0.125f, .max_labels = 2});
  Frames frames(6);
  const auto [message, taken, finished] = failure_of(used, [&](VideoFrame& frame) {
    const int number = frames.read();  // only frames from 3 on move
    const bool more = frames(frame);
    frame.frame = frame_number(number < 3 ? 0 : 5 * number);
    return more;
  });
  EXPECT_NE(message.find("max_labels"), std::string::npos) << message;
  EXPECT_EQ(taken, 2);
  EXPECT_TRUE(finished);
}

TEST_P(PipelineOn, ASlowSourceIsAwaited) {
  FlowEstimator used = estimator();
  Frames frames(8);
  const PipelineReport report = Pipeline(used).run(
      [&](VideoFrame& frame) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return frames(frame);
      },
      [](const VideoFrame&, FlowField&) {});
  EXPECT_EQ(report.results, 7);
  EXPECT_GE(report.source, 0.04);
  EXPECT_GE(report.seconds, report.source);
}

TEST_P(PipelineOn, AnErrorOfTheSourceComesBehindTheResultsBefore) {
  FlowEstimator used = estimator();
  Frames frames(10);
  const auto [message, taken, finished] = failure_of(used, [&](VideoFrame& frame) {
    if (frames.read() == 6) throw Error(ErrorCode::format, "frame 7 is damaged");
    return frames(frame);
  });
  EXPECT_EQ(message, "frame 7 is damaged");
  EXPECT_EQ(taken, 5);
  EXPECT_TRUE(finished);
}

TEST_P(PipelineOn, AnErrorOfTheEstimatorComesBehindTheResultsBefore) {
  FlowEstimator used = estimator();
  Frames frames(10);
  const auto [message, taken, finished] = failure_of(used, [&](VideoFrame& frame) {
    const bool more = frames(frame);
    if (frames.read() == 4) frame.frame = FrameBuffer({8, 8}, PixelFormat::gray_u8);
    return more;
  });
  EXPECT_NE(message.find("8x8"), std::string::npos) << message;
  EXPECT_EQ(taken, 2);
  EXPECT_TRUE(finished);
}

TEST_P(PipelineOn, AnErrorOfTheSinkEndsTheRun) {
  FlowEstimator used = estimator();
  Frames frames(1000);
  int taken = 0;
  bool finished = false;
  const std::string message = message_of([&] {
    Pipeline(used).run(
        std::ref(frames),
        [&](const VideoFrame&, FlowField&) {
          if (++taken == 3) throw Error(ErrorCode::file, "the disk is full");
        },
        [&] { finished = true; });
  });
  EXPECT_EQ(message, "the disk is full");
  EXPECT_EQ(taken, 3);
  EXPECT_LT(frames.read(), 20);
  EXPECT_FALSE(finished);
}

TEST_P(PipelineOn, AnErrorOfFinishIsThrown) {
  FlowEstimator used = estimator();
  Frames frames(3);
  EXPECT_EQ(message_of([&] {
              Pipeline(used).run(
                  std::ref(frames), [](const VideoFrame&, FlowField&) {},
                  [] { throw Error(ErrorCode::file, "cannot close"); });
            }),
            "cannot close");
}

TEST_P(PipelineOn, TheFirstErrorWins) {
  FlowEstimator used = estimator();
  Frames frames(10);
  std::promise<void> thrown;
  EXPECT_EQ(message_of([&] {
              Pipeline(used).run(
                  [&](VideoFrame& frame) -> bool {
                    if (frames.read() < 4) return frames(frame);
                    thrown.set_value();
                    throw Error(ErrorCode::format, "first");
                  },
                  [&, waits = true](const VideoFrame&, FlowField&) mutable {
                    if (std::exchange(waits, false)) thrown.get_future().wait();
                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                    throw Error(ErrorCode::file, "second");
                  });
            }),
            "first");
}

TEST_P(PipelineOn, IsStoppedAndRunsAgain) {
  FlowEstimator used = estimator();
  Frames frames(1000);
  std::stop_source stop;
  Pipeline pipeline(used, {.stop = stop.get_token()});
  int taken = 0;
  bool finished = false;
  const PipelineReport report = pipeline.run(
      std::ref(frames),
      [&](const VideoFrame&, FlowField&) {
        if (++taken == 5) stop.request_stop();
      },
      [&] { finished = true; });
  EXPECT_TRUE(report.stopped);
  EXPECT_TRUE(finished);
  EXPECT_EQ(report.results, taken);
  EXPECT_GE(taken, 5);
  EXPECT_LT(taken, 12);
  EXPECT_LT(frames.read(), 30);
  Frames others(4);
  EXPECT_EQ(Pipeline(used).run(std::ref(others), [](const VideoFrame&, FlowField&) {}).results, 3);
}

TEST_P(PipelineOn, IsStoppedBeforeItBegins) {
  FlowEstimator used = estimator();
  Frames frames(10);
  std::stop_source stop;
  stop.request_stop();
  const PipelineReport report =
      Pipeline(used, {.stop = stop.get_token()}).run(std::ref(frames), [](const VideoFrame&, FlowField&) {});
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.results, 0);
}

TEST_P(PipelineOn, FinishesBeforeASourceThatWaits) {
  FlowEstimator used = estimator();
  Frames frames(10);
  std::stop_source stop;
  std::promise<void> finished;
  const PipelineReport report = Pipeline(used, {.stop = stop.get_token()})
                                    .run(
                                        [&](VideoFrame& frame) {
                                          if (frames.read() < 5) return frames(frame);
                                          stop.request_stop();
                                          finished.get_future().wait();  // as a camera that gives nothing
                                          return false;
                                        },
                                        [](const VideoFrame&, FlowField&) {}, [&] { finished.set_value(); });
  EXPECT_TRUE(report.stopped);
}

TEST_P(PipelineOn, RunsOnSeveralThreadsAtOnce) {
  std::vector<std::future<std::vector<float>>> runs;
  for (int i = 0; i < 4; ++i)
    runs.push_back(std::async(std::launch::async, [&] {
      FlowEstimator used = estimator();
      Frames frames(15);
      std::vector<float> found;
      Pipeline(used).run(std::ref(frames),
                         [&](const VideoFrame&, FlowField& flow) { found.push_back(probe(flow)); });
      return found;
    }));
  const std::vector<float> first = runs[0].get();
  EXPECT_EQ(first.size(), 14u);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(runs[std::size_t(i)].get(), first);
}

TEST(Pipeline, RefusesWhatItCannotUse) {
  FlowEstimator used(LucasKanade{}, size, {.device = Device::cpu(1)});
  EXPECT_EQ(message_of([&] { Pipeline<Flow>(used, {.depth = 0}); }),
            "depth cannot be 0; it is a number of frames from 1 to 1000");
}

std::string case_name(const testing::TestParamInfo<PipelineOn::ParamType>& info) {
  return std::string(std::get<0>(info.param)) + (std::get<1>(info.param) ? "_pipelined" : "");
}
INSTANTIATE_TEST_SUITE_P(Devices, PipelineOn, testing::Combine(every_device(), testing::Bool()), case_name);

}  // namespace
}  // namespace parafield
