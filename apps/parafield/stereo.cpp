// SPDX-License-Identifier: MIT
#include "stereo.hpp"

#include <cstring>

#include "commands.hpp"
#include "fields.hpp"
#include "interrupt.hpp"

namespace parafield::command {

static constexpr float kitti_scale = 256;

StereoEnergy& energy_of(StereoMethod& method) {
  return std::visit([](auto& chosen) -> StereoEnergy& { return chosen.energy; }, method);
}

Examined::Examined(const CalibratedPair& pair, StereoEstimator& estimator, int given)
    : findings(estimator.examine(pair.frames[0], pair.frames[1])),
      rows(pair.rows ? *pair.rows
                     : measure_row_alignment(pair.frames[0], pair.frames[1], estimator.device())),
      given(given) {}

void Examined::add_to(Report& report, const StereoEnergy& used, bool quiet) const {
  report.json["disparities_found"] = given == 0;
  if (given == 0)
    report.text +=
        fmt::format("{} disparities from {} on, found in the images\n", used.disparities, used.min_disparity);
  report.json["row_error"] = rows.tracks > 0 ? Json(rows.median_error) : Json();
  const std::vector<std::string> warnings = pair_warnings(findings, rows, given);
  report.json["warnings"] = warnings;
  for (const std::string& warning : warnings)
    if (!quiet) note(warning);
}

KnownFrames known_pair(const CalibratedPair& pair, std::vector<KnownPixels> read, bool is_rectified) {
  if (is_rectified && (read[0] || read[1]))
    throw UsageError(
        "with --calibration the images need a value at every pixel: rectify them without it first");
  KnownFrames all{{}, std::move(read)};
  // Rectified views are NaN where the cameras saw nothing.
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_rectified) all.known[i] = known_pixels(pair.frames[i]);
    all.frames.push_back(is_rectified ? filled(pair.frames[i], all.known[i])
                                      : pair.frames[i].to(Memory::host()));
  }
  return all;
}

void PackedViews::add_to(App& command) {
  const Option beside = command.add_flag("--side-by-side", side_by_side),
               above = command.add_flag("--over-under", over_under).excludes(beside);
  beside.help(
      "each frame holds both views, the left one in its left half. IMAGES are then pictures or films of one "
      "camera");
  above.help("each frame holds both views, the left one in its upper half");
  const Option swapped = command.add_flag("--right-first", right_first);
  swapped.help("with --side-by-side or --over-under: the first half is the right view");
  for (const Option& option : {above, swapped}) command.leave_out_of_help(option);
}

/// Returns a copy of a frame in host memory.
static FrameBuffer copy_of(const Frame& frame) {
  FrameBuffer copy(frame.size(), frame.format);
  copy.set_range(frame.range);
  for (int y = 0; y < frame.height; ++y)
    std::memcpy(copy.row(y), static_cast<const char*>(frame.data) + y * frame.pitch,
                std::size_t(frame.width) * std::size_t(bytes_per_pixel(frame.format)));
  return copy;
}

void PackedViews::split(KnownFrames& pair, const std::string& name) const {
  const ViewLayout layout = over_under ? ViewLayout::over_under : ViewLayout::side_by_side;
  const FrameBuffer frame = std::move(pair.frames[0]);
  const KnownPixels known = std::move(pair.known[0]);
  pair.frames.clear();
  pair.known.clear();
  pair.known.resize(2);
  for (const Frame& half : naming(name, [&] { return split_views(frame, layout, right_first); }))
    pair.frames.push_back(copy_of(half));
  if (!known) return;
  const View<const std::uint8_t> mask = known;
  const auto halves = split_views({mask.data, mask.width, mask.height, mask.pitch, PixelFormat::gray_u8},
                                  layout, right_first);
  for (std::size_t i = 0; i < 2; ++i) {
    pair.known[i] = KnownPixels(halves[i].size());
    for (int y = 0; y < halves[i].height; ++y)
      std::memcpy(&pair.known[i](0, y), static_cast<const char*>(halves[i].data) + y * halves[i].pitch,
                  std::size_t(halves[i].width));
  }
}

std::vector<Output> StereoCommandOptions::outputs() const {
  std::vector<Output> all = {{"-o", disparity, {".pfm", ".png", ".npy"}},
                             {"--valid", valid, {".png", ".pgm"}},
                             {"--confidence", confidence, confidence_extensions},
                             {"--color", color, picture_extensions}};
  for (Output& output : bars.outputs()) all.push_back(std::move(output));
  for (Output& output : camera.outputs()) all.push_back(std::move(output));
  return all;
}

