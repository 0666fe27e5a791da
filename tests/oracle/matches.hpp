// SPDX-License-Identifier: MIT
#pragma once
// Descriptors of gradients by direction, in float64, and PatchMatch on seeds from coarse to fine (Hu, Song,
// Li 2016) on whole numbers. Descriptors may differ by 1 from the library's where a value lies between two
// whole numbers. PatchMatch of the same descriptors is the same.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "grid.hpp"

namespace parafield::oracle {

/// Eight bytes per pixel; beyond the border, those of the nearest pixel.
struct DescribedImage {
  Size size;
  std::vector<std::array<int, 8>> bytes;

  const std::array<int, 8>& at(int x, int y) const {
    return bytes[std::size_t(std::clamp(y, 0, size.height - 1)) * std::size_t(size.width) +
                 std::size_t(std::clamp(x, 0, size.width - 1))];
  }
};

/// Mean by the triangle (1 2 3 4 3 2 1) / 16 along x or y, rounded to whole numbers.
inline Grid triangle(const Grid& image, bool along_x) {
  return tabulate(image.size, [&](int x, int y) {
    double sum = 0;
    for (int i = -3; i <= 3; ++i) sum += (4 - std::abs(i)) * (along_x ? image(x + i, y) : image(x, y + i));
    return std::floor(sum / 16 + 0.5);
  });
}

inline DescribedImage describe(const Grid& luma) {
  const auto change = [](double before, double after) {
    const double half = (after - before) / 2;
    return std::abs(half) <= 1e30 ? std::clamp(half, -4080.0, 4080.0) : 0.0;  // NaN: 0
  };
  std::array<Grid, 8> channels;
  Grid energy(luma.size);
  for (int k = 0; k < 8; ++k) {
    const double angle = k * std::acos(-1.0) / 4;
    const Grid raw = tabulate(luma.size, [&](int x, int y) {
      const double gx = change(luma(x - 1, y), luma(x + 1, y)), gy = change(luma(x, y - 1), luma(x, y + 1));
      const double share = std::max(0.0, gx * std::cos(angle) + gy * std::sin(angle));
      return std::floor(std::min(16 * share * share * share / (gx * gx + gy * gy + 1e-6) + 0.5, 4080.0));
    });
    channels[std::size_t(k)] = triangle(triangle(raw, false), true);
    energy = tabulate(luma.size, [&](int x, int y) {
      return energy(x, y) + channels[std::size_t(k)](x, y) * channels[std::size_t(k)](x, y);
    });
  }
  const double half[] = {.12, .115, .105, .09, .07, .04, .02};
  for (const bool along_x : {false, true}) {
    const Grid before = energy;
    energy = tabulate(luma.size, [&](int x, int y) {
      double sum = 0;
      for (int i = -6; i <= 6; ++i)
        sum += half[std::abs(i)] * (along_x ? before(x + i, y) : before(x, y + i));
      return sum;
    });
  }
  DescribedImage image{luma.size, {}};
  for (int y = 0; y < luma.size.height; ++y)
    for (int x = 0; x < luma.size.width; ++x) {
      std::array<int, 8> bytes;
      for (std::size_t k = 0; k < 8; ++k)
        bytes[k] = int(std::min(255.0, 128 * channels[k](x, y) / std::sqrt(energy(x, y) + 0.72 * 256)));
      image.bytes.push_back(bytes);
    }
  return image;
}

/// Sizes of the levels: each is half the next finer one, and its shorter side is at least 16 px.
inline std::vector<Size> match_levels(Size size, int most) {
  std::vector<Size> sizes{size};
  for (int i = 1; i < most; ++i) {
    size = {(size.width + 1) / 2, (size.height + 1) / 2};
    if (std::min(size.width, size.height) < 16) break;
    sizes.push_back(size);
  }
  return sizes;
}

struct WholeFlow {
  int u = 0, v = 0;
  bool operator==(const WholeFlow&) const = default;
};

/// Matches of all seeds of a level, row by row.
struct SeedFlows {
  int columns = 0, rows = 0;
  std::vector<WholeFlow> flows;
};

class PatchMatch {
 public:
  PatchMatch(const std::vector<DescribedImage>& frame0, const std::vector<DescribedImage>& frame1, int stride,
             int iterations)
      : frame0_(frame0), frame1_(frame1), stride_(stride), iterations_(iterations) {}

