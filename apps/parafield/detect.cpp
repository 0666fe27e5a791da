#include "commands.hpp"
#include "estimation.hpp"
#include "interrupt.hpp"

namespace parafield::command {
namespace {

struct Command {
  std::vector<std::string> frames, labels;
  std::string output, overlay, mask;
  MethodOptions<DetectionMethod> method;
  DeviceOptions device;
  RunOptions run;

  /// Whether several masks are estimated, or the names of outputs are patterns.
  bool is_series() const { return frames.size() > 2 || has_number(output) || has_number(overlay); }
};

void check_words(const Command& options) {
  if (options.frames.size() < 2) throw UsageError("FRAMES: give two frames or more");
  const std::size_t masks = options.frames.size() - 1;
  if (!options.labels.empty() && options.labels.size() != masks)
    throw UsageError(fmt::format("--gt: {} files for {} masks; give one for each frame after the first",
                                 options.labels.size(), masks));
  if (!options.is_series()) return;
  for (const auto& [option, name] : {std::pair{"-o", options.output}, {"--overlay", options.overlay}})
    if (!name.empty() && !has_number(name))
      throw UsageError(fmt::format(
          "{} {}: the name of a series needs the place of a number, like mask%04d.png", option, name));
  if (masks > 1 && options.run.repeats > 1)
    throw UsageError("--repeat needs two frames; with more, each frame is timed once");
  if (masks > 1 && options.run.energy != "none") throw UsageError("--energy needs two frames");
}

/// Counts and scores over all masks.
class Findings {
 public:
  explicit Findings(const Command& options) : options_(options) {}

  /// Adds mask number i, which belongs to `frame`, and writes it to the files that are named.
  void add(std::size_t i, const MotionMask& found, const FrameBuffer& frame, const Path& to_output,
           const Path& to_overlay) {
    for (int y = 0; y < found.size().height; ++y)
      for (int x = 0; x < found.size().width; ++x) moving_ += found.moving(x, y) != 0;
    pixels_ += std::int64_t(found.size().width) * found.size().height;
    if (!options_.labels.empty()) score(options_.labels[i], found, frame.size());
    const WhileWriting whole;
    if (!to_output.empty()) write_mask(to_output, found.moving);
    if (!to_overlay.empty()) write_frame(to_overlay, overlay_mask(frame, found));
  }

  double moving() const { return double(moving_) / double(pixels_); }
  const MaskScores& scores() const { return scores_; }

 private:
  void score(const std::string& file, const MotionMask& found, Size size) {
    const FrameBuffer labels = read_frame(file);
    check_same_size(options_.frames[0], size, file, labels.size());
    if (options_.mask.size() && !mask_) mask_ = read_mask_like(options_.mask, options_.frames[0], size);
    scores_ += naming(file, [&] { return evaluate(found, labels, {.mask = mask_}); });
  }

