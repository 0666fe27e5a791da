// SPDX-License-Identifier: MIT
#include <cmath>
#include <numbers>

#include "clouds.hpp"

namespace parafield::command {
namespace {

/// Calls f(x, y) for the pixels of draw_arrows' grid whose flow is known.
template <class F>
void for_grid(const FlowView& flow, int step, F f) {
  const auto first = [&](int side) { return std::min(step, side) / 2; };
  for (int y = first(flow.u.height); y < flow.u.height; y += step)
    for (int x = first(flow.u.width); x < flow.u.width; x += step)
      if (std::abs(flow.u(x, y)) <= 1e9f && std::abs(flow.v(x, y)) <= 1e9f) f(x, y);
}

/// Returns the largest of 1, 2 and 5 times a power of ten that does not exceed `most`.
double round_number(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)));
  return power * (most >= 5 * power ? 5 : most >= 2 * power ? 2 : 1);
}

/// Returns a stereo method for clouds: smooth surfaces, subpixel disparities.
StereoMethod stereo_method(const CloudHeights::Options& options) {
  auto method = preset<BeliefPropagation<StereoEnergy>>("accurate");
  method.energy.disparities = options.disparities;
  method.energy.min_disparity = options.min_disparity;
  method.energy.checks = {.lr_check = 1.5f, .speckle = 50};
  check(method);
  return method;
}

}  // namespace

double wind_direction(double u, double v) {
  const double degrees = std::atan2(-u, v) * 180 / std::numbers::pi;
  return degrees < 0 ? degrees + 360 : degrees;
}

void CloudArrows::fit(const FlowView& flow) {
  if (scale > 0) return;
  std::vector<double> lengths;
  for_grid(flow, step, [&](int x, int y) {
    if (!flow.valid || flow.valid(x, y)) lengths.push_back(std::hypot(flow.u(x, y), flow.v(x, y)));
  });
  std::ranges::sort(lengths);
  const double most = lengths.empty() ? 0 : quantile(lengths, 0.98);
  scale = most > 1e-3 ? float(1.25 * step / most) : 1;
}

FrameBuffer CloudArrows::draw(const FlowView& flow, const Frame& frame) const {
  const FrameBuffer picture = draw_arrows(frame, flow, {.step = step, .scale = scale});
  const double unit = units.given() ? units.meters_per_second() : 1,
               shown = round_number(2.5 * step / scale * unit);
  return with_scale_arrow(picture, float(shown / unit * scale),
                          fmt::format("{:g} {}", shown, units.given() ? "m/s" : "px"));
}

CloudTable::CloudTable(int step, CloudUnits units, bool has_heights, bool has_bars)
    : step_(step), units_(units), has_heights_(has_heights), has_bars_(has_bars) {
  const char* const bars = !has_bars_       ? ""
                           : units_.given() ? ",u_sigma,v_sigma,wind_sigma,outlier"
                                            : ",u_sigma,v_sigma,outlier";
  text_ = fmt::format("frame,x,y,u,v{}{}{},valid\n", units_.given() ? ",speed,direction" : "", bars,
                      has_heights_ ? ",height" : "");
}

void CloudTable::add(int number, const FlowView& flow, View<const float> height) {
  for_grid(flow, step_, [&](int x, int y) {
    const double u = flow.u(x, y), v = flow.v(x, y);
    text_ += fmt::format("{},{},{},{:.4f},{:.4f}", number, x, y, u, v);
    if (units_.given())
      text_ +=
          fmt::format(",{:.3f},{:.1f}", std::hypot(u, v) * units_.meters_per_second(), wind_direction(u, v));
    if (has_bars_) {
      const double xx = flow.covariance.xx(x, y), yy = flow.covariance.yy(x, y);
      text_ += fmt::format(",{:.4g},{:.4g}", std::sqrt(xx), std::sqrt(yy));
      if (units_.given())
        text_ += fmt::format(",{:.4g}", std::sqrt((xx + yy) / 2) * units_.meters_per_second());
      text_ += fmt::format(",{:.4f}", flow.outlier(x, y));
    }
    if (has_heights_) {
      const bool known = height && std::isfinite(height(x, y));
      text_ += known ? fmt::format(",{:.4f}", height(x, y)) : ",";
    }
    text_ += fmt::format(",{}\n", int(!flow.valid || flow.valid(x, y)));
  });
}