  SeedFlows run() {
    SeedFlows seeds;
    for (level_ = int(frame0_.size()) - 1; level_ >= 0; --level_) {
      const bool coarsest = level_ + 1 == int(frame0_.size());
      seeds = coarsest ? started() : refined(seeds);
      const int iterations = coarsest ? 2 * iterations_ : iterations_;
      for (int i = 0; i < iterations; ++i) seeds = improved(seeds, coarsest, i, iterations);
    }
    return seeds;
  }

  static int seed_count(int side, int stride) {
    int count = 0;
    while (stride / 2 + count * stride < side) ++count;
    return std::max(count, 1);
  }
  static int position(int number, int side, int stride) {
    return std::min(stride / 2 + number * stride, side - 1);
  }

  /// Cost of a match of (x, y) of one image with (x + u, y + v) of another; nothing outside.
  static std::optional<int> cost(const DescribedImage& from, const DescribedImage& to, int x, int y,
                                 WholeFlow flow) {
    const int end_x = x + flow.u, end_y = y + flow.v;
    if (end_x < 0 || end_y < 0 || end_x >= to.size.width || end_y >= to.size.height) return {};
    int sum = 0;
    for (const int j : {-6, -2, 2, 6})
      for (const int i : {-6, -2, 2, 6})
        for (std::size_t k = 0; k < 8; ++k)
          sum += std::abs(from.at(x + i, y + j)[k] - to.at(end_x + i, end_y + j)[k]);
    return sum;
  }

 private:
  Size size() const { return frame0_[std::size_t(level_)].size; }

  static std::uint32_t hash(std::uint32_t a) {
    a ^= a >> 16;
    a *= 0x7feb352d;
    a ^= a >> 15;
    a *= 0x846ca68b;
    a ^= a >> 16;
    return a;
  }
  /// Two whole numbers below their limits.
  static WholeFlow random(int seed, std::uint32_t key, int columns, int rows) {
    const std::uint32_t a = hash(hash(std::uint32_t(seed)) ^ key), b = hash(a + 0x9e3779b9);
    return {int(double(a) / 4294967296.0 * columns), int(double(b) / 4294967296.0 * rows)};
  }

  /// The better of a seed's match and another.
  void consider(int x, int y, WholeFlow other, WholeFlow& best, std::optional<int>& least) const {
    const auto found = cost(frame0_[std::size_t(level_)], frame1_[std::size_t(level_)], x, y, other);
    if (!found || (least && *found >= *least)) return;
    best = other;
    least = found;
  }

  /// Flows of all seeds of the level: f(number, column, row, x, y).
  template <class F>
  SeedFlows for_each_seed(F f) const {
    SeedFlows seeds{seed_count(size().width, stride_), seed_count(size().height, stride_), {}};
    for (int row = 0; row < seeds.rows; ++row)
      for (int column = 0; column < seeds.columns; ++column)
        seeds.flows.push_back(f(row * seeds.columns + column, column, row,
                                position(column, size().width, stride_),
                                position(row, size().height, stride_)));
    return seeds;
  }

  SeedFlows started() const {
    const int seeds = seed_count(size().width, stride_) * seed_count(size().height, stride_);
    const auto starts = std::uint32_t(std::clamp(131072 / seeds, 64, 512));
    return for_each_seed([&](int seed, int, int, int x, int y) {
      WholeFlow best;
      std::optional<int> least;
      consider(x, y, best, best, least);
      for (std::uint32_t k = 0; k < starts; ++k) {
        const WholeFlow place = random(seed, 0x80000000 + k, size().width, size().height);
        consider(x, y, {place.u - x, place.v - y}, best, least);
      }
      return best;
    });
  }

  SeedFlows refined(const SeedFlows& coarse) const {
    return for_each_seed([&](int, int, int, int x, int y) {
      const int column = std::min(x / 2 / stride_, coarse.columns - 1),
                row = std::min(y / 2 / stride_, coarse.rows - 1);
      const WholeFlow flow = coarse.flows[std::size_t(row * coarse.columns + column)];
      return WholeFlow{2 * flow.u, 2 * flow.v};
    });
  }

  SeedFlows improved(const SeedFlows& before, bool coarsest, int iteration, int iterations) const {
    int step = 1;
    if (iteration < iterations - 2)
      for (int i = iteration; i < (coarsest ? 4 : 2); ++i) step *= 2;
    return for_each_seed([&](int seed, int column, int row, int x, int y) {
      WholeFlow best = before.flows[std::size_t(seed)];
      std::optional<int> least;
      consider(x, y, best, best, least);
      for (const int j : {-1, 0, 1})
        for (const int i : {-1, 0, 1}) {
          const int a = column + i * step, b = row + j * step;
          if (a >= 0 && b >= 0 && a < before.columns && b < before.rows)
            consider(x, y, before.flows[std::size_t(b * before.columns + a)], best, least);
        }
      int radius = coarsest ? std::max(size().width, size().height) : 4;
      for (std::uint32_t k = 0; radius >= 1; radius /= 2, ++k) {
        const auto key = std::uint32_t(8192 * level_ + 32 * (iteration + 1)) + k;
        const WholeFlow shift = random(seed, key, 2 * radius + 1, 2 * radius + 1);
        consider(x, y, {best.u + shift.u - radius, best.v + shift.v - radius}, best, least);
      }
      return best;
    });
  }

