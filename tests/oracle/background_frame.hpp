// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "oracle/steps.hpp"
#include "parafield/methods/energy.hpp"

namespace parafield::oracle {

/// The pixels of a learned background, and the steps that make a frame comparable with them: they find the
/// camera's shift, the gains of the light, and the noise.
class BackgroundFrame {
 protected:
  struct Color {
    int luma = 0, blue = 0, red = 0;
  };
  struct Pixel {
    Color samples[16], now, mean;  // mean: in units of 1/256
    int distance = 0, difference = 0, spread = 0, candidate = 0, support = 0, run = 0, flicker = 0, vote = 0;
    bool apart = false, left = false, leaf = false, had_left = false, was_leaf = false, was_moving = false;
  };

  BackgroundFrame(const BackgroundEnergy& energy, int width, int height)
      : energy_(energy), width_(width), height_(height), pixels_(std::size_t(width) * height) {}

  /// One translation of the frame, by least squares at strong gradients; see Lucas and Kanade 1981.
  void find_shift(const std::vector<Color>& image) {
    if (!energy_.shift) return;
    std::vector<std::pair<int, int>> points;
    for (int y = 6; y < height_ - 6; y += 2)
      for (int x = 6; x < width_ - 6; x += 2) points.emplace_back(x, y);
    const auto slope = [&](int x, int y, int dx, int dy) {
      return int(std::floor((at(x + dx, y + dy).mean.luma - at(x - dx, y - dy).mean.luma) / 16.0));
    };
    std::erase_if(points, [&](const auto& p) {
      return std::abs(slope(p.first, p.second, 1, 0)) + std::abs(slope(p.first, p.second, 0, 1)) < 200 ||
             at(p.first, p.second).was_moving;
    });
    /// Frame minus background at a point, in units of 1/256 luma.
    const auto residual = [&](const auto& p, int sx, int sy) {
      return value(image, &Color::luma, p.first, p.second, sx, sy) - at(p.first, p.second).mean.luma;
    };
    double u = shift_x_ / 16.0, v = shift_y_ / 16.0;
    int with_mean = 0, without_mean = 0;  // residuals with and without a shift
    for (int step = 0; step < 5; ++step) {
      double a = 0, b = 0, c = 0, e = 0, g = 0, sum_x = 0, sum_y = 0, sum = 0, count = 0, other = 0,
             others = 0;
      for (const auto& p : points) {
        const double r = std::floor(residual(p, in_16ths(u), in_16ths(v)) / 16.0),
                     r0 = std::floor(residual(p, 0, 0) / 16.0);
        if (std::abs(r0) <= 480) other += r0, ++others;
        if (std::abs(r) > 480) continue;
        const double gx = slope(p.first, p.second, 1, 0), gy = slope(p.first, p.second, 0, 1);
        a += gx * gx, b += gx * gy, c += gy * gy, e += gx * r, g += gy * r;
        sum_x += gx, sum_y += gy, sum += r, ++count;
      }
      with_mean = count > 0 ? int(16 * sum / count) : 0;
      without_mean = others > 0 ? int(16 * other / others) : 0;
      if (count == 0) break;
      a -= sum_x / count * sum_x, b -= sum_x / count * sum_y, c -= sum_y / count * sum_y;
      e -= sum / count * sum_x, g -= sum / count * sum_y;
      const double determinant = a * c - b * b;
      if (determinant < 1e6 || a < 1e6 || c < 1e6) break;
      const double du = -2 * (c * e - b * g) / determinant, dv = -2 * (a * g - b * e) / determinant;
      u += du, v += dv;
      if (std::abs(u) > 5 || std::abs(v) > 5) {
        u = v = 0;
        break;
      }
      if (std::abs(du) + std::abs(dv) < 0.03) break;
    }
    shift_x_ = in_16ths(u), shift_y_ = in_16ths(v);
    double with = 0, without = 0;
    for (const auto& p : points) {
      with += std::min(std::abs(residual(p, shift_x_, shift_y_) - with_mean), 30 * 256);
      without += std::min(std::abs(residual(p, 0, 0) - without_mean), 30 * 256);
    }
    const bool small = std::max(std::abs(shift_x_), std::abs(shift_y_)) <= 3;
    if (small || with > 0.8 * without) shift_x_ = shift_y_ = 0;
  }
  static int in_16ths(double shift) { return int(std::floor(16 * shift + 0.5)); }
  /// A value of the image at a shifted place, times 256.
  int value(const std::vector<Color>& image, int Color::*channel, int x, int y, int sx, int sy) const {
    const int wx = int(std::floor(sx / 16.0)), wy = int(std::floor(sy / 16.0)), fx = sx - 16 * wx,
              fy = sy - 16 * wy;
    const auto pixel = [&](int dx, int dy) { return image[nearest(x + wx + dx, y + wy + dy)].*channel; };
    return (pixel(0, 0) * (16 - fx) + pixel(1, 0) * fx) * (16 - fy) +
           (pixel(0, 1) * (16 - fx) + pixel(1, 1) * fx) * fy;
  }
  std::vector<Color> moved(const std::vector<Color>& image) const {
    std::vector<Color> result(image.size());
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x)
        for (int Color::*channel : {&Color::luma, &Color::blue, &Color::red})
          result[index(x, y)].*channel = (value(image, channel, x, y, shift_x_, shift_y_) + 128) / 256;
    return result;
  }

