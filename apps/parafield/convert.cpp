// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "calibration.hpp"
#include "commands.hpp"
#include "fields.hpp"
#include "files.hpp"
#include "frames.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "report.hpp"

/// The command convert: flow, disparities and depths from one file format to another.
namespace parafield::command {
namespace {

constexpr const char* depth_task = "depth";

struct ConvertOptions {
  std::string input, output, valid, frame;
  std::optional<float> scale;  // of -o FILE.png
  FieldOptions kind;
  CameraOptions camera;

  std::vector<Output> outputs(bool flow) const {
    std::vector<Output> all = {{"-o", output, {".pfm", ".npy", ".png"}},
                               {"--valid", valid, {".png", ".pgm"}}};
    if (flow) all[0].extensions.push_back(".flo");
    for (Output& one : camera.outputs()) all.push_back(std::move(one));
    return all;
  }
  std::vector<Path> inputs() const {
    std::vector<Path> all = camera.inputs();
    all.insert(all.end(), {input, frame});
    return all;
  }
};

/// Clears the flags of pixels whose value does not fit the format, and says how many: no file holds a wrong
/// value.
template <class Fits>
void drop_misfits(View<std::uint8_t> valid, const Path& file, const std::string& holds, Fits fits) {
  std::int64_t known = 0, dropped = 0;
  for (int y = 0; y < valid.height; ++y)
    for (int x = 0; x < valid.width; ++x) {
      if (!valid(x, y)) continue;
      ++known;
      if (fits(x, y)) continue;
      valid(x, y) = 0;
      ++dropped;
    }
  if (dropped > 0)
    note(fmt::format("{} holds {}: {:.3g} % of the valid pixels do not fit, and are written as not valid",
                     file.string(), holds, 100 * double(dropped) / double(known)));
}

/// Adds the share of the valid pixels.
template <class Field>
void add_field(Report& report, const char* what, const Field& field) {
  const double pixels = double(field.size().width) * field.size().height;
  report.text += fmt::format("{} of {}x{} px, {:.1f} % valid\n", what, field.size().width,
                             field.size().height, 100 * double(count_of(field.valid)) / pixels);
}

void convert_flow(const ConvertOptions& options, Report& report) {
  const FlowReader reader(options.input);
  const bool series = is_series(options.outputs(true));
  if (reader.count() > 1 && !series)
    throw UsageError(
        fmt::format("-o {}: {} holds {} flow fields; name a series of files, like -o flow%04d.flo",
                    options.output, options.input, reader.count()));
  if (series)
    check_series(options.outputs(true), std::size_t(reader.count()), options.inputs());
  else
    check_outputs(options.outputs(true), options.inputs());
  for (int i = 0; i < reader.count(); ++i) {
    FlowField flow = reader.read(i);
    const int number = series ? i + 1 : 0;
    const Path file = named(options.output, number);
    if (has_extension(file, ".png"))
      drop_misfits(flow.valid, file, "flow of -512 to 511.98 px", [&](int x, int y) {
        const auto fits = [](float value) { return value >= -512 && value <= 511.98f; };
        return fits(flow.u(x, y)) && fits(flow.v(x, y));
      });
    const WhileWriting whole;
    if (!file.empty()) write_flow(file, flow, true);
    if (!options.valid.empty()) write_mask(named(options.valid, number), flow.valid);
    if (i == 0) add_field(report, "flow", flow);
  }
  if (reader.count() > 1) report.text += fmt::format("{} flow fields\n", reader.count());
}

/// Turns depths into disparities, by the geometry of the cameras.
void turn_to_disparities(DisparityField& field, const StereoGeometry& geometry) {
  for (int y = 0; y < field.size().height; ++y)
    for (int x = 0; x < field.size().width; ++x) {
      const double depth = field.d(x, y);
      const bool known = field.valid(x, y) && depth > 0;
      field.valid(x, y) = known;
      field.d(x, y) = known ? float(geometry.focal * geometry.baseline / depth - geometry.doffs)
                            : std::numeric_limits<float>::infinity();
    }
}

void convert_disparity(const ConvertOptions& options, Report& report) {
  check_outputs(options.outputs(false), options.inputs());
  const bool from_depth = options.kind.task == depth_task;
  if (!from_depth || !options.camera.depth.empty() || !options.camera.points.empty()) options.camera.check();
  if (options.scale && !has_extension(options.output, ".png"))
    throw UsageError(fmt::format("--scale needs a PNG; {} holds px", options.output));
  if (from_depth && has_extension(options.input, ".png") && options.kind.scale == 0)
    throw UsageError(
        "depths in a PNG need --input-scale, the file's value of a depth of 1 (millimeters: 1000 with a "
        "baseline in meters)");
  DisparityField field = read_disparity_of(options.input, options.kind.scale, "--input-scale");
  CalibratedPair pair;
  pair.geometry = options.camera.geometry_of(field.size());
  if (from_depth && !pair.geometry)
    throw UsageError("--task depth needs --calibration, or --focal and --baseline");
  if (from_depth) turn_to_disparities(field, *pair.geometry);
  if (!options.camera.points.empty()) {
    pair.frames.push_back(read_like(options.frame, options.input, field.size(),
                                    [](const std::string& file) { return read_frame(file); }));
    if (options.frame.empty()) {  // points without a frame are white
      FrameBuffer& white = pair.frames[0] = FrameBuffer(field.size(), PixelFormat::gray_u8);
      for (int y = 0; y < field.size().height; ++y)
        std::memset(white.row(y), 255, std::size_t(field.size().width));
    }
  } else if (!options.frame.empty()) {
    throw UsageError("--frame needs --points");
  }
  add_field(report, from_depth ? "depths" : "disparities", field);
  const std::string& in_space = options.camera.depth.empty() ? options.camera.points : options.camera.depth;
  if (!in_space.empty()) {
    Image<std::uint8_t> valid = field.valid.to(Memory::host());
    const double doffs = pair.geometry.value().doffs;
    drop_misfits(valid, in_space, fmt::format("disparities above {:g} px", 0 - doffs),
                 [&](int x, int y) { return field.d(x, y) + doffs > 0; });
  }
  const WhileWriting whole;
  if (!in_space.empty()) {
    const DepthLoss loss = options.camera.write(pair, field, field, 0);
    options.camera.add_depths(report, pair.geometry.value(), loss, false);
  }
  const float scale = options.scale.value_or(256);
  if (has_extension(options.output, ".png"))
    drop_misfits(
        field.valid, options.output, fmt::format("disparities of 0 to {:.6g} px", 65535 / scale),
        [&](int x, int y) { return field.d(x, y) >= 0 && std::round(field.d(x, y) * scale) <= 65535; });
  if (!options.output.empty()) write_disparity(options.output, field, scale, true);
  if (!options.valid.empty()) write_mask(options.valid, field.valid);
}

void run(const App& command, const ConvertOptions& options) {
  const std::vector<Output> all = options.outputs(true);
  if (std::ranges::all_of(all, [](const Output& output) { return output.path.empty(); }))
    throw UsageError("nothing is written: give -o, --valid, --depth or --points");
  Report report = begin_report("convert");
  const bool flow = options.kind.task != depth_task &&
                    options.kind.task_of({options.input}, options.kind.scale != 0) == Task::flow;
  if (flow)
    for (const char* option : {"--scale", "--input-scale", "--calibration", "--focal", "--baseline",
                               "--doffs", "--depth", "--points", "--frame"})
      if (command.get_option(option).count() > 0)
        throw UsageError(fmt::format("{} cannot be used with flow", option));
  flow ? convert_flow(options, report) : convert_disparity(options, report);
  print(report, false);
}

}  // namespace

void add_convert(App& program) {
  const auto options = std::make_shared<ConvertOptions>();
  App command =
      program.add_subcommand("convert", "Convert flow, disparities or depths to another file format");
  command.add_option(
      "FILE", options->input,
      "flow: .flo, .pfm, .npy, .npz or KITTI's .png; disparities: .pfm, .npy, .npz or gray .png; "
      "depths, with --task depth: .pfm, .npy or gray .png");
  command.add_option(
      "-o,--output FILE", options->output,
      "write flow: .flo, .pfm, .npy or KITTI's .png; or disparities: .pfm, .npy or .png. Pixels that "
      "are not valid are unknown in the file. A name with a number, like flow%04d.flo, is a series, "
      "for a .npz of several flow fields");
  command.add_option("--valid FILE", options->valid, "write where pixels are valid: .png or .pgm, 255 or 0");
  options->kind.add_to(command, {"flow", "disparity", depth_task}, "--input-scale");
  command.get_option("--input-scale")
      .help(
          "of a PNG of disparities or depths as FILE: the file's value of 1 px or of a depth of 1. Without "
          "it, disparities of 16 bit have KITTI's 256");
  add_scale(command, "--scale", options->scale,
            "of a PNG of disparities as -o: the file's value of 1 px. Without it 256, as KITTI");
  options->camera.add_to(command, false);
  command.get_option("--calibration")
      .help(
          "calibration of the cameras, for depths and points: see parafield stereo. Disparities are those of "
          "the rectified views");
  command.add_option("--frame FILE", options->frame,
                     "with --points: the left view, for the colors. Without it, points are white");
  command.examples({"convert flow.flo -o flow.npy", "convert disparity.pfm -o disparity.png",
                    "convert disparity.pfm --calibration calib.txt --depth depth.npy",
                    "convert --task depth depth.npy --calibration calib.txt -o d.pfm"});
  command.callback([command, options] { run(command, *options); });
}

}  // namespace parafield::command
