// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "command_line.hpp"
#include "files.hpp"

/// Kinds of fields, for commands that take several.
namespace parafield::command {

enum class Task { flow, disparity, mask };
const char* to_string(Task task);

/// --task, and the scale of disparities in PNG files.
struct FieldOptions {
  std::string task = "auto";
  float scale = 0;                 ///< 0 = not given
  std::vector<std::string> names;  ///< values of --task

  /// Adds the options. `tasks` are the values of --task beside auto, `scale_names` the names of the option
  /// for the scale.
  void add_to(App& command, const std::vector<std::string>& tasks, const std::string& scale_names);
  /// Value of --task; for auto, the kind of the files. `scaled` says that a scale was given, so that pictures
  /// are disparities. Throws Error(format) if the files differ in kind, or are pictures of unknown kind.
  Task task_of(const std::vector<Path>& files, bool scaled) const;
};

/// Adds an option for the scale of a PNG, 1e-6 to 1e6: a float or an optional one.
inline Option add_scale(App& command, const std::string& names, Variable scale, const std::string& help) {
  return command.add_option(names + " S", scale, help)
      .is([](double value) { return value >= 1e-6 && value <= 1e6; }, "in 1e-6 to 1e6");
}

/// Like read_disparity. Throws UsageError, which names the option of the scale, if the scale is missing or the
/// file needs none. A scale of 0 is none.
DisparityField read_disparity_of(const Path& path, float scale, const char* option);

/// Extensions of a confidence.
inline const std::vector<std::string_view> confidence_extensions = {".pfm", ".npy"};

/// Reads the confidence of a field: a PFM of one channel, or .npy of floats. Throws Error(format) for others.
Image<float> read_confidence(const Path& path);
/// Writes it, float32.
void write_confidence(const Path& path, View<const float> confidence);

}  // namespace parafield::command