std::vector<Path> StereoCommandOptions::inputs() const {
  std::vector<Path> all = camera.inputs();
  all.insert(all.end(), images.begin(), images.end());
  all.insert(all.end(), {truth.truth, truth.mask, reading.mask});
  return all;
}

DepthLoss StereoCommandOptions::write(const DisparityField& field, bool filled, const CalibratedPair& pair,
                                      int number, const DisparityColorOptions& colors) const {
  // Filled pixels are written as valid.
  const DisparityView view = filled ? DisparityView{field.d} : DisparityView(field);
  const WhileWriting whole;
  if (!disparity.empty()) write_disparity(named(disparity, number), view, scale.value_or(kitti_scale));
  if (!valid.empty()) write_mask(named(valid, number), field.valid);
  if (!confidence.empty()) write_confidence(named(confidence, number), field.confidence);
  bars.write(field, number);
  if (!color.empty()) {
    FrameBuffer picture = color_disparity(view, colors);
    if (beside) picture = parafield::beside(pair.frames[0], picture);
    write_frame(named(color, number), picture);
  }
  return camera.write(pair, view, field, number);
}

namespace {

void run(const StereoCommandOptions& options) {
  StereoMethod method = options.method.method();
  options.device.check();
  StereoOptions task = options.task;
  task.energies = options.energies(method);
  options.bars.ask(task);
  task.sigma |= !options.camera.depth_sigma.empty();
  options.camera.check();
  if (options.scale && !has_extension(options.disparity, ".png"))
    throw UsageError(fmt::format("--scale needs a PNG; {} holds px", options.disparity));
  StereoEnergy& energy = energy_of(method);
  if (has_extension(options.disparity, ".png") && energy.min_disparity < 0)
    throw UsageError(
        fmt::format("a PNG holds no disparities below 0, but --min-disparity is {}; write {} as .pfm",
                    energy.min_disparity, options.disparity));
  if (options.packed.right_first && !options.packed)
    throw UsageError("--right-first needs --side-by-side or --over-under");
  if (is_series(options.outputs())) return run_series(options, method, task);
  if (options.packed && options.images.size() != 1)
    throw UsageError(
        fmt::format("IMAGES: with --side-by-side or --over-under, stereo takes one image that holds both "
                    "views, not {}; for "
                    "several name a series of files, like -o disparity%04d.pfm",
                    options.images.size()));
  if (!options.packed && options.images.size() != 2)
    throw UsageError(fmt::format("IMAGES: stereo takes a LEFT and a RIGHT image, not {} file{}{}",
                                 options.images.size(), options.images.size() == 1 ? "" : "s",
                                 options.images.size() > 2
                                     ? "; for a video name a series of files, like -o disparity%04d.pfm"
                                 : options.images.size() < 2 ? "; --side-by-side takes one that holds both"
                                                             : ""));
  if (energy.noise > 0)
    throw UsageError(
        fmt::format("--noise {}: a single pair has no past; for a video name a series of files, like -o "
                    "disparity%04d.pfm",
                    energy.noise));
  check_outputs(options.outputs(), options.inputs());
  const DeviceStart starting(options.device, options.repeats == 0);
  const Device device = options.device.device();
  const DeviceInfo info = describe_device(device);

  KnownFrames read = read_frames(options.images, options.reading, options.packed ? 1 : 2, options.quiet,
                                 "stereo", "; for a video name a series of files, like -o disparity%04d.pfm");
  if (options.packed) options.packed.split(read, options.images[0]);
  const CalibratedPair pair = Cameras(options.camera, device, options.quiet).prepared(std::move(read.frames));
  const KnownFrames images = known_pair(pair, std::move(read.known), !options.camera.calibration.empty());
  const FrameBuffer& left = images.frames[0];
  const DisparityField truth = read_like(
      options.truth.truth, options.images[0], left.size(),
      [&](const std::string& file) { return read_disparity_of(file, options.true_scale, "--gt-scale"); });
  const auto mask = read_like(options.truth.mask, options.images[0], left.size(), read_mask);

  std::optional<Examined> examined;
  auto [disparity, times, energies, blocks] =
      estimate<Stereo>(method, device, images.frames, task, options, {}, [&](StereoEstimator& estimator) {
        examined.emplace(pair, estimator, energy.disparities);
        method = estimator.method();
      });
  withhold<Stereo>(disparity, examined->state(), task);
  mark_unknown(disparity, images.known[0], images.known[1]);
  Report report = options.begin("stereo", method, left.size(), blocks);
  report.json.update(parameters_json(parameters_of(task)));
  add_times(report, name_of(method), info, left.size(), times);
  add_range(report, left.range());
  add_notes(report, read.notes);
  pair.add_to(report);
  DisparityFindings findings;
  findings.add(disparity, images.known[0]);
  add_findings(report, findings);
  examined->add_to(report, energy, options.quiet);
  add_energies(report, task.energies, energies);
  if (truth.d)
    add_scores_both_ways(
        report,
        {.mask = mask, .valid_only = options.truth.valid_only, .confidence = !options.confidence.empty()},
        [&, &field = disparity](const EvaluationOptions& how) { return evaluate(field, truth, how); });
  if (truth.d && has_bars(disparity))
    add_bar_scores(report, evaluate_error_bars(disparity, truth, {.mask = mask}));
  const DepthLoss loss = options.write(disparity, energy.checks.fill, pair);
  if (pair.geometry) options.camera.add_depths(report, *pair.geometry, loss, options.quiet);
  add_files(report, names_of(options.outputs()));
  options.print(report);
}

}  // namespace

