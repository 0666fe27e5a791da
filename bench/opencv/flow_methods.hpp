// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "parafield/parafield.hpp"

/// OpenCV's dense flow on the CPU.
namespace parafield::bench {

struct OpenCvMethod {
  std::string name;
  /// Estimates flow (CV_32FC2) from one gray 8-bit frame to the next.
  std::function<void(const cv::Mat& frame0, const cv::Mat& frame1, cv::Mat& flow)> estimate;
};

/// OpenCV's methods: Farneback and DIS with their defaults, and pyramidal Lucas-Kanade at every pixel with
/// the parameters of the preset `paper`.
std::vector<OpenCvMethod> opencv_methods();

/// View of a host frame (gray_u8) as a matrix; nothing is copied.
cv::Mat as_mat(const FrameBuffer& gray);

/// 8-bit gray copy of a host frame (gray_u8 or rgb_u8), by OpenCV's conversion: BT.601, rounded. Throws
/// Error(unsupported) for other formats.
FrameBuffer to_gray(const FrameBuffer& frame);

/// Copy of a flow (CV_32FC2) in which all pixels are valid.
FlowField as_field(const cv::Mat& flow);

}  // namespace parafield::bench
