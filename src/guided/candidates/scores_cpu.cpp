#include "core/cpu/backend.hpp"
#include "guided/candidates/tile_scores.hpp"

// A thread takes the tiles of its band of rows. It finds a tile's support; then, for a batch of features at a
// time, their weights for all pixels and what they add to every label's scores, which stay in the cache as
// long as the labels are few. A pixel and a feature take 34 operations and one for each label: 0.65e9 for
// 320x240 pixels, 200 features and 8 labels, of which tiles leave out what is far.
//
// Then each pixel's best label is tested, all pixels together, and label by label those that can still be
// better.

namespace parafield {
namespace {

/// Weights of a feature for all pixels, which also add to the sums.
void add_weights(const Tile& tile, const Place& feature, float cutoff, const float* __restrict best,
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
  static_assert(batch_size == 8);
  const float a = votes[0], b = votes[1], c = votes[2], d = votes[3], e = votes[4], f = votes[5],
              g = votes[6], h = votes[7];
  for (int i = 0; i < count; ++i) {
    const float* const w = weights + i;
    float score = fma(w[0], a, scores[i]);
    score = fma(w[tile_pixels], b, score);
    score = fma(w[2 * tile_pixels], c, score);
    score = fma(w[3 * tile_pixels], d, score);
    score = fma(w[4 * tile_pixels], e, score);
    score = fma(w[5 * tile_pixels], f, score);
    score = fma(w[6 * tile_pixels], g, score);
    scores[i] = fma(w[7 * tile_pixels], h, score);
  }
}

/// Scores of all labels, and the sums of the weights.
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
        for (int i = 0; i < tile.count; ++i) weight[i] = 0;  // which changes no score
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

/// Flow of the camera's rotation at each pixel. Where there is none its label scores 0.
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

/// Tests the queued pixels and compares their labels with the best ones: one label for all, or, where that is
/// -1, each pixel's label of the best score.
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

/// Where no label has passed, takes the first label of score 0 that does.
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

/// Alg. 3.
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

/// Alg. 2: a label cannot be chosen if as many labels as may be tested are ahead of it.
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

/// Flow becomes the features' mean flow, by their votes for each pixel's label.
void refine(const TileChoice& here) {
  const Tile& tile = here.tile;
  const TileScores& scores = here.scores;
  const FlowFeatures& features = here.choice.features;
  const int count = tile.count;
  const Places pixels = tile.pixels();
  const float cutoff = cutoff_of(here.choice.p.fast), scale = here.choice.p.vote_scale;
  const float *const best = scores.best, *const u = scores.u, *const v = scores.v;
  float* __restrict sum = scores.sum, * __restrict sum_u = scores.sum_u, * __restrict sum_v = scores.sum_v;
  for (int i = 0; i < count; ++i) sum[i] = sum_u[i] = sum_v[i] = 0;
  for (int k = 0; k < tile.support_count; ++k) {
    const int number = tile.support[k];
    const Place feature = places_of(features)[number];
    const float feature_u = features.u[number], feature_v = features.v[number];
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      const float vote = vote_of(feature_u - u[i], feature_v - v[i], scale);
      const float w = relative_likelihood(exponent(pixels[i], feature), best[i], cutoff) * vote;
      sum[i] += w;
      sum_u[i] = fma(w, feature_u, sum_u[i]);
      sum_v[i] = fma(w, feature_v, sum_v[i]);
    }
  }
  for (int i = 0; i < count; ++i) {
    if (scores.label[i] == here.rotation_label || !(sum[i] > 0)) continue;
    scores.u[i] = sum_u[i] / sum[i];
    scores.v[i] = sum_v[i] / sum[i];
  }
}

/// Flow of the best label, or, where none has passed, of the label of the best score.
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

template <>
void choose_labels(Cpu& cpu, const LabelChoice& choice) {
  const int width = choice.flow.u.width, height = choice.flow.u.height, capacity = choice.features.capacity;
  const int count = choice.labels.count->labels;
  const int rotation_label = choice.test.rotation && count > 0 ? count : -1;
  const int labels = count + (rotation_label > 0), ranked = choice.p.ranked;
  cpu.bands((height + tile_height - 1) / tile_height, [=, &choice](int first, int end, char* scratch) {
    const TileScores scores(scratch + Tile::bytes(capacity));
    for (int row = first; row < end; ++row)
      for (int x0 = 0; x0 < width; x0 += tile_width) {
        Tile tile(scratch, capacity, x0, row * tile_height, smaller(x0 + tile_width, width),
                  smaller((row + 1) * tile_height, height));
        const TileChoice here{choice, labels, rotation_label, tile, scores};
        const Box box = place_pixels(tile, choice.colors, choice.scale);
        const bool any =
            find_support(tile, box, choice.features, cutoff_of(choice.p.fast), scores.best) && labels > 0;
        if (any) {
          score_labels(here);
          if (rotation_label > 0) find_rotation(here, *choice.test.rotation);
          find_best(here);
          if (ranked > 0 && ranked < labels) drop_low_ranks(here);
          find_flow(here);
        }
        store(here, any);
      }
  });
}

}  // namespace parafield