void CloudFileOptions::add_to(App& command) {
  const Option file = command.add_option("--netcdf FILE", path),
               first = command.add_option("--start TIME", start),
               unit = command.add_option("--height-unit UNIT", height_unit);
  file.help(
      "write motion, speeds where they are known, and heights of all images into one file by the CF "
      "conventions: .nc");
  first.help("with --netcdf and --minutes: time of the first image, UTC, as 2017-09-06T12:00").needs(file);
  unit.help("with --netcdf: unit of the heights, m or km").needs(file);
  command.leave_out_of_help({"--start", "--height-unit"});
}

void CloudFileOptions::check(CloudUnits units, bool has_heights) const {
  if (path.empty()) return;
  if (const std::string why = why_no_netcdf(); !why.empty())
    throw Error(ErrorCode::unsupported, fmt::format("--netcdf: {}", why));
  if (!start.empty() && !(units.minutes > 0)) throw UsageError("--start needs --minutes");
  if (!height_unit.empty() && !has_heights) throw UsageError("--height-unit needs --stereo, the other view");
}

MotionFile CloudFileOptions::begin(Size size, CloudUnits units, bool has_heights, bool has_bars,
                                   int first) const {
  return typed([&] {
    return MotionFile(path, size,
                      {.km_per_pixel = units.km_per_pixel,
                       .minutes = units.minutes,
                       .start = start,
                       .height_unit = height_unit,
                       .has_heights = has_heights,
                       .has_bars = has_bars,
                       .first_image = first});
  });
}

CloudHeights::CloudHeights(const Options& options, const FrameOptions& reading, Size size,
                           const Device& device, bool quiet)
    : options_(options),
      quiet_(quiet),
      right_(options.right, reading, 1, quiet),
      estimator_(stereo_method(options), size, {.device = device, .examine_frames = true}),
      flow_(AdaptiveRidge{}, size, {.device = device}),
      start_(size, Memory::host(), false),
      smoothing_{.frames = options.smoothing, .tolerance = float(1.5 * std::abs(options.scale))},  // 1.5 px
      filter_(size, smoothing_) {}

void CloudHeights::refine(DisparityField& field, const Frame& left, const Frame& right) {
  constexpr float most_along = 0.6f, most_across = 0.2f;  // px; beyond that the flow is another surface's
  const float least = float(options_.min_disparity);
  const View<float> d = field.d;
  for (int y = 0; y < d.height; ++y)
    for (int x = 0; x < d.width; ++x) start_.u(x, y) = -d(x, y);  // v stays 0
  const Frame frames[] = {left, right};
  const FlowField& flow = flow_(FlowInput{.frames = frames, .start = start_});
  for (int y = 0; y < d.height; ++y)
    for (int x = 0; x < d.width; ++x) {
      float& value = d(x, y);
      if (std::abs(flow.u(x, y) + value) < most_along && std::abs(flow.v(x, y)) < most_across)
        value = -flow.u(x, y);
      value = std::max(value, least);
    }
}

void CloudHeights::add_to(Report& report) const {
  Json found;
  add_frames(found, unusable_, "heights", quiet_);
  if (found.contains("without_texture")) report.json["heights_without_texture"] = found["without_texture"];
}

View<const float> CloudHeights::operator()(const InputFrame& left) {
  if (left.index != last_ + 1) filter_ = HeightFilter(start_.size(), smoothing_);  // images were skipped
  last_ = left.index;
  while (!right_frame_ || right_frame_->index < left.index)
    if (right_frame_ = right_.next(); !right_frame_) break;
  const std::optional<InputFrame>& right = right_frame_;
  if (!right && right_.source_notes().empty())
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--stereo: has {} images, FRAMES has more; each has its partner", right_.count()));
  if (!right || right->index != left.index) {  // it was skipped
    Image<float> unknown(start_.size());
    for (int y = 0; y < unknown.size().height; ++y)
      for (int x = 0; x < unknown.size().width; ++x) unknown(x, y) = NAN;
    return filter_(unknown);
  }
  DisparityField field = estimator_(left.frame, right->frame).to(Memory::host());
  unusable_.add(estimator_.frames_state(), left.index + 1);
  refine(field, left.frame, right->frame);
  mark_unknown(field, left.known, right->known);
  const Image<float> heights = height_of(field, options_.scale, options_.offset);
  return filter_(heights);
}

}  // namespace parafield::command
