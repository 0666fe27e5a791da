// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "oracle/steps.hpp"
#include "parafield/methods/energy.hpp"

/// A learned background, pixel by pixel, as BackgroundEnergy and docs/methods/background.md describe it. It
/// draws the same random bits as the library, and rounds to bytes as it does, since they are part of the
/// result.
namespace parafield::oracle {

class LearnedBackground {
 public:
  LearnedBackground(const BackgroundEnergy& energy, const Frame& first)
      : energy_(energy),
        least_(int(16 * energy.least_spread + 0.5f)),
        width_(first.width),
        height_(first.height),
        pixels_(std::size_t(width_) * height_) {
    const std::vector<Color> image = bytes_of(first);
    int tinted = 0;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        Pixel& pixel = at(x, y);
        const Color& own = image[index(x, y)];
        pixel.spread = std::max(least_, 96);
        pixel.mean = {256 * own.luma, 256 * own.blue, 256 * own.red};
        tinted += std::max(std::abs(own.blue - own.luma), std::abs(own.red - own.luma)) > 6;
        for (int k = 0; k < 16; ++k) {
          const std::uint32_t bits = bits_of(x, y, -1 - k);
          const int dx = k ? int(bits % 3) - 1 : 0, dy = k ? int((bits >> 8) % 3) - 1 : 0;
          pixel.samples[k] = image[nearest(x + dx, y + dy)];
        }
      }
    colored_ = energy.rgb && tinted > 0.02 * width_ * height_;
  }

