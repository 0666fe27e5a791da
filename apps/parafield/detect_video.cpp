// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <atomic>
#include <thread>

#include "detect.hpp"
#include "parafield/pipeline.hpp"

namespace parafield::command {
namespace {

bool compares_colors(const ChangeEnergy& energy) { return energy.rgb; }
bool compares_colors(const BackgroundEnergy&) { return false; }

bool is_film(const std::string& name) { return has_one_of(name, video_extensions); }

/// Reads the frames of a video, or of a list of pictures.
class DetectSource {
 public:
  explicit DetectSource(const DetectOptions& options) : range_(options.reading.given()) {
    if (options.frames.size() > 1) {
      pictures_.emplace(options.frames, options.reading, 2, options.quiet);
      info_.size = pictures_->size();
      info_.rate = 25;
      info_.frames = std::int64_t(options.frames.size());
      return;
    }
    const std::string& input = options.frames[0];
    // A video stores luma separately, so gray is exact. Pictures would be rounded when converted to gray.
    const bool pictures = has_number(input) || std::filesystem::is_directory(input);
    const bool colors =
        !options.overlay.empty() ||
        std::visit([](const auto& one) { return compares_colors(one.energy); }, options.method.method());
    video_.emplace(input,
                   VideoReaderOptions{.gray = !pictures && !colors, .threads = options.device.threads});
    info_ = video_->info();
  }

  const VideoInfo& info() const { return info_; }
  bool next(VideoFrame& frame) {
    if (video_) {
      if (!video_->next(frame)) return false;
      if (range_) frame.frame.set_range(*range_);
    } else {
      std::optional<FrameBuffer> one = pictures_->next();
      if (!one) return false;
      frame = {std::move(*one), count_, double(count_) / info_.rate};
    }
    if (count_++ == 0) {
      const ValueRange own = frame.frame.range();
      first_ = own == ValueRange{} ? usual_range(frame.frame.format()) : own;
    }
    return true;
  }
  ValueRange range() const { return first_; }  ///< range of the first frame
  std::int64_t count() const { return count_; }

 private:
  const std::optional<ValueRange> range_;
  std::optional<VideoReader> video_;
  std::optional<FrameSource> pictures_;
  VideoInfo info_;
  ValueRange first_;
  std::int64_t count_ = 0;
};

/// Output of -o or --overlay: a video, or pictures numbered like their frames.
class PictureSink {
 public:
  PictureSink(const std::string& output, Size size, double rate, int threads) : output_(output) {
    if (!output.empty() && !has_number(output))
      writer_.emplace(output, size, VideoWriterOptions{.rate = rate > 0 ? rate : 25, .threads = threads});
  }
  explicit operator bool() const { return !output_.empty(); }
  void write(const FrameBuffer& picture, const VideoFrame& frame) {
    if (writer_)
      writer_->write(picture, frame.time);
    else
      write_frame(numbered(output_, int(frame.index)), picture);
  }
  void finish() {
    if (writer_) writer_->finish();
  }

 private:
  const std::string output_;
  std::optional<VideoWriter> writer_;
};

/// Shows the progress of a run, and ends the run early on Ctrl-C.
class DetectWatch {
 public:
  DetectWatch(const DetectOptions& options, std::int64_t expected)
      : wanted_(!options.quiet), expected_(expected), line_(wanted_) {
    line_.begin("detecting");
    thread_ = std::jthread([this](const std::stop_token& ended) { watch(ended); });
  }
  ~DetectWatch() {
    thread_.request_stop();
    thread_.join();
    line_.end();
  }

  std::stop_token stop() const { return stop_.get_token(); }
  std::atomic<std::int64_t> masks = 0;
  std::atomic<bool> whole = false;  ///< all files are complete

