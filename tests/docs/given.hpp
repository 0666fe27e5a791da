// SPDX-License-Identifier: MIT
#pragma once
// The program around the blocks of C++ in the pages, and the names that these use and do not declare.
#include <fstream>
#include <iostream>
#include <parafield/parafield.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace parafield;

const Scene valley = render_scene("flythrough", {.size = {320, 240}}),
            pair = render_scene("stereo", {.size = {320, 240}});
const Frame frame0 = valley.frames[0], frame1 = valley.frames[1], left = pair.frames[0],
            right = pair.frames[1];

std::vector<std::uint8_t> color_pixels(640 * 480 * 3);
std::uint8_t* const pixels = color_pixels.data();

/// A camera that gives three frames.
struct Camera {
  int count = 0;
  bool read(std::uint8_t*) { return ++count <= 3; }
} camera;

FlowEstimator estimator(AdaptiveRidge{}, {640, 480});
const Frame frame{.data = pixels, .width = 640, .height = 480, .format = PixelFormat::rgb_u8};

std::vector<float> planes(2 * 640 * 480);
float *const u = planes.data(), *const v = u + 640 * 480;
constexpr std::ptrdiff_t pitch = 640 * sizeof(float);

void use(const FlowField& flow) {
  if (flow.size() != Size{640, 480}) throw std::runtime_error("a flow of another size");
}

void* const your_stream = nullptr;
const void* const device_pixels = nullptr;
void launch_your_kernel(View<const float>, void*) {}

int failed = 0;
void run(const char* where, int block()) {
  try {
    if (block() == 0) return;
    std::cerr << where << ": it returned another value than 0\n";
  } catch (const std::exception& error) {
    std::cerr << where << ": " << error.what() << '\n';
  }
  ++failed;
}

}  // namespace

/// Calls the blocks in the order of the pages.
void run_blocks();

/// A file of two frames.
void write_film(const std::string& path) {
  std::ofstream film(path, std::ios::binary);
  for (int i = 0; i < 2; ++i) {
    film << "P6 640 480 255\n";
    film.write(reinterpret_cast<const char*>(pixels), std::streamsize(color_pixels.size()));
  }
}

int main() {
  write_frame("frame0000.png", frame0);
  write_frame("frame0001.png", frame1);
  write_film("film.ppm");
  run_blocks();
  return failed == 0 ? 0 : 1;
}