  const std::vector<DescribedImage>&frame0_, &frame1_;
  const int stride_, iterations_;
  int level_ = 0;
};

/// A seed's match in fractions of a pixel; nothing where it was dropped.
struct FoundMatch {
  int x, y;
  std::optional<std::array<double, 2>> flow;
};

/// Matches of frame0 with frame1 that pass all checks. `check`, `region`: match_check and match_region.
inline std::vector<FoundMatch> checked_matches(const SeedFlows& there, const SeedFlows& back,
                                               const DescribedImage& frame0, const DescribedImage& frame1,
                                               const Grid& luma0, const Grid& luma1, int stride, double check,
                                               int region) {
  const Size size = frame0.size;
  std::vector<bool> valid(there.flows.size());
  std::vector<FoundMatch> matches;
  const auto is_finite = [](double value) { return std::abs(value) <= 1e30; };
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const int x = PatchMatch::position(int(i) % there.columns, size.width, stride),
              y = PatchMatch::position(int(i) / there.columns, size.height, stride);
    matches.push_back({x, y, {}});
    const WholeFlow flow = there.flows[i];
    const int end_x = x + flow.u, end_y = y + flow.v;
    if (!PatchMatch::cost(frame0, frame1, x, y, flow)) continue;
    int texture = 0;
    for (const int b : {-6, -2, 2, 6})
      for (const int a : {-6, -2, 2, 6})
        for (const int byte : frame0.at(x + a, y + b)) texture += byte;
    const int column = std::min(end_x / stride, back.columns - 1),
              row = std::min(end_y / stride, back.rows - 1);
    const WholeFlow home = back.flows[std::size_t(row * back.columns + column)];
    valid[i] = texture >= 256 && is_finite(luma0(x, y)) && is_finite(luma1(end_x, end_y)) &&
               (check == 0 || std::hypot(flow.u + home.u, flow.v + home.v) < check);
  }
  std::vector<bool> seen(valid.size()), kept = valid;
  for (std::size_t start = 0; start < valid.size(); ++start) {
    if (!valid[start] || seen[start]) continue;
    std::vector<int> members{int(start)};
    seen[start] = true;
    for (std::size_t next = 0; next < members.size(); ++next) {
      const int from = members[next], column = from % there.columns, row = from / there.columns;
      for (const auto& [a, b] :
           {std::pair{column - 1, row}, {column + 1, row}, {column, row - 1}, {column, row + 1}}) {
        if (a < 0 || b < 0 || a >= there.columns || b >= there.rows) continue;
        const int to = b * there.columns + a;
        const WholeFlow one = there.flows[std::size_t(from)], other = there.flows[std::size_t(to)];
        if (!valid[std::size_t(to)] || seen[std::size_t(to)] || std::abs(one.u - other.u) > 3 ||
            std::abs(one.v - other.v) > 3)
          continue;
        seen[std::size_t(to)] = true;
        members.push_back(to);
      }
    }
    if (int(members.size()) < region)
      for (const int member : members) kept[std::size_t(member)] = false;
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    const int x = matches[i].x, y = matches[i].y;
    const WholeFlow flow = there.flows[i];
    std::array<double, 2> fitted{double(flow.u), double(flow.v)};
    const int end_x = x + flow.u, end_y = y + flow.v;
    const bool inner = end_x > 0 && end_y > 0 && end_x < size.width - 1 && end_y < size.height - 1;
    for (const int axis : {0, 1}) {
      if (!inner) break;
      const auto beside = [&](int side) {
        const WholeFlow moved{flow.u + (axis == 0 ? side : 0), flow.v + (axis == 1 ? side : 0)};
        return double(*PatchMatch::cost(frame0, frame1, x, y, moved));
      };
      const double rise = std::max(beside(-1), beside(1)) - beside(0);
      if (rise > 0) fitted[std::size_t(axis)] += std::clamp((beside(-1) - beside(1)) / (2 * rise), -0.5, 0.5);
    }
    matches[i].flow = fitted;
  }
  return matches;
}

}  // namespace parafield::oracle
