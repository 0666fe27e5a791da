// SPDX-License-Identifier: MIT
#include "detect.hpp"

#include "commands.hpp"
#include "series.hpp"

namespace parafield::command {
namespace {

void check_words(const DetectOptions& options) {
  if (options.frames.size() > 1)
    check_labels(options, options.frames.size() - 1);  // a single file may be a stream of frames
  if (!options.is_series()) return;
  if (options.repeats > 0) throw UsageError("--repeat needs two frames; of a series each is timed");
  if (options.energy != "none") throw UsageError("--energy needs two frames, not a series");
}

/// Pushes the frames one by one, times each, and writes masks and overlays. After an error, earlier files
/// stay.
Times detect_series(const DetectOptions& options, const DetectionMethod& method, const Device& device,
                    Findings& findings) {
  InputFrames source(options.frames, options.reading, 2, options.quiet);
  source.need(2);
  if (source.count() < 2)
    throw UsageError(fmt::format("FRAMES: give two frames or more, not {}", source.count()));
  findings.size = source.size();
  findings.range = source.range();
  DetectionOptions task = options.options_for(source.size());
  task.device = device;
  task.examine_frames = true;
  findings.region = task.region;
  MotionDetector detector(method, source.size(), task);
  const EndOnInterrupt ending([&] { detector.cancel(); });
  Timer timer(Device::cpu());
  detector.push(source.next()->frame);
  const int expected = int(options.frames.size()) - 1;
  ProgressLine line(!options.quiet);  // updated only between frames, so that it disturbs no timed call
  line.begin("detecting");
  std::vector<double> milliseconds;
  int last = 0;  // number of the last mask, from 1
  try {
    while (const std::optional<InputFrame> frame = source.next()) {
      if (frame->skipped > 0 && !has_background(method)) detector.reset();
      timer.start();
      const MotionMask* const mask = detector.push(frame->frame);
      const double time = timer.stop();
      last = int(frame->index);
      if (!mask) continue;  // the frame comes after skipped ones
      findings.unusable.add(detector.frames_state(), last);
      if (last > expected) check_outputs(numbered(options.series(), last), options.inputs());
      findings.add(options, std::size_t(last - 1), *mask, frame->frame, named(options.output, last),
                   named(options.overlay, last));
      milliseconds.push_back(time);
      if (last <= expected)
        line.update(double(last) / expected);
      else
        line.count(last, "masks");
    }
  } catch (const Error& error) {
    WhileWriting::check();
    if (findings.boxes && !milliseconds.empty()) findings.boxes->finish();
    fail_after(error, std::int64_t(milliseconds.size()), "mask");
  }
  if (milliseconds.empty()) throw Error(ErrorCode::format, "no mask: no two frames are next to each other");
  check_labels(options, std::size_t(last));
  options.write_background(detector);
  findings.frames = source.count();
  findings.notes = source.notes();
  return times_of(std::move(milliseconds));
}

void run(const DetectOptions& given) {
  DetectOptions options = given;
  const DetectionMethod method = options.method.method();
  options.read_background(method);
  if (options.is_video()) return detect_video(options);
  options.device.check();
  const EnergyReport energy = options.energies(method);
  check_words(options);
  std::vector<Path> inputs = options.inputs();
  inputs.emplace_back(options.mask);
  check_outputs({options.boxes_file(), options.background_output()}, inputs);
  if (options.boxes == "-" && options.json)
    throw UsageError("--boxes - and --json exclude each other: both write to standard output");
  if (options.is_series())
    check_series(options.series(), std::max<std::size_t>(options.frames.size(), 2) - 1, inputs);
  else
    check_outputs(options.series(), inputs);
  const DeviceStart starting(options.device, options.repeats == 0 && !options.is_series());
  const Device device = options.device.device();
  const DeviceInfo info = describe_device(device);

  Findings findings(options);
  Estimate<Detection> estimated;
  FramesState state = FramesState::unknown;  // of a single pair
  if (options.is_series()) {
    estimated.times = detect_series(options, method, device, findings);
  } else {
    const auto [pair, known, notes] =
        read_frames(options.frames, options.reading, 2, options.quiet, "detect");
    findings.notes = notes;
    findings.size = pair[0].size();
    findings.range = pair[0].range();
    DetectionOptions task = options.options_for(findings.size);
    task.energies = energy;
    findings.region = task.region;
    estimated = estimate<Detection>(method, device, pair, task, options, {}, {},
                                    [&](MotionDetector& detector) { options.write_background(detector); });
    state = examine<Detection>(estimated.result, pair, task);
    findings.add(options, 0, estimated.result, pair[1], options.output, options.overlay);
  }

  if (findings.boxes) findings.boxes->finish();

  Report report = options.begin("detect", method, findings.size, estimated.blocks);
  add_times(report, name_of(method), info, findings.size, estimated.times);
  report.json["frames"] = findings.frames;
  add_range(report, findings.range);
  add_notes(report, findings.notes);
  if (options.is_series())
    add_frames(report.json, findings.unusable, "mask", options.quiet);
  else
    add_state(report, state, options.quiet);
  findings.add_to(report, options, estimated.energies);
  if (options.boxes != "-") options.print(report);
}

}  // namespace

void add_detect(App& program) {
  auto [command, options] =
      add_command<DetectOptions>(program, "detect", "Detect motion in frames of a still camera", run);
  command.add_option(
      "FRAMES FILE", options.frames,
      fmt::format("frames in time order, two or more: {}. Or one video: a video file, a "
                  "folder, a pattern (frame%04d.png), a name with wildcards in quotes, a camera "
                  "(/dev/video0)",
                  frame_formats));
  command.add_option(
      "-o,--output FILE", options.output,
      "write the mask of what moves: .png or .pgm. It is that of the newer frame, 255 where it moves, "
      "otherwise 0. For more than two frames it is a series, like mask%04d.png: mask0001.png belongs to the "
      "second frame, and each mask starts from the one before, as --temporal says. Or a video of them, white "
      "on black: .mp4, .mkv, .mov, .avi, .webm, .y4m, or - for Y4M on standard output");
  command.add_option("--overlay FILE", options.overlay,
                     fmt::format("write the frame, red where it moves: {}. It is the newer frame; for more "
                                 "than two frames it is a series, or a video",
                                 picture_formats));
  command.add_flag("--beside", options.beside, "put the frame and the overlay side by side")
      .needs(command.get_option("--overlay"));
  command.add_option("--min-area PX", options.min_area)
      .range(1, 1e9)
      .help("draw boxes around regions of so many pixels into --overlay, and list only these with --boxes");
  command.add_option("--boxes FILE", options.boxes)
      .help(
          "write a line of JSON for each mask: frame, time, share that moves, boxes. - is standard output. A "
          "box surrounds pixels that are joined, also at corners");
  command.add_flag("--background", options.method.background,
                   "compare with a background that is learned, not with the last frame: what stops stays in "
                   "the mask, and leaves that sway do not. It is -m METHOD-background");
  command.add_option("--background-file FILE", options.background_file)
      .help(
          "with --background: start from the background in the file, if it exists, and write what has been "
          "learned to it at the end. Method, size and range of the frames must be the same. With --freeze "
          "the "
          "file is only read");
  command.add_option("--region FILE", options.region)
      .help("detect only where this picture is not 0. The share that moves is that of these pixels");
  const Option labels = command.add_option("--gt FILE", options.labels);
  labels.help(
      "true labels to compare with, a file for each mask. They are as in CDnet: 0 and 50 are static, 255 is "
      "moving, 85 and 170 do not count. Each frame after the first has one; their counts are added");
  command.add_option("--mask FILE", options.mask)
      .needs(labels)
      .help("with --gt: a picture that is 0 where pixels do not count");
  options.reading.add_to(command);
  options.reading.use = RangeUse::detection;
  FrameOptions::add_skip_to(command, options.reading.skip_damaged, "mask");
  options.add_to(command);
  command.examples({"detect a.png b.png -o mask.png --overlay seen.png",
                    "detect frame*.png -o mask%04d.png --json",
                    "detect clip.mp4 --background --overlay seen.mp4 --min-area 60"});
}

}  // namespace parafield::command
