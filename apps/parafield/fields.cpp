// SPDX-License-Identifier: MIT
#include "fields.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "options.hpp"

namespace parafield::command {

const char* to_string(Task task) {
  return task == Task::flow ? "flow" : task == Task::disparity ? "disparity" : "mask";
}

static const char* text_of(FileKind kind) {
  return kind == FileKind::frame       ? "a picture"
         : kind == FileKind::flow      ? "flow"
         : kind == FileKind::disparity ? "disparities"
                                       : "unknown data";
}

void FieldOptions::add_to(App& command, const std::vector<std::string>& tasks,
                          const std::string& scale_names) {
  names = tasks;
  names.insert(names.begin(), "auto");
  command.add_setting("--task NAME", task)
      .one_of(names)
      .help(fmt::format("kind of the files: {}. auto: found, for all files except gray PNGs of 8 bit",
                        fmt::join(names, ", ")));
  add_scale(command, scale_names, scale,
            "with a PNG of disparities: the file's value of 1 px. Middlebury has 16 (tsukuba), 8 (venus), 4 "
            "(cones) or 3 (art, aloe). Without it, PNGs of 16 bit have KITTI's 256");
}

Task FieldOptions::task_of(const std::vector<Path>& files, bool scaled) const {
  for (const Task each : {Task::flow, Task::disparity, Task::mask})
    if (task == to_string(each)) return each;
  std::vector<FileKind> kinds;
  std::vector<std::string> says;
  for (const Path& file : files) {
    kinds.push_back(file_kind(file));
    says.push_back(fmt::format("{} holds {}", file.string(), text_of(kinds.back())));
  }
  const auto is = [](FileKind kind) { return [kind](FileKind each) { return each == kind; }; };
  if (std::ranges::all_of(kinds, is(FileKind::flow))) return Task::flow;
  const bool pictures = std::ranges::all_of(kinds, is(FileKind::frame));
  const bool disparities = std::ranges::all_of(
      kinds, [](FileKind kind) { return kind == FileKind::disparity || kind == FileKind::frame; });
  // Masks never have 16 bits, so such gray files are KITTI's disparities.
  const auto is_wide = [](const Path& file) { return read_frame(file).format() == PixelFormat::gray_u16; };
  if (disparities && (!pictures || scaled || std::ranges::any_of(files, is_wide))) return Task::disparity;
  const bool known = std::ranges::find(kinds, FileKind::unknown) == kinds.end();
  std::string hint = !known             ? "; it should be flow, disparities or a picture"
                     : files.size() > 1 ? "; both should be of one kind"
                                        : "";
  if (pictures)
    hint = fmt::format("; give the kind by --task ({})", fmt::join(names.begin() + 1, names.end(), ", "));
  throw Error(ErrorCode::format, fmt::format("{}{}", fmt::join(says, " and "), hint));
}

DisparityField read_disparity_of(const Path& path, float scale, const char* option) {
  if (scale != 0 && file_kind(path) == FileKind::disparity)
    throw UsageError(fmt::format("{} is for a PNG; {} holds px", option, path.string()));
  try {
    return read_disparity(path, scale);
  } catch (const Error& problem) {
    if (problem.code() != ErrorCode::invalid_argument || scale != 0) throw;
    throw UsageError(fmt::format("{}: give it by {}", problem.what(), option));
  }
}

Image<float> read_confidence(const Path& path) {
  // Confidence and disparities have the same file format: one float per pixel.
  if (const FileKind kind = file_kind(path); kind != FileKind::disparity)
    throw Error(
        ErrorCode::format,
        fmt::format("{}: holds {}, not a confidence, which is a .pfm or .npy of one float for each pixel",
                    path.string(), text_of(kind)));
  return std::move(read_disparity(path).d);
}

void write_confidence(const Path& path, View<const float> confidence) {
  write_disparity(path, DisparityView{confidence});
}

void ErrorBarFiles::add_to(App& command, Task task) {
  const auto add = [&](const char* name, std::string& file, const char* help) {
    const Option option = command.add_option(name, file);
    option.help(help);
    command.leave_out_of_help(option);
  };
  if (task == Task::flow)
    add("--covariance FILE", covariance,
        "write error bars, the covariance of each vector: .npy, height x width x 3, px^2");
  else
    add("--sigma FILE", sigma,
        "write error bars, the standard deviation of each disparity: .npy or .pfm, px");
  add("--outlier FILE", outlier, "write the probability that the error is above 1 px: .npy or .pfm");
  add("--outlier3 FILE", outlier3, "write the probability that the error is above 3 px: .npy or .pfm");
  add("--cause FILE", cause,
      "write why errors may be large: .png or .pgm. 0 fine, 1 texture or noise, 2 boundary, 3 inconsistent, "
      "4 "
      "hidden, 5 left the frame");
}

std::vector<Output> ErrorBarFiles::outputs() const {
  return {{"--covariance", covariance, {".npy"}},
          {"--sigma", sigma, confidence_extensions},
          {"--outlier", outlier, confidence_extensions},
          {"--outlier3", outlier3, confidence_extensions},
          {"--cause", cause, {".png", ".pgm"}}};
}

void ErrorBarFiles::ask(FlowOptions& options) const {
  options.covariance = !covariance.empty();
  options.outlier = !outlier.empty() || !outlier3.empty();
  options.cause = !cause.empty();
}
void ErrorBarFiles::ask(StereoOptions& options) const {
  options.sigma = !sigma.empty();
  options.outlier = !outlier.empty() || !outlier3.empty();
  options.cause = !cause.empty();
}

template <class Field>
void ErrorBarFiles::write_shared(const Field& field, int number) const {
  if (!outlier.empty()) write_confidence(named(outlier, number), field.outlier);
  if (!outlier3.empty()) write_confidence(named(outlier3, number), field.outlier3);
  if (cause.empty()) return;
  const View<const std::uint8_t> plane = field.cause;
  write_frame(named(cause, number),
              Frame{plane.data, plane.width, plane.height, plane.pitch, PixelFormat::gray_u8});
}
void ErrorBarFiles::write(const FlowField& flow, int number) const {
  if (!covariance.empty())
    write_covariance(named(covariance, number), {flow.covariance.xx, flow.covariance.xy, flow.covariance.yy});
  write_shared(flow, number);
}
void ErrorBarFiles::write(const DisparityField& disparity, int number) const {
  if (!sigma.empty()) write_confidence(named(sigma, number), disparity.sigma);
  write_shared(disparity, number);
}

void PictureOptions::add_to(App& command, Option frame) {
  const Option arrows_option =
      command.add_flag("--arrows", arrows, "draw arrows over the frame instead of colors").needs(frame);
  const Option step = command.add_setting("--step PX", arrow.step, "distance of the arrows")
                          .range(1, 100000)
                          .needs(arrows_option);
  const Option scale = command.add_option("--scale X", arrow.scale).range(1e-3, 1e6).needs(arrows_option);
  scale.help("length of an arrow / length of the flow; default: the longest arrow is one step long");
  const Option most = command.add_option("--max-motion PX", color.max_motion).excludes(arrows_option);
  most.is_positive().help(
      "length of flow with full color, px; default: the longest, without a few wild vectors");
  for (const Option option : {step, scale, most}) command.leave_out_of_help(option);
  command.add_flag("--beside", beside, "put the frame and the picture side by side").needs(frame);
  command.add_flag("--legend", legend, "draw the color wheel in the lower right corner")
      .excludes(arrows_option);
}

void PictureOptions::fit(const FlowView& flow) {
  if (arrows && arrow.scale == 0) arrow.scale = arrow_scale(flow, arrow.step);
  if (!arrows && color.max_motion == 0) color.max_motion = color_scale(flow);
}

std::string PictureOptions::scale_text() const {
  return arrows ? fmt::format("arrows are {:.3g} times as long as the flow", arrow.scale)
                : fmt::format("flow of {:.3g} px has full color", color.max_motion);
}

FrameBuffer PictureOptions::draw(const FlowView& flow, const Frame& frame) const {
  FrameBuffer picture = arrows ? draw_arrows(frame, flow, arrow) : color_flow(flow, color);
  if (legend) picture = with_legend(picture, color.scheme, color.max_motion);
  return beside ? parafield::beside(frame, picture) : std::move(picture);
}

}  // namespace parafield::command
