// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cmath>
#include <random>

#include "parafield/image.hpp"

namespace parafield {

/// Waves of 4 to 30 px in all directions.
class Texture {
 public:
  explicit Texture(unsigned seed) {
    std::mt19937 random(seed);
    const auto uniform = [&](double low, double high) {
      return low + (high - low) * random() / 4294967296.0;
    };
    for (Wave& wave : waves_) {
      const double angle = uniform(0, 6.28), frequency = 6.28 / uniform(4, 30);
      wave = {frequency * std::cos(angle), frequency * std::sin(angle), uniform(0, 6.28)};
    }
  }
  double operator()(double x, double y) const {
    double sum = 0;
    for (const Wave& wave : waves_) sum += std::sin(wave.x * x + wave.y * y + wave.phase);
    return 127.5 + 15 * sum;
  }

 private:
  struct Wave {
    double x, y, phase;
  };
  std::array<Wave, 14> waves_;
};

/// Two frames of a texture that turns, grows and moves by some pixels.
struct Pair {
  Image<float> frame0, frame1;

  Pair(Size size, unsigned seed) : frame0(size), frame1(size) {
    const Texture texture(seed);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        frame0(x, y) = float(texture(x, y));
        frame1(x, y) = float(texture(x - 1.7 - 0.02 * y, y + 0.8 + 0.015 * x - 0.01 * y));
      }
  }
};

inline Frame frame_of(const Image<float>& image) {
  const auto view = image.view();
  return {view.data, view.width, view.height, view.pitch, PixelFormat::gray_f32, image.memory(), {0, 255}};
}

}  // namespace parafield
