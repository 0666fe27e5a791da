// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "files.hpp"

/// Files of a video's flow, one or two for each.
namespace parafield::command {

inline const std::vector<std::string> flow_file_formats = {"flo", "kitti", "npy", "pfm", "jpg", "png"};

/// Makes a folder if it is missing. Throws Error(file) if files cannot be written there.
void make_folder(const Path& folder);

/// Writes the flows of a video into a folder: flow_00001.flo is the first. In jpg and png it is two gray
/// pictures, flow_x_00001.jpg and flow_y_00001.jpg, in which 0 to 255 stand for -bound to bound.
class FlowFolder {
 public:
  FlowFolder(const Path& folder, const std::string& format, float bound);

  void make() const { make_folder(folder_); }
  /// Number of flows whose files are there, from the first one on.
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
