#pragma once
#include "guided/candidates/scores.hpp"
#include "guided/color_test/window.hpp"
#include "guided/support/tile.hpp"

/// Scores of labels for a tile on the CPU, and color tests of many pixels together.
namespace parafield {

constexpr int batch_size = 8;  // features whose votes are added together

/// What is known of a tile's pixels, in scratch memory: a plane of tile_pixels each.
struct TileScores {
  float *best, *weight;                            // best exponent; sum of all weights
  float* top;                                      // best score of any label
  int* top_label;                                  // its label, or -1
  float *value, *difference, *best_score;          // of the best label that passed
  int* label;                                      // its label, or -1
  float *u, *v, *sum_u, *sum_v, *sum;              // flow, and sums for sub-pixel flow
  float *rotation_u, *rotation_v;                  // flow of the rotation
  int* pending;                                    // pixels whose best label can lose
  int *queued, *x, *y;                             // pixels to be tested, and where they lie
  float *queued_u, *queued_v, *queued_difference;  // their flows, and what the test found
  float* weights;                                  // of a batch's features
  float* scores;                                   // of each label

  static_assert(choice_planes(0) == 22 + batch_size + 1, "planes, and those of labels and a rotation");
  PF_HD explicit TileScores(char* memory) {
    float* next = reinterpret_cast<float*>(memory);
    for (float** plane : {&best, &weight, &top, &value, &difference, &best_score, &u, &v, &sum_u, &sum_v,
                          &sum, &rotation_u, &rotation_v, &queued_u, &queued_v, &queued_difference})
      *plane = next, next += tile_pixels;
    for (int** plane : {&top_label, &label, &pending, &queued, &x, &y})
      *plane = reinterpret_cast<int*>(next), next += tile_pixels;
    weights = next;
    scores = weights + batch_size * tile_pixels;
  }
  PF_HD float* score(int label) const { return scores + std::size_t(label) * tile_pixels; }
  PF_HD BestLabel best_label(int i) const { return {value[i], difference[i], best_score[i], label[i]}; }
  PF_HD void set(int i, const BestLabel& to) const {
    value[i] = to.value, difference[i] = to.difference, best_score[i] = to.score, label[i] = to.label;
  }
};

/// The choice of a tile's labels.
struct TileChoice {
  const LabelChoice& choice;
  int labels, rotation_label;  // number of labels, and the rotation's, or -1
  const Tile& tile;
  const TileScores& scores;
};

/// Flow of a label at a pixel.
PF_HD Motion motion_of(const TileChoice& here, int label, int i) {
  if (label == here.rotation_label) return {here.scores.rotation_u[i], here.scores.rotation_v[i]};
  return {here.choice.labels.u[label], here.choice.labels.v[label]};
}

/// Queues a pixel and a label for the color test.
PF_HD void queue_pixel(const TileChoice& here, int at, int i, int label) {
  const TileScores& scores = here.scores;
  const Motion motion = motion_of(here, label, i);
  scores.queued[at] = i;
  scores.x[at] = here.tile.x0 + i % here.tile.width;
  scores.y[at] = here.tile.y0 + i / here.tile.width;
  scores.queued_u[at] = motion.u, scores.queued_v[at] = motion.v;
}

/// Tests the queued pixels.
PF_HD void test_queued(const TileChoice& here, int count) {
  const TileScores& scores = here.scores;
  const int *const x = scores.x, *const y = scores.y;
  window_differences(
      here.choice.test, count, [=](int i) { return x[i]; }, [=](int i) { return y[i]; }, scores.queued_u,
      scores.queued_v, scores.queued_difference);
}

}  // namespace parafield