  /// One gain, or two if the light has changed in a part of the scene.
  void find_gains(const std::vector<Color>& image) {
    struct Ratio {
      int bin, mean;
    };
    first_gain_ = 1, second_gain_ = 0;
    noise_ = 0;
    std::vector<Ratio> ratios;
    for (int j = 0; j < 32; ++j)
      for (int i = 0; i < 32; ++i) {
        const int x = (2 * i + 1) * width_ / 64, y = (2 * j + 1) * height_ / 64;
        const int mean = at(x, y).mean.luma, luma = image[index(x, y)].luma;
        if (mean >= 20 * 256 && mean < 250 * 256 && luma >= 8 && luma < 250)
          ratios.push_back({std::min(int(std::min(luma * 65536.0 / mean, 1023.0) + 0.5), 1023), mean / 256});
      }
    if (ratios.size() < 64) return;
    std::ranges::sort(ratios, {}, &Ratio::bin);
    const auto cluster = [&](int bin) {
      std::vector<Ratio> near;
      for (const Ratio& ratio : ratios)
        if (ratio.bin >= bin - bin / 16 && ratio.bin <= std::min(bin + bin / 16, 1023)) near.push_back(ratio);
      return near;
    };
    const auto gain = [](int bin) { return bin > 0 ? bin / 256.0f : 1; };
    const auto median_of = [](const std::vector<Ratio>& some) { return some[some.size() / 2].bin; };
    const auto in_a_band = [](const std::vector<Ratio>& some) {
      std::ptrdiff_t most = 0;
      for (int low = 0; low + 16 <= 256; low += 4)
        most = std::max(most, std::ranges::count_if(some, [&](const Ratio& ratio) {
                          return ratio.mean >= low && ratio.mean < low + 16;
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
    const bool apart = 5 * main.size() >= 2 * ratios.size() && 2 * cluster(median).size() < main.size();
    if (4 * (main.size() + other.size()) >= 3 * ratios.size() && 5 * other.size() >= ratios.size() &&
        4 * std::size_t(in_a_band(other)) <= 3 * other.size())
      first_gain_ = gain(median_of(main)), second_gain_ = gain(median_of(other));
    else
      first_gain_ = gain(apart ? median_of(main) : median);
    find_noise(image);
  }
  /// The lower quartile of the differences that the gains leave, at most 3 lumas.
  void find_noise(const std::vector<Color>& image) {
    std::vector<int> sixteenths;
    for (int j = 0; j < 32; ++j)
      for (int i = 0; i < 32; ++i) {
        const int x = (2 * i + 1) * width_ / 64, y = (2 * j + 1) * height_ / 64;
        const int mean = at(x, y).mean.luma, luma = image[index(x, y)].luma;
        if (mean < 20 * 256 || mean >= 250 * 256 || luma < 8 || luma >= 250) continue;
        const auto off = [&](float gain) { return std::abs(float(luma) - gain * (float(mean) / 256)); };
        const float least =
            second_gain_ > 0 ? std::min(off(first_gain_), off(second_gain_)) : off(first_gain_);
        sixteenths.push_back(int(std::min(16 * least, 255.0f)));
      }
    std::ranges::sort(sixteenths);
    noise_ = std::min(sixteenths[(sixteenths.size() - 1) / 4], 48);
  }

  /// Divides the image by the gain of each pixel. Tiles of 16x16 pixels vote for one of two gains. Where
  /// the votes are mixed, a pixel has its own ratio, between both.
  void light(const std::vector<Color>& image) {
    const int columns = (width_ + 15) / 16, rows = (height_ + 15) / 16;
    const auto off = [&](int x, int y, float gain) {
      return std::abs(float(image[index(x, y)].luma) - gain * (float(at(x, y).mean.luma) / 256));
    };
    std::vector<int> votes(std::size_t(columns) * rows);
    std::vector<double> second(votes.size());
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x)
        votes[std::size_t(y / 16) * columns + x / 16] +=
            off(x, y, second_gain_) < off(x, y, first_gain_) ? 1 : -1;
    const auto share_of_second = [&](int column, int row) {
      int sum = 0, all = 0;
      for (int y = std::max(16 * (row - 2), 0); y < std::min(16 * (row + 3), height_); ++y)
        for (int x = std::max(16 * (column - 2), 0); x < std::min(16 * (column + 3), width_); ++x) ++all;
      for (int j = std::max(row - 2, 0); j <= std::min(row + 2, rows - 1); ++j)
        for (int i = std::max(column - 2, 0); i <= std::min(column + 2, columns - 1); ++i)
          sum += votes[std::size_t(j) * columns + i];
      return double(sum) / all;
    };
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) second[std::size_t(y) * columns + x] = share_of_second(x, y);
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        Pixel& pixel = at(x, y);
        const Color& seen = image[index(x, y)];
        float gain = first_gain_;
        if (second_gain_ > 0) {
          const double share = second[std::size_t(y / 16) * columns + x / 16];
          const float mean = float(pixel.mean.luma);
          if (share > 0.5)
            gain = second_gain_;
          else if (share >= -0.5)
            gain = std::clamp(mean > 256 ? float(seen.luma) * 256 / mean : first_gain_,
                              std::min(first_gain_, second_gain_), std::max(first_gain_, second_gain_));
        }
        pixel.now = {lit(seen.luma, gain), lit(seen.blue, gain), lit(seen.red, gain)};
      }
  }
  /// In float, as the library rounds it.
  static int lit(int value, float gain) { return int(std::min(float(value) * (1 / gain), 254.0f) + 0.5f); }

  std::vector<Color> bytes_of(const Frame& frame) const {
    const std::array<Grid, 3> rgb = colors(frame);
    std::vector<Color> result;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        const auto red = float(rgb[0](x, y)), green = float(rgb[1](x, y)), blue = float(rgb[2](x, y));
        const bool gray = red == green && green == blue;
        const float luma =
            gray ? red : std::fma(0.114f, blue, std::fma(0.587f, green, 0.299f * red));  // as the library's
        result.push_back({byte_of(luma), byte_of(blue), byte_of(red)});
      }
    return result;
  }
  static int byte_of(float value) { return int(std::clamp(value, 0.0f, 254.0f) + 0.5f); }
  static std::uint32_t hash(std::uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
  }
  static std::uint32_t bits_of(int x, int y, int frame) {
    return hash(std::uint32_t(x) + 0x9e3779b9u * (std::uint32_t(y) + 0x85ebca6bu * std::uint32_t(frame)));
  }
  bool inside(int x, int y) const { return x >= 0 && y >= 0 && x < width_ && y < height_; }
  std::size_t index(int x, int y) const { return std::size_t(y) * width_ + x; }
  std::size_t nearest(int x, int y) const {
    return index(std::clamp(x, 0, width_ - 1), std::clamp(y, 0, height_ - 1));
  }
  Pixel& at(int x, int y) { return pixels_[index(x, y)]; }
  const Pixel& at(int x, int y) const { return pixels_[index(x, y)]; }

  const BackgroundEnergy energy_;
  const int width_, height_;
  std::vector<Pixel> pixels_;
  int frame_ = 0, shift_x_ = 0, shift_y_ = 0;
  int noise_ = 0;  // in units of 1/16 luma
  float first_gain_ = 1, second_gain_ = 0;
};

}  // namespace parafield::oracle
