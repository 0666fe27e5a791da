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
  /// Flow (CV_32FC2) from one gray 8-bit frame to the next.
  std::function<void(const cv::Mat& frame0, const cv::Mat& frame1, cv::Mat& flow)> estimate;
};

/// Farneback and DIS with their defaults, and pyramidal Lucas-Kanade at every pixel with the parameters of the
/// preset `paper`.
std::vector<OpenCvMethod> opencv_methods();

/// A host frame of gray_u8, not copied.
cv::Mat as_mat(const FrameBuffer& gray);

/// 8-bit gray of any 8-bit host frame (OpenCV's conversion: BT.601, rounded).
FrameBuffer to_gray(const FrameBuffer& frame);

FlowField as_field(const cv::Mat& flow);

}  // namespace parafield::bench
