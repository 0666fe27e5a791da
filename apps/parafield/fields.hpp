// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "command_line.hpp"
#include "files.hpp"

/// Kinds of fields, for commands that accept several of them, and pictures of flow.
namespace parafield::command {

enum class Task { flow, disparity, mask };
const char* to_string(Task task);

/// --task, and the scale of disparities in PNG files.
struct FieldOptions {
  std::string task = "auto";
  float scale = 0;                 ///< 0 = not given
  std::vector<std::string> names;  ///< values of --task

  /// Adds the options. `tasks` are the values of --task in addition to auto; `scale_names` are the names of
  /// the scale option.
  void add_to(App& command, const std::vector<std::string>& tasks, const std::string& scale_names);
  /// Returns the value of --task or, for auto, the kind of the files. `scaled`: a scale was given, so that
  /// pictures must be disparities. Throws Error(format) if the files differ in kind, or if they are pictures
  /// of unknown kind.
  Task task_of(const std::vector<Path>& files, bool scaled) const;
};

/// Adds an option for the scale of a PNG, 1e-6 to 1e6. `scale` is a float or an optional float.
inline Option add_scale(App& command, const std::string& names, Variable scale, const std::string& help) {
  return command.add_option(names + " S", scale, help)
      .is([](double value) { return value >= 1e-6 && value <= 1e6; }, "in 1e-6 to 1e6");
}

/// Like read_disparity, but throws UsageError, which names the scale option, if the scale is missing or the
/// file needs none. A `scale` of 0 means that none was given.
DisparityField read_disparity_of(const Path& path, float scale, const char* option);

/// Extensions of confidence files.
inline const std::vector<std::string_view> confidence_extensions = {".pfm", ".npy"};

/// Reads the confidence of a field: a PFM of one channel, or a .npy of floats. Throws Error(format) for other
/// files.
Image<float> read_confidence(const Path& path);
/// Writes a confidence as float32.
void write_confidence(const Path& path, View<const float> confidence);

/// Files of error bars: those that a command writes, or that eval reads.
struct ErrorBarFiles {
  std::string covariance, sigma, outlier, outlier3, cause;

  /// Adds the options of flow (--covariance) or of stereo (--sigma), which write files.
  void add_to(App& command, Task task);
  std::vector<Output> outputs() const;
  /// Makes an estimator compute what the files hold.
  void ask(FlowOptions& options) const;
  void ask(StereoOptions& options) const;
  /// Writes the files of result `number` of a series, 0 without one.
  void write(const FlowField& flow, int number) const;
  void write(const DisparityField& disparity, int number) const;

 private:
  template <class Field>
  void write_shared(const Field& field, int number) const;
};

/// Options for pictures of flow: colors or arrows over the first frame, with or without the plain frame next
/// to them.
struct PictureOptions {
  bool arrows = false, beside = false, legend = false;
  ArrowOptions arrow;
  ColorOptions color;

  /// Adds the options. Some require `frame`, the option that gives the frame.
  void add_to(App& command, Option frame);
  /// Sets the scale of colors or arrows to one that suits the flow, if none was given.
  void fit(const FlowView& flow);
  /// Describes the scale in words.
  std::string scale_text() const;
  /// Draws the flow. `frame` is used only for `arrows` and `beside`.
  FrameBuffer draw(const FlowView& flow, const Frame& frame) const;
};

}  // namespace parafield::command
