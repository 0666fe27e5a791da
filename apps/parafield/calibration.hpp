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

/// A pair of images, rectified if there is a calibration, and what is known of its cameras.
struct CalibratedPair {
  std::vector<FrameBuffer> frames = {};  ///< left, right
  std::optional<StereoGeometry> geometry = {};
  std::optional<RowAlignment> rows = {};  ///< of `frames`, where it has been measured
  bool wide = false;                      ///< rectified views are written with 16 bit
  Json json = {};                         ///< of the report: "rectification"
  std::string text = {};                  ///< of the report

  void add_to(Report& report) const;
};

/// --calibration, --focal and the files that need them.
struct CameraOptions {
  std::string calibration, extrinsics;
  double alpha = 0;
  std::string rectified_left, rectified_right, depth, points;
  std::optional<float> depth_scale;
  double focal = 0, baseline = 0, offset = 0;

  void add_to(App& command);
  /// Throws UsageError for files without the options that they need.
  void check() const;
  std::vector<Output> outputs() const;
  std::vector<Path> inputs() const { return {calibration, extrinsics}; }
  std::vector<std::string> files() const { return {depth, points, rectified_left, rectified_right}; }
  /// The files of a series with the number in their names.
  CameraOptions numbered(int number) const;

  /// Writes the files. `disparity`: with the pixels that count for depths; `field`: those that were not
  /// filled in.
  void write(const CalibratedPair& pair, const DisparityView& disparity, const DisparityView& field) const;
};

/// The cameras of pairs of one size.
class Cameras {
 public:
  Cameras(const CameraOptions& options, const Device& device) : options_(options), device_(device) {}

  /// The pair that is estimated: both views rectified by the calibration. Without one the frames as they are. Only the
  /// first pair has the report.
  CalibratedPair prepared(std::vector<FrameBuffer> frames);

 private:
  /// Takes the calibration and measures the rows of the first pair.
  void begin(CalibratedPair& pair);

  const CameraOptions& options_;
  const Device device_;
  bool begun_ = false;
  std::optional<StereoGeometry> geometry_;
  std::optional<Rectifier> rectifier_;
};

}  // namespace parafield::command
