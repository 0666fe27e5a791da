// SPDX-License-Identifier: MIT
#include "clouds.hpp"

#include <cmath>

#include "commands.hpp"
#include "flow.hpp"
#include "interrupt.hpp"
#include "series.hpp"

namespace parafield::command {
namespace {

struct CloudsOptions : EstimatorOptions<Flow> {
  std::vector<std::string> frames;
  std::string flow, valid, arrows, table, heights;
  float height_png = 256;
  bool bars = false;  // error bars in the table and the NetCDF file
  CloudFileOptions file;
  FrameOptions reading;
  CloudArrows arrow;
  CloudHeights::Options stereo;

  void expand() {
    expand_names(frames);
    expand_names(stereo.right);
  }
  std::vector<Output> series() const {
    return {{"-o", flow, {".flo", ".png", ".pfm", ".npy"}},
            {"--valid", valid, {".png", ".pgm"}},
            {"--arrows", arrows, picture_extensions},
            {"--height", heights, {".npy", ".pfm", ".png"}}};
  }
  std::vector<Path> inputs() const {
    std::vector<Path> all(frames.begin(), frames.end());
    all.insert(all.end(), stereo.right.begin(), stereo.right.end());
    for (const Path& mask : reading.files()) all.push_back(mask);
    return all;
  }
};

/// Throws UsageError for options that do not fit together.
void check_options(const CloudsOptions& options) {
  const bool has_stereo = !options.stereo.right.empty();
  if (!options.heights.empty() && !has_stereo) throw UsageError("--height: needs --stereo, the other view");
  const bool has_times = options.arrow.units.minutes > 0 && !options.file.start.empty();
  if ((options.arrow.units.km_per_pixel > 0) != (options.arrow.units.minutes > 0) && !has_times)
    throw UsageError("--km-per-pixel and --minutes: speeds need both");
  if (has_stereo && options.stereo.right.size() != options.frames.size())
    throw UsageError(
        fmt::format("--stereo: the number of files is {}, that of FRAMES {}; each has its partner",
                    options.stereo.right.size(), options.frames.size()));
  if (options.frames.size() == 1 && has_stereo && options.frames[0] == "-" && options.stereo.right[0] == "-")
    throw UsageError("--stereo: - stands for standard input, once");
  if (options.bars && options.table.empty() && options.file.path.empty())
    throw UsageError("--error-bars: needs --csv or --netcdf, which hold them");
  const std::size_t count = std::max<std::size_t>(options.frames.size(), 1);
  check_series(options.series(), count, options.inputs());
  std::vector<Path> inputs = options.inputs();
  for (const Output& output : options.series())
    for (std::size_t i = 1; !output.path.empty() && i <= count; ++i)
      inputs.push_back(numbered(output.path, int(i)));
  check_outputs({{"--csv", options.table, {".csv", ".txt"}}, {"--netcdf", options.file.path, {".nc"}}},
                inputs);
  options.file.check(options.arrow.units, has_stereo);
}

/// Writes the requested outputs and collects statistics.
class Results {
 public:
  /// `skipped`: number of images before the one that the first motion belongs to.
  Results(const CloudsOptions& options, Size size, int skipped)
      : options_(options),
        skipped_(skipped),
        arrows_(options.arrow),
        table_(options.arrow.step, options.arrow.units, !options.stereo.right.empty(), options.bars) {
    if (options.file.path.empty()) return;
    whole_.emplace();
    file_.emplace(options.file.begin(size, options.arrow.units, !options.stereo.right.empty(), options.bars,
                                     skipped + 1));
  }

  void write_motion(int number, const FlowField& field, const InputFrame& frame, View<const float> height) {
    const WhileWriting whole;
    if (!options_.flow.empty()) write_flow(numbered(options_.flow, number), field);
    if (!options_.valid.empty()) write_mask(numbered(options_.valid, number), field.valid);
    if (!std::exchange(has_scale_, true)) arrows_.fit(field);  // all pictures share one scale
    if (!options_.arrows.empty())
      write_frame(numbered(options_.arrows, number), arrows_.draw(field, frame.frame));
    if (!options_.table.empty()) table_.add(skipped_ + number, field, height);
    if (file_) {
      WhileWriting::check();
      file_->skip(number - 1 - std::exchange(last_, number));
      file_->add(field, height);
    }
    findings_.add(field, frame.known);
  }

  void write_height(int number, View<const float> height) {
    for (int y = 0; y < height.height; ++y)
      for (int x = 0; x < height.width; ++x)
        if (const float value = height(x, y); std::isfinite(value)) {
          least_ = std::min(least_, value);
          most_ = std::max(most_, value);
        }
    const WhileWriting whole;
    if (!options_.heights.empty())
      naming_height([&] {
        write_disparity(numbered(options_.heights, number), DisparityView{height}, options_.height_png);
      });
  }

