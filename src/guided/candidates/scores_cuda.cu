// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/candidates/scores.hpp"
#include "guided/support/weights.cuh"

// Each block is one warp with a tile of 8x4 pixels. Labels are processed in chunks of 8 or 32. For each
// chunk, the weights of the tile's support are computed in batches for all pixels. Scores are the product of
// these weights and the features' votes: a lane keeps four pixels and a quarter of the labels in registers,
// because a read from shared memory costs as much as 4 fma. Then each lane tests the labels of its own pixel
// in order of decreasing score until no other can be better, which mostly takes one test.
//
// Lower bound per pixel and feature: 10 operations for the best exponent, 24 for the weight (once per chunk),
// and one fma per label. For 320x240 pixels on an H100 (29e12 per second), this is 22 us with 200 features
// and 8 labels, 66 us with 422 features and 25 labels; in a colored texture, a quarter is left. The call
// takes 33.5 and 79.0 us (fast 28.1 and 59.0; commit 375afe2), including launches.
namespace parafield {
namespace {

constexpr int few_labels = 8, most_chunk = 32;

struct ChoiceMemory {
  SupportList<max_listed> support, voting;
  Batch batch;
  union {
    ExponentMemory<max_listed> exponents;
    struct {
      Weights weights;
      float4 votes[batch_size * most_chunk / 4];
    } factors;
    float score[most_chunk][tile::pixels];
    float plane[3][tile::pixels];
  };
};

/// Scores of a thread's pixel.
struct PixelScores {
  float weight = 0;  // sum of all features' weights
  float top = 0;     // best score of any label
  int top_label = -1;
  int ahead = 0;   // labels with better scores than the best label
  BestLabel best;  // among the labels that passed
};

/// The lane's pixels and their support.
struct LanePixels {
  int x, y;  // the lane's own pixel, clamped to the image
  bool inside;
  ColoredPlace place[tile::each];
  float best[tile::each];  // best exponents
  TileLane lane;
  FeatureRecords features;
  Support support;
  int labels, rotation_label;  // number of labels; index of the rotation's, or -1
};

template <int Count>
__device__ void read(const float* from, float (&to)[Count]) {
  PF_UNROLL
  for (int i = 0; i < Count; i += Count < 4 ? 2 : 4) {
    if constexpr (Count < 4) {
      const float2 two = *reinterpret_cast<const float2*>(from + i);
      to[i] = two.x, to[i + 1] = two.y;
    } else {
      const float4 four = *reinterpret_cast<const float4*>(from + i);
      to[i] = four.x, to[i + 1] = four.y, to[i + 2] = four.z, to[i + 3] = four.w;
    }
  }
}

/// Weight of a feature for pixel i of the lane's group.
template <bool Fast>
__device__ float weight_of(const LanePixels& pixels, const Record& feature, int i) {
  return relative_likelihood_of<Fast>(exponent(pixels.place[i], feature.place()), pixels.best[i]);
}

/// Computes the scores of the labels from `first` on: weights times votes. Each lane has some of the labels
/// and pixels.
template <bool Fast, int Chunk>
__device__ void add_votes(const LabelChoice& choice, const LanePixels& pixels, int first,
                          ChoiceMemory& memory, PixelScores& scores) {
  constexpr int some = Chunk * tile::groups / lanes, parts = Chunk / 4;
  const TileLane lane = pixels.lane;
  const int group = lane.group() * tile::each, label = lane.part() * some;
  const std::size_t stride = std::size_t(choice.labels.stride);
  const auto row = [&](int feature) { return std::size_t(feature) * stride + std::size_t(first); };
  // A feature without votes affects only the sum of the weights, which is taken from the first chunk.
  const bool some_vote = first > 0 && !pixels.support.all;
  Support support = pixels.support;
  if (some_vote)
    support = {select(
        lane.lane, support.count, memory.voting,
        [&](int at) { return choice.labels.voted[row(memory.support.feature[at]) / 32] != 0; },
        [&](int at) { return memory.support.feature[at]; })};
  const auto& list = some_vote ? memory.voting : memory.support;
  float weight = 0, score[some][tile::each] = {};
  for_each_weighted_batch(
      lane, pixels.features, support, list, memory.batch, memory.factors.weights,
      [&](const Record& feature, int i) { return weight_of<Fast>(pixels, feature, i); },
      [&](int at, int count) {
        PF_UNROLL
        for (int i = lane.lane; i < batch_size * parts; i += lanes) {
          const int feature = list(support, smaller(at + i / parts, support.count - 1));
          memory.factors.votes[i] =
              reinterpret_cast<const float4*>(choice.labels.votes + row(feature))[i % parts];
        }
        __syncwarp();
        const float* const votes = reinterpret_cast<const float*>(memory.factors.votes) + label;
        for (int j = 0; j < count; j += features_at_once) {
          PF_UNROLL
          for (int g = 0; g < features_at_once; ++g) {
            weight += memory.factors.weights.of[j + g][lane.lane];
            float w[tile::each], vote[some];
            read(&memory.factors.weights.of[j + g][group], w);
            read(votes + (j + g) * Chunk, vote);
            PF_UNROLL
            for (int i = 0; i < some; ++i) {
              PF_UNROLL
              for (int k = 0; k < tile::each; ++k) score[i][k] = fma(w[k], vote[i], score[i][k]);
            }
          }
        }
      });
  if (first == 0) scores.weight = weight;
  PF_UNROLL
  for (int i = 0; i < some; ++i)
    *reinterpret_cast<float4*>(&memory.score[label + i][group]) =
        make_float4(score[i][0], score[i][1], score[i][2], score[i][3]);
  __syncwarp();
}

__device__ Motion motion_of(const LabelChoice& choice, const LanePixels& pixels, int label) {
  if (label == pixels.rotation_label) return choice.test.rotation->flow(float(pixels.x), float(pixels.y));
  return {choice.labels.u[label], choice.labels.v[label]};
}

/// How much the pixel differs from its match if it moves like a label.
__device__ float difference_of(const LabelChoice& choice, const LanePixels& pixels, int label) {
  return window_difference(choice.test, pixels.x, pixels.y, motion_of(choice, pixels, label));
}

/// Tests the labels of a chunk in order of decreasing score, and negates the scores of tested labels.
__device__ void test_labels(const LabelChoice& choice, const LanePixels& pixels, int first, int chunk,
                            float* score, PixelScores& scores) {
  while (true) {
    float top = 0;
    int at = -1;
#pragma unroll 8
    for (int i = 0; i < chunk; ++i) {
      const float value = score[i * tile::pixels];
      const bool higher = value > top;
      top = higher ? value : top;
      at = higher ? i : at;
    }
    const int label = first + at;
    if (at >= 0 && top > scores.top) {
      scores.top = top;
      scores.top_label = label;
    }
    if (at < 0 || !scores.best.can_lose_to(top, label)) return;
    score[at * tile::pixels] = -top;
    const float difference = difference_of(choice, pixels, label);
    scores.best.compare(value_of(top, difference, choice.test.threshold, choice.p.softness), difference, top,
                        label);
    if (scores.best.value == top) return;  // all others score less or come later
  }
}

/// Takes the first label that passes. Labels with a score above 0 have already failed; testing them again is
/// harmless.
__device__ void test_unvoted(const LabelChoice& choice, const LanePixels& pixels, PixelScores& scores) {
  if (!tests_unvoted(scores.best, choice.p)) return;
  for (int label = 0; label < pixels.labels; ++label) {
    const float difference = difference_of(choice, pixels, label);
    if (!(difference < choice.test.threshold)) continue;
    scores.best.difference = difference;
    scores.best.label = label;
    return;
  }
}

/// Finds the best label (Alg. 3) and whether too many labels are ahead of it (Alg. 2). With several chunks,
/// Alg. 2 scores each of them twice.
template <bool Fast>
__device__ void find_best(const LabelChoice& choice, const LanePixels& pixels, ChoiceMemory& memory,
                          PixelScores& scores) {
  const int chunk = pixels.labels <= few_labels ? few_labels : most_chunk;
  const int chunks = (pixels.labels + chunk - 1) / chunk, ranked = choice.p.ranked;
  const bool counts = ranked > 0 && ranked < pixels.labels;
  const int steps = counts && chunks > 1 ? 2 * chunks : chunks;
  for (int step = 0; step < steps; ++step) {
    const int first = (step < chunks ? step : step - chunks) * chunk;
    if (chunk == few_labels)
      add_votes<Fast, few_labels>(choice, pixels, first, memory, scores);
    else
      add_votes<Fast, most_chunk>(choice, pixels, first, memory, scores);
    if (!pixels.inside) continue;
    float* const score = memory.score[0] + pixels.lane.lane;
    const int rotation = pixels.rotation_label - first;  // scores 0 if it has no flow
    if (pixels.rotation_label >= 0 && rotation >= 0 && rotation < chunk &&
        !is_motion(motion_of(choice, pixels, pixels.rotation_label)))
      score[rotation * tile::pixels] = 0;
    if (step < chunks) test_labels(choice, pixels, first, chunk, score, scores);
    if (step == chunks - 1) test_unvoted(choice, pixels, scores);
    if (!counts || (step < chunks && chunks > 1)) continue;
    for (int i = 0; i < chunk; ++i)
      scores.ahead +=
          is_ahead(magnitude(score[i * tile::pixels]), first + i, scores.best.score, scores.best.label);
  }
  if (counts && scores.ahead >= ranked) scores.best = {};
}

/// Replaces flow by the mean of the features' flows, weighted by their votes for the label.
template <bool Fast>
__device__ void refine(const LabelChoice& choice, const LanePixels& pixels, int label, ChoiceMemory& memory,
                       Motion& motion) {
  const TileLane lane = pixels.lane;
  float whole_u[tile::each], whole_v[tile::each];
  __syncwarp();
  memory.plane[0][lane.lane] = motion.u, memory.plane[1][lane.lane] = motion.v;
  __syncwarp();
  read(&memory.plane[0][lane.group() * tile::each], whole_u);
  read(&memory.plane[1][lane.group() * tile::each], whole_v);
  __syncwarp();
  MeanFlow mean;
  for_each_weighted_batch(
      lane, pixels.features, pixels.support, memory.support, memory.batch, memory.factors.weights,
      [&](const Record& feature, int i) {
        return weight_of<Fast>(pixels, feature, i) *
               vote_of(feature.rest.y - whole_u[i], feature.rest.z - whole_v[i], choice.p.vote_scale);
      },
      [&](int, int count) { add_batch(lane, memory.batch, memory.factors.weights, count, mean); });
  if (label >= 0 && label != pixels.rotation_label && mean.weight > 0)
    motion = {mean.u / mean.weight, mean.v / mean.weight};
}

template <bool Fast>
__global__ void __launch_bounds__(lanes, 19) choice_kernel(const __grid_constant__ LabelChoice choice) {
  __shared__ ChoiceMemory memory;
  launch_next();
  const int right = choice.flow.u.width - 1, bottom = choice.flow.u.height - 1;
  LanePixels pixels;
  const TileLane lane = pixels.lane = {int(threadIdx.x), int(blockIdx.x)};
  const int x = pixels.x = smaller(lane.x(), right), y = pixels.y = smaller(lane.y(), bottom);
  pixels.inside = lane.x() <= right && lane.y() <= bottom;
  await_last();
  const FeatureRecords& features = pixels.features = {
      reinterpret_cast<const Record*>(choice.features.records), *choice.features.count, &choice.features};
  const PlaceBox box = place_pixels(lane, choice.colors, choice.scale, memory.plane[0], pixels.place);
  const int labels = choice.labels.count->labels;
  pixels.rotation_label = choice.test.rotation && labels > 0 ? labels : -1;
  pixels.labels = labels + (pixels.rotation_label > 0);

  PixelScores scores;
  int label = -1;
  Motion motion = {};
  const ExponentList<max_listed> exponents{lane.lane, memory.exponents};
  pixels.support = find_support(lane, box, features, cutoff_of(Fast), pixels.place, exponents, memory.support,
                                memory.batch, pixels.best);
  const BestLabel& best = scores.best;
  if (pixels.support.count > 0 && labels > 0) {
    find_best<Fast>(choice, pixels, memory, scores);
    label = best.label >= 0 ? best.label : scores.top_label;
    if (label >= 0) motion = motion_of(choice, pixels, label);
    if (choice.p.sub_pixel) refine<Fast>(choice, pixels, label, memory, motion);
  }
  if (!pixels.inside) return;
  const float score = best.label >= 0 ? best.score : scores.top;
  choice.flow.u(x, y) = motion.u;
  choice.flow.v(x, y) = motion.v;
  if (choice.test.valid) choice.test.valid(x, y) = best.difference < choice.test.threshold;
  if (choice.confidence) choice.confidence(x, y) = score > 0 ? score / scores.weight : 0.0f;
}

}  // namespace

template <class Backend>
void choose_labels(Backend& cuda, const LabelChoice& choice) {
  cuda.launch(choice.p.fast ? choice_kernel<true> : choice_kernel<false>, tiles_of(choice.flow.u.size(), 1),
              dim3(lanes), 0, choice);
}

PF_STEP(choose_labels<Cuda>);

}  // namespace parafield