  const Command& options_;
  Image<std::uint8_t> mask_;
  MaskScores scores_;
  std::int64_t moving_ = 0, pixels_ = 0;
};

/// Pushes the frames one after the other; each is timed.
Times detect_series(const Command& options, const DetectionMethod& method, const Device& device,
                    Findings& findings, const Path& output_folder, const Path& overlay_folder) {
  const auto file = [](const Path& folder, const std::string& pattern, std::size_t i) {
    return pattern.empty() ? Path() : folder / numbered(pattern, int(i)).filename();
  };
  const FrameBuffer first = read_frame(options.frames[0]);
  MotionDetector detector(method, first.size(), {.device = device});
  Timer timer(device, detector.stream());
  const FrameBuffer resident_first = first.to(memory_of(device));  // is read after push has returned
  detector.push(resident_first);
  const int masks = int(options.frames.size()) - 1;
  ProgressLine line(
      !options.run.quiet);  // changes between the frames only, so that no timed call is disturbed
  line.begin("detecting");
  return measure({.fixed = masks}, [&](int i) {
    if (WhileWriting::interrupted()) throw Interrupted{};
    const std::string& name = options.frames[std::size_t(i) + 1];
    const FrameBuffer frame = read_frame(name);
    check_same_size(options.frames[0], first.size(), name, frame.size());
    const FrameBuffer resident = frame.to(memory_of(device));
    timer.start();
    const MotionMask* const mask = detector.push(resident);
    const double milliseconds = timer.stop();
    findings.add(std::size_t(i), mask->to(Memory::host()), frame,
                 file(output_folder, options.output, std::size_t(i) + 1),
                 file(overlay_folder, options.overlay, std::size_t(i) + 1));
    line.update(double(i + 1) / masks);
    return milliseconds;
  });
}

/// The same, with files that all get their names at the end.
Times detect_files(const Command& options, const DetectionMethod& method, const Device& device,
                   Findings& findings) {
  Times times;
  const auto detect = [&](const Path& to_output, const Path& to_overlay) {
    times = detect_series(options, method, device, findings, to_output, to_overlay);
  };
  const Path output = folder_of(options.output), overlay = folder_of(options.overlay);
  if (options.output.empty() && options.overlay.empty())
    detect({}, {});
  else if (options.overlay.empty())
    write_series(output, [&](const Path& to) { detect(to, {}); });
  else if (options.output.empty())
    write_series(overlay, [&](const Path& to) { detect({}, to); });
  else if (same_file(output, overlay))
    write_series(output, [&](const Path& to) { detect(to, to); });
  else
    write_series(output, [&](const Path& to_output) {
      write_series(overlay, [&](const Path& to_overlay) { detect(to_output, to_overlay); });
    });
  return times;
}

void run(const Command& options) {
  const DetectionMethod method = options.method.method();
  const Device device = options.device.device();
  const EnergyReport energy = options.run.energies(method);
  check_words(options);
  std::vector<Path> inputs(options.frames.begin(), options.frames.end());
  inputs.insert(inputs.end(), options.labels.begin(), options.labels.end());
  inputs.emplace_back(options.mask);
  const Output output{"-o", options.output, {".png", ".pgm"}},
      overlay{"--overlay", options.overlay, {".png", ".ppm"}};
  if (options.is_series())
    check_series({output, overlay}, options.frames.size() - 1, inputs);
  else
    check_outputs({output, overlay}, inputs);
  const DeviceInfo info = describe_device(device);

  const Size size = read_frame(options.frames[0]).size();
  Findings findings(options);
  Times times;
  std::vector<double> energies;
  if (options.is_series()) {
    times = detect_files(options, method, device, findings);
  } else {
    const std::vector<FrameBuffer> pair = read_frames(options.frames);
    const auto [mask, taken, found] =
        estimate<Detection>(method, device, pair, {.energies = energy}, options.run);
    findings.add(0, mask, pair[1], options.output, options.overlay);
    times = taken;
    energies = found;
  }

  Json report;
  add_method(report, method, options.method.preset);
  add_device(report, info);
  add_times(report, size, times);
  report["frames"] = options.frames.size();
  report["moving"] = findings.moving();
  add_energies(report, energy, energies);
  std::string text = times_text(name_of(method), info, size, times) +
                     fmt::format("{:.2f} % of the pixels are moving\n", 100 * findings.moving()) +
                     energies_text(energy, energies);
  if (!options.labels.empty()) {
    add_scores(report, findings.scores());
    text += scores_text(findings.scores());
  }
  options.run.print(report, text);
}

}  // namespace

void add_detect(App& program) {
  const auto options = std::make_shared<Command>();
  App command = program.add_subcommand("detect", "Detect motion in frames of a still camera");
  command
      .add_option("FRAMES", options->frames, "two frames or more, in time order: PNG, JPEG, PGM, PPM or PFM")
      .required()
      .type_name("FILE");
  command
      .add_option("-o,--output", options->output,
                  "write the mask of the newer frame, 255 where it moves, otherwise 0: .png or .pgm. For "
                  "more than two frames it is a series, like mask%04d.png: mask0001.png belongs to the "
                  "second frame, and each mask starts from the one before (see --temporal)")
      .type_name("FILE");
  command
      .add_option("--overlay", options->overlay,
                  "write the newer frame, red where it moves: .png or .ppm, or a series")
      .type_name("FILE");
  Option const labels =
      command
          .add_option("--gt", options->labels,
                      "true labels as in CDnet, to compare with: 0 and 50 are static, 255 is moving, 85 and "
                      "170 do not count; one file for each frame after the first. Their counts are added")
          .type_name("FILE");
  command.add_option("--mask", options->mask, "with --gt: a picture; pixels that are 0 there do not count")
      .type_name("FILE")
      .needs(labels);
  options->run.add_to(command);
  options->device.add_to(command);
  options->method.add_to(command);
  command.callback([options] { run(*options); });
}

}  // namespace parafield::command
