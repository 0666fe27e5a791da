// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/candidates/scores.hpp"
#include "guided/support/tile.hpp"

// For each batch of the features that support a tile, the weights are computed for all pixels and then added
// to the scores of every label, which stay in the cache if labels are few. This takes 34 operations per pixel
// and feature, plus one per label: 0.65e9 for 320x240 pixels, 200 features and 8 labels, less the distant
// features that tiles skip. Then the best label of every pixel is tested, for all pixels together. Finally,
// the other labels are tested one by one, each at the pixels where it can still win.
namespace parafield {
namespace {

constexpr int batch_size = 8;  // features whose votes are added together

/// Scores of a tile's pixels and everything else that the choice needs, in planes of tile_pixels in scratch
/// memory.
struct TileScores {
  float *best, *weight;                            // best exponent; sum of all weights
  float* top;                                      // best score of any label
  int* top_label;                                  // its label, or -1
  float *value, *difference, *best_score;          // of the best label that passed
  int* label;                                      // its label, or -1
  float *u, *v;                                    // flow
  MeanPlanes sums;                                 // for sub-pixel flow
  float *rotation_u, *rotation_v;                  // flow of the rotation
  int* pending;                                    // pixels whose best label can still lose
  int *queued, *x, *y;                             // pixels to test, and their positions
  float *queued_u, *queued_v, *queued_difference;  // their flows, and the measured differences
  float* weights;                                  // weights of a batch's features
  float* scores;                                   // scores of each label

