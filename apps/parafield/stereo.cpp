// SPDX-License-Identifier: MIT
#include <optional>

#include "calibration.hpp"
#include "commands.hpp"
#include "estimation.hpp"
#include "fields.hpp"
#include "frames.hpp"
#include "interrupt.hpp"

namespace parafield::command {
namespace {

constexpr float kitti_scale = 256;

struct StereoCommandOptions : EstimationOptions<Stereo> {
  std::string left, right;
  std::string output, valid, confidence, color;
  std::optional<float> scale;  // for -o FILE.png
  float true_scale = 0;
  CameraOptions camera;
  FrameOptions reading;
  bool beside = false;
  TruthOptions truth;
};

StereoEnergy& energy_of(StereoMethod& method) {
  return std::visit([](auto& chosen) -> StereoEnergy& { return chosen.energy; }, method);
}

/// What the command finds out about a pair before it estimates.
struct Examined {
  PairFindings findings;
  RowAlignment rows;
  int given = 0;  ///< --disparities

  Examined(const CalibratedPair& pair, const Device& device, const StereoEnergy& energy)
      : findings(examine_pair(pair.frames[0], pair.frames[1], energy.min_disparity)),
        rows(pair.rows ? *pair.rows : measure_row_alignment(pair.frames[0], pair.frames[1], device)),
        given(energy.disparities) {}

  /// Adds disparities_found, warnings and row_error. Warnings are notes on stderr, too.
  void add_to(Report& report, const StereoEnergy& used, bool quiet) const {
    report.json["disparities_found"] = given == 0;
    if (given == 0)
      report.text += fmt::format("{} disparities from {} on, found in the images\n", used.disparities,
                                 used.min_disparity);
    report.json["row_error"] = rows.tracks > 0 ? Json(rows.median_error) : Json();
    const std::vector<std::string> warnings = pair_warnings(findings, rows, given);
    report.json["warnings"] = warnings;
    for (const std::string& warning : warnings)
      if (!quiet) note(warning);
  }
};

void write(const StereoCommandOptions& options, const DisparityField& field, bool filled,
           const CalibratedPair& pair) {
  // Filled pixels are written as valid.
  const DisparityView disparity = filled ? DisparityView{field.d} : DisparityView(field);
  const WhileWriting whole;
  if (!options.output.empty())
    write_disparity(options.output, disparity, options.scale.value_or(kitti_scale));
  if (!options.valid.empty()) write_mask(options.valid, field.valid);
  if (!options.confidence.empty()) write_confidence(options.confidence, field.confidence);
  if (!options.color.empty()) {
    FrameBuffer picture = color_disparity(disparity);
    if (options.beside) picture = beside(pair.frames[0], picture);
    write_frame(options.color, picture);
  }
  options.camera.write(pair, disparity, field);
}

void run(const StereoCommandOptions& options) {
  StereoMethod method = options.method.method();
  const Device device = options.device.device();
  StereoOptions task = options.task;
  task.energies = options.energies(method);
  options.camera.check();
  std::vector<Output> outputs = options.camera.outputs();
  outputs.insert(outputs.begin(), {{"-o", options.output, {".pfm", ".png", ".npy"}},
                                   {"--valid", options.valid, {".png", ".pgm"}},
                                   {"--confidence", options.confidence, confidence_extensions},
                                   {"--color", options.color, picture_extensions}});
  std::vector<Path> inputs = options.camera.inputs();
  inputs.insert(inputs.end(),
                {options.left, options.right, options.truth.truth, options.truth.mask, options.reading.mask});
  check_outputs(outputs, inputs);
  if (options.scale && !has_extension(options.output, ".png"))
    throw UsageError(fmt::format("--scale needs a PNG; {} holds px", options.output));
  StereoEnergy& energy = energy_of(method);
  if (has_extension(options.output, ".png") && energy.min_disparity < 0)
    throw UsageError(
        fmt::format("a PNG holds no disparities below 0, but --min-disparity is {}; write {} as .pfm",
                    energy.min_disparity, options.output));
  const DeviceInfo info = describe_device(device);

  std::vector<KnownPixels> known;
  const CalibratedPair pair = options.camera.prepared(
      read_frames({options.left, options.right}, options.reading, 2, options.quiet, "stereo", "", &known),
      device);
  const bool is_rectified = !options.camera.calibration.empty();
  if (is_rectified && (known[0] || known[1]))
    throw UsageError(
        "with --calibration the images need a value at every pixel: rectify them without it first");
  // Rectified views are NaN where the cameras saw nothing.
  std::vector<FrameBuffer> frames;
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_rectified) known[i] = known_pixels(pair.frames[i]);
    frames.push_back(is_rectified ? filled(pair.frames[i], known[i]) : pair.frames[i].to(Memory::host()));
  }
  const FrameBuffer& left = frames[0];
  const DisparityField truth = read_like(
      options.truth.truth, options.left, left.size(),
      [&](const std::string& file) { return read_disparity_of(file, options.true_scale, "--gt-scale"); });
  const auto mask = read_like(options.truth.mask, options.left, left.size(), read_mask);

