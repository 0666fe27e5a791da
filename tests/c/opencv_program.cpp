// SPDX-License-Identifier: MIT
// parafield/opencv.hpp: matrices become frames and back, without a copy.
#include <cstdio>
#include <cstdlib>
#include <parafield/flow.hpp>
#include <parafield/opencv.hpp>
#include <parafield/scenes.hpp>

using namespace parafield;

static void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}
template <class F>
static void expect_error(F f, ErrorCode code, const char* part) {
  try {
    f();
  } catch (const Error& error) {
    expect(error.code() == code && std::string(error.what()).find(part) != std::string::npos, error.what());
    return;
  }
  expect(false, part);
}

int main() {
  const Scene scene = render_scene("translation", {.size = {64, 48}});
  for (const int type : {CV_8UC1, CV_16UC1, CV_32FC1, CV_8UC3, CV_8UC4}) {
    const cv::Mat whole(50, 70, type), part = whole(cv::Rect(3, 2, 64, 48));
    const Frame frame = frame_of(part, {1, 200});
    expect(frame.data == part.data && frame.width == 64 && frame.height == 48,
           "the frame has the matrix's pixels");
    expect(frame.pitch == std::ptrdiff_t(whole.step) && frame.memory.on_host(),
           "the frame has the matrix's rows");
    expect(std::size_t(bytes_per_pixel(frame.format)) == part.elemSize() && frame.range == ValueRange{1, 200},
           "the frame has the matrix's pixel format and the range");
    const cv::Mat back = mat_of(frame);
    expect(
        back.data == part.data && back.size() == part.size() && back.type() == type && back.step == part.step,
        "the matrix of a matrix's frame is the same");
    int* const nowhere = nullptr;
    const cv::cuda::GpuMat on_gpu(48, 64, type, nowhere + 1024, 512);  // OpenCV reads no pixels
    const Frame there = frame_of(on_gpu, {}, 3);
    expect(there.memory == Memory::cuda(3) && there.data == on_gpu.data && there.pitch == 512, "GpuMat");
    const cv::cuda::GpuMat again = gpu_mat_of(there);
    expect(again.data == on_gpu.data && again.step == 512 && again.type() == type, "GpuMat and back");
    expect_error([&] { (void)mat_of(there); }, ErrorCode::invalid_argument,
                 "mat_of: the pixels are in a device");
    expect_error([&] { (void)gpu_mat_of(frame); }, ErrorCode::invalid_argument,
                 "gpu_mat_of: the pixels are in host");
  }
  expect_error([] { (void)frame_of(cv::Mat(4, 4, CV_64FC1)); }, ErrorCode::unsupported, "CV_64FC1");
  expect_error([] { (void)frame_of(cv::Mat(4, 4, CV_16UC3)); }, ErrorCode::unsupported, "CV_16UC3");
  const FrameBuffer color({8, 8}, PixelFormat::rgb_u8);
  expect_error([&] { (void)mat_of(color.frame()); }, ErrorCode::unsupported, "take BGR");

  const cv::Mat image0 = mat_of(scene.frames[0].frame()).clone(),
                image1 = mat_of(scene.frames[1].frame()).clone();
  const FlowField flow = estimate_flow(frame_of(image0), frame_of(image1));
  const cv::Mat u = mat_of(flow.u), valid = mat_of(flow.valid);  // CV_32FC1 and CV_8UC1, the field's memory
  const cv::Mat both = flow_mat(flow);                           // CV_32FC2, a copy
  expect(u.data == reinterpret_cast<const unsigned char*>(flow.u.view().data), "a plane is not copied");
  expect(both.type() == CV_32FC2 && both.cols == 64 && both.rows == 48, "flow_mat has both components");
  expect(both.at<cv::Vec2f>(20, 30) == cv::Vec2f(flow.u(30, 20), flow.v(30, 20)), "flow_mat has the flow");
  expect(valid.type() == CV_8UC1 && valid.at<unsigned char>(20, 30) == flow.valid(30, 20),
         "a plane is a matrix");
  std::puts("opencv.hpp works");
}
