// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "oracle/steps.hpp"
#include "parafield/methods/energy.hpp"

/// A learned background, pixel by pixel, as BackgroundEnergy describes it. It draws the same random bits as the
/// library, since they are part of the result.
namespace parafield::oracle {

class LearnedBackground {
 public:
  LearnedBackground(const BackgroundEnergy& energy, const Frame& first)
      : energy_(energy),
        least_(int(16 * energy.least_spread + 0.5f)),
        width_(first.width),
        height_(first.height),
        pixels_(std::size_t(width_) * height_) {
    const Grid image = luma(first);
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        Pixel& pixel = at(x, y);
        pixel.spread = std::max(least_, 96);
        for (int k = 0; k < 8; ++k) {
          const std::uint32_t bits = bits_of(x, y, -1 - k);
          const int dx = k ? int(bits % 3) - 1 : 0, dy = k ? int((bits >> 8) % 3) - 1 : 0;
          pixel.samples[k] =
              byte_of(image(std::clamp(x + dx, 0, width_ - 1), std::clamp(y + dy, 0, height_ - 1)));
        }
      }
  }

  /// Differences of the next frame from the background, in spreads.
  std::vector<double> differences(const Frame& frame) {
    ++frame_;
    crowded_ = moving_ > 0.7 * width_ * height_;
    const Grid image = luma(frame);
    const double gain = gain_of(image);
    const float step = 3 * energy_.mean / 254;  // of differences
    std::vector<double> result;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        Pixel& pixel = at(x, y);
        pixel.value = lit(byte_of(image(x, y)), gain);
        std::vector<int> distances;
        for (const int sample : pixel.samples) distances.push_back(std::abs(pixel.value - sample));
        std::ranges::sort(distances);
        pixel.distance = distances[1];
        result.push_back(step *
                         int(std::min(pixel.distance * (16 / step / float(pixel.spread)), 254.0f) + 0.5f));
      }
    return result;
  }

  /// Learns from that frame, given the labels of its pixels.
  void learn(const std::vector<int>& labels) {
    moving_ = int(std::ranges::count(labels, 1));
    const bool young = frame_ < 32;
    const int time = young ? std::min(std::max(frame_ / 2, 2), energy_.renewal) : energy_.renewal;
    const std::uint32_t chance = 65536u / std::uint32_t(time);
    const auto label = [&](int x, int y) { return labels[std::size_t(y) * width_ + x]; };
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        Pixel& pixel = at(x, y);
        const std::uint32_t chances = bits_of(x / 32, y, frame_), bits = hash(chances ^ 0x9e3779b9u);
        if (crowded_) pixel.support /= 2;
        if (label(x, y) == 1)
          follow_candidate(pixel, bits);
        else
          follow_spread(pixel);
        if ((label(x, y) == 0 || young) && (chances & 65535) < chance) pixel.samples[bits & 7] = pixel.value;
        if (chances >> 16 >= chance) continue;
        const int dx[] = {-1, 0, 1, 0, -1, 1, 1, -1}, dy[] = {0, -1, 0, 1, -1, -1, 1, 1};
        const int nx = x + dx[bits >> 6 & 7], ny = y + dy[bits >> 6 & 7];
        if (nx >= 0 && ny >= 0 && nx < width_ && ny < height_ && label(nx, ny) == 0)
          pixel.samples[bits >> 3 & 7] = at(nx, ny).value;
      }
  }

 private:
  struct Pixel {
    int samples[8] = {}, value = 0, distance = 0, spread = 0, candidate = 0, support = 0, run = 0;
  };

  void follow_candidate(Pixel& pixel, std::uint32_t bits) const {
    if (16 * std::abs(pixel.value - pixel.candidate) <= 2 * pixel.spread) {
      pixel.run = std::min(pixel.run + 1, 65535);
    } else {
      pixel.run = 1;
      pixel.candidate = pixel.value;
    }
    const int needed = pixel.support < 255
                           ? std::min(pixel.support / 3 + pixel.support * pixel.support / 25, energy_.absorb)
                           : energy_.absorb;
    if (pixel.run <= needed) return;
    const int first = int(bits >> 9 & 7), count = pixel.support < 32 ? 8 : 4;
    for (int k = 0; k < count; ++k) pixel.samples[(first + k) % 8] = pixel.value;
    pixel.support = std::min(pixel.run, 255);
    pixel.run = 0;
  }
  void follow_spread(Pixel& pixel) const {
    const int goal = std::max(32 * pixel.distance, least_);
    const int step = goal > pixel.spread ? 1 : goal < pixel.spread ? -1 : 0;
    pixel.spread = std::clamp(pixel.spread + step, least_, 255);
    pixel.support = std::min(pixel.support + 1, 255);
    pixel.run = 0;
  }

  double gain_of(const Grid& image) const {
    std::vector<int> bins;
    for (int j = 0; j < 32; ++j)
      for (int i = 0; i < 32; ++i) {
        const int x = (2 * i + 1) * width_ / 64, y = (2 * j + 1) * height_ / 64;
        std::vector<int> samples(std::begin(at(x, y).samples), std::end(at(x, y).samples));
        std::ranges::sort(samples);
        const int value = byte_of(image(x, y));
        if (samples[4] >= 20 && value >= 8 && value < 250)
          bins.push_back(int(std::min(value * 256.0 / samples[4], 1023.0) + 0.5));
      }
    if (bins.size() < 64) return 1;
    std::ranges::sort(bins);
    const int median = bins[bins.size() / 2];
    return median > 0 ? median / 256.0 : 1;
  }

  static int byte_of(double luma) { return int(std::clamp(luma, 0.0, 254.0) + 0.5); }
  /// In float, as the library rounds it.
  static int lit(int luma, double gain) {
    return int(std::min(float(luma) * (1 / float(gain)), 254.0f) + 0.5f);
  }
  static std::uint32_t hash(std::uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
  }
  static std::uint32_t bits_of(int x, int y, int frame) {
    return hash(std::uint32_t(x) + 0x9e3779b9u * (std::uint32_t(y) + 0x85ebca6bu * std::uint32_t(frame)));
  }
  Pixel& at(int x, int y) { return pixels_[std::size_t(y) * width_ + x]; }
  const Pixel& at(int x, int y) const { return pixels_[std::size_t(y) * width_ + x]; }

  const BackgroundEnergy energy_;
  const int least_, width_, height_;
  std::vector<Pixel> pixels_;
  int frame_ = 0, moving_ = 0;
  bool crowded_ = false;
};

}  // namespace parafield::oracle
