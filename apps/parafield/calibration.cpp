// SPDX-License-Identifier: MIT
#include "calibration.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "estimation.hpp"
#include "fields.hpp"
#include "interrupt.hpp"

namespace parafield::command {
namespace {

Json rows_json(const RowAlignment& rows) {
  return {{"tracks", rows.tracks},     {"median_dy", rows.median_dy}, {"median_error", rows.median_error},
          {"error_90", rows.error_90}, {"above_1", rows.above_1},     {"rotation", rows.rotation}};
}

std::string rows_text(const RowAlignment& rows) {
  if (rows.tracks < RowAlignment::least_tracks) return fmt::format("unknown, of {} tracks", rows.tracks);
  return fmt::format("median {:.3f} px, 90 % below {:.3f} px, of {} tracks", rows.median_error, rows.error_90,
                     rows.tracks);
}

/// Returns a rectified view as a picture of u8 or, if `wide`, of u16. Unknown pixels become black.
FrameBuffer picture_of(const Frame& view, bool wide) {
  const int count = channels(view.format);
  const PixelFormat gray = wide ? PixelFormat::gray_u16 : PixelFormat::gray_u8,
                    color = wide ? PixelFormat::rgb_u16 : PixelFormat::rgb_u8;
  FrameBuffer picture(view.size(), count == 1 ? gray : color);
  const float most = wide ? 65535.0f : 255.0f, gain = most / (view.range.white - view.range.black);
  const auto fill = [&]<class T>(T* to, const float* from) {
    for (int i = 0; i < view.width * count; ++i) {
      const float value = (from[i] - view.range.black) * gain;
      to[i] = value > 0 ? T(std::lround(std::min(value, most))) : T(0);
    }
  };
  for (int y = 0; y < view.height; ++y) {
    const auto* from = reinterpret_cast<const float*>(static_cast<const char*>(view.data) + y * view.pitch);
    if (wide)
      fill(static_cast<std::uint16_t*>(picture.row(y)), from);
    else
      fill(static_cast<std::uint8_t*>(picture.row(y)), from);
  }
  return picture;
}

/// Writes a rectified view. A .pfm keeps the values, with NaN where unknown; a .png has 16 bits if `wide`.
void write_view(const Path& file, const Frame& view, bool wide) {
  if (has_extension(file, ".pfm"))
    write_frame(file, view);
  else
    write_frame(file, picture_of(view, wide && has_extension(file, ".png")));
}

double share_of(const Image<std::uint8_t>& region) {
  return double(count_of(region)) / (double(region.size().width) * region.size().height);
}

}  // namespace

void CalibratedPair::add_to(Report& report) const {
  if (!json.is_null()) report.json["rectification"] = json;
  report.text += text;
}

void CameraOptions::check() const {
  const bool asked = !depth.empty() || !depth_sigma.empty() || !points.empty();
  const char* const file = !points.empty() ? "--points" : depth.empty() ? "--depth-sigma" : "--depth";
  if (asked && calibration.empty() && !(focal > 0 && baseline > 0))
    throw UsageError(fmt::format("{} needs --calibration, or --focal and --baseline", file));
  if (!asked && (focal > 0 || baseline > 0 || offset != 0))
    throw UsageError(fmt::format("{} needs --depth or --points", focal > 0      ? "--focal"
                                                                 : baseline > 0 ? "--baseline"
                                                                                : "--doffs"));
  if (depth_scale && !has_extension(depth, ".png"))
    throw UsageError(fmt::format("--depth-scale needs a PNG; {} has the unit of the baseline", depth));
}

std::vector<Output> CameraOptions::outputs() const {
  const std::vector<std::string_view> views = {".png", ".jpg", ".jpeg", ".pfm"};
  return {{"--depth", depth, {".pfm", ".npy", ".png"}},
          {"--depth-sigma", depth_sigma, {".pfm", ".npy"}},
          {"--points", points, {".ply"}},
          {"--rectified-left", rectified_left, views},
          {"--rectified-right", rectified_right, views}};
}

std::optional<StereoGeometry> CameraOptions::geometry_of(Size size) const {
  if (calibration.empty()) {
    if (!(focal > 0 && baseline > 0)) return {};
    return StereoGeometry{focal, baseline, (size.width - 1) / 2.0, (size.height - 1) / 2.0, offset};
  }
  const StereoCalibration cameras = read_calibration(calibration, extrinsics);
  if (!cameras.assumption.empty()) note(fmt::format("{}: {}", calibration, cameras.assumption));
  return naming(calibration, [&] { return plan_rectification(cameras, size, alpha); }).geometry;
}

CalibratedPair Cameras::prepared(std::vector<FrameBuffer> frames) {
  CalibratedPair pair{.frames = std::move(frames)};
  const bool first = !std::exchange(begun_, true);
  if (first) begin(pair);
  pair.geometry = geometry_;
  if (!rectifier_) return pair;
  const RectifiedPair& views = (*rectifier_)(pair.frames[0], pair.frames[1]);
  if (first) {
    const RowAlignment after = measure_row_alignment(views.left, views.right, device_);
    pair.json["after"] = rows_json(after);
    pair.rows = after;
    pair.json["seen"] = share_of(rectifier_->region().left);
    pair.text += fmt::format("rows after rectification: {}\n", rows_text(after));
  }
  const PixelFormat format = pair.frames[0].format();
  pair.wide = bytes_per_value(format) == 2;
  pair.frames.clear();
  pair.frames.push_back(views.left.to(Memory::host()));
  pair.frames.push_back(views.right.to(Memory::host()));
  return pair;
}

void Cameras::begin(CalibratedPair& pair) {
  const std::string& calibration = options_.calibration;
  const Size size = pair.frames[0].size();
  if (calibration.empty()) {
    geometry_ = options_.geometry_of(size);
    return;
  }
  const StereoCalibration cameras = read_calibration(calibration, options_.extrinsics);
  if (!cameras.assumption.empty() && !quiet_) note(fmt::format("{}: {}", calibration, cameras.assumption));
  const Rectification plan =
      naming(calibration, [&] { return plan_rectification(cameras, size, options_.alpha); });
  const StereoGeometry& g = *(geometry_ = plan.geometry);
  const bool fisheye = cameras.left.distortion.model == LensModel::fisheye ||
                       cameras.right.distortion.model == LensModel::fisheye;
  pair.json = {{"focal", g.focal}, {"baseline", g.baseline}, {"cx", g.cx}, {"cy", g.cy}, {"doffs", g.doffs}};
  pair.json["fisheye"] = fisheye;
  pair.text = fmt::format("cameras: focal length {:.2f} px, baseline {:g}{}\n", g.focal, g.baseline,
                          fisheye ? ", fisheye lenses" : "");
  const RowAlignment before = measure_row_alignment(pair.frames[0], pair.frames[1], device_);
  pair.json["before"] = rows_json(before);
  if (cameras.rectified) {
    pair.rows = before;
    if (!options_.rectified_left.empty() || !options_.rectified_right.empty())
      throw UsageError(
          fmt::format("{}: the images are rectified already; there are no views to write", calibration));
    pair.text += fmt::format("rows: the images are rectified already; {}\n", rows_text(before));
    return;
  }
  pair.text += fmt::format("rows before rectification: {}\n", rows_text(before));
  rectifier_.emplace(cameras, size, RectifierOptions{.device = device_, .alpha = options_.alpha});
}

DepthLoss CameraOptions::write(const CalibratedPair& pair, const DisparityView& disparity,
                               const DisparityView& field, int number) const {
  DepthLoss loss;
  if (!depth.empty()) {
    const auto& [focal_length, distance, cx, cy, doffs] = pair.geometry.value();
    loss = write_depth(named(depth, number), depth_of(disparity, focal_length, distance, doffs).view(),
                       scale_of(*pair.geometry));
  }
  if (!depth_sigma.empty()) {
    const auto& [focal_length, distance, cx, cy, doffs] = pair.geometry.value();
    DisparityView with_sigma = disparity;
    with_sigma.sigma = field.sigma;
    write_depth(named(depth_sigma, number), depth_sigma_of(with_sigma, focal_length, distance, doffs).view());
  }
  if (!points.empty())
    write_points(named(points, number), points_of(field, pair.frames[0], pair.geometry.value()));
  if (!rectified_left.empty()) write_view(named(rectified_left, number), pair.frames[0], pair.wide);
  if (!rectified_right.empty()) write_view(named(rectified_right, number), pair.frames[1], pair.wide);
  return loss;
}

void CameraOptions::add_depths(Report& report, const StereoGeometry& geometry, const DepthLoss& loss,
                               bool quiet) const {
  if (!has_extension(depth, ".png")) return;
  const float scale = scale_of(geometry);
  const auto share = [&](std::int64_t count) { return loss.known ? double(count) / double(loss.known) : 0; };
  report.json["depth_png"] = {{"scale", json_of(scale)}, {"lost", share(loss.lost)}};
  report.text += fmt::format("{} holds depth * {:g}{}\n", depth, scale,
                             depth_scale || scale == 1 ? "" : ": millimeters, if the baseline is in meters");
  if (quiet) return;
  if (loss.lost > 0)
    note(
        fmt::format("{}: {:.3g} % of the depths do not fit and are 0: with --depth-scale {:g}, 16 bits hold "
                    "{:g} to {:g}; --depth FILE.pfm holds all",
                    depth, 100 * share(loss.lost), scale, 1 / scale, 65535 / scale));
  if (share(loss.coarse) > 0.5)
    note(
        fmt::format("{}: {:.3g} % of the depths are stored in steps of more than 1 %; a larger --depth-scale "
                    "than {:g} makes them finer",
                    depth, 100 * share(loss.coarse), scale));
}

void CameraOptions::add_to(App& command, bool views) {
  const Option file = command.add_option("--calibration FILE", calibration),
               second = command.add_option("--extrinsics FILE", extrinsics),
               shown = command.add_setting("--alpha A", alpha).range(0, 1);
  file.help(
      "rectify the images first, by this calibration. It is OpenCV's YAML with K1, D1, K2, D2, R and T, also "
      "of fisheye lenses, ROS's camera_info of one camera, or calib.txt of Middlebury or KITTI, whose images "
      "are rectified already. The report says how well rows match before and after");
  second.help(
      "with --calibration: a second file: of OpenCV, which has R and T, or ROS's camera_info of the other "
      "camera");
  shown.help(
      "with --calibration: how much the rectified views show. 0: all their pixels lie in the images; 1: they "
      "show the whole images, and pixels beyond are not valid");
  if (views) {
    const Option left = command.add_option("--rectified-left FILE", rectified_left).needs(file),
                 right = command.add_option("--rectified-right FILE", rectified_right).needs(file);
    left.help(
        "with --calibration: write the rectified left view: .png, .jpg or .pfm. Pixels outside the image are "
        "black, in a .pfm NaN");
    right.help("with --calibration: write the rectified right view");
    const Option sigma = command.add_option("--depth-sigma FILE", depth_sigma);
    sigma.help(
        "write error bars, the standard deviation of each depth: .pfm or .npy, in the unit of the depths. "
        "Points then have a sigma_z, too");
    for (const Option& option : {left, right, sigma}) command.leave_out_of_help(option);
  }
  const Option depths = command.add_option("--depth FILE", depth),
               points_file = command.add_option("--points FILE", points);
  depths.help(
      "write depths: .pfm, .npy or .png. They are focal * baseline / (disparity + doffs), in the unit of the "
      "baseline or T, and infinite where not valid. A .png has depth * --depth-scale in 16 bit, and 0 where "
      "not valid or too large");
  points_file.help(
      "write a cloud of colored points: .ply. They are the valid pixels, without those that were filled in, "
      "in the unit of the baseline or T");
  const Option scale = add_scale(command, "--depth-scale", depth_scale,
                                 "with --depth FILE.png: the file's value of a depth of 1. Without it 1000 "
                                 "for a baseline below 3, which is taken as meters: the file has "
                                 "millimeters. Otherwise 1");
  const Option length = command.add_option("--focal PX", focal),
               distance = command.add_option("--baseline B", baseline),
               doffs = command.add_setting("--doffs PX", offset);
  length.is_positive().excludes(file).help("without --calibration: focal length");
  distance.is_positive().excludes(file).help(
      "without --calibration: distance of the cameras. Depths and points have its unit");
  doffs.is_finite().excludes(file).help(
      "without --calibration: offset of the right camera's principal point to the right of the left one's");
  scale.needs(depths);
  for (const Option& option : {second, shown}) option.needs(file);
  for (const Option& option : {second, shown, scale, length, distance, doffs})
    command.leave_out_of_help(option);
}

}  // namespace parafield::command