  /// Completes the files of the whole sequence.
  void complete() {
    if (file_) file_->close();
    if (!options_.table.empty()) write_text(options_.table, table_.text());
  }

  void end(Report& report) {
    complete();
    add_findings(report, findings_);
    const CloudUnits& units = options_.arrow.units;
    if (units.given() && findings_.valid > 0) {
      const double unit = units.meters_per_second(), mean = findings_.sum / double(findings_.valid);
      report.json["mean_speed"] = unit * mean;
      report.json["largest_speed"] = unit * findings_.largest;
      report.text += fmt::format("speeds of {:.2f} m/s on average, {:.2f} m/s at most\n", unit * mean,
                                 unit * findings_.largest);
    }
    if (least_ <= most_) {
      report.json["least_height"] = json_of(least_);
      report.json["largest_height"] = json_of(most_);
      report.text += fmt::format("heights of {:.4g} to {:.4g}\n", least_, most_);
    }
    add_files(report, {options_.flow, options_.valid, options_.arrows, options_.table, options_.heights,
                       options_.file.path});
    if (options_.arrows.empty()) return;
    report.json["arrow_scale"] = json_of(arrows_.scale);
    report.text += fmt::format("arrows are {:.3g} times as long as the flow\n", arrows_.scale);
  }

 private:
  /// Calls f(). If heights do not fit into a PNG, the error states the range that it can hold.
  template <class F>
  void naming_height(F f) const {
    try {
      f();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument || !has_extension(options_.heights, ".png")) throw;
      throw Error(error.code(),
                  fmt::format("{}: a PNG holds heights of 0 to {:g}, with --height-png {:g}",
                              options_.heights, 65535 / options_.height_png, options_.height_png));
    }
  }

  const CloudsOptions& options_;
  const int skipped_;
  CloudArrows arrows_;
  CloudTable table_;
  std::optional<WhileWriting> whole_;  // the NetCDF file is complete, or removed
  std::optional<MotionFile> file_;
  FlowFindings findings_;
  float least_ = INFINITY, most_ = -INFINITY;
  bool has_scale_ = false;
  int last_ = 0;  // number of the last motion
};

void run(CloudsOptions& options) {
  if (options.method.preset.empty() && options.method.has_preset("clouds")) options.method.preset = "clouds";
  const FlowMethod method = options.method.method();
  const int window = frames_of(method), middle = (window - 1) / 2;
  options.check_frames(method);
  check_options(options);
  FlowOptions task = options.task;
  task.covariance = task.outlier = options.bars;
  const Device device = options.device.device();
  task.device = device;
  const DeviceInfo info = describe_device(device);

  FlowSequence sequence(options.frames, options.reading, window, options.quiet, method, task);
  const Size size = sequence.source.size();
  const ValueRange range = sequence.source.range();
  FrameOptions reading = options.reading;  // both views share one range
  reading.range = fmt::format("{},{}", range.black, range.white);
  std::optional<CloudHeights> heights;
  if (!options.stereo.right.empty())
    typed([&] { heights.emplace(options.stereo, reading, size, device, options.quiet); });

  Results results(options, size, middle);
  const EndOnInterrupt ending([&] { sequence.estimator.cancel(); });
  FlowField field = sequence.estimator.new_result();
  View<const float> height;
  const auto find_height = [&](int number) {
    if (!heights) return;
    height = (*heights)(sequence.frames[0]);
    results.write_height(number, height);
  };
  int flows = 0;
  ProgressLine line(!options.quiet);
  line.begin("estimating");
  try {
    while (sequence.next(field)) {
      find_height(sequence.number());
      results.write_motion(sequence.number(), field, sequence.frames[0], height);
      if (heights) heights->move(field);
      sequence.take_frame();
      line.count(++flows, "flows");
    }
    if (flows > 0 && !sequence.frames.empty()) find_height(int(sequence.frames[0].index) - middle + 1);
  } catch (const Error& error) {
    WhileWriting::check();
    if (flows > 0) results.complete();
    fail_after(error, flows, "flow");
  }
  line.end();
  if (flows == 0)
    throw Error(ErrorCode::format,
                fmt::format("no motion: {} takes {} images without a damaged one between them",
                            name_of(method), window));

  Report report = options.begin("clouds", method, size, sequence.estimator.blocks());
  report.json.update(parameters_json(parameters_of(task)));
  sequence.add_to(report, name_of(method), info, "motion");
  if (heights) heights->add_to(report);
  results.end(report);
  options.print(report);
}

void add_height_options(App& command, CloudsOptions& options) {
  const Option stereo = command.add_option("--stereo FILE", options.stereo.right);
  constexpr const char* group = "Heights, from a stereo partner";
  stereo.help(
      "the same clouds from the right, an image for each of FRAMES: rectified, matches lie on the same row "
      "and further left");
  const Option height = command.add_option("--height PATTERN", options.heights),
               scale = command.add_setting("--height-scale X", options.stereo.scale),
               offset = command.add_setting("--height-offset X", options.stereo.offset),
               smoothing = command.add_setting("--height-smoothing N", options.stereo.smoothing),
               png = command.add_setting("--height-png X", options.height_png),
               disparities = command.add_setting("--disparities N", options.stereo.disparities),
               least = command.add_setting("--min-disparity PX", options.stereo.min_disparity);
  height.help(
      "write heights, as height%04d.npy: .npy, .pfm, or .png of 16 bit. They are NaN, in PNG 0, where "
      "unknown");
  scale.is([](double value) { return value != 0 && std::isfinite(value); }, "a finite number other than 0");
  scale.help("height of 1 px of disparity, in any unit: height = scale * disparity + offset");
  offset.is_finite().help("height of disparity 0");
  smoothing.range(1, 255).help("frames whose heights are averaged along the motion; 1 = none");
  png.is_positive().help("with --height FILE.png: the file's value of height 1");
  disparities.range(1, 4096).help("number of disparities that are searched");
  least.range(-4096, 4096).help("the least of them");
  for (const Option each : {stereo, height, scale, offset, smoothing, png, disparities, least})
    each.group(group);
  for (const Option each : {height, scale, offset, smoothing, png, disparities, least}) each.needs(stereo);
  command.leave_out_of_help({"--height-smoothing", "--height-png", "--min-disparity"});
}

}  // namespace

