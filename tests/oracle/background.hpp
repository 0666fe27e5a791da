// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "oracle/steps.hpp"
#include "parafield/methods/energy.hpp"

/// A learned background, pixel by pixel, as BackgroundEnergy describes it. It draws the same random bits as
/// the library, since they are part of the result.
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
    const std::vector<double> gains = gains_of(image);
    const float step = 3 * energy_.mean / 254;  // of differences
    std::vector<double> result;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        Pixel& pixel = at(x, y);
        pixel.distance = 256;
        for (const double gain : gains) {
          const int value = lit(byte_of(image(x, y)), gain);
          std::vector<int> distances;
          for (const int sample : pixel.samples) distances.push_back(std::abs(value - sample));
          std::ranges::sort(distances);
          if (distances[1] < pixel.distance) pixel.distance = distances[1], pixel.value = value;
        }
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
    const std::vector<Pixel> seen = pixels_;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        Pixel& pixel = at(x, y);
        const std::uint32_t chances = bits_of(x / 32, y, frame_), bits = hash(chances ^ 0x9e3779b9u);
        if (crowded_) pixel.support /= 2;
        if (label(x, y) == 1)
          follow_candidate(pixel, bits, [&] { return has_left(seen, labels, x, y); });
        else
          follow_spread(pixel);
        const bool may_be_noise =
            young && 16 * pixel.distance <= 3 * seen[std::size_t(y) * width_ + x].spread;
        if ((label(x, y) == 0 || may_be_noise) && (chances & 65535) < chance)
          pixel.samples[bits & 7] = pixel.value;
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

  template <class HasLeft>
  void follow_candidate(Pixel& pixel, std::uint32_t bits, HasLeft has_left) const {
    if (16 * std::abs(pixel.value - pixel.candidate) <= 2 * pixel.spread) {
      pixel.run = std::min(pixel.run + 1, 65535);
    } else {
      pixel.run = 1;
      pixel.candidate = pixel.value;
    }
    if (pixel.run <= energy_.absorb) {
      if (pixel.support == 255 || pixel.run <= pixel.support / 3 + pixel.support * pixel.support / 25) return;
      if (!crowded_ && !has_left()) {
        pixel.support = std::min(2 * pixel.support + 8, 255);
        return;
      }
    }
    const int first = int(bits >> 9 & 7), count = pixel.support < 32 ? 8 : 4;
    for (int k = 0; k < count; ++k) pixel.samples[(first + k) % 8] = pixel.value;
    pixel.support = std::min(pixel.run, 255);
    pixel.run = 0;
  }
  /// Whether the background of a pixel was an object that has left: its luma is now closer to the nearest
  /// static pixels in eight directions, at most 96 px away.
  bool has_left(const std::vector<Pixel>& seen, const std::vector<int>& labels, int x, int y) const {
    std::vector<int> before(std::begin(seen[std::size_t(y) * width_ + x].samples),
                            std::end(seen[std::size_t(y) * width_ + x].samples));
    std::ranges::sort(before);
    int closer = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        for (int step = 1; step <= 96 && (dx || dy); ++step) {
          const int there_x = x + step * dx, there_y = y + step * dy;
          if (there_x < 0 || there_x >= width_ || there_y < 0 || there_y >= height_) break;
          const std::size_t there = std::size_t(there_y) * width_ + there_x;
          if (labels[there] == 1) continue;
          closer += std::min(std::abs(before[4] - seen[there].value), 48) -
                    std::min(std::abs(seen[std::size_t(y) * width_ + x].value - seen[there].value), 48);
          break;
        }
    return closer > 0;
  }
  void follow_spread(Pixel& pixel) const {
    const int goal = std::max(32 * pixel.distance, least_);
    const int step = goal > pixel.spread ? 1 : goal < pixel.spread ? -1 : 0;
    pixel.spread = std::clamp(pixel.spread + step, least_, 255);
    pixel.support = std::min(pixel.support + 1, 255);
    pixel.run = 0;
  }

  /// One gain, or two if the light has changed in a part of the scene.
  std::vector<double> gains_of(const Grid& image) const {
    struct Ratio {
      int bin, sample;
    };
    std::vector<Ratio> ratios;
    for (int j = 0; j < 32; ++j)
      for (int i = 0; i < 32; ++i) {
        const int x = (2 * i + 1) * width_ / 64, y = (2 * j + 1) * height_ / 64;
        std::vector<int> samples(std::begin(at(x, y).samples), std::end(at(x, y).samples));
        std::ranges::sort(samples);
        const int value = byte_of(image(x, y));
        if (samples[4] >= 20 && value >= 8 && value < 250)
          ratios.push_back({int(std::min(value * 256.0 / samples[4], 1023.0) + 0.5), samples[4]});
      }
    if (ratios.size() < 64) return {1};
    std::ranges::sort(ratios, {}, &Ratio::bin);
    const auto cluster = [&](int bin) {
      std::vector<Ratio> near;
      for (const Ratio& ratio : ratios)
        if (ratio.bin >= bin - bin / 16 && ratio.bin <= std::min(bin + bin / 16, 1023)) near.push_back(ratio);
      return near;
    };
    const auto gain = [](int bin) { return bin > 0 ? bin / 256.0 : 1; };
    const auto median_of = [](const std::vector<Ratio>& some) { return some[some.size() / 2].bin; };
    const auto in_a_band = [](const std::vector<Ratio>& some) {
      std::ptrdiff_t most = 0;
      for (int low = 0; low + 16 <= 256; low += 4)
        most = std::max(most, std::ranges::count_if(some, [&](const Ratio& ratio) {
                          return ratio.sample >= low && ratio.sample < low + 16;
                        }));
      return most;
    };
    const int median = median_of(ratios);
    int first = median, second = -1;
    if (2 * cluster(median).size() < ratios.size()) {
      first = 0;
      for (int bin = 1; bin < 1024; ++bin)
        if (cluster(bin).size() > cluster(first).size()) first = bin;
    }
    for (int bin = 0; bin < 1024; ++bin) {
      const bool apart = std::min(bin + bin / 16, 1023) < first - first / 8 ||
                         bin - bin / 16 > std::min(first + first / 8, 1023);
      if (apart && cluster(bin).size() > (second < 0 ? 0 : cluster(second).size())) second = bin;
    }
    const std::vector<Ratio> main = cluster(first);
    const std::vector<Ratio> other = second < 0 ? std::vector<Ratio>() : cluster(second);
    if (4 * (main.size() + other.size()) >= 3 * ratios.size() && 5 * other.size() >= ratios.size() &&
        4 * std::size_t(in_a_band(other)) <= 3 * other.size())
      return {gain(median_of(main)), gain(median_of(other))};
    const bool apart = 5 * main.size() >= 2 * ratios.size() && 2 * cluster(median).size() < main.size();
    return {gain(apart ? median_of(main) : median)};
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
