// SPDX-License-Identifier: MIT
// The CUDA kernel of belief propagation's coarser levels, run by emulated threads on random levels: two
// levels at once have the sums of data costs, and the CPU's weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/cuda/backend.hpp"
#include "markov/levels/coarser.cuh"

namespace parafield {
namespace {

/// Levels of the same values in the order that the kernel has them: pixel by pixel.
template <class Value>
struct StoredLevel {
  PropagationLevel<Value> level;
  std::vector<Value> data;

  StoredLevel(Size size, int values) : level{.width = size.width, .height = size.height} {
    data.assign(std::size_t(size.width) * size.height * values, Value(77));
    level.data = data.data();
  }
  Value& at(int x, int y, int v) {
    return data[(std::size_t(y) * level.width + x) * (data.size() / level.width / level.height) + v];
  }
};

Size half_of(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }

/// Expects the sums of a level's data costs.
template <class Value>
void expect_sums(const PairUnits& units, StoredLevel<Value>& fine, StoredLevel<Value>& coarse, int values) {
  for (int y = 0; y < coarse.level.height; ++y)
    for (int x = 0; x < coarse.level.width; ++x) {
      std::vector<Sum<Value>> sums;
      for (int v = 0; v < values; ++v) {
        const auto cost = [&](int i, int j) {
          const int px = 2 * x + i, py = 2 * y + j;
          return Sum<Value>(px < fine.level.width && py < fine.level.height ? fine.at(px, py, v) : Value(0));
        };
        sums.push_back((cost(0, 0) + cost(1, 0)) + (cost(0, 1) + cost(1, 1)));
      }
      const Sum<Value> least = *std::min_element(sums.begin(), sums.end());
      for (int v = 0; v < values; ++v)
        ASSERT_EQ(coarse.at(x, y, v), summed_value(sums[std::size_t(v)], least, units, Value()))
            << x << ", " << y << ", value " << v;
    }
}

template <class Value>
void expect_sums_of_levels(unsigned seed) {
  std::mt19937 random(seed);
  const auto one_of = [&](std::initializer_list<int> some) { return some.begin()[random() % some.size()]; };
  const PairUnits units{.most_data = sizeof(Value) == 2 ? float(data_units) : 1e30f};
  const Size size{one_of({1, 2, 3, 9, 16, 21}), one_of({1, 2, 5, 8, 13})};
  const int values = one_of({4, 12, 32, 64, 128, 160, 256});
  StoredLevel<Value> fine(size, values), first(half_of(size), values), second(half_of(half_of(size)), values);
  for (Value& value : fine.data) value = Value(random() % 8000);
  for (const bool has_second : {false, true}) {
    CoarserLevels<Value> coarser{.level = {first.level}};
    if (has_second) coarser.level[1] = second.level;
    EmulatedCuda emulated{ThreadOrder(one_of({0, 1, 2}))};
    launch_coarser(emulated, units, values, fine.level, coarser);
    expect_sums(units, fine, first, values);
    if (has_second) expect_sums(units, first, second, values);
  }
}

TEST(EmulatedCoarserKernels, DataCosts) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    expect_sums_of_levels<std::uint16_t>(seed);
    expect_sums_of_levels<float>(seed);
  }
}

/// Planes of weights, random or to be written.
struct WeightPlanes {
  Size size;
  std::vector<float> plain[2], used[2], flatness;
  std::vector<std::uint32_t> color;

  WeightPlanes(Size s, bool has_flatness) : size(s) {
    const std::size_t count = std::size_t(size.width) * size.height;
    for (int j = 0; j < 2; ++j) plain[j].assign(count, -1), used[j].assign(has_flatness ? count : 0, -1);
    flatness.assign(has_flatness ? count : 0, -1);
    color.assign(count, 1);
  }
  void fill(std::mt19937& random) {
    for (std::vector<float>* plane : {&plain[0], &plain[1], &flatness})
      for (float& value : *plane) value = float(random() % 10007) / 10007;
    for (std::uint32_t& word : color) word = std::uint32_t(random()) & 0xffffffu;
  }
  template <class T>
  View<T> view(std::vector<T>& plane) {
    if (plane.empty()) return {};
    return {plane.data(), size.width, size.height, size.width * std::ptrdiff_t(sizeof(T))};
  }
  LevelWeights weights() {
    LevelWeights planes;
    for (int j = 0; j < 2; ++j)
      planes.plain[j] = view(plain[j]), planes.used[j] = flatness.empty() ? planes.plain[j] : view(used[j]);
    planes.flatness = view(flatness), planes.color = view(color);
    return planes;
  }
};

/// The weights of the level after `fine`, plane by plane.
WeightPlanes coarser_weights(WeightPlanes& fine, int number, CoarseEdges edges) {
  WeightPlanes coarse(half_of(fine.size), !fine.flatness.empty());
  const LevelWeights from = fine.weights(), to = coarse.weights();
  const View<std::uint32_t> color = coarse.view(coarse.color);
  const auto [width, height] = coarse.size;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      for (int j = 0; j < 2; ++j) to.plain[j](x, y) = mean_weight(from.plain[j], j, x, y, edges);
      if (to.flatness) to.flatness(x, y) = least_flatness(from.flatness, x, y);
      color(x, y) = mean_color(from.color, x, y);
    }
  for (int y = 0; y < height && to.flatness; ++y)
    for (int x = 0; x < width; ++x)
      for (int j = 0; j < 2; ++j) {
        const int nx = x + (j == 0), ny = std::min(y + (j == 1), height - 1);
        to.used[j](x, y) = nx < width ? used_weight(to.plain[j](x, y), to.flatness(x, y), to.flatness(nx, ny),
                                                    growth_of(number))
                                      : 0.0f;
      }
  return coarse;
}

TEST(EmulatedCoarserKernels, Weights) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const CoarseEdges edges = seed % 2 ? CoarseEdges::kept : CoarseEdges::crossed;
    const bool has_flatness = seed % 3 > 0;
    WeightPlanes fine({1 + int(random() % 40), 1 + int(random() % 30)}, has_flatness);
    fine.fill(random);
    WeightPlanes found[2] = {{half_of(fine.size), has_flatness}, {half_of(half_of(fine.size)), has_flatness}};
    CoarserLevels<float> coarser{.number = 1 + 2 * int(seed % 3), .edges = edges};
    for (int i = 0; i < 2; ++i) {
      coarser.level[i] = {.width = found[i].size.width, .height = found[i].size.height};
      coarser.level[i].weights = found[i].weights(), coarser.color[i] = found[i].view(found[i].color);
    }
    PropagationLevel<float> from{.width = fine.size.width, .height = fine.size.height};
    from.weights = fine.weights();
    EmulatedCuda emulated{ThreadOrder(seed % 3)};
    launch_coarser(emulated, PairUnits{}, 4, from, coarser);
    WeightPlanes last = fine;
    for (int i = 0; i < 2; ++i) {
      WeightPlanes expected = coarser_weights(last, coarser.number + i, edges);
      for (int j = 0; j < 2; ++j) {
        EXPECT_EQ(found[i].plain[j], expected.plain[j]) << i << j;
        EXPECT_EQ(found[i].used[j], expected.used[j]) << i << j;
      }
      EXPECT_EQ(found[i].flatness, expected.flatness) << i;
      EXPECT_EQ(found[i].color, expected.color) << i;
      last = expected;
    }
  }
}

}  // namespace
}  // namespace parafield
