// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "estimation.hpp"
#include "frames.hpp"
#include "pictures.hpp"

/// The command flow: the flow between two frames, or for each window of consecutive frames of a sequence.
namespace parafield::command {

/// Optional inputs of a flow in addition to the frames.
struct GuideOptions {
  std::string tracks, rotation, intrinsics;
  std::vector<Option> options;

  void add_to(App& command);
  /// Hides the options from --help.
  void hide() const;
  /// The camera's rotation, if given. Throws UsageError.
  std::optional<CameraRotation> camera() const;
};

/// Names of the output files; empty = not requested.
struct FlowFiles {
  std::string flow, valid, confidence, color;

  std::vector<Output> outputs() const;
  /// Writes the flow and its picture. `frame` is the frame whose pixels the flow belongs to.
  void write(const PictureOptions& picture, const FlowField& field, const Frame& frame) const;
  /// The file names as the user gave them.
  std::vector<std::string> names() const { return {flow, valid, confidence, color}; }
  /// The files of a series with `number` filled into their names.
  FlowFiles numbered(int number) const;
};

struct FlowCommandOptions : EstimationOptions<Flow> {
  std::vector<std::string> frames;
  FrameOptions reading;
  FlowFiles files;
  GuideOptions guides;
  TruthOptions truth;
  PictureOptions picture;

  /// Returns whether the output names are patterns of a series.
  bool is_series() const;
};

/// Adds arrow_scale or max_motion, and a line of text.
void add_scale_of(Report& report, const PictureOptions& picture);

/// Estimates and writes the flow of each window of consecutive frames until the frames end.
void run_series(const FlowCommandOptions& options, const FlowMethod& method, const FlowOptions& task);

}  // namespace parafield::command
