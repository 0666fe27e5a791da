// SPDX-License-Identifier: MIT
#include <cmath>
#include <optional>

#include "commands.hpp"
#include "fields.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

struct ColorCommandOptions {
  std::string field, output, frame, scheme = "middlebury";
  std::optional<float> min, max;
  FieldOptions kind;
  PictureOptions picture;
};

/// Throws UsageError for an option that belongs to another task than the file's.
void check_options(const App& command, Task task) {
  const std::vector<const char*> of_flow = {"--scheme", "--max-motion", "--frame",  "--arrows",
                                            "--step",   "--scale",      "--beside", "--legend"},
                                 of_disparity = {"--min", "--max", "--disparity-scale"};
  for (const char* option : task == Task::flow ? of_disparity : of_flow)
    if (command.get_option(option).count() > 0)
      throw UsageError(
          fmt::format("{} cannot be used with {}", option, task == Task::flow ? "flow" : "disparities"));
  const auto is_given = [&](const char* option) { return command.get_option(option).count() > 0; };
  if (is_given("--frame") && !is_given("--arrows") && !is_given("--beside"))
    throw UsageError("--frame needs --arrows or --beside");
}

/// Draws flow. `said` receives the description of its scale.
FrameBuffer drawn_flow(const ColorCommandOptions& options, std::string& said) {
  const FlowField flow = read_flow(options.field);
  const FrameBuffer frame = read_like(options.frame, options.field, flow.size(),
                                      [](const std::string& file) { return read_frame(file); });
  PictureOptions picture = options.picture;
  picture.color.scheme = options.scheme == "marzat" ? ColorScheme::marzat : ColorScheme::middlebury;
  picture.fit(flow);
  said = picture.scale_text() + "\n";
  return picture.draw(flow, frame);
}

FrameBuffer drawn_disparity(const ColorCommandOptions& options) {
  const DisparityField disparity = read_disparity_of(options.field, options.kind.scale, "--disparity-scale");
  const float min = options.min.value_or(0), max = options.max.value_or(0);
  if (options.max && !(max > min && std::isfinite(min) && std::isfinite(max)))
    throw UsageError(fmt::format("--max: {} px is not a finite number above --min, {} px", max, min));
  return color_disparity(disparity, {.min = min, .max = max});
}

void run(const App& command, const ColorCommandOptions& options) {
  check_outputs({{"-o", options.output, picture_extensions}}, {options.field, options.frame});
  const Task task = options.kind.task_of({options.field}, options.kind.scale != 0);
  check_options(command, task);
  Report report;
  std::string& said = report.text;
  const FrameBuffer picture = task == Task::flow ? drawn_flow(options, said) : drawn_disparity(options);
  {
    const WhileWriting whole;
    write_frame(options.output, picture);
  }
  report.json["files"] = {options.output};
  print(report, false);
}

}  // namespace

void add_color(App& program) {
  const auto options = std::make_shared<ColorCommandOptions>();
  App command = program.add_subcommand("color", "Draw flow in colors or as arrows, or disparities in colors");
  command.add_option(
      "FIELD FILE", options->field,
      "flow or disparities. Flow is .flo, .pfm, .npy or KITTI .png. Disparities are .pfm, .npy or gray .png");
  command
      .add_option("-o,--output FILE", options->output, fmt::format("picture to write: {}", picture_formats))
      .required();
  const Option scheme = command.add_setting("--scheme NAME", options->scheme);
  scheme.one_of({"middlebury", "marzat"});
  scheme.help(
      "colors of flow: middlebury or marzat. Hue is direction. No motion is white with middlebury and black "
      "with marzat");
  Option frame = command.add_option("--frame FILE", options->frame,
                                    "first frame of the flow, for --arrows and --beside");
  options->picture.add_to(command, frame);
  options->kind.add_to(command, {"flow", "disparity"}, "--disparity-scale");
  const Option max = command.add_option("--max PX", options->max);
  max.help("disparity that is red, px. Without it, the colors span the range of the valid disparities");
  command.add_option("--min PX", options->min)
      .needs(max)
      .help("with --max: disparity that is blue, px. Without it 0");
  command.get_option("--arrows").excludes(command.get_option("--scheme"));
  command.examples({"color flow.flo -o flow.png --legend",
                    "color flow.flo -o arrows.png --frame a.png --arrows",
                    "color disparity.pfm -o disparity.png"});
  command.callback([command, options] { run(command, *options); });
}

}  // namespace parafield::command
