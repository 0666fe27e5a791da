// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>

#include "series.hpp"
#include "video/video.hpp"

namespace parafield::command {

bool compares_colors(const FlowMethod& method) {
  if (const auto* ridge = std::get_if<AdaptiveRidge>(&method))
    return ridge->frames == 2 && (ridge->matches != UseOfMatches::never || ridge->sharpen != Sharpen::none);
  return !std::holds_alternative<LucasKanade>(method) && !std::holds_alternative<GradientTensor>(method) &&
         !std::holds_alternative<RidgeRegression>(method);
}

VideoJob::VideoJob(const VideoCommandOptions& options, VideoTarget of, const FlowMethod& method, int threads,
                   int at_once)
    : StreamJob(of.input, "flow"),
      target(std::move(of)),
      options_(options),
      method_(method),
      window_(frames_of(method)),
      threads_(threads),
      at_once_(at_once) {}

namespace {

/// Maps values of -bound to bound to 0 to 255. Unknown flow is stored as zero motion.
void flow_to_bytes(View<const float> plane, float bound, FrameBuffer& bytes) {
  const float gain = 127.5f / bound;
  for (int y = 0; y < plane.height; ++y) {
    const float* const from = plane.row(y);
    auto* const to = static_cast<std::uint8_t*>(bytes.row(y));
    for (int x = 0; x < plane.width; ++x) {
      const float value = from[x] * gain + 127.5f;
      to[x] = !(std::abs(from[x]) <= 1e9f) ? 128
              : value < 0                  ? 0
              : value > 255                ? 255
                                           : std::uint8_t(value + 0.5f);
    }
  }
}

/// Makes a folder if it is missing. Throws Error(file) if files cannot be written there.
void make_folder(const Path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string problem = error ? error.message() : "";
  if (!error && !std::filesystem::is_directory(folder, error)) problem = "it is no folder";
  if (problem.empty() && access(folder.c_str(), W_OK) != 0) problem = std::strerror(errno);
  if (!problem.empty())
    throw Error(ErrorCode::file, fmt::format("{}: cannot be written into: {}", folder.string(), problem));
}

/// Writes the flows of a video into a folder, beginning with flow_00001.flo. In the formats jpg and png, each
/// flow is two gray pictures, flow_x_00001.jpg and flow_y_00001.jpg, whose values 0 to 255 stand for -bound
/// to bound.
class FlowFolder {
 public:
  FlowFolder(const Path& folder, const std::string& format, float bound);

  void make() const { make_folder(folder_); }
  /// Returns how many flows, counted from the first without a gap, have all their files.
  int complete() const;
  void write(int number, const FlowField& flow);

 private:
  std::vector<Path> files(int number) const;

