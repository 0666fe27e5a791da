// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "files.hpp"
#include "options.hpp"
#include "report.hpp"

/// Cameras of parafield stereo: calibration, rectification, depths and points.
namespace parafield::command {

/// A pair of images, rectified if there is a calibration, and what is known about its cameras.
struct CalibratedPair {
  std::vector<FrameBuffer> frames = {};  ///< left, right
  std::optional<StereoGeometry> geometry = {};
  std::optional<RowAlignment> rows = {};  ///< row alignment of `frames`, if measured
  bool wide = false;                      ///< write rectified views with 16 bits
  Json json = {};                         ///< "rectification" in the report
  std::string text = {};                  ///< the same as text

  void add_to(Report& report) const;
};

/// --calibration, --focal and the files that need them.
struct CameraOptions {
  std::string calibration, extrinsics;
  double alpha = 0;
  std::string rectified_left, rectified_right, depth, depth_sigma, points;
  std::optional<float> depth_scale;
  double focal = 0, baseline = 0, offset = 0;

  /// Adds the options. `views`: also the options of the rectified views.
  void add_to(App& command, bool views = true);
  /// The geometry of rectified views of this size, by --calibration or --focal and --baseline; none without
  /// them.
  std::optional<StereoGeometry> geometry_of(Size size) const;
  /// Throws UsageError for files without the options that they need.
  void check() const;
  std::vector<Output> outputs() const;
  std::vector<Path> inputs() const { return {calibration, extrinsics}; }

  /// Writes the files of pair `number` of a series, 0 without one. `disparity` has the pixels that depth and
  /// points are computed from; `field` has only the pixels that were not filled in. Returns what a depth PNG
  /// cannot hold.
  DepthLoss write(const CalibratedPair& pair, const DisparityView& disparity, const DisparityView& field,
                  int number) const;
  /// Adds the scale of a depth PNG and what it cannot hold, which is also a note.
  void add_depths(Report& report, const StereoGeometry& geometry, const DepthLoss& loss, bool quiet) const;

 private:
  float scale_of(const StereoGeometry& geometry) const {
    return depth_scale.value_or(depth_scale_of(geometry.baseline));
  }
};

/// The cameras of a series of pairs of the same size.
class Cameras {
 public:
  Cameras(const CameraOptions& options, const Device& device, bool quiet)
      : options_(options), device_(device), quiet_(quiet) {}

  /// Returns the pair to estimate from: both views rectified if there is a calibration, else the frames
  /// unchanged. Only the first pair carries the report.
  CalibratedPair prepared(std::vector<FrameBuffer> frames);

 private:
  /// Applies the calibration to the first pair and measures the row alignment.
  void begin(CalibratedPair& pair);

  const CameraOptions& options_;
  const Device device_;
  const bool quiet_;
  bool begun_ = false;
  std::optional<StereoGeometry> geometry_;
  std::optional<Rectifier> rectifier_;
};

}  // namespace parafield::command
