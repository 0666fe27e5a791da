// SPDX-License-Identifier: MIT
#include "detect.hpp"
#include "series.hpp"
#include "video/jobs.hpp"

namespace parafield::command {
namespace {

bool is_background(const ChangeEnergy&) { return false; }
bool is_background(const BackgroundEnergy&) { return true; }

bool compares_colors(const ChangeEnergy& energy) { return energy.rgb; }
bool compares_colors(const BackgroundEnergy&) { return false; }

bool is_film(const std::string& name) { return has_one_of(name, video_extensions); }

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
  /// Returns the number of pictures that were dropped to finish early.
  std::int64_t finish(bool early) {
    if (writer_ && early) return writer_->finish_early();
    if (writer_) writer_->finish();
    return 0;
  }

 private:
  const std::string output_;
  std::optional<VideoWriter> writer_;
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
  const std::vector<Path> inputs = options.inputs();
  std::vector<Output> files = {options.boxes_file()};
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

/// Detects motion in a video, or in a list of pictures.
class DetectJob : public StreamJob {
 public:
  DetectJob(const DetectOptions& options, const DetectionMethod& method, const Device& device)
      : StreamJob(options.frames[0], "mask"),
        source(options.frames, options.reading, options.frames.size() > 1 ? 2 : 0, options.quiet,
               {.gray = reads_gray(options, method), .threads = options.device.threads}),
        findings(options),
        options_(options),
        detector_(method, source.size(), with_device(options.task, device)) {
    expected = std::max<std::int64_t>(source.info().frames - 1, 0);
  }

  /// On an error, outputs written before it are finished.
  void run(const std::stop_token& stop) override {
    const double rate = source.info().rate;
    const Size size = source.size();
    const Writing writing(*this);
    PictureSink masks(options_.output, size, rate, options_.device.threads);
    PictureSink overlays(options_.overlay, {(options_.beside ? 2 : 1) * size.width, size.height}, rate,
                         options_.device.threads);
    FrameBuffer picture(size, PixelFormat::gray_u8);
    const auto write = [&](const VideoFrame& frame, MotionMask& mask) {
      const std::vector<Box>& boxes =
          findings.take(options_, std::size_t(frame.index) - 1, mask, frame.index, frame.time);
      if (masks) {
        paint_mask(mask, picture);
        masks.write(picture, frame);
      }
      if (overlays) overlays.write(overlay_of(options_, frame.frame, mask, boxes), frame);
      last = frame.index;
      ++written;
    };
    std::int64_t lost = 0;
    const auto finish = [&] {
      if (written > 0) {
        const bool early = stop.stop_requested();
        lost = std::max(masks.finish(early), overlays.finish(early));
        if (findings.boxes) findings.boxes->finish();
      }
      whole = true;
    };
    InputFrame next;
    const auto read = [&](VideoFrame& frame) {
      std::swap<VideoFrame>(next, frame);  // its memory is reused
      const bool is_there = source.next(next);
      std::swap<VideoFrame>(next, frame);
      return is_there;
    };
    try {
      report = Pipeline<Detection>(detector_, {.stop = stop}).run(read, write, finish);
      report.results -= lost;
    } catch (const Error& error) {
      if (written > 0 && !whole && findings.boxes) findings.boxes->finish();  // another output failed
      fail_after(error, written, noun);
    }
  }

  InputFrames source;
  Findings findings;
  std::int64_t last = 0;  ///< index of the last frame with a mask

 private:
  static bool reads_gray(const DetectOptions& options, const DetectionMethod& method) {
    return options.frames.size() == 1 && has_own_luma(options.frames[0]) && options.overlay.empty() &&
           !std::visit([](const auto& one) { return compares_colors(one.energy); }, method);
  }
  static DetectionOptions with_device(DetectionOptions task, const Device& device) {
    task.device = device;
    task.pipelined = true;
    return task;
  }

  const DetectOptions& options_;
  MotionDetector detector_;
};

}  // namespace

bool has_background(const DetectionMethod& method) {
  return std::visit([](const auto& one) { return is_background(one.energy); }, method);
}

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
  DetectJob job(options, method, device);
  const WhileWriting whole;
  if (const std::exception_ptr error = run_jobs({&job}, 1, options.quiet)[0]) std::rethrow_exception(error);
  const PipelineReport& done = job.report;
  if (say_interrupted(done.results, job.noun, options.quiet))
    return;  // the destructor of `whole` ends the program
  if (done.results == 0)
    throw UsageError(fmt::format("FRAMES: give two frames or more, not {}", job.source.count()));
  check_labels(options, std::size_t(job.last));

  Report report = options.begin("detect", method, job.source.size(), {});
  report.json.update(device_json(describe_device(device)));
  const double frames = double(done.frames);
  report.json["width"] = job.source.size().width;
  report.json["height"] = job.source.size().height;
  report.json["repeats"] = done.results;
  report.json["seconds"] = done.seconds;
  report.json["frames"] = done.frames;
  const std::string stages = add_stages(report.json, done, done.sink, "milliseconds");
  add_range(report, job.source.range());
  add_notes(report, job.source.notes());
  report.text += fmt::format("{}: {} masks in {:.2f} s, {:.1f} frames a second; {}", name_of(method),
                             done.results, done.seconds, frames / done.seconds, stages);
  job.findings.add_to(report, options, {});
  options.print(report, options.prints_results());
}

}  // namespace parafield::command