  const Examined examined(pair, device, energy);
  if (energy.disparities == 0) energy.disparities = examined.findings.disparities;

  auto [disparity, times, energies, blocks] = estimate<Stereo>(method, device, frames, task, options);
  mark_unknown(disparity, known[0], known[1]);
  Report report = options.begin("stereo", method, left.size(), blocks);
  add_times(report, name_of(method), info, left.size(), times);
  add_range(report, left.range());
  pair.add_to(report);
  add_findings(report, disparity, known[0]);
  examined.add_to(report, energy, options.quiet);
  add_energies(report, task.energies, energies);
  if (truth.d)
    add_scores_both_ways(
        report,
        {.mask = mask, .valid_only = options.truth.valid_only, .confidence = !options.confidence.empty()},
        [&, &field = disparity](const EvaluationOptions& how) { return evaluate(field, truth, how); });
  write(options, disparity, energy.checks.fill, pair);
  std::vector<std::string> files = {options.output, options.valid, options.confidence, options.color};
  for (const std::string& file : options.camera.files()) files.push_back(file);
  add_files(report, files);
  options.print(report);
}

}  // namespace

void add_stereo(App& program) {
  auto [command, options] = add_command<StereoCommandOptions>(
      program, "stereo", "Estimate the disparities of a pair of images", run);
  command.add_option("LEFT FILE", options.left, fmt::format("left image: {}", frame_formats));
  command.add_option(
      "RIGHT FILE", options.right,
      "right image of the same size. Matches lie on the same row, if there is no --calibration");
  const Option output = command.add_option("-o,--output FILE", options.output);
  output.help(
      "write the disparities: .pfm, .npy or .png. They are those of the left image. A .pfm or .npy has px at "
      "every pixel. A .png has px * scale in 16 bit, and 0 where not valid");
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
  command.add_option("--color FILE", options.color,
                     fmt::format("write a picture of them: {}. Blue is far, red is near, black is not valid",
                                 picture_formats));
  command.add_flag("--beside", options.beside, "put the left image and the picture side by side")
      .needs(command.get_option("--color"));
  options.camera.add_to(command);
  options.reading.add_to(command);
  options.reading.add_mask_to(command);
  command.leave_out_of_help(command.get_option("--input-mask"));
  const Option truth = options.truth.add_to(
      command, "true disparities to compare with: .pfm, .npy or .png. Unknown ones do not count");
  command.get_option("--mask").help(
      "with --gt: a picture that is 0 where pixels do not count. The scores of all pixels are printed, too; "
      "in JSON they are \"all\"");
  add_scale(
      command, "--gt-scale", options.true_scale,
      "with --gt FILE.png: the file's value of 1 px. Middlebury has 16 (tsukuba), 8 (venus), 4 (cones) or "
      "3 (art, aloe). Without it, PNGs of 16 bit have KITTI's 256")
      .needs(truth);
  options.add_to(command);
  for (const char* name :
       {"--weight", "--aggregation-sigma", "--presmooth", "--edge-floor", "--neighbors", "--right-view",
        "--color-median", "--uniqueness", "--blocks", "--block-overlap", "--memory-limit"})
    command.leave_out_of_help(command.get_option(name));
  command.examples({"stereo left.png right.png -o disparity.pfm --color disparity.png",
                    "stereo left.png right.png --preset fast",
                    "stereo left.png right.png --calibration calib.txt --points cloud.ply"});
}

}  // namespace parafield::command
