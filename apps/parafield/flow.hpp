// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "estimation.hpp"
#include "frames.hpp"
#include "pictures.hpp"

/// The command flow: of two frames, or of each consecutive pair of a sequence.
namespace parafield::command {

/// Inputs of a flow beside frames.
struct GuideOptions {
  std::string tracks, rotation, intrinsics;
  std::vector<Option> options;

  void add_to(App& command);
  /// Leaves the options out of --help.
  void hide() const;
  /// Throws UsageError.
  std::optional<CameraRotation> camera() const;
};

/// Names of the files that are written; empty = not asked for.
struct FlowFiles {
  std::string flow, valid, confidence, color;

  std::vector<Output> outputs() const;
  /// Writes the flow and its picture, `frame` being that of the flow's pixels.
  void write(const PictureOptions& picture, const FlowField& field, const Frame& frame) const;
  /// Their names as they were given.
  std::vector<std::string> names() const { return {flow, valid, confidence, color}; }
  /// The files of a series with the number in their names.
  FlowFiles numbered(int number) const;
};

struct FlowCommandOptions : EstimationOptions<Flow> {
  std::vector<std::string> frames;
  FrameOptions reading;
  FlowFiles files;
  GuideOptions guides;
  TruthOptions truth;
  PictureOptions picture;

  /// Whether the outputs are named as a series.
  bool is_series() const;
};

/// Adds arrow_scale or max_motion, and a line of text.
void add_scale_of(Report& report, const PictureOptions& picture);

/// Estimates and writes the flow of each window of consecutive frames, for as long as there are frames.
void run_series(const FlowCommandOptions& options, const FlowMethod& method, const FlowOptions& task);

}  // namespace parafield::command
