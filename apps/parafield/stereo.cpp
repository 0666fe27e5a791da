#include <cmath>
#include <optional>

#include "commands.hpp"
#include "estimation.hpp"
#include "fields.hpp"
#include "interrupt.hpp"

namespace parafield::command {
namespace {

constexpr float kitti_scale = 256;

struct Command {
  std::string left, right;
  std::string output, valid, color, depth;
  std::optional<float> scale;  // for -o FILE.png
  float true_scale = 0;
  double focal = 0, baseline = 0, offset = 0;
  TruthOptions truth;
  MethodOptions<StereoMethod> method;
  DeviceOptions device;
  StereoOptions stereo;
  RunOptions run;
};

void write(const Command& options, const DisparityField& field) {
  // Filled pixels are written as valid.
  const DisparityView disparity = options.stereo.fill ? DisparityView{field.d} : DisparityView(field);
  const WhileWriting whole;
  if (!options.output.empty())
    write_disparity(options.output, disparity, options.scale.value_or(kitti_scale));
  if (!options.valid.empty()) write_mask(options.valid, field.valid);
  if (!options.color.empty()) write_frame(options.color, color_disparity(disparity));
  if (!options.depth.empty()) {
    const Image<float> depth = depth_of(disparity, options.focal, options.baseline, options.offset);
    const View<const float> view = depth;
    write_frame(options.depth, Frame{view.data, view.width, view.height, view.pitch, PixelFormat::gray_f32});
  }
}

double share_of(const Image<std::uint8_t>& mask) {
  std::int64_t count = 0;
  for (int y = 0; y < mask.size().height; ++y)
    for (int x = 0; x < mask.size().width; ++x) count += mask(x, y) != 0;
  return double(count) / (double(mask.size().width) * mask.size().height);
}

void run(const Command& options) {
  const StereoMethod method = options.method.method();
  const Device device = options.device.device();
  StereoOptions stereo = options.stereo;
  stereo.energies = options.run.energies(method);
  check_outputs({{"-o", options.output, {".pfm", ".png", ".npy"}},
                 {"--valid", options.valid, {".png", ".pgm"}},
                 {"--color", options.color, {".png", ".ppm"}},
                 {"--depth", options.depth, {".pfm"}}},
                {options.left, options.right, options.truth.truth, options.truth.mask});
  if (options.scale && !has_extension(options.output, ".png"))
    throw UsageError(fmt::format("--scale needs a PNG; {} holds px", options.output));
  const DeviceInfo info = describe_device(device);

  const std::vector<FrameBuffer> pair = read_frames({options.left, options.right});
  const FrameBuffer& left = pair[0];
  DisparityField truth;
  if (!options.truth.truth.empty()) {
    truth = read_disparity_of(options.truth.truth, options.true_scale, "--gt-scale");
    check_same_size(options.left, left.size(), options.truth.truth, truth.size());
  }
  const auto mask = read_mask_like(options.truth.mask, options.left, left.size());

  const auto [disparity, times, energies] = estimate<Stereo>(method, device, pair, stereo, options.run);
  const double valid = share_of(disparity.valid);
  Json report;
  add_method(report, method, options.method.preset);
  add_levels(report, method, left.size(), options.run.quiet);
  add_options(report, options.stereo);
  add_device(report, info);
  add_times(report, left.size(), times);
  report["valid"] = valid;
  add_energies(report, stereo.energies, energies);
  std::string text = times_text(name_of(method), info, left.size(), times) +
                     fmt::format("{:.2f} % of the pixels are valid\n", 100 * valid) +
                     energies_text(stereo.energies, energies);
  if (truth.d)
    text += add_scores_of(
        report, {.mask = mask, .valid_only = options.truth.valid_only}, true,
        [&, &field = disparity](const EvaluationOptions& how) { return evaluate(field, truth, how); });
  write(options, disparity);
  options.run.print(report, text);
}

/// Adds the options for depths.
void add_camera(App& command, Command& options) {
  const auto positive = [](const std::string& text) {
    const double value = std::strtod(text.c_str(), nullptr);
    return value > 0 && std::isfinite(value) ? std::string() : text + " is not above 0";
  };
  const auto finite = [](const std::string& text) {
    return std::isfinite(std::strtod(text.c_str(), nullptr)) ? std::string() : text + " is not finite";
  };
  Option const depth =
      command
          .add_option(
              "--depth", options.depth,
              "write depths, focal * baseline / (disparity + doffs): .pfm, infinite where the disparity is "
              "not valid; needs --focal and --baseline")
          .type_name("FILE");
  Option const focal = command.add_option("--focal", options.focal, "with --depth: focal length")
                           .type_name("PX")
                           .check(positive)
                           .needs(depth);
  Option const baseline = command
                              .add_option("--baseline", options.baseline,
                                          "with --depth: distance of the cameras; depths have its unit")
                              .type_name("B")
                              .check(positive)
                              .needs(depth);
  command
      .add_option("--doffs", options.offset,
                  "with --depth: offset of the right camera's principal point to the right of the left "
                  "one's (Middlebury's calibration files have it)")
      .type_name("PX")
      .check(finite)
      .capture_default_str()
      .needs(depth);
  depth.needs(focal).needs(baseline);
}

}  // namespace

void add_stereo(App& program) {
  const auto options = std::make_shared<Command>();
  App command = program.add_subcommand("stereo", "Estimate the disparities of a rectified pair of images");
  command.add_option("LEFT", options->left, "left image: PNG, JPEG, PGM, PPM or PFM")
      .required()
      .type_name("FILE");
  command.add_option("RIGHT", options->right, "right image of the same size; matches lie on the same row")
      .required()
      .type_name("FILE");
  Option const output =
      command
          .add_option(
              "-o,--output", options->output,
              "write the disparities of the left image: .pfm or .npy (px, every pixel) or .png (16 bit, "
              "px * scale, 0 where not valid)")
          .type_name("FILE");
  add_scale(command, "--scale", options->scale,
            "with -o FILE.png: the file's value of 1 px (default 256, as KITTI)")
      .needs(output);
  command
      .add_option("--valid", options->valid,
                  "write where disparities are valid: .png or .pgm, 255 there, otherwise 0")
      .type_name("FILE");
  command
      .add_option("--color", options->color,
                  "write a picture: .png or .ppm; blue is far, red is near, black is not valid")
      .type_name("FILE");
  add_camera(command, *options);
  Option const truth = options->truth.add_to(
      command, "true disparities to compare with: .pfm, .npy or gray .png; unknown ones do not count");
  command.get_option("--mask").description(
      "with --gt: a picture; pixels that are 0 there do not count. The scores of all pixels are printed, too "
      "(JSON: in \"all\")");
  add_scale(command, "--gt-scale", options->true_scale,
            "with --gt FILE.png: the file's value of 1 px (Middlebury: tsukuba 16, venus 8, cones 4, art and "
            "aloe 3; default for 16 bit: KITTI's 256)")
      .needs(truth);
  options->run.add_to(command);
  options->device.add_to(command);
  TaskOptions::add_to(command, options->stereo);
  options->method.add_to(command);
  command.callback([options] { run(*options); });
}

}  // namespace parafield::command
