// SPDX-License-Identifier: MIT
#include "detect.hpp"

#include "commands.hpp"

namespace parafield::command {
namespace {

void check_words(const DetectOptions& options) {
  if (options.frames.size() > 1)
    check_labels(options, options.frames.size() - 1);  // a single file may be a stream of frames
  if (!options.is_series()) return;
  if (options.repeats > 0) throw UsageError("--repeat needs two frames; of a series each is timed");
  if (options.energy != "none") throw UsageError("--energy needs two frames, not a series");
}

/// Pushes the frames one by one and times each. Masks and overlays are written into the folders.
Times detect_series(const DetectOptions& options, const DetectionMethod& method, const Device& device,
                    Findings& findings, const Path& output_folder, const Path& overlay_folder) {
  const auto file = [](const Path& folder, const std::string& pattern, int i) {
    return pattern.empty() ? Path() : folder / numbered(pattern, i).filename();
  };
  InputFrames source(options.frames, options.reading, 2, options.quiet);
  if (source.count() < 2)
    throw UsageError(fmt::format("FRAMES: give two frames or more, not {}", source.count()));
  findings.size = source.size();
  findings.range = source.range();
  MotionDetector detector(method, source.size(), {.device = device});
  Timer timer(device, detector.stream());
  const FrameBuffer first = source.next()->frame.to(memory_of(device));  // push reads it asynchronously
  detector.push(first);
  const int expected = int(options.frames.size()) - 1;
  ProgressLine line(!options.quiet);  // updated only between frames, so that it disturbs no timed call
  line.begin("detecting");
  std::vector<double> milliseconds;
  int masks = 0;
  while (const std::optional<InputFrame> frame = source.next()) {
    WhileWriting::check();
    const FrameBuffer resident = frame->frame.to(memory_of(device));
    timer.start();
    const MotionMask* const mask = detector.push(resident);
    milliseconds.push_back(timer.stop());
    findings.add(options, std::size_t(masks), mask->to(Memory::host()), frame->frame,
                 file(output_folder, options.output, masks + 1),
                 file(overlay_folder, options.overlay, masks + 1));
    ++masks;
    if (masks <= expected)
      line.update(double(masks) / expected);
    else
      line.count(masks, "masks");
  }
  check_labels(options, std::size_t(masks));
  findings.frames = masks + 1;
  return times_of(std::move(milliseconds));
}

/// Calls write(to) for the folder of a pattern, as write_series does, or with an empty path if the pattern is
/// empty.
void write_into(const std::string& pattern, const std::function<void(const Path& to)>& write) {
  if (pattern.empty())
    write({});
  else
    write_series(folder_of(pattern), write);
}

void run(const DetectOptions& options) {
  if (options.is_video()) return detect_video(options);
  const DetectionMethod method = options.method.method();
  options.device.check();
  const EnergyReport energy = options.energies(method);
  check_words(options);
  std::vector<Path> inputs = options.inputs();
  inputs.emplace_back(options.mask);
  check_outputs({options.boxes_file()}, inputs);
  if (options.boxes == "-" && options.json)
    throw UsageError("--boxes - and --json exclude each other: both write to standard output");
  const std::vector<Output> outputs = {{"-o", options.output, {".png", ".pgm"}},
                                       {"--overlay", options.overlay, picture_extensions}};
  if (options.is_series())
    check_series(outputs, std::max<std::size_t>(options.frames.size(), 2) - 1, inputs);
  else
    check_outputs(outputs, inputs);
  const DeviceStart starting(options.device, options.repeats == 0 && !options.is_series());
  const Device device = options.device.device();
  const DeviceInfo info = describe_device(device);

  Findings findings(options);
  Estimate<Detection> estimated;
  if (options.is_series()) {
    write_into(options.output, [&](const Path& to_output) {
      write_into(options.overlay, [&](const Path& to_overlay) {
        estimated.times = detect_series(options, method, device, findings, to_output, to_overlay);
      });
    });
  } else {
    const std::vector<FrameBuffer> pair =
        read_frames(options.frames, options.reading, 2, options.quiet, "detect").frames;
    findings.size = pair[0].size();
    findings.range = pair[0].range();
    estimated = estimate<Detection>(method, device, pair, {.energies = energy}, options);
    findings.add(options, 0, estimated.result, pair[1], options.output, options.overlay);
  }

  if (findings.boxes) findings.boxes->finish();

  Report report = options.begin("detect", method, findings.size, estimated.blocks);
  add_times(report, name_of(method), info, findings.size, estimated.times);
  report.json["frames"] = findings.frames;
  add_range(report, findings.range);
  findings.add_to(report, options, estimated.energies);
  if (options.boxes != "-") options.print(report);
}

}  // namespace

void add_detect(App& program) {
  auto [command, options] =
      add_command<DetectOptions>(program, "detect", "Detect motion in frames of a still camera", run);
  command.add_option("FRAMES FILE", options.frames,
                     fmt::format("frames in time order, two or more: {}. Or one video: a video file, a "
                                 "folder, a pattern (frame%04d.png), a camera (/dev/video0)",
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
  const Option labels = command.add_option("--gt FILE", options.labels);
  labels.help(
      "true labels to compare with, a file for each mask. They are as in CDnet: 0 and 50 are static, 255 is "
      "moving, 85 and 170 do not count. Each frame after the first has one; their counts are added");
  command.add_option("--mask FILE", options.mask)
      .needs(labels)
      .help("with --gt: a picture that is 0 where pixels do not count");
  options.reading.add_to(command);
  options.reading.use = RangeUse::detection;
  options.add_to(command);
  command.examples({"detect a.png b.png -o mask.png --overlay seen.png",
                    "detect frame*.png -o mask%04d.png --json",
                    "detect clip.mp4 --background --overlay seen.mp4 --min-area 60"});
}

}  // namespace parafield::command
