// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "files.hpp"

/// Files of a video's flow, one or two per flow field.
namespace parafield::command {

inline const std::vector<std::string> flow_file_formats = {"flo", "kitti", "npy", "pfm", "jpg", "png"};

/// Makes a folder if it is missing. Throws Error(file) if files cannot be written there.
void make_folder(const Path& folder);

/// Writes the flows of a video into a folder, beginning with flow_00001.flo. In the formats jpg and png, each
/// flow is two gray pictures, flow_x_00001.jpg and flow_y_00001.jpg, whose values 0 to 255 stand for -bound
/// to bound.
class FlowFolder {
 public:
  FlowFolder(const Path& folder, const std::string& format, float bound);

  void make() const { make_folder(folder_); }
  /// Returns how many flows, counted from the first without a gap, have all their files.
  int complete() const;
  void write(int number, const FlowField& flow);

 private:
  std::vector<Path> files(int number) const;

  const Path folder_;
  const std::string extension_;
  const bool in_bytes_;
  const float bound_;
  FrameBuffer bytes_;
};

}  // namespace parafield::command
