// SPDX-License-Identifier: MIT
#include <cmath>
#include <optional>

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
  std::string output, valid, color, depth;
  std::optional<float> scale;  // for -o FILE.png
  float true_scale = 0;
  double focal = 0, baseline = 0, offset = 0;
  FrameOptions reading;
  bool beside = false;
  TruthOptions truth;
};

void write(const StereoCommandOptions& options, const DisparityField& field, const FrameBuffer& left) {
  // Filled pixels are written as valid.
  const DisparityView disparity = options.task.fill ? DisparityView{field.d} : DisparityView(field);
  const WhileWriting whole;
  if (!options.output.empty())
    write_disparity(options.output, disparity, options.scale.value_or(kitti_scale));
  if (!options.valid.empty()) write_mask(options.valid, field.valid);
  if (!options.color.empty()) {
    FrameBuffer picture = color_disparity(disparity);
    if (options.beside) picture = beside(left, picture);
    write_frame(options.color, picture);
  }
  if (!options.depth.empty()) {
    const Image<float> depth = depth_of(disparity, options.focal, options.baseline, options.offset);
    const View<const float> view = depth;
    write_frame(options.depth, Frame{view.data, view.width, view.height, view.pitch, PixelFormat::gray_f32});
  }
}

void run(const StereoCommandOptions& options) {
  const StereoMethod method = options.method.method();
  const Device device = options.device.device();
  StereoOptions task = options.task;
  task.energies = options.energies(method);
  check_outputs({{"-o", options.output, {".pfm", ".png", ".npy"}},
                 {"--valid", options.valid, {".png", ".pgm"}},
                 {"--color", options.color, picture_extensions},
                 {"--depth", options.depth, {".pfm"}}},
                {options.left, options.right, options.truth.truth, options.truth.mask, options.reading.mask});
  if (options.scale && !has_extension(options.output, ".png"))
    throw UsageError(fmt::format("--scale needs a PNG; {} holds px", options.output));
  const DeviceInfo info = describe_device(device);

  std::vector<KnownPixels> known;
  const std::vector<FrameBuffer> pair =
      read_frames({options.left, options.right}, options.reading, 2, options.quiet, "stereo", "", &known);
  const FrameBuffer& left = pair[0];
  const DisparityField truth = read_like(
      options.truth.truth, options.left, left.size(),
      [&](const std::string& file) { return read_disparity_of(file, options.true_scale, "--gt-scale"); });
  const auto mask = read_like(options.truth.mask, options.left, left.size(), read_mask);

  auto [disparity, times, energies] = estimate<Stereo>(method, device, pair, task, options);
  mark_unknown(disparity, known[0], known[1]);
  Report report = options.begin("stereo", method, left.size());
  report.json.update(parameters_json(parameters_of(task)));
  add_times(report, name_of(method), info, left.size(), times);
  add_range(report, left.range());
  add_findings(report, disparity, known[0]);
  add_energies(report, task.energies, energies);
  if (truth.d)
    add_scores_both_ways(
        report, {.mask = mask, .valid_only = options.truth.valid_only},
        [&, &field = disparity](const EvaluationOptions& how) { return evaluate(field, truth, how); });
  write(options, disparity, left);
  add_files(report, {options.output, options.valid, options.color, options.depth});
  options.print(report);
}

/// Adds the options for depths.
void add_camera(App& command, StereoCommandOptions& options) {
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  const Option depth = command.add_option("--depth FILE", options.depth),
               focal = command.add_option("--focal PX", options.focal, "with --depth: focal length"),
               baseline = command.add_option("--baseline B", options.baseline),
               offset = command.add_setting("--doffs PX", options.offset);
  depth.needs(focal).needs(baseline).help(
      "write depths, by --focal and --baseline: .pfm. They are focal * baseline / (disparity + doffs), "
      "infinite where the disparity is not valid");
  focal.is(positive, "a finite number above 0").needs(depth);
  baseline.is(positive, "a finite number above 0").needs(depth);
  baseline.help("with --depth: distance of the cameras. Depths have its unit");
  offset.is([](double value) { return std::isfinite(value); }, "a finite number").needs(depth);
  offset.help(
      "with --depth: offset of the right camera's principal point to the right of the left one's. "
      "Middlebury's calibration files have it");
  command.leave_out_of_help(offset);
}

}  // namespace

void add_stereo(App& program) {
  auto [command, options] = add_command<StereoCommandOptions>(
      program, "stereo", "Estimate the disparities of a rectified pair of images", run);
  command.add_option("LEFT FILE", options.left, fmt::format("left image: {}", frame_formats));
  command.add_option("RIGHT FILE", options.right,
                     "right image of the same size. Matches lie on the same row");
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
  command.add_option("--color FILE", options.color,
                     fmt::format("write a picture of them: {}. Blue is far, red is near, black is not valid",
                                 picture_formats));
  command.add_flag("--beside", options.beside, "put the left image and the picture side by side")
      .needs(command.get_option("--color"));
  add_camera(command, options);
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
  command.examples({"stereo left.png right.png -o disparity.pfm --color disparity.png",
                    "stereo left.png right.png -m belief-propagation --preset accurate"});
}

}  // namespace parafield::command