  static_assert(choice_planes(0) == 22 + batch_size + 1, "planes, and those of labels and a rotation");
  PF_HD explicit TileScores(float* next) {
    for (float** plane :
         {&best, &weight, &top, &value, &difference, &best_score, &u, &v, &sums.weight, &sums.u, &sums.v,
          &rotation_u, &rotation_v, &queued_u, &queued_v, &queued_difference})
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

/// Inputs and scratch memory for choosing the labels of a tile.
struct TileChoice {
  const LabelChoice& choice;
  int labels, rotation_label;  // number of labels; index of the rotation's, or -1
  const Tile& tile;
  const TileScores& scores;
};

/// Flow of a label at a pixel.
PF_HD Motion motion_of(const TileChoice& here, int label, int i) {
  if (label == here.rotation_label) return {here.scores.rotation_u[i], here.scores.rotation_v[i]};
  return {here.choice.labels.u[label], here.choice.labels.v[label]};
}

/// Queues a pixel with a label for the color test.
PF_HD void queue_pixel(const TileChoice& here, int at, int i, int label) {
  const TileScores& scores = here.scores;
  const Motion motion = motion_of(here, label, i);
  scores.queued[at] = i;
  scores.x[at] = here.tile.x0 + i % here.tile.width;
  scores.y[at] = here.tile.y0 + i / here.tile.width;
  scores.queued_u[at] = motion.u, scores.queued_v[at] = motion.v;
}

PF_HD void test_queued(const TileChoice& here, int count) {
  const TileScores& scores = here.scores;
  const int *const x = scores.x, *const y = scores.y;
  window_differences(
      here.choice.test, count, [=](int i) { return x[i]; }, [=](int i) { return y[i]; }, scores.queued_u,
      scores.queued_v, scores.queued_difference);
}

/// Computes a feature's weights for all pixels and adds them to the sums.
void add_weights(const Tile& tile, const ColoredPlace& feature, float cutoff, const float* __restrict best,
                 float* __restrict weight, float* __restrict sum) {
  const int count = tile.count;
  const Places pixels = tile.pixels();
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const float w = relative_likelihood(exponent(pixels[i], feature), best[i], cutoff);
    weight[i] = w;
    sum[i] += w;
  }
}

void add_votes(const float* __restrict weights, const float (&votes)[batch_size], int count,
               float* __restrict scores) {
  float vote[batch_size];
  for (int k = 0; k < batch_size; ++k) vote[k] = votes[k];
  for (int i = 0; i < count; ++i) {
    float score = scores[i];
    PF_UNROLL
    for (int k = 0; k < batch_size; ++k) score = fma(weights[k * tile_pixels + i], vote[k], score);
    scores[i] = score;
  }
}

/// Computes the scores of all labels and the sums of the weights.
void score_labels(const TileChoice& here) {
  const Labels& labels = here.choice.labels;
  const Tile& tile = here.tile;
  const TileScores& scores = here.scores;
  for (int i = 0; i < tile.count; ++i) scores.weight[i] = 0;
  for (int label = 0; label < here.labels; ++label) {
    float* const score = scores.score(label);
    for (int i = 0; i < tile.count; ++i) score[i] = 0;
  }
  for (int first = 0; first < tile.support_count; first += batch_size) {
    const int features = smaller(batch_size, tile.support_count - first);
    const float* rows[batch_size];
    for (int k = 0; k < batch_size; ++k) {
      const int feature = tile.support[first + smaller(k, features - 1)];
      rows[k] = labels.votes_of(feature);
      float* const weight = scores.weights + k * tile_pixels;
      if (k < features)
        add_weights(tile, places_of(here.choice.features)[feature], cutoff_of(here.choice.p.fast),
                    scores.best, weight, scores.weight);
      else
        for (int i = 0; i < tile.count; ++i) weight[i] = 0;  // leaves scores unchanged
    }
    for (int word = 0; word < (here.labels + 31) / 32; ++word) {
      unsigned voted = 0;
      for (int k = 0; k < features; ++k) voted |= labels.voted_by(tile.support[first + k])[word];
      for (; voted != 0; voted &= voted - 1) {
        const int label = word * 32 + __builtin_ctz(voted);
        float votes[batch_size];
        for (int k = 0; k < batch_size; ++k) votes[k] = rows[k][label];
        add_votes(scores.weights, votes, tile.count, scores.score(label));
      }
    }
  }
}

/// Computes the flow of the camera's rotation at each pixel. Where there is none, its label scores 0.
void find_rotation(const TileChoice& here, const Homography& rotation) {
  const Tile& tile = here.tile;
  float* const score = here.scores.score(here.rotation_label);
  for (int j = 0; j < tile.height; ++j)
    for (int i = 0; i < tile.width; ++i) {
      const int at = j * tile.width + i;
      const Motion motion = rotation.flow(float(tile.x0 + i), float(tile.y0 + j));
      here.scores.rotation_u[at] = motion.u, here.scores.rotation_v[at] = motion.v;
      if (!is_motion(motion)) score[at] = 0;
    }
}

void find_top(const TileChoice& here) {
  const int count = here.tile.count;
  float* __restrict top = here.scores.top;
  int* __restrict top_label = here.scores.top_label;
  for (int i = 0; i < count; ++i) top[i] = 0, top_label[i] = -1;
  for (int label = 0; label < here.labels; ++label) {
    const float* const score = here.scores.score(label);
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      const bool higher = score[i] > top[i];
      top[i] = higher ? score[i] : top[i];
      top_label[i] = higher ? label : top_label[i];
    }
  }
}

/// Tests the queued pixels and compares a label (-1 = each pixel's top label) with their best labels.
void compare_queued(const TileChoice& here, int count, int label) {
  const TileScores& scores = here.scores;
  test_queued(here, count);
  const float threshold = here.choice.test.threshold, softness = here.choice.p.softness;
  for (int at = 0; at < count; ++at) {
    const int i = scores.queued[at], own = label < 0 ? scores.top_label[i] : label;
    const float score = scores.score(own)[i], difference = scores.queued_difference[at];
    BestLabel best = scores.best_label(i);
    best.compare(value_of(score, difference, threshold, softness), difference, score, own);
    scores.set(i, best);
  }
}

/// At pixels where no label has passed, takes the first label of score 0 that passes.
void test_unvoted(const TileChoice& here) {
  const TileScores& scores = here.scores;
  if (!here.choice.p.unvoted || here.choice.p.softness > 0) return;
  for (int label = 0; label < here.labels; ++label) {
    const float* const score = scores.score(label);
    int queued = 0;
    for (int i = 0; i < here.tile.count; ++i)
      if (score[i] == 0 && tests_unvoted(scores.best_label(i), here.choice.p))
        queue_pixel(here, queued++, i, label);
    if (queued > 0) test_queued(here, queued);
    for (int at = 0; at < queued; ++at)
      if (scores.queued_difference[at] < here.choice.test.threshold)
        scores.set(scores.queued[at], {0, scores.queued_difference[at], 0, label});
  }
}

/// Finds each pixel's best label (Alg. 3).
void find_best(const TileChoice& here) {
  const TileScores& scores = here.scores;
  const int count = here.tile.count;
  find_top(here);
  int queued = 0;
  for (int i = 0; i < count; ++i) {
    scores.set(i, {});
    if (scores.top_label[i] >= 0) queue_pixel(here, queued++, i, scores.top_label[i]);
  }
  compare_queued(here, queued, -1);
  int pending = 0;
  for (int i = 0; i < count; ++i) {
    scores.pending[pending] = i;
    pending += scores.value[i] < scores.top[i];
  }
  for (int label = 0; label < here.labels; ++label) {
    const float* const score = scores.score(label);
    queued = 0;
    for (int k = 0; k < pending; ++k) {
      const int i = scores.pending[k];
      if (scores.top_label[i] != label && scores.best_label(i).can_lose_to(score[i], label))
        queue_pixel(here, queued++, i, label);
    }
    if (queued > 0) compare_queued(here, queued, label);
  }
  test_unvoted(here);
}

/// Alg. 2: drops a pixel's best label if at least `ranked` labels are ahead of it.
void drop_low_ranks(const TileChoice& here) {
  int* __restrict ahead = here.scores.queued;
  const float* const best_score = here.scores.best_score;
  const int *const best = here.scores.label, count = here.tile.count;
  for (int i = 0; i < count; ++i) ahead[i] = 0;
  for (int label = 0; label < here.labels; ++label) {
    const float* const score = here.scores.score(label);
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) ahead[i] += is_ahead(score[i], label, best_score[i], best[i]);
  }
  for (int i = 0; i < count; ++i)
    if (ahead[i] >= here.choice.p.ranked) here.scores.set(i, {});
}

/// Replaces flow by the mean of the features' flows, weighted by their votes for each pixel's label.
void refine(const TileChoice& here) {
  const TileScores& scores = here.scores;
  const MeanPlanes& sums = scores.sums;
  const float scale = here.choice.p.vote_scale, *const u = scores.u, *const v = scores.v;
  sum_flows(here.tile, here.choice.features, cutoff_of(here.choice.p.fast), scores.best, sums,
            [=](int i, float feature_u, float feature_v) {
              return vote_of(feature_u - u[i], feature_v - v[i], scale);
            });
  for (int i = 0; i < here.tile.count; ++i) {
    if (scores.label[i] == here.rotation_label || !(sums.weight[i] > 0)) continue;
    scores.u[i] = sums.u[i] / sums.weight[i];
    scores.v[i] = sums.v[i] / sums.weight[i];
  }
}

/// Sets flow to the flow of the best label or, where none has passed, of the label with the best score.
void find_flow(const TileChoice& here) {
  const TileScores& scores = here.scores;
  for (int i = 0; i < here.tile.count; ++i) {
    if (scores.label[i] < 0) scores.label[i] = scores.top_label[i], scores.best_score[i] = scores.top[i];
    const Motion motion = scores.label[i] < 0 ? Motion{} : motion_of(here, scores.label[i], i);
    scores.u[i] = motion.u, scores.v[i] = motion.v;
  }
  if (here.choice.p.sub_pixel) refine(here);
}

void store(const TileChoice& here, bool any) {
  const FlowPlanes flow = here.choice.flow;
  const View<std::uint8_t> valid = here.choice.test.valid;
  const View<float> confidence = here.choice.confidence;
  const float threshold = here.choice.test.threshold;
  const TileScores scores = here.scores;
  for (int j = 0; j < here.tile.height; ++j)
    for (int i = 0; i < here.tile.width; ++i) {
      const int x = here.tile.x0 + i, y = here.tile.y0 + j, at = j * here.tile.width + i;
      const bool known = any && scores.label[at] >= 0;
      flow.u(x, y) = known ? scores.u[at] : 0.0f;
      flow.v(x, y) = known ? scores.v[at] : 0.0f;
      if (valid) valid(x, y) = known && scores.difference[at] < threshold;
      if (confidence) confidence(x, y) = known ? scores.best_score[at] / scores.weight[at] : 0.0f;
    }
}

}  // namespace

template <class Backend>
void choose_labels(Backend& cpu, const LabelChoice& choice) {
  const int count = choice.labels.count->labels;
  const int rotation_label = choice.test.rotation && count > 0 ? count : -1;
  const int labels = count + (rotation_label > 0), ranked = choice.p.ranked;
  for_each_tile(cpu, choice.flow.u.size(), choice.features.capacity, [=, &choice](Tile& tile, float* memory) {
    const TileScores scores(memory);
    const TileChoice here{choice, labels, rotation_label, tile, scores};
    const bool any = find_support(tile, choice.colors, choice.scale, choice.features,
                                  cutoff_of(choice.p.fast), scores.best) &&
                     labels > 0;
    if (any) {
      score_labels(here);
      if (rotation_label > 0) find_rotation(here, *choice.test.rotation);
      find_best(here);
      if (ranked > 0 && ranked < labels) drop_low_ranks(here);
      find_flow(here);
    }
    store(here, any);
  });
}

PF_STEP(choose_labels<Cpu>);

}  // namespace parafield
