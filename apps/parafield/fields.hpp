#pragma once
#include <string>
#include <vector>

#include "command_line.hpp"
#include "files.hpp"

/// Which kind of field a file holds, where a command takes several.
namespace parafield::command {

enum class Task { flow, disparity, mask };
const char* to_string(Task task);

/// --task, and the scale of disparities in PNG files.
struct FieldOptions {
  std::string task = "auto";
  float scale = 0;                 ///< 0 = not given
  std::vector<std::string> names;  ///< of --task

  /// `tasks`: what --task takes, beside auto; `scale_names`: of the option that says the file's scale.
  void add_to(App& command, const std::vector<std::string>& tasks, const std::string& scale_names);
  /// What --task says; where it says nothing, what the files hold. `scaled`: a scale was given, so that pictures are
  /// disparities. Throws Error(format) where they hold different things or pictures that may be several.
  Task task_of(const std::vector<Path>& files, bool scaled) const;
};

/// Why the text is no scale of a PNG, 1e-6 to 1e6; empty where it is one.
std::string problem_of_scale(const std::string& text);

/// An option that says the scale of a PNG, a float or an optional one.
template <class Scale>
Option add_scale(App& command, const std::string& names, Scale& scale, const std::string& help) {
  return command.add_option(names, scale, help).type_name("S").check(problem_of_scale);
}

/// read_disparity, whose error says where the scale comes from.
DisparityField read_disparity_of(const Path& path, float scale, const char* option);

}  // namespace parafield::command