void add_clouds(App& program) {
  const auto options = std::make_shared<CloudsOptions>();
  App command =
      program.add_subcommand("clouds", "Track clouds in satellite images: their motion and heights");
  command.add_option(
      "FRAMES FILE", options->frames,
      fmt::format("images of one size, in time order: NetCDF, {}. A folder, a pattern "
                  "(image%04d.png) or a name with wildcards in quotes is taken in order of numbers",
                  frame_formats));
  command.add_option("-o,--output PATTERN", options->flow,
                     "write the motion of each image, as flow%04d.flo: .flo, .npy, .pfm or KITTI's .png, px. "
                     "The number of the first one is 1");
  command.add_option(
      "--arrows PATTERN", options->arrows,
      fmt::format("write each image with its motion as arrows, and a scale arrow: {}", picture_formats));
  command.add_option("--csv FILE", options->table,
                     "write a table of the arrows: frame, x, y, u, v (px), speed (m/s) and direction where "
                     "it is known, height, valid. The direction is where the wind comes from, degrees "
                     "clockwise from the top of the image (north)");
  command.add_option("--valid PATTERN", options->valid,
                     "write where the motion is valid: .png or .pgm. Valid pixels are 255, others 0");
  options->file.add_to(command);
  const Option bars = command.add_flag("--error-bars", options->bars);
  bars.help(
      "add error bars to --csv and --netcdf: standard deviations of u and v in px, of the wind in m/s where "
      "speeds are known, and the probability that the error is above 1 px. In the table, wind_sigma is the "
      "root mean square of both components");
  command.leave_out_of_help(bars);
  command.add_option("--km-per-pixel KM", options->arrow.units.km_per_pixel, "size of a pixel, for speeds")
      .is_positive();
  command.add_option("--minutes MIN", options->arrow.units.minutes, "time from image to image, for speeds")
      .is_positive();
  command.add_setting("--step PX", options->arrow.step, "distance of the arrows and the table's lines")
      .range(1, 100000);
  const Option scale = command.add_option("--scale X", options->arrow.scale).range(1e-3, 1e6);
  scale.help("length of an arrow / length of the flow; default: nearly all are at most 1.25 steps long");
  command.leave_out_of_help(scale);
  add_height_options(command, *options);
  options->reading.add_to(command);
  options->reading.add_mask_to(command);
  options->reading.add_overlay_to(command);
  FrameOptions::add_skip_to(command, options->reading.skip_damaged, "motion");
  options->add_to(command);
  command.get_option("--method")
      .help(
          "method of motion, by its preset clouds if it has one. With -m or --preset, --help lists its "
          "parameters");
  command.leave_out_of_help({"--skip-damaged"});
  command.examples({"clouds frame*.png --overlay lines.png --arrows arrows%02d.png",
                    "clouds frame*.png --csv motion.csv --km-per-pixel 4 --minutes 15",
                    "clouds a.png b.png --stereo right.png right2.png --height h%02d.npy"});
  command.before_help([command, &method = options->method] {
    if (command.get_option("--method").count() + command.get_option("--preset").count() == 0)
      static_cast<const ParameterOptions&>(method).show_only("");
  });
  command.callback([options] {
    options->expand();
    run(*options);
  });
}

}  // namespace parafield::command