  const Path folder_;
  const std::string extension_;
  const bool in_bytes_;
  const float bound_;
  FrameBuffer bytes_;
};

FlowFolder::FlowFolder(const Path& folder, const std::string& format, float bound)
    : folder_(folder),
      extension_(format == "kitti" ? "png" : format),
      in_bytes_(format == "jpg" || format == "png"),
      bound_(bound) {}

std::vector<Path> FlowFolder::files(int number) const {
  std::vector<Path> names;
  for (const char* name : in_bytes_ ? std::vector{"flow_x_", "flow_y_"} : std::vector{"flow_"})
    names.push_back(folder_ / fmt::format("{}{:05}.{}", name, number, extension_));
  return names;
}

int FlowFolder::complete() const {
  const auto is_there = [&](int number) {
    return std::ranges::all_of(files(number), [](const Path& file) {
      std::error_code none;
      return std::filesystem::is_regular_file(file, none);
    });
  };
  int number = 0;
  while (is_there(number + 1)) ++number;
  return number;
}

void FlowFolder::write(int number, const FlowField& flow) {
  const std::vector<Path> names = files(number);
  if (!in_bytes_) return write_flow(names[0], flow);
  if (bytes_.size() != flow.size()) bytes_ = FrameBuffer(flow.size(), PixelFormat::gray_u8);
  for (const std::size_t i : {0u, 1u}) {
    flow_to_bytes(i == 0 ? flow.u.view() : flow.v.view(), bound_, bytes_);
    write_frame(names[i], bytes_);
  }
}

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

std::int64_t VideoJob::expected_flows() const {
  std::int64_t frames = (frames_in(info) + options_.every - 1) / options_.every;
  if (options_.frames > 0 && (frames == 0 || frames > options_.frames)) frames = options_.frames;
  return std::max<std::int64_t>(frames - window_ + 1, 0);
}

/// Returns whether the output video already exists with a picture for each flow. If its number of frames is
/// unknown, an existing video counts as complete, because videos get their final name only when they are
/// finished.
bool VideoJob::output_is_whole() const {
  try {
    const VideoInfo there = FrameSource(target.output, {.gray = true, .threads = 1}).info();
    const std::int64_t frames = frames_in(there), needed = expected_flows();
    const bool counted = info.frames > 0 && there.frames > 0;
    return frames == 0 || frames >= needed - (counted ? 0 : 1 + needed / 100);
  } catch (const Error&) {
    return false;
  }
}

void VideoJob::run(const std::stop_token& stop) {
  FlowPainter painter(options_.view, options_.max_motion, options_.step);
  const bool draws = !target.output.empty();
  const bool gray =
      has_own_luma(target.input) && !(draws && painter.shows_frame()) && !compares_colors(method_);
  FrameSource source(target.input,
                     {.gray = gray, .threads = threads_, .skip_damaged = options_.skip_damaged});
  info = source.info();
  const auto say = [&](std::vector<std::string> texts) {
    for (std::string& text : texts) {
      if (!options_.quiet) note(text);
      notes.push_back(std::move(text));
    }
  };
  const auto take_notes = [&] { say(source.take_notes()); };
  take_notes();
  expected = expected_flows();

  FlowFolder flows(target.flow_folder, options_.flow_format, options_.bound);
  const bool keeps_flow = !target.flow_folder.empty();
  if (keeps_flow) flows.make();
  if (target.in_folder) make_folder(folder_of(target.output));
  const bool drawn = !draws || (options_.resume && output_is_whole());
  if (options_.resume) {
    if (drawn && keeps_flow) written = skipped = flows.complete();
    all_there = drawn && (!keeps_flow || (expected > 0 && skipped >= expected));
    if (all_there) return;
  }
  const Writing writing(*this);
  std::optional<VideoWriter> writer;
  if (!drawn)
    writer.emplace(target.output, painter.size(info.size),
                   VideoWriterOptions{.rate = options_.rate > 0 ? options_.rate
                                              : info.rate > 0   ? info.rate / options_.every
                                                                : 25,
                                      .codec = options_.codec,
                                      .quality = options_.quality,
                                      .threads = threads_});
  FlowOptions how = options_.task;
  how.device = options_.device.device();
  how.pipelined = true;
  how.examine_frames = true;
  how.throughput = at_once_ > 2;
  how.confidence = false;
  how.valid = (draws && options_.view == "arrows") || (keeps_flow && options_.flow_format == "kitti");
  FlowEstimator estimator(method_, info.size, how);

  const std::int64_t every = options_.every;
  std::int64_t seen = 0, taken = 0;
  SequenceRange sequence(options_.reading.given(), RangeUse::matching, false);
  const auto give_range = [&](FrameBuffer& buffer) {
    const std::string name = source.name();
    sequence.check_depth(buffer.format(), name);
    const Frame frame = buffer;
    if (!sequence.is_decided()) sequence.decide({&frame, 1});
    sequence.give_to(buffer, name);
    range = sequence.range();
    say(sequence.take_notes());
  };
  const auto read = [&](VideoFrame& frame) {
    // Passes over the frames between the selected ones, and the frames whose flow exists already.
    bool misses = false;  // a selected frame is damaged
    while (options_.frames == 0 || taken < options_.frames) {
      const bool is_there = source.next(frame);
      take_notes();
      if (!is_there) return false;
      const std::int64_t damaged = frame.index - frame.skipped;  // the first damaged one
      misses = misses || (damaged + every - 1) / every * every < frame.index;
      seen = frame.index + 1;
      const bool is_selected = frame.index % every == 0;
      if (is_selected) taken = frame.index / every + 1;
      const bool is_wanted = is_selected && taken > skipped;
      // The first frame decides the range, even if it is passed over.
      if (is_wanted || !sequence.is_decided()) give_range(frame.frame);
      if (!is_selected) continue;
      frame.skipped = misses;
      if (is_wanted) return true;
      misses = false;
    }
    return false;
  };
  const int middle = (window_ - 1) / 2;
  const bool timed = options_.rate == 0;
  // A picture is encoded while the next one is drawn and flow is written.
  std::future<void> encoding;
  std::int64_t encoded = 0;
  std::int64_t lost = 0;  // pictures that were not encoded when the program was interrupted
  double waited = 0, worked = 0;
  const auto await = [&] {
    const Stopwatch watch(waited);
    if (encoding.valid()) encoding.get();
  };
  const auto encode_one = [&](const FrameBuffer& picture, double time) {
    const Stopwatch watch(worked);
    if (timed)
      writer->write(picture, time);
    else
      writer->write(picture);
    ++encoded;
  };
  const auto write = [&](const VideoFrame& frame, FlowField& flow) {
    if (stop.stop_requested()) return;  // the program should end soon
    if (writer) {
      const FrameBuffer& picture = painter.draw(frame.frame, flow);
      await();
      // Without a free thread, the picture is encoded when the next one waits for it.
      encoding = std::async(std::launch::async | std::launch::deferred,
                            [&encode_one, &picture, time = frame.time] { encode_one(picture, time); });
    }
    if (keeps_flow) flows.write(int(frame.index / every) - middle + 1, flow);
    ++written;
  };
  const auto end = [&] {
    await();
    if (writer && written > 0 && stop.stop_requested())
      lost = writer->finish_early();
    else if (writer && written > 0)
      writer->finish();
    whole = true;
  };
  try {
    report = Pipeline<Flow>(estimator, {.stop = stop}).run(read, write, end);
    if (report.stopped) report.results = written - lost;
    encode = report.sink - waited + worked;
    if (taken < window_ && !report.stopped)
      throw Error(ErrorCode::format,
                  fmt::format("{}: has {} frame{}{}; {} takes {} or more", name, seen, seen == 1 ? "" : "s",
                              options_.every > 1 ? ", too few for --every" : "", name_of(method_), window_));
  } catch (const Error& error) {
    if (encoding.valid()) encoding.wait();
    // With a video and flow files, count what is in both.
    std::int64_t count = writer ? encoded : written.load();
    if (keeps_flow) count = std::min(count, written.load());
    writer.reset();  // finishes the video
    fail_after(error, count, noun);
  }
}

}  // namespace parafield::command
