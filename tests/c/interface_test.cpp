// SPDX-License-Identifier: MIT
// The C interface is what interface.txt says: declarations, constants and layouts of structs.
#include <cstddef>
#include <fstream>
#include <regex>
#include <sstream>

#include "parafield/parafield.h"
#include "support.hpp"

namespace parafield {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(std::string(PARAFIELD_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The declarations of the header, one a line, without comments.
std::string declarations() {
  std::string text = content_of("include/parafield/parafield.h");
  text = std::regex_replace(text, std::regex("/\\*([^*]|\\*[^/])*\\*/"), "");
  text = std::regex_replace(text, std::regex("#[^\\n]*|extern \"C\" \\{|\\n\\}\\n$|PARAFIELD_API "), "");
  text = std::regex_replace(text, std::regex("\\s+"), " ");
  std::string lines, line;
  int depth = 0;
  for (const char each : text) {
    if (line.empty() && each == ' ') continue;
    line += each;
    depth += each == '{' ? 1 : each == '}' ? -1 : 0;
    if (each != ';' || depth > 0) continue;
    lines += line + "\n";
    line.clear();
  }
  EXPECT_TRUE(line.empty() || line == "} ") << line;
  return lines;
}

#define PF_STRUCT(name) layouts << #name << ": " << sizeof(name) << " bytes\n"
#define PF_MEMBER(name, member) \
  layouts << "  " << #member << " at " << offsetof(name, member) << ", " << sizeof(name::member) << "\n"

std::string layouts_of_structs() {
  std::ostringstream layouts;
  PF_STRUCT(parafield_frame);
  PF_MEMBER(parafield_frame, size);
  PF_MEMBER(parafield_frame, data);
  PF_MEMBER(parafield_frame, pitch);
  PF_MEMBER(parafield_frame, width);
  PF_MEMBER(parafield_frame, height);
  PF_MEMBER(parafield_frame, format);
  PF_MEMBER(parafield_frame, memory);
  PF_MEMBER(parafield_frame, device);
  PF_MEMBER(parafield_frame, black);
  PF_MEMBER(parafield_frame, white);
  PF_MEMBER(parafield_frame, reserved);
  PF_STRUCT(parafield_plane);
  PF_MEMBER(parafield_plane, data);
  PF_MEMBER(parafield_plane, pitch);
  PF_STRUCT(parafield_field);
  PF_MEMBER(parafield_field, size);
  PF_MEMBER(parafield_field, width);
  PF_MEMBER(parafield_field, height);
  PF_MEMBER(parafield_field, memory);
  PF_MEMBER(parafield_field, device);
  PF_MEMBER(parafield_field, u);
  PF_MEMBER(parafield_field, v);
  PF_MEMBER(parafield_field, d);
  PF_MEMBER(parafield_field, moving);
  PF_MEMBER(parafield_field, valid);
  PF_MEMBER(parafield_field, confidence);
  PF_STRUCT(parafield_option);
  PF_MEMBER(parafield_option, name);
  PF_MEMBER(parafield_option, value);
  PF_STRUCT(parafield_settings);
  PF_MEMBER(parafield_settings, size);
  PF_MEMBER(parafield_settings, task);
  PF_MEMBER(parafield_settings, width);
  PF_MEMBER(parafield_settings, height);
  PF_MEMBER(parafield_settings, option_count);
  PF_MEMBER(parafield_settings, options);
  PF_MEMBER(parafield_settings, stream);
  PF_MEMBER(parafield_settings, progress);
  PF_MEMBER(parafield_settings, progress_data);
  PF_MEMBER(parafield_settings, region);
  PF_MEMBER(parafield_settings, region_pitch);
  PF_STRUCT(parafield_track);
  PF_STRUCT(parafield_rotation);
  PF_STRUCT(parafield_input);
  PF_MEMBER(parafield_input, size);
  PF_MEMBER(parafield_input, frames);
  PF_MEMBER(parafield_input, frame_count);
  PF_MEMBER(parafield_input, start);
  PF_MEMBER(parafield_input, tracks);
  PF_MEMBER(parafield_input, track_count);
  PF_MEMBER(parafield_input, rotation);
  PF_STRUCT(parafield_box);
  return layouts.str();
}

TEST(CInterface, IsWhatTheFileSays) {
  if (sizeof(void*) != 8) GTEST_SKIP() << "the layouts of the file are for pointers of 64 bits";
  const std::string now = declarations() + layouts_of_structs();
  EXPECT_EQ(now, content_of("tests/c/interface.txt"))
      << "The C interface is stable: programs that were compiled with an older header must go on to work. "
         "Only "
         "add to it: functions, constants, and fields at the end of structs that begin with their size.";
}

}  // namespace
}  // namespace parafield
