// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calibration.hpp"
#include "estimation.hpp"
#include "fields.hpp"
#include "frames.hpp"

/// The command stereo: disparities of a pair of images, or of each pair of a stereo camera's video.
namespace parafield::command {

/// --side-by-side, --over-under, --right-first: frames that hold both views.
struct PackedViews {
  bool side_by_side = false, over_under = false, right_first = false;

  explicit operator bool() const { return side_by_side || over_under; }
  void add_to(App& command);
  /// Replaces frame and mask of `pair` by the left and the right halves. `name` is for messages.
  void split(KnownFrames& pair, const std::string& name) const;
};

struct StereoCommandOptions : EstimationOptions<Stereo> {
  std::vector<std::string> images;
  std::string disparity, valid, confidence, color;  // output files; CameraOptions has more
  ErrorBarFiles bars;
  std::optional<float> scale;  // for -o FILE.png
  float true_scale = 0;
  CameraOptions camera;
  FrameOptions reading;
  PackedViews packed;
  bool beside = false;
  TruthOptions truth;

  /// Two names stay as they are, because each camera's files are found separately.
  void expand() {
    if (images.size() != 2) expand_names(images);
  }
  std::vector<Output> outputs() const;
  std::vector<Path> inputs() const;
  /// Writes the files of pair `number` of a series, 0 without one. `filled`: invalid pixels have been filled
  /// in. Returns what a depth PNG cannot hold.
  DepthLoss write(const DisparityField& field, bool filled, const CalibratedPair& pair, int number = 0,
                  const DisparityColorOptions& colors = {}) const;
};

StereoEnergy& energy_of(StereoMethod& method);

/// Findings on a pair before it is estimated.
struct Examined {
  PairFindings findings;
  RowAlignment rows;
  int given = 0;  ///< --disparities

  /// Lets the estimator examine the pair.
  Examined(const CalibratedPair& pair, StereoEstimator& estimator, int given);

  /// Whether the pair is usable.
  FramesState state() const { return findings.textured ? FramesState::usable : FramesState::no_texture; }
  /// Adds disparities_found, warnings and row_error. Warnings are also printed as notes on stderr.
  void add_to(Report& report, const StereoEnergy& used, bool quiet) const;
};

/// Returns the frames to estimate from, filled in where pixels had no value, and the masks of the pixels that
/// had one. `read`: masks of the images as read. Throws UsageError if there are masks and the images are
/// rectified.
KnownFrames known_pair(const CalibratedPair& pair, std::vector<KnownPixels> read, bool is_rectified);

/// Estimates and writes the disparities of each pair until the images end.
void run_series(const StereoCommandOptions& options, StereoMethod method, const StereoOptions& task);

}  // namespace parafield::command
