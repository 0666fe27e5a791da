// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>

#include "core/value_range.hpp"
#include "parafield/rectification.hpp"
#include "parafield/stereo.hpp"
#include "steps/convert/convert.hpp"
#include "tasks/session.hpp"

namespace parafield {

std::array<Frame, 2> split_views(const Frame& frame, ViewLayout layout, bool right_first) {
  const bool beside = layout == ViewLayout::side_by_side;
  const int side = beside ? frame.width : frame.height;
  if (side < 2 || side % 2 == 1)
    fail(ErrorCode::invalid_argument, "a frame of ", frame.size(), " pixels cannot be halved into ",
         beside ? "views side by side; its width should be even"
                : "one view above the other; its height should be even");
  Frame first = frame;
  first.pitch = pitch_of(frame);
  (beside ? first.width : first.height) = side / 2;
  Frame second = first;
  const std::ptrdiff_t distance = beside ? row_bytes(first) : first.pitch * first.height;
  second.data = static_cast<const char*>(frame.data) + distance;
  return right_first ? std::array{second, first} : std::array{first, second};
}

namespace {

/// `length`: focal length times baseline.
float depth_sigma(double depth, double length, double sigma) { return float(depth * depth / length * sigma); }

/// Calls f(depth, x, y) for each pixel; the depth is infinite where it is unknown. Throws like depth_of.
template <class F>
void for_each_depth(const DisparityView& disparity, double focal_length, double baseline, double offset,
                    F f) {
  if (!(focal_length > 0 && std::isfinite(focal_length)))
    fail(ErrorCode::invalid_argument, "a focal length cannot be ", focal_length, " px; it is above 0");
  if (!(baseline > 0 && std::isfinite(baseline)))
    fail(ErrorCode::invalid_argument, "a baseline cannot be ", baseline, "; it is above 0");
  if (!std::isfinite(offset))
    fail(ErrorCode::invalid_argument, "an offset cannot be ", offset, " px; it is finite");
  for_each_pixel(disparity.size(), [&](int x, int y) {
    const double d = disparity.d(x, y) + offset;
    const bool known = has_value(disparity.d(x, y)) && is_set(disparity.valid, x, y) && d > 0;
    f(known ? focal_length * baseline / d : std::numeric_limits<double>::infinity(), x, y);
  });
}

}  // namespace

Image<float> depth_of(const In<DisparityView>& disparity, double focal_length, double baseline,
                      double offset) {
  check_disparity(disparity, "the disparity field");
  Image<float> depth(disparity.size());
  for_each_depth(disparity, focal_length, baseline, offset,
                 [&](double z, int x, int y) { depth(x, y) = float(z); });
  return depth;
}

Image<float> depth_sigma_of(const In<DisparityView>& disparity, double focal_length, double baseline,
                            double offset) {
  check_disparity(disparity, "the disparity field");
  if (!disparity.sigma) fail(ErrorCode::invalid_argument, "the disparities have no sigma: see StereoOptions");
  Image<float> sigma(disparity.size());
  for_each_depth(disparity, focal_length, baseline, offset, [&](double z, int x, int y) {
    sigma(x, y) = depth_sigma(z, focal_length * baseline, double(disparity.sigma(x, y)));
  });
  return sigma;
}

std::vector<ColorPoint> points_of(const In<DisparityView>& disparity, const In<Frame>& left,
                                  const StereoGeometry& geometry) {
  check_disparity(disparity, "the disparity field");
  Frame frame = checked(left, "the left frame", disparity.size(), Device::cpu());
  give_range({&frame, 1});
  const double focal = geometry.focal, baseline = geometry.baseline, cx = geometry.cx, cy = geometry.cy,
               doffs = geometry.doffs;
  if (!(focal > 0 && baseline > 0) || !std::isfinite(focal + baseline + cx + cy + doffs))
    fail(ErrorCode::invalid_argument, "no points by a focal length of ", focal, " px, a baseline of ",
         baseline, ", the principal point (", cx, ", ", cy, ") and doffs ", doffs,
         ": focal length and baseline should be above 0, and all finite");
  std::vector<ColorPoint> points;
  with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    const auto byte = [&](const Sample* row, int x, int channel) {
      const float value = channel_of(row, x, channel, Channels, Red, scale);
      return std::uint8_t(clamp(value, 0.0f, 255.0f) + 0.5f);
    };
    for (int y = 0; y < frame.height; ++y) {
      const Sample* const row = row_of<Sample>(frame, y);
      for (int x = 0; x < frame.width; ++x) {
        const double d = disparity.d(x, y) + doffs;
        if (!has_value(disparity.d(x, y)) || !is_set(disparity.valid, x, y) || !(d > 0)) continue;
        const double z = focal * baseline / d;
        ColorPoint point{float((x - cx) * z / focal),
                         float((y - cy) * z / focal),
                         float(z),
                         byte(row, x, 0),
                         byte(row, x, 1),
                         byte(row, x, 2)};
        if (disparity.sigma) point.sigma_z = depth_sigma(z, focal * baseline, double(disparity.sigma(x, y)));
        points.push_back(point);
      }
    }
  });
  return points;
}

}  // namespace parafield
