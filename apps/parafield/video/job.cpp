// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>

#include "video/video.hpp"

namespace parafield::command {

bool compares_colors(const FlowMethod& method) {
  if (const auto* ridge = std::get_if<AdaptiveRidge>(&method))
    return ridge->frames == 2 && (ridge->matches != UseOfMatches::never || ridge->sharpen != Sharpen::none);
  return !std::holds_alternative<LucasKanade>(method) && !std::holds_alternative<GradientTensor>(method) &&
         !std::holds_alternative<RidgeRegression>(method);
}

VideoJob::VideoJob(const VideoCommandOptions& options, VideoTarget target, FlowMethod method, int threads,
                   int at_once)
    : options_(options),
      target_(std::move(target)),
      method_(method),
      window_(frames_of(method)),
      threads_(threads),
      at_once_(at_once) {}

namespace {

/// Adds its lifetime, in seconds, to `seconds`.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  const Clock::time_point begin_ = Clock::now();
};

/// Returns the number of frames of a video, 0 if unknown. Some files specify only their duration.
std::int64_t frames_in(const VideoInfo& info) {
  return info.frames > 0 ? info.frames : std::int64_t(std::lround(info.duration * info.rate));
}

}  // namespace

std::int64_t VideoJob::flows_of(const VideoInfo& info) const {
  std::int64_t frames = (frames_in(info) + options_.every - 1) / options_.every;
  if (options_.frames > 0 && (frames == 0 || frames > options_.frames)) frames = options_.frames;
  return std::max<std::int64_t>(frames - window_ + 1, 0);
}

/// Returns whether the output video already exists with a picture for each flow. If its number of frames is
/// unknown, an existing video counts as complete, because videos get their final name only when they are
/// finished.
bool VideoJob::output_is_whole(const VideoInfo& info) const {
  try {
    const VideoInfo there = VideoReader(target_.output, {.gray = true, .threads = 1}).info();
    const std::int64_t frames = frames_in(there), needed = flows_of(info);
    const bool counted = info.frames > 0 && there.frames > 0;
    return frames == 0 || frames >= needed - (counted ? 0 : 1 + needed / 100);
  } catch (const Error&) {
    return false;
  }
}

void VideoJob::run(const std::stop_token& stop) {
  FlowPainter painter(options_.view, options_.max_motion, options_.step);
  const bool draws = !target_.output.empty();
  // A video stores luma separately, so gray is exact. Pictures would be rounded when converted to gray.
  const bool pictures = has_number(target_.input) || std::filesystem::is_directory(target_.input);
  const bool gray = !pictures && !(draws && painter.shows_frame()) && !compares_colors(method_);
  VideoReader reader(target_.input, {.gray = gray, .threads = threads_});
  const VideoInfo& info = result_.info = reader.info();
  expected_ = flows_of(info);

  FlowFolder flows(target_.flow_folder, options_.flow_format, options_.bound);
  const bool keeps_flow = !target_.flow_folder.empty();
  if (keeps_flow) flows.make();
  if (target_.in_folder) make_folder(folder_of(target_.output));
  const bool drawn = !draws || (options_.resume && output_is_whole(info));
  if (options_.resume) {
    if (drawn && keeps_flow) written_ = skipped_ = result_.skipped = flows.complete();
    result_.whole = drawn && (!keeps_flow || (expected_ > 0 && result_.skipped >= expected_));
    if (result_.whole) return;
  }
  struct Ended {
    std::atomic<bool>& whole;
    ~Ended() { whole = true; }
  } const ended{whole_};
  whole_ = false;
  std::optional<VideoWriter> writer;  // destroyed before `ended`
  if (!drawn)
    writer.emplace(target_.output, painter.size(info.size),
                   VideoWriterOptions{.rate = options_.rate > 0 ? options_.rate
                                              : info.rate > 0   ? info.rate / options_.every
                                                                : 25,
                                      .codec = options_.codec,
                                      .quality = options_.quality,
                                      .threads = threads_});
  FlowOptions how = options_.task;
  how.device = options_.device.device();
  how.pipelined = true;
  how.throughput = at_once_ > 2;
  how.confidence = false;
  how.valid = (draws && options_.view == "arrows") || (keeps_flow && options_.flow_format == "kitti");
  FlowEstimator estimator(method_, info.size, how);

  std::int64_t seen = 0, taken = 0;
  const auto read = [&](VideoFrame& frame) {
    // Skips the frames between the selected ones, and the frames whose flow exists already.
    while (options_.frames == 0 || taken < options_.frames) {
      if (!reader.next(frame)) return false;
      if (seen++ % options_.every == 0 && taken++ >= result_.skipped) return true;
    }
    return false;
  };
  const bool timed = options_.rate == 0;
  // A picture is encoded while the next one is drawn and flow is written.
  std::future<void> encoding;
  std::int64_t encoded = 0;
  double waited = 0, worked = 0;
  const auto await = [&] {
    const Stopwatch watch(waited);
    if (encoding.valid()) encoding.get();
  };
  const auto encode = [&](const FrameBuffer& picture, double time) {
    const Stopwatch watch(worked);
    if (timed)
      writer->write(picture, time);
    else
      writer->write(picture);
    ++encoded;
  };
  const auto write = [&](const VideoFrame& frame, FlowField& flow) {
    if (writer) {
      const FrameBuffer& picture = painter.draw(frame.frame, flow);
      await();
      // Without a free thread, the picture is encoded when the next one waits for it.
      encoding = std::async(std::launch::async | std::launch::deferred,
                            [&encode, &picture, time = frame.time] { encode(picture, time); });
    }
    if (keeps_flow) flows.write(int(written_) + 1, flow);
    ++written_;
  };
  const auto end = [&] {
    await();
    if (writer && written_ > 0) writer->finish();
    whole_ = true;
  };
  try {
    result_.report = Pipeline<Flow>(estimator, {.stop = stop}).run(read, write, end);
    result_.encode = result_.report.sink - waited + worked;
    if (taken < window_ && !result_.report.stopped)
      throw Error(ErrorCode::format,
                  fmt::format("{}: has {} frame{}{}; {} takes {} or more", name(), seen, seen == 1 ? "" : "s",
                              options_.every > 1 ? ", too few for --every" : "", name_of(method_), window_));
  } catch (const Error& error) {
    if (encoding.valid()) encoding.wait();
    // With a video and flow files, count what is in both.
    std::int64_t count = writer ? encoded : written_.load();
    if (keeps_flow) count = std::min(count, written_.load());
    writer.reset();  // finishes the video
    if (count == 0) throw;
    throw Error(error.code(),
                fmt::format("{}; the {} before it {} written", error.what(),
                            count == 1 ? "flow" : fmt::format("{} flows", count), count == 1 ? "is" : "are"));
  }
}

}  // namespace parafield::command
