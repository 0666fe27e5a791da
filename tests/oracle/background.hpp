// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "oracle/background_frame.hpp"

/// A learned background, pixel by pixel, as BackgroundEnergy and docs/methods/background.md describe it. It
/// draws the same random bits as the library, and rounds to bytes as it does, since they are part of the
/// result.
namespace parafield::oracle {

class LearnedBackground : BackgroundFrame {
 public:
  LearnedBackground(const BackgroundEnergy& energy, const Frame& first)
      : BackgroundFrame(energy, first.width, first.height), least_(int(16 * energy.least_spread + 0.5f)) {
    const std::vector<Color> image = bytes_of(first);
    int tinted = 0;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        Pixel& pixel = at(x, y);
        const Color& own = image[index(x, y)];
        pixel.spread = above(least_, 24);
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
        const int own = distance(pixel.now, pixel, false);
        int leaves = 255;
        for (int dy = -2; dy <= 2; dy += 2)
          for (int dx = -2; dx <= 2; dx += 2)
            if (inside(x + dx, y + dy))
              leaves = std::min(leaves, distance(pixel.now, at(x + dx, y + dy), true));
        pixel.distance = dynamic ? leaves : own;
        pixel.difference = difference(pixel, pixel.distance);
        pixel.apart = moves(pixel.difference);
        // Leaves explain why a pixel has left its samples if it was close to others' when it did.
        pixel.left = moves(difference(pixel, own)) && 16 * own >= std::min(12 * noise_, 16 * 12);
        pixel.leaf = pixel.left && (pixel.had_left ? pixel.was_leaf : !moves(difference(pixel, leaves)));
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
        pixel.had_left = pixel.left;
        pixel.was_leaf = pixel.leaf;
        pixel.was_moving = moving;
      }
  }

 private:
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
    return int(std::min(distance * (16 / step() / float(spread_of(pixel))), 254.0f) + 0.5f);
  }
  int spread_of(const Pixel& pixel) const { return std::max(pixel.spread, now_least()); }
  int now_least() const { return std::max(least_, 2 * noise_); }
  static int above(int least, int more) { return std::max(least, std::min(least + more, 160)); }
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
    const float spread = float(spread_of(pixel)) / 16, share = float(luma) / float(behind);
    const float off_blue = std::abs(float(pixel.now.blue) - share * (float(pixel.mean.blue) / 256)),
                off_red = std::abs(float(pixel.now.red) - share * (float(pixel.mean.red) / 256));
    const float same_texture = std::max(1 - float(texture) / (8 * float(behind)) / (10 * spread), 0.0f),
                same_color = std::max(1 - std::max(off_blue, off_red) / (2.5f * spread), 0.0f);
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
        std::uint32_t bits = bits_of(x, y, frame_ + 7777);
        for (int i = 0; i < 4; ++i, bits = hash(bits ^ 0x9e3779b9u)) {
          const int scale = 1 << bits % 5, nx = x + (int((bits >> 8) % 5) - 2) * scale,
                    ny = y + (int((bits >> 16) % 5) - 2) * scale;
          if (!inside(nx, ny)) continue;
          const Pixel &own = at(x, y), &there = at(nx, ny);
          const int apart = std::abs(there.now.luma - own.now.luma);
          if (apart > 16) continue;
          if (moving(nx, ny)) {
            const int other = i == 0 ? kept_vote(there) : 0;
            if (other != 0) vote = vote == 0 ? other : vote + (other - vote) / 2;
          } else if (own.support < 32 && there.support > own.support) {
            const int off = std::abs(own.mean.luma / 256 - there.mean.luma / 256) - apart;
            if (off > 0) vote += (16 * std::min(off, 20) - vote) / 16;
          }
        }
        votes[index(x, y)] = vote;
      }
    for (std::size_t i = 0; i < votes.size(); ++i) pixels_[i].vote = votes[i];
  }

  void follow_flicker(Pixel& pixel, bool moving) const {
    if (frame_ % 8 == 0) pixel.flicker -= pixel.flicker / 32;
    const int added = std::max(2048 / (frame_ + 32), 8);
    const bool leaf = (pixel.leaf || pixel.was_leaf) && pixel.support >= 8;
    const bool halves = (moving || pixel.was_moving) && !leaf;
    if (pixel.left != pixel.had_left)
      pixel.flicker = std::min(pixel.flicker + (halves ? added / 2 : added), 255);
  }
  void follow_spread(Pixel& pixel, bool dynamic) const {
    const int goal = (dynamic ? 16 : 32) * pixel.distance;
    if (goal > pixel.spread)
      pixel.spread += std::min(goal - pixel.spread, dynamic ? 9 : 1);
    else if (goal < pixel.spread)
      --pixel.spread;
    pixel.spread = std::clamp(pixel.spread, now_least(), above(now_least(), 48));
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
      needed = std::min(std::max(needed, 8), energy_.absorb);
    if (pixel.run <= needed) return;
    const int count = pixel.support >= 32 && (crowded_ || pixel.vote < 32) ? 8 : 16;
    for (int k = 0; k < count; ++k) pixel.samples[(first + std::uint32_t(k)) % 16] = pixel.now;
    pixel.mean = {256 * pixel.now.luma, 256 * pixel.now.blue, 256 * pixel.now.red};
    pixel.support = std::min(pixel.run, 255);
    pixel.run = pixel.vote = 0;
  }

  const int least_;
  int moving_ = 0;
  bool crowded_ = false, colored_ = false;
};

}  // namespace parafield::oracle
