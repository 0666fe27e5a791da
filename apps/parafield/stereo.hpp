// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calibration.hpp"
#include "estimation.hpp"
#include "frames.hpp"

/// The command stereo: of a pair of images, or of each pair of a stereo camera's video.
namespace parafield::command {

/// Names of the files that are written; empty = not asked for. Those of cameras are CameraOptions'.
struct StereoFiles {
  std::string disparity, valid, confidence, color;

  /// The files of a series with the number in their names.
  StereoFiles numbered(int number) const;
};

struct StereoCommandOptions : EstimationOptions<Stereo> {
  std::vector<std::string> images;
  StereoFiles files;
  std::optional<float> scale;  // for -o FILE.png
  float true_scale = 0;
  CameraOptions camera;
  FrameOptions reading;
  bool beside = false;
  TruthOptions truth;

  std::vector<Output> outputs() const;
  std::vector<Path> inputs() const;
  /// Their names as they were given.
  std::vector<std::string> names() const;
  /// Whether the outputs are named as a series.
  bool is_series() const;
  /// The options for a pair of a series.
  StereoCommandOptions numbered(int number) const;
  /// Writes the files of a pair. `filled`: pixels that are not valid have been filled in.
  void write(const DisparityField& field, bool filled, const CalibratedPair& pair,
             const DisparityColorOptions& colors = {}) const;
};

StereoEnergy& energy_of(StereoMethod& method);

/// What the command finds out about a pair before it estimates.
struct Examined {
  PairFindings findings;
  RowAlignment rows;
  int given = 0;  ///< --disparities

  Examined(const CalibratedPair& pair, const Device& device, const StereoEnergy& energy);

  /// Adds disparities_found, warnings and row_error. Warnings are notes on stderr, too.
  void add_to(Report& report, const StereoEnergy& used, bool quiet) const;
};

/// Frames to estimate from, with a value at every pixel, and which pixels had one.
struct KnownPair {
  std::vector<FrameBuffer> frames;
  std::vector<KnownPixels> known;

  /// `read`: masks of the images as they were read. Throws UsageError for masks of images that are rectified.
  KnownPair(const CalibratedPair& pair, std::vector<KnownPixels> read, bool is_rectified);
};

/// Estimates and writes the disparities of each pair, for as long as there are images.
void run_series(const StereoCommandOptions& options, StereoMethod method, const StereoOptions& task);

}  // namespace parafield::command
