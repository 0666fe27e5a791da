// SPDX-License-Identifier: MIT
#include "opencv/flow_methods.hpp"

#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>

namespace parafield::bench {
namespace {

/// calcOpticalFlowPyrLK with a point at every pixel.
class DenseLucasKanade {
 public:
  void operator()(const cv::Mat& frame0, const cv::Mat& frame1, cv::Mat& flow) {
    const cv::Size size = frame0.size();
    if (points_.size() != std::size_t(size.area())) {
      points_.clear();
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) points_.emplace_back(float(x), float(y));
    }
    const auto paper = preset<LucasKanade>("paper");
    cv::calcOpticalFlowPyrLK(frame0, frame1, points_, moved_, status_, cv::noArray(),
                             {paper.window, paper.window}, paper.levels - 1,
                             {cv::TermCriteria::COUNT, paper.iterations, 0});
    flow.create(size, CV_32FC2);
    auto* out = flow.ptr<cv::Point2f>();
    for (std::size_t i = 0; i < points_.size(); ++i) out[i] = moved_[i] - points_[i];
  }

 private:
  std::vector<cv::Point2f> points_, moved_;
  std::vector<uchar> status_;
};

OpenCvMethod method(std::string name, const cv::Ptr<cv::DenseOpticalFlow>& algorithm) {
  return {std::move(name), [algorithm](const cv::Mat& frame0, const cv::Mat& frame1, cv::Mat& flow) {
            flow.release();  // DIS takes given flow as its start
            algorithm->calc(frame0, frame1, flow);
          }};
}

}  // namespace

std::vector<OpenCvMethod> opencv_methods() {
  using Dis = cv::DISOpticalFlow;
  return {method("OpenCV Farneback", cv::FarnebackOpticalFlow::create()),
          method("OpenCV DIS ultrafast", Dis::create(Dis::PRESET_ULTRAFAST)),
          method("OpenCV DIS fast", Dis::create(Dis::PRESET_FAST)),
          method("OpenCV DIS medium", Dis::create(Dis::PRESET_MEDIUM)),
          {"OpenCV dense pyramidal LK", DenseLucasKanade{}}};
}

cv::Mat as_mat(const FrameBuffer& gray) {  // a pitch of 0 means touching rows to both
  const Frame frame = gray;
  return {frame.height, frame.width, CV_8UC1, const_cast<void*>(frame.data), std::size_t(frame.pitch)};
}

FrameBuffer to_gray(const FrameBuffer& buffer) {
  const Frame frame = buffer;
  if (frame.format != PixelFormat::gray_u8 && frame.format != PixelFormat::rgb_u8)
    throw Error(ErrorCode::unsupported, std::string("compare_opencv takes gray_u8 and rgb_u8 frames, not ") +
                                            to_string(frame.format));
  const bool color = frame.format == PixelFormat::rgb_u8;
  const cv::Mat input(frame.height, frame.width, color ? CV_8UC3 : CV_8UC1, const_cast<void*>(frame.data),
                      std::size_t(frame.pitch));
  FrameBuffer gray(frame.size(), PixelFormat::gray_u8);
  cv::Mat output = as_mat(gray);
  if (color)
    cv::cvtColor(input, output, cv::COLOR_RGB2GRAY);
  else
    input.copyTo(output);
  return gray;
}

FlowField as_field(const cv::Mat& flow) {
  FlowField field(Size{flow.cols, flow.rows});
  for (int y = 0; y < flow.rows; ++y)
    for (int x = 0; x < flow.cols; ++x) {
      const auto& vector = flow.at<cv::Point2f>(y, x);
      field.u(x, y) = vector.x;
      field.v(x, y) = vector.y;
      field.valid(x, y) = 1;
    }
  return field;
}

}  // namespace parafield::bench
