// SPDX-License-Identifier: MIT
#pragma once
#include <iterator>
#include <opencv2/core.hpp>
#include <opencv2/core/cuda.hpp>
#include <string>
#include <vector>

#include "parafield/error.hpp"
#include "parafield/fields.hpp"

/// Frames and results as matrices of OpenCV, and back. The library itself does not use OpenCV: a program that
/// includes this header links its module core. Results refer to the argument's pixels, which must
/// outlive them; only flow_mat copies. Errors: Error(unsupported) for pixel formats that the other side
/// lacks, Error(invalid_argument) for pixels in other memory than the matrix is for.
namespace parafield {
namespace opencv {
/// The types of matrices in the order of PixelFormat. OpenCV's functions take BGR, so RGB has none.
constexpr int types[] = {CV_8UC1, CV_16UC1, CV_32FC1, -1, -1, -1, CV_8UC3, -1, CV_8UC4};

template <class Matrix>
Frame frame_of(const Matrix& image, Memory memory, ValueRange range) {
  for (int i = 0; i < int(std::size(types)); ++i)
    if (types[i] == image.type())
      return {image.data, image.cols, image.rows, std::ptrdiff_t(image.step), PixelFormat(i), memory, range};
  throw Error(ErrorCode::unsupported, "a frame cannot be of the type " + cv::typeToString(image.type()) +
                                          "; allowed: CV_8UC1, CV_16UC1, CV_32FC1, CV_8UC3, CV_8UC4");
}
template <class Matrix>
Matrix matrix_of(const Frame& frame, bool on_host) {
  const int type = types[int(frame.format)];
  if (type < 0)
    throw Error(ErrorCode::unsupported, std::string("a matrix cannot have ") + to_string(frame.format) +
                                            " pixels: OpenCV's functions take BGR");
  if (frame.memory.on_host() != on_host)
    throw Error(ErrorCode::invalid_argument, on_host ? "mat_of: the pixels are in a device's memory"
                                                     : "gpu_mat_of: the pixels are in host memory");
  return {frame.height, frame.width, type, const_cast<void*>(frame.data),
          frame.pitch ? std::size_t(frame.pitch) : std::size_t(frame.width) * CV_ELEM_SIZE(type)};
}
/// A plane of a result as a frame.
template <class T>
Frame frame_of_plane(const Image<T>& plane) {
  const View<const T> view = plane.view();
  const PixelFormat format = sizeof(T) == 1 ? PixelFormat::gray_u8 : PixelFormat::gray_f32;
  return {view.data, view.width, view.height, view.pitch, format, plane.memory()};
}
}  // namespace opencv

/// The frame of a matrix: CV_8UC1, CV_16UC1 and CV_32FC1 are gray, CV_8UC3 is BGR, CV_8UC4 is BGRA. `range`:
/// see Frame. A GpuMat is in the memory of the CUDA device `device`.
inline Frame frame_of(const cv::Mat& image, ValueRange range = {}) {
  return opencv::frame_of(image, Memory::host(), range);
}
inline Frame frame_of(const cv::cuda::GpuMat& image, ValueRange range = {}, int device = 0) {
  return opencv::frame_of(image, Memory::cuda(device), range);
}

/// The matrix of a frame, or of a plane of a result, such as FlowField::u.
inline cv::Mat mat_of(const Frame& frame) { return opencv::matrix_of<cv::Mat>(frame, true); }
template <class T>
cv::Mat mat_of(const Image<T>& plane) {
  return mat_of(opencv::frame_of_plane(plane));
}
inline cv::cuda::GpuMat gpu_mat_of(const Frame& frame) {
  return opencv::matrix_of<cv::cuda::GpuMat>(frame, false);
}
template <class T>
cv::cuda::GpuMat gpu_mat_of(const Image<T>& plane) {
  return gpu_mat_of(opencv::frame_of_plane(plane));
}

/// The flow of a field in host memory, as OpenCV's functions give it: CV_32FC2, px.
inline cv::Mat flow_mat(const FlowField& flow) {
  cv::Mat both;
  cv::merge(std::vector<cv::Mat>{mat_of(flow.u), mat_of(flow.v)}, both);
  return both;
}

}  // namespace parafield