void add_stereo(App& program) {
  auto [command, options] = add_command<StereoCommandOptions>(
      program, "stereo", "Estimate the disparities of a pair of images", run);
  command.add_option(
      "IMAGES FILE", options.images,
      fmt::format(
          "left and right image of one size: {}. Matches lie on the same row, if there is no "
          "--calibration. Of a video: all files of the left camera, then as many of the right one; or a "
          "folder, a pattern (left%04d.png) or a name with wildcards in quotes for each",
          frame_formats));
  const Option output = command.add_option("-o,--output FILE", options.disparity);
  output.help(
      "write the disparities: .pfm, .npy or .png. They are those of the left image. A .pfm or .npy has px at "
      "every pixel. A .png has px * scale in 16 bit, and 0 where not valid. A name with a number, like "
      "d%04d.pfm, is a series, for any number of pairs");
  const Option scale = add_scale(command, "--scale", options.scale,
                                 "with -o FILE.png: the file's value of 1 px. Without it 256, as KITTI");
  scale.needs(output);
  command.leave_out_of_help(scale);
  command.add_option("--valid FILE", options.valid,
                     "write where disparities are valid: .png or .pgm. Valid pixels are 255, others 0");
  const Option confidence = command.add_option("--confidence FILE", options.confidence);
  confidence.help(
      "write the confidence: .pfm or .npy. With --gt, how it ranks the errors is scored, too (AUC)");
  command.leave_out_of_help(confidence);
  options.bars.add_to(command, Task::disparity);
  command.add_option("--color FILE", options.color,
                     fmt::format("write a picture of them: {}. Blue is far, red is near, black is not valid",
                                 picture_formats));
  command.add_flag("--beside", options.beside, "put the left image and the picture side by side")
      .needs(command.get_option("--color"));
  options.packed.add_to(command);
  options.camera.add_to(command);
  options.reading.add_to(command);
  options.reading.add_mask_to(command);
  FrameOptions::add_skip_to(command, options.reading.skip_damaged, "disparities");
  command.leave_out_of_help({"--input-mask", "--skip-damaged"});
  const Option truth = options.truth.add_to(
      command, "true disparities to compare with: .pfm, .npy or .png. Unknown ones do not count");
  command.get_option("--mask").help(
      "with --gt: a picture that is 0 where pixels do not count. The scores of all pixels are printed, too; "
      "in JSON they are \"all\"");
  add_scale(command, "--gt-scale", options.true_scale,
            "with --gt FILE.png: the file's value of 1 px. Middlebury has 16 (tsukuba), 8 (venus), 4 (cones) "
            "or 3 (art, aloe). Without it, PNGs of 16 bit have KITTI's 256")
      .needs(truth);
  options.add_to(command);
  command.leave_out_of_help({"--min-confidence", "--weight", "--aggregation-sigma", "--presmooth",
                             "--edge-floor", "--neighbors", "--right-view", "--color-median", "--valid-only",
                             "--repeat", "--noise", "--slant", "--uniqueness", "--blocks", "--block-overlap",
                             "--memory-limit"});
  command.examples({"stereo left.png right.png -o disparity.pfm --color disparity.png",
                    "stereo left*.png right*.png --preset fast -o disparity%04d.pfm",
                    "stereo clip.mp4 --side-by-side -o disparity%04d.pfm",
                    "stereo left.png right.png --calibration calib.txt --points cloud.ply"});
}

}  // namespace parafield::command
