// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "estimation.hpp"
#include "frames.hpp"

/// The command clouds: motion and heights of clouds in an image sequence.
namespace parafield::command {

/// Scale of a sequence in space and time. If both are given, motion has a speed.
struct CloudUnits {
  double km_per_pixel = 0, minutes = 0;  ///< 0 = not given

  bool given() const { return km_per_pixel > 0 && minutes > 0; }
  /// Speed, in m/s, of a motion of 1 px per frame.
  double meters_per_second() const { return 1000 * km_per_pixel / (60 * minutes); }
};

/// Returns the direction from which the wind blows that causes the motion (u, v), px: degrees clockwise from
/// the top of the image, 0 to 360.
double wind_direction(double u, double v);

/// Draws arrows over the images.
struct CloudArrows {
  int step = 24;    ///< px
  float scale = 0;  ///< arrow length / flow length; 0: fit() sets it
  CloudUnits units;

  /// Sets the scale, if none was given, such that nearly all arrows are at most 1.25 steps long.
  void fit(const FlowView& flow);
  FrameBuffer draw(const FlowView& flow, const Frame& frame) const;
};

/// The table of --csv: one line per arrow of each flow.
class CloudTable {
 public:
  CloudTable(int step, CloudUnits units, bool has_heights, bool has_bars);

  /// Adds the lines of a flow. `height` may be empty.
  void add(int number, const FlowView& flow, View<const float> height);
  const std::string& text() const { return text_; }

 private:
  const int step_;
  const CloudUnits units_;
  const bool has_heights_, has_bars_;
  std::string text_;
};

/// --netcdf: motion and heights of all images in one file.
struct CloudFileOptions {
  std::string path, start, height_unit;

  void add_to(App& command);
  /// Throws UsageError for options that do not fit together, and Error(unsupported) without NetCDF.
  void check(CloudUnits units, bool has_heights) const;
  /// Begins the file. `first`: number, counted from 1, of the image that the first motion belongs to.
  MotionFile begin(Size size, CloudUnits units, bool has_heights, bool has_bars, int first) const;
};

/// Finds heights in stereo pairs and smooths them along the motion. Disparities are refined by the flow from
/// the left to the right image, because the surfaces of clouds are smooth while the values of belief
/// propagation are close to whole pixels.
class CloudHeights {
 public:
  struct Options {
    std::vector<std::string> right;  ///< right images of the frames; empty = no stereo
    double scale = 1, offset = 0;
    int disparities = 64, min_disparity = 0, smoothing = 4;
  };

  CloudHeights(const Options& options, const FrameOptions& reading, Size size, const Device& device,
               bool quiet);

  /// Returns the heights for a later left image, NaN where unknown, valid until the next call.
  View<const float> operator()(const InputFrame& left);
  /// Moves the heights along the motion to the next image. Heights without valid motion are dropped.
  void move(const FlowView& flow) { filter_.move(flow); }
  /// Adds which images have no heights, because neither view shows more than noise.
  void add_to(Report& report) const;

 private:
  const Options options_;
  const bool quiet_;
  InputFrames right_;
  FramesFindings unusable_;
  std::optional<InputFrame> right_frame_;
  std::int64_t last_ = -1;  // index of the last left image
  /// Refines the disparities where the flow agrees with them.
  void refine(DisparityField& field, const Frame& left, const Frame& right);

  StereoEstimator estimator_;
  FlowEstimator flow_;
  FlowField start_;
  const HeightFilterOptions smoothing_;
  HeightFilter filter_;
};

}  // namespace parafield::command