  /// Differences of the next frame from the background, in spreads.
  std::vector<double> differences(const Frame& frame) {
    ++frame_;
    crowded_ = moving_ > 0.7 * width_ * height_;
    std::vector<Color> image = bytes_of(frame);
    find_shift(image);
    if (shift_x_ || shift_y_) image = moved(image);
    find_gains(image);
    light(image);
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        Pixel& pixel = at(x, y);
        const bool dynamic = pixel.flicker >= 128;
        pixel.distance = 255;
        for (int dy = dynamic ? -2 : 0; dy <= (dynamic ? 2 : 0); dy += 2)
          for (int dx = dynamic ? -2 : 0; dx <= (dynamic ? 2 : 0); dx += 2)
            if (inside(x + dx, y + dy))
              pixel.distance = std::min(pixel.distance, distance(pixel.now, at(x + dx, y + dy), dynamic));
        pixel.difference = difference(pixel, pixel.distance);
        pixel.apart = moves(pixel.difference);
      }
    if (colored_ && energy_.shadows == Shadows::drop)
      for (int y = 0; y < height_; ++y)
        for (int x = 0; x < width_; ++x)
          if (at(x, y).apart) drop_shadow(x, y);
    std::vector<double> result;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) result.push_back(step() * smooth(x, y));
    return result;
  }

  /// Moves labels back to the places that the frame shows.
  std::vector<int> in_frame(const std::vector<int>& labels) const {
    const int dx = int(std::floor(shift_x_ / 16.0 + 0.5)), dy = int(std::floor(shift_y_ / 16.0 + 0.5));
    std::vector<int> result;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) result.push_back(labels[nearest(x - dx, y - dy)]);
    return result;
  }
  bool is_shifted() const { return shift_x_ != 0 || shift_y_ != 0; }
  bool has_two_gains() const { return second_gain_ > 0; }
  bool is_colored() const { return colored_; }

  /// Learns from that frame, given the labels of its pixels.
  void learn(const std::vector<int>& labels) {
    moving_ = int(std::ranges::count(labels, 1));
    vote(labels);
    const int time = frame_ < 32 ? std::min(std::max(frame_ / 2, 2), energy_.renewal) : energy_.renewal;
    const std::uint32_t chance = 65536u / std::uint32_t(time);
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        Pixel& pixel = at(x, y);
        const bool moving = labels[index(x, y)] == 1, young = frame_ < 32;
        follow_flicker(pixel, moving);
        const bool dynamic = pixel.flicker >= 128;
        if (!moving || dynamic) follow_spread(pixel, dynamic);
        if (crowded_) pixel.support /= 2;
        const std::uint32_t chances = bits_of(x / 32, y, frame_), bits = hash(chances ^ 0x9e3779b9u);
        if (moving)
          follow_candidate(pixel, bits >> 11 & 15);
        else
          pixel.support = std::min(pixel.support + 1, 255), pixel.run = 0;
        if (!moving && (!pixel.apart || young)) {
          const int divisor = frame_ < 16 ? 4 : 16;
          for (auto [mean, now] : {std::pair(&pixel.mean.luma, pixel.now.luma),
                                   {&pixel.mean.blue, pixel.now.blue},
                                   {&pixel.mean.red, pixel.now.red}})
            *mean += int(std::floor((256 * now - *mean) / double(divisor)));
        }
        const bool takes = !moving || (young && 16 * pixel.distance <= 3 * pixel.spread);
        if ((chances & 65535) < chance && takes && (!pixel.apart || young || dynamic))
          pixel.samples[bits & 15] = pixel.now;
        const int dx[] = {-1, 0, 1, 0, -1, 1, 1, -1}, dy[] = {0, -1, 0, 1, -1, -1, 1, 1};
        const int nx = x + dx[bits >> 8 & 7], ny = y + dy[bits >> 8 & 7];
        if (chances >> 16 < chance && inside(nx, ny) && labels[index(nx, ny)] == 0 && !at(nx, ny).apart &&
            takes)
          pixel.samples[bits >> 4 & 15] = at(nx, ny).now;
        pixel.was_apart = pixel.apart;
        pixel.was_moving = moving;
      }
  }

 private:
  struct Color {
    int luma = 0, blue = 0, red = 0;
  };
  struct Pixel {
    Color samples[16], now, mean;  // mean: in units of 1/256
    int distance = 0, difference = 0, spread = 0, candidate = 0, support = 0, run = 0, flicker = 0, vote = 0;
    bool apart = false, was_apart = false, was_moving = false;
  };

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

  /// The third smallest distance from the samples of a pixel.
  int distance(const Color& now, const Pixel& from, bool dynamic) const {
    std::vector<int> distances;
    for (const Color& sample : from.samples) distances.push_back(distance(now, sample, dynamic));
    std::ranges::sort(distances);
    return distances[2];
  }
  int distance(const Color& a, const Color& b, bool dynamic) const {
    const int luma = std::abs(a.luma - b.luma);
    if (!colored_) return luma;
    const auto chroma = [](int color, int luma) { return int(std::floor((color - luma) / 2.0)); };
    const int apart = std::max(std::abs(chroma(a.blue, a.luma) - chroma(b.blue, b.luma)),
                               std::abs(chroma(a.red, a.luma) - chroma(b.red, b.luma)));
    const bool other_light = second_gain_ > 0 || first_gain_ < 0.9f || first_gain_ > 1.1f;
    const int twice = dynamic ? (other_light ? 3 : 10) : other_light ? 1 : 3;  // the weight of chromas
    const int weighted = apart * twice / 2;
    return std::max(luma, std::min(weighted, 255));
  }

  /// A difference is stored in 254 steps.
  float step() const { return 3 * energy_.mean / 254; }
  int difference(const Pixel& pixel, float distance) const {
    return int(std::min(distance * (16 / step() / float(pixel.spread)), 254.0f) + 0.5f);
  }
  bool moves(int difference) const {
    const float y = float(difference) * step(), off = y - energy_.mean;
    return off * off < y * y;
  }

  /// A shadow is a darker background with the same color and the same texture around the pixel.
  void drop_shadow(int x, int y) {
    Pixel& pixel = at(x, y);
    const auto mean = [&](const Pixel& pixel) { return (pixel.mean.luma + 128) / 256; };
    const int luma = pixel.now.luma, behind = mean(pixel);
    if (luma >= behind || luma < 0.38 * behind || pixel.support < 32) return;
    int texture = 0;
    for (int dy = -2; dy <= 2; dy += 2)
      for (int dx = -2; dx <= 2; dx += 2) {
        const Pixel& there = pixels_[nearest(x + dx, y + dy)];
        texture += std::abs((luma - there.now.luma) * behind - luma * (behind - mean(there)));
      }
    const float spread = float(pixel.spread) / 16, share = float(luma) / float(behind);
    const float off_blue = std::abs(float(pixel.now.blue) - share * (float(pixel.mean.blue) / 256)),
                off_red = std::abs(float(pixel.now.red) - share * (float(pixel.mean.red) / 256));
    const float same_texture = std::max(1 - float(texture) / (8 * float(behind)) / (10 * spread), 0.0f),
                same_color = std::max(1 - std::max(off_blue, off_red) / (3 * spread), 0.0f);
    const float tolerance = 0.55f * float(behind) * same_texture * same_color;
    pixel.difference =
        std::min(pixel.difference, difference(pixel, std::max(float(pixel.distance) - tolerance, 0.0f)));
  }

  /// Where the background flickers, a difference is at most the mean of 5x5.
  int smooth(int x, int y) const {
    const Pixel& pixel = pixels_[index(x, y)];
    if (pixel.flicker < 128) return pixel.difference;
    int sum = 0;
    for (int dy = -2; dy <= 2; ++dy)
      for (int dx = -2; dx <= 2; ++dx)
        if (inside(x + dx, y + dy)) sum += pixels_[index(x + dx, y + dy)].difference;
    return std::min(pixel.difference, (sum + 12) / 25);
  }

  /// A moving pixel's luma is still its candidate's.
  static bool keeps_luma(const Pixel& pixel) {
    return 16 * std::abs(pixel.now.luma - pixel.candidate) <= 2 * pixel.spread;
  }
  static int kept_vote(const Pixel& pixel) { return keeps_luma(pixel) ? pixel.vote : 0; }

  /// Whether an edge of the frame or one of the background is at the mask's borders.
  void vote(const std::vector<int>& labels) {
    std::vector<int> votes(pixels_.size());
    const auto moving = [&](int x, int y) { return labels[index(x, y)] == 1; };
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        if (!moving(x, y)) continue;
        int sum = 0, count = 0;
        for (const auto& [dx, dy] : {std::pair(-1, 0), {0, -1}, {1, 0}, {0, 1}}) {
          if (!inside(x + 2 * dx, y + 2 * dy) || moving(x + 2 * dx, y + 2 * dy)) continue;
          const bool has_inner = inside(x - dx, y - dy) && moving(x - dx, y - dy);
          const Pixel &inner = has_inner ? at(x - dx, y - dy) : at(x, y), &outer = at(x + 2 * dx, y + 2 * dy);
          sum += std::clamp(std::abs(inner.mean.luma / 256 - outer.mean.luma / 256) -
                                std::abs(inner.now.luma - outer.now.luma),
                            -20, 20);
          ++count;
        }
        int vote = kept_vote(at(x, y));
        if (count > 0) vote += (16 * sum / count - vote) / 16;
        const std::uint32_t bits = bits_of(x, y, frame_ + 7777);
        const int scale = 1 << bits % 5, nx = x + (int((bits >> 8) % 5) - 2) * scale,
                  ny = y + (int((bits >> 16) % 5) - 2) * scale;
        const bool alike = inside(nx, ny) && std::abs(at(nx, ny).now.luma - at(x, y).now.luma) <= 16;
        const int other = alike && moving(nx, ny) ? kept_vote(at(nx, ny)) : 0;
        if (other != 0) vote = vote == 0 ? other : vote + (other - vote) / 2;
        votes[index(x, y)] = vote;
      }
    for (std::size_t i = 0; i < votes.size(); ++i) pixels_[i].vote = votes[i];
  }

  void follow_flicker(Pixel& pixel, bool moving) const {
    if (frame_ % 8 == 0) pixel.flicker -= pixel.flicker / 32;
    const int added = std::max(2048 / (frame_ + 32), 8);
    if (pixel.apart != pixel.was_apart)
      pixel.flicker = std::min(pixel.flicker + (moving || pixel.was_moving ? added / 3 : added), 255);
  }
  void follow_spread(Pixel& pixel, bool dynamic) const {
    const int goal = (dynamic ? 16 : 32) * pixel.distance;
    if (goal > pixel.spread)
      pixel.spread += std::min(goal - pixel.spread, dynamic ? 9 : 1);
    else if (goal < pixel.spread)
      --pixel.spread;
    pixel.spread = std::clamp(pixel.spread, least_, std::max(least_, 160));
  }
  /// A moving pixel that keeps its luma long enough becomes the background, in all samples or in eight of them
  /// from `first` on.
  void follow_candidate(Pixel& pixel, std::uint32_t first) const {
    if (keeps_luma(pixel)) {
      pixel.run = std::min(pixel.run + 1, 65535);
    } else {
      pixel.run = 1;
      pixel.candidate = pixel.now.luma;
    }
    int needed = energy_.absorb;
    if (pixel.support < 255)
      needed = std::min(pixel.support / 3 + pixel.support * pixel.support / 25, energy_.absorb);
    if (!crowded_ && pixel.vote >= 32)
      needed = std::min(needed, 8);
    else if (!crowded_ && pixel.vote <= -8)
      needed = energy_.absorb;
    else if (!crowded_ && pixel.vote <= 0)
      needed = std::min(std::max(needed, 3), energy_.absorb);
    if (pixel.run <= needed) return;
    const int count = pixel.support >= 32 && (crowded_ || pixel.vote < 32) ? 8 : 16;
    for (int k = 0; k < count; ++k) pixel.samples[(first + std::uint32_t(k)) % 16] = pixel.now;
    pixel.mean = {256 * pixel.now.luma, 256 * pixel.now.blue, 256 * pixel.now.red};
    pixel.support = std::min(pixel.run, 255);
    pixel.run = pixel.vote = 0;
  }

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
  const int least_, width_, height_;
  std::vector<Pixel> pixels_;
  int frame_ = 0, moving_ = 0, shift_x_ = 0, shift_y_ = 0;
  float first_gain_ = 1, second_gain_ = 0;
  bool crowded_ = false, colored_ = false;
};

}  // namespace parafield::oracle
