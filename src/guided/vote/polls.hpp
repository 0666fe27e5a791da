#pragma once
#include "guided/tile/tile.hpp"
#include "guided/vote/vote.hpp"

/// On the CPU: what a tile's pixels know of the labels, and tests of many of them together.
namespace parafield {

constexpr int together = 8;  // guides

/// What is known of a tile's pixels.
struct Polls {
  float *best, *weight, *top, *value, *difference, *winning;  // winning: the winner's score
  float *u, *v, *sum_u, *sum_v, *sum, *turn_u, *turn_v;
  int *top_label, *label, *pending, *listed, *column, *row;
  float *listed_u, *listed_v, *tested;
  float* weights;  // of `together` guides
  float* scores;   // of each label

  static constexpr int planes = 22 + together;
  PF_HD explicit Polls(char* memory) {
    float* next = reinterpret_cast<float*>(memory);
    for (float** plane : {&best, &weight, &top, &value, &difference, &winning, &u, &v, &sum_u, &sum_v, &sum,
                          &turn_u, &turn_v, &listed_u, &listed_v, &tested})
      *plane = next, next += tile_pixels;
    for (int** plane : {&top_label, &label, &pending, &listed, &column, &row})
      *plane = reinterpret_cast<int*>(next), next += tile_pixels;
    weights = next;
    scores = weights + together * tile_pixels;
  }
  PF_HD float* score(int label) const { return scores + std::size_t(label) * tile_pixels; }
  PF_HD Winner winner(int i) const { return {value[i], difference[i], winning[i], label[i]}; }
  PF_HD void set(int i, const Winner& to) const {
    value[i] = to.value, difference[i] = to.difference, winning[i] = to.score, label[i] = to.label;
  }
};

/// What all tiles share.
struct Election {
  Guides guides;
  Labels labels;
  Colors frame0, frame1;
  VoteParameters p;
  int count, turn_label;  // all labels; the camera's, or -1
};

/// What a label says of a pixel.
PF_HD Motion motion_of(const Election& election, const Polls& polls, int label, int i) {
  if (label == election.turn_label) return {polls.turn_u[i], polls.turn_v[i]};
  return {election.labels.u[label], election.labels.v[label]};
}

/// The next pixel to be tested.
PF_HD void list_pixel(const Tile& tile, const Polls& polls, int at, int i, const Motion& motion) {
  polls.listed[at] = i;
  polls.column[at] = tile.x0 + i % tile.width;
  polls.row[at] = tile.y0 + i / tile.width;
  polls.listed_u[at] = motion.u, polls.listed_v[at] = motion.v;
}

/// The window_difference of each listed pixel.
PF_HD void test_listed(const Election& election, const Polls& polls, int count) {
  const Colors &frame0 = election.frame0, &frame1 = election.frame1;
  const int width = frame0.plane[0].width, height = frame0.plane[0].height, window = election.p.test.window,
            radius = window / 2;
  const int pitch0 = int(frame0.plane[0].pitch / std::ptrdiff_t(sizeof(float))),
            pitch = int(frame1.plane[0].pitch / std::ptrdiff_t(sizeof(float)));
  const float *const red0 = frame0.plane[0].data, *const green0 = frame0.plane[1].data,
                     *const blue0 = frame0.plane[2].data, *const red = frame1.plane[0].data,
                     *const green = frame1.plane[1].data, *const blue = frame1.plane[2].data;
  const int *const x = polls.column, *const y = polls.row;
  const float *const u = polls.listed_u, *const v = polls.listed_v;
  float* __restrict sum = polls.tested;
  for (int i = 0; i < count; ++i) sum[i] = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const int column = clamp(x[i] + dx, 0, width - 1), row = clamp(y[i] + dy, 0, height - 1),
                  at = row * pitch0 + column;
        const Match match = locate(float(column) + u[i], float(row) + v[i], width, height);
        const float r = magnitude(red0[at] - sample(red, pitch, width, height, match)),
                    g = magnitude(green0[at] - sample(green, pitch, width, height, match)),
                    b = magnitude(blue0[at] - sample(blue, pitch, width, height, match));
        sum[i] += ((r + g) + b) * (1.0f / 3);
      }
    }
  const float share = 1 / float(window * window), none = __builtin_nanf("");
  for (int i = 0; i < count; ++i) {
    const bool inside = locate(float(x[i]) + u[i], float(y[i]) + v[i], width, height).inside;
    sum[i] = inside ? sum[i] * share : none;
  }
}

}  // namespace parafield