 private:
  void watch(const std::stop_token& ended) {
    using Clock = std::chrono::steady_clock;
    Clock::time_point busy = Clock::now();
    while (!ended.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      show();
      if (!WhileWriting::interrupted() || !whole) busy = Clock::now();
      if (!WhileWriting::interrupted()) continue;
      stop_.request_stop();
      // The source may wait for a camera or a pipe forever.
      if (Clock::now() - busy > std::chrono::seconds(1)) WhileWriting::end_now();
    }
  }
  void show() {
    if (!wanted_ || line_.elapsed() < next_) return;
    const bool terminal = isatty(STDERR_FILENO);
    next_ = line_.elapsed() + (terminal ? 0.2 : 10);
    const double rate = double(masks) / line_.elapsed();
    std::string text = fmt::format("{} masks, {:.1f} a second", masks.load(), rate);
    if (expected_ > masks && rate > 0)
      text =
          fmt::format("{} of {}, {} left", text, expected_, duration_text(double(expected_ - masks) / rate));
    if (terminal)
      line_.say(text);
    else if (line_.elapsed() > 5)
      std::fputs(fmt::format("parafield: {}\n", text).c_str(), stderr);
  }

  const bool wanted_;
  const std::int64_t expected_;
  std::stop_source stop_;
  ProgressLine line_;
  double next_ = 0.5;
  std::jthread thread_;
};

/// Throws UsageError, and Error(file) if an output cannot be written or would replace an input.
void check_video_words(const DetectOptions& options) {
  if (options.repeats > 0) throw UsageError("--repeat needs two frames; a video is timed as a whole");
  if (options.energy != "none") throw UsageError("--energy needs two frames, not a video");
  if (options.frames.size() > 1) check_labels(options, options.frames.size() - 1);
  int printed = options.json;
  for (const std::string* name : {&options.output, &options.overlay, &options.boxes}) printed += *name == "-";
  if (printed > 1)
    throw UsageError("-o -, --overlay -, --boxes - and --json exclude each other: standard output is one");
  std::vector<Path> inputs(options.frames.begin(), options.frames.end());
  inputs.insert(inputs.end(), options.labels.begin(), options.labels.end());
  std::vector<Output> files = {{"--boxes", options.boxes == "-" ? "" : options.boxes, {}}};
  const auto add = [&](const char* option, const std::string& name,
                       const std::vector<std::string_view>& pictures) {
    if (name == "-") return;
    if (has_number(name))
      check_series({{option, name, pictures}}, 1, inputs);
    else
      files.push_back({option, name, video_extensions});
  };
  add("-o", options.output, {".png", ".pgm"});
  add("--overlay", options.overlay, picture_extensions);
  if (!options.output.empty() && options.output == options.overlay)
    throw UsageError(fmt::format("-o and --overlay name the same file {}", options.output));
  check_outputs(files, inputs);
}

/// Paints a mask: white where something moves.
void paint_mask(const MotionMask& mask, FrameBuffer& picture) {
  const View<const std::uint8_t> moving = mask.moving;
  for (int y = 0; y < moving.height; ++y) {
    auto* const row = static_cast<std::uint8_t*>(picture.row(y));
    for (int x = 0; x < moving.width; ++x) row[x] = moving(x, y) ? 255 : 0;
  }
}

/// Runs the pipeline. On an error, outputs written so far are finished.
PipelineReport run_detection(const DetectOptions& options, DetectSource& source, MotionDetector& detector,
                             Findings& findings) {
  const VideoInfo& info = source.info();
  const int threads = options.device.threads;
  DetectWatch watch(options, std::max<std::int64_t>(info.frames - 1, 0));
  PictureSink masks(options.output, info.size, info.rate, threads);
  PictureSink overlays(options.overlay, {(options.beside ? 2 : 1) * info.size.width, info.size.height},
                       info.rate, threads);
  FrameBuffer picture(info.size, PixelFormat::gray_u8);
  const auto write = [&](const VideoFrame& frame, MotionMask& mask) {
    const std::vector<Box>& boxes =
        findings.take(options, std::size_t(watch.masks), mask, frame.index, frame.time);
    if (masks) {
      paint_mask(mask, picture);
      masks.write(picture, frame);
    }
    if (overlays) overlays.write(overlay_of(options, frame.frame, mask, boxes), frame);
    ++watch.masks;
  };
  const auto finish = [&] {
    if (watch.masks > 0) {
      masks.finish();
      overlays.finish();
      if (findings.boxes) findings.boxes->finish();
    }
    watch.whole = true;
  };
  const auto read = [&](VideoFrame& frame) { return source.next(frame); };
  try {
    return Pipeline<Detection>(detector, {.stop = watch.stop()}).run(read, write, finish);
  } catch (const Error& error) {
    const std::int64_t count = watch.masks;
    if (count == 0) throw;
    if (!watch.whole) {  // an output failed: finish the others
      if (findings.boxes) findings.boxes->finish();
    }
    throw Error(error.code(),
                fmt::format("{}; the {} before it {} written", error.what(),
                            count == 1 ? "mask" : fmt::format("{} masks", count), count == 1 ? "is" : "are"));
  }
}

}  // namespace

bool DetectOptions::is_video() const {
  if (output == "-" || overlay == "-" || is_film(output) || is_film(overlay)) return true;
  if (frames.size() != 1) return false;
  const std::string& input = frames[0];
  if (is_film(input))
    return !has_extension(input, ".y4m");  // read as a stream of frames, as in other commands
  std::error_code none;
  return std::filesystem::is_directory(input, none) ||
         (has_number(input) && !std::filesystem::exists(input, none)) || input.starts_with("/dev/") ||
         input.find("://") != std::string::npos;
}

void detect_video(const DetectOptions& options) {
  const DetectionMethod method = options.method.method();
  const Device device = options.device.device();
  check_video_words(options);
  const WhileWriting whole;
  DetectSource source(options);
  DetectionOptions how = options.task;
  how.device = device;
  MotionDetector detector(method, source.info().size, how);
  Findings findings(options);
  const PipelineReport done = run_detection(options, source, detector, findings);
  if (WhileWriting::interrupted()) {
    if (!options.quiet)
      std::fputs(fmt::format("parafield: interrupted; {} masks are written\n", done.results).c_str(), stderr);
    return;  // the destructor of `whole` ends the program
  }
  if (done.results == 0)
    throw UsageError(fmt::format("FRAMES: give two frames or more, not {}", source.count()));
  check_labels(options, std::size_t(done.results));

  Report report = options.begin("detect", method, source.info().size, {});
  report.json.update(device_json(describe_device(device)));
  const double frames = double(done.frames), moving = double(findings.moving) / double(findings.pixels);
  report.json["width"] = source.info().size.width;
  report.json["height"] = source.info().size.height;
  report.json["repeats"] = done.results;
  report.json["milliseconds"] = 1000 * done.compute / frames;
  report.json["decode_milliseconds"] = 1000 * done.source / frames;
  report.json["encode_milliseconds"] = 1000 * done.sink / frames;
  report.json["seconds"] = done.seconds;
  report.json["fps"] = frames / done.seconds;
  report.json["frames"] = done.frames;
  add_range(report, source.range());
  report.json["moving"] = moving;
  report.text += fmt::format(
      "{}: {} masks in {:.2f} s, {:.1f} frames a second; decode {:.2f}, compute {:.2f}, encode {:.2f} ms a "
      "frame\n{:.2f} % of the pixels are moving\n",
      name_of(method), done.results, done.seconds, frames / done.seconds, 1000 * done.source / frames,
      1000 * done.compute / frames, 1000 * done.sink / frames, 100 * moving);
  if (!options.labels.empty()) add_scores(report, findings.scores);
  std::vector<std::string> files;
  for (const std::string& name : {options.output, options.overlay, options.boxes})
    if (name != "-") files.push_back(name);
  add_files(report, files);
  const bool printed = options.output == "-" || options.overlay == "-" || options.boxes == "-";
  if (!printed)
    options.print(report);
  else if (!options.quiet)
    std::fputs(report.text.c_str(), stderr);
}

}  // namespace parafield::command
