#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/change/passes.cuh"
#include "guided/interpolate/interpolate.hpp"
#include "guided/tile/weighing.cuh"
#include "guided/vote/vote.hpp"

// A block is one warp and a tile of 8x4 pixels. It finds the guides that matter to it. Then labels go through in chunks of 8 or 32:
// for each chunk the guides are weighed, some at a time, for all pixels; the scores are the product of those weights and the
// guides' votes, of which a lane keeps four pixels and a quarter of the labels in registers, as what shared memory gives to a
// register of every lane costs as much as 4 fma. Then each lane tests the labels of its own pixel from the best score on,
// until one cannot win: mostly one test a pixel.
//
// Floor of a pixel and guide: 10 operations for the best exponent, 24 for the weight (once a chunk), one fma a label. So of
// 320x240 pixels, 200 guides and 8 labels on an H100 (29e12 a second) 22 us, of 422 guides and 25 labels 66 us, if no guide is
// left out. A quarter is left in a colored texture with the default sigmas: 5 and 17 us. The call takes 33.5 and 79.0 us (fast
// 28.1 and 59.0; commit 375afe2), colors, labels and launches included. It is not the product that takes long: tensor cores (tf32) made 25
// labels 2 % faster and 8 labels 4 % slower, and are not used.

namespace parafield {
namespace {

constexpr int most_listed = all_listed, few_labels = 8, most_chunk = 32;

struct VoteMemory {
  Picked<most_listed> picked, voting;
  Batch batch;
  union {
    Candidates<most_listed> candidates;
    struct {
      Weights weights;
      float4 votes[batch_guides * most_chunk / 4];
    } factors;
    float score[most_chunk][tile::pixels];
    float plane[3][tile::pixels];
  };
};

struct Job {
  Guides guides;
  Labels labels;
  Colors colors, frame0, frame1;
  LikelihoodScale scale;
  VoteParameters p;
  const Homography* turn;
  FlowPlanes flow;
  View<std::uint8_t> valid;
  View<float> confidence;
};

/// What a thread knows of its pixel.
struct Ballot {
  float weight = 0;  // of all guides
  float top = 0;     // score of any label
  int top_label = -1, ahead = 0;
  Winner winner;
};

/// A pixel; beyond the image the nearest one.
struct Pixel {
  int x, y;
  bool inside;
};

/// The lane's pixels and the guides of its block.
struct Voters {
  Pixel pixel;
  Place place[tile::each];
  float best[tile::each];  // exponents
  TileLane lane;
  Surrounding guides;
  Picks picks;
  int labels, turn_label;  // all; the camera's, or -1
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

/// The likelihood of a pixel of the lane's group.
template <bool Fast>
__device__ float weigh(const Voters& voters, const Record& guide, int i) {
  return relative_likelihood_of<Fast>(exponent(voters.place[i], guide.place()), voters.best[i]);
}

/// Scores of the labels from `first` on: the product of the weights and the guides' votes. A lane has a group of pixels and a part
/// of the labels.
template <bool Fast, int Chunk>
__device__ void add_votes(const Job& job, const Voters& voters, int first, VoteMemory& memory,
                          Ballot& ballot) {
  constexpr int some = Chunk * tile::groups / lanes, parts = Chunk / 4;
  const TileLane lane = voters.lane;
  const int group = lane.group() * tile::each, label = lane.turn() * some;
  const std::size_t pitch = std::size_t(job.labels.pitch);
  const auto row = [&](int guide) { return std::size_t(guide) * pitch + std::size_t(first); };
  // Without a vote a guide would change no bit, but the sum of the weights.
  const bool some_vote = first > 0 && !voters.picks.all;
  Picks picks = voters.picks;
  if (some_vote)
    picks = {pick(
        lane.lane, picks.count, memory.voting,
        [&](int at) { return job.labels.voted[row(memory.picked.guide[at]) / 32] != 0; },
        [&](int at) { return memory.picked.guide[at]; })};
  const auto& picked = some_vote ? memory.voting : memory.picked;
  float weight = 0, score[some][tile::each] = {};
  for_each_weighed_batch(
      lane, voters.guides, picks, picked, memory.batch, memory.factors.weights,
      [&](const Record& guide, int i) { return weigh<Fast>(voters, guide, i); },
      [&](int at, int count) {
        PF_UNROLL
        for (int i = lane.lane; i < batch_guides * parts; i += lanes) {
          const int guide = picked(picks, smaller(at + i / parts, picks.count - 1));
          memory.factors.votes[i] = reinterpret_cast<const float4*>(job.labels.votes + row(guide))[i % parts];
        }
        __syncwarp();
        const float* const votes = reinterpret_cast<const float*>(memory.factors.votes) + label;
        for (int j = 0; j < count; j += guides_at_once) {
          PF_UNROLL
          for (int g = 0; g < guides_at_once; ++g) {
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
  if (first == 0) ballot.weight = weight;
  PF_UNROLL
  for (int i = 0; i < some; ++i)
    *reinterpret_cast<float4*>(&memory.score[label + i][group]) =
        make_float4(score[i][0], score[i][1], score[i][2], score[i][3]);
  __syncwarp();
}

__device__ Motion motion_of(const Job& job, const Voters& voters, int label, const Pixel& pixel) {
  if (label == voters.turn_label) return job.turn->flow(float(pixel.x), float(pixel.y));
  return {job.labels.u[label], job.labels.v[label]};
}

/// Tests labels of a chunk, the best score first, and makes the scores of those negative.
__device__ void test_labels(const Job& job, const Voters& voters, int first, int chunk, const Pixel& pixel,
                            float* score, Ballot& ballot) {
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
    if (at >= 0 && top > ballot.top) {
      ballot.top = top;
      ballot.top_label = label;
    }
    if (at < 0 || !ballot.winner.may_lose_to(top, label)) return;
    score[at * tile::pixels] = -top;
    const float difference = window_difference(job.frame0, job.frame1, job.p.test.window, pixel.x, pixel.y,
                                               motion_of(job, voters, label, pixel));
    ballot.winner.meet(value_of(top, difference, job.p.test.threshold, job.p.softness), difference, top,
                       label);
    if (ballot.winner.value == top) return;  // the others score less, or come later
  }
}

/// Of labels in order the first that passes. Those that were voted for have failed, and do again.
__device__ void test_unvoted(const Job& job, const Voters& voters, const Pixel& pixel, Ballot& ballot) {
  if (!takes_unvoted(ballot.winner, job.p)) return;
  for (int label = 0; label < voters.labels; ++label) {
    const float difference = window_difference(job.frame0, job.frame1, job.p.test.window, pixel.x, pixel.y,
                                               motion_of(job, voters, label, pixel));
    if (!(difference < job.p.test.threshold)) continue;
    ballot.winner.difference = difference;
    ballot.winner.label = label;
    return;
  }
}

/// Alg. 3, and Alg. 2: whether labels ahead of the winner are as many as may be tested; with several chunks that takes all
/// scores once more.
template <bool Fast>
__device__ void elect(const Job& job, const Voters& voters, VoteMemory& memory, Ballot& ballot) {
  const int chunk = voters.labels <= few_labels ? few_labels : most_chunk;
  const int chunks = (voters.labels + chunk - 1) / chunk, ranked = job.p.ranked;
  const bool counts = ranked > 0 && ranked < voters.labels;
  const int steps = counts && chunks > 1 ? 2 * chunks : chunks;
  const Pixel& pixel = voters.pixel;
  for (int step = 0; step < steps; ++step) {
    const int first = (step < chunks ? step : step - chunks) * chunk;
    if (chunk == few_labels)
      add_votes<Fast, few_labels>(job, voters, first, memory, ballot);
    else
      add_votes<Fast, most_chunk>(job, voters, first, memory, ballot);
    if (!pixel.inside) continue;
    float* const score = memory.score[0] + voters.lane.lane;
    const int turn = voters.turn_label - first;  // scores nothing without a motion
    if (voters.turn_label >= 0 && turn >= 0 && turn < chunk &&
        !is_motion(motion_of(job, voters, voters.turn_label, pixel)))
      score[turn * tile::pixels] = 0;
    if (step < chunks) test_labels(job, voters, first, chunk, pixel, score, ballot);
    if (step == chunks - 1) test_unvoted(job, voters, pixel, ballot);
    if (!counts || (step < chunks && chunks > 1)) continue;
    for (int i = 0; i < chunk; ++i)
      ballot.ahead +=
          is_ahead(magnitude(score[i * tile::pixels]), first + i, ballot.winner.score, ballot.winner.label);
  }
  if (counts && ballot.ahead >= ranked) ballot.winner = {};
}

/// The guides' mean flow, by their votes for the label.
template <bool Fast>
__device__ void refine(const Job& job, const Voters& voters, int label, VoteMemory& memory, Motion& motion) {
  const TileLane lane = voters.lane;
  float whole_u[tile::each], whole_v[tile::each];
  __syncwarp();
  memory.plane[0][lane.lane] = motion.u, memory.plane[1][lane.lane] = motion.v;
  __syncwarp();
  read(&memory.plane[0][lane.group() * tile::each], whole_u);
  read(&memory.plane[1][lane.group() * tile::each], whole_v);
  __syncwarp();
  MeanFlow mean;
  for_each_weighed_batch(
      lane, voters.guides, voters.picks, memory.picked, memory.batch, memory.factors.weights,
      [&](const Record& guide, int i) {
        return weigh<Fast>(voters, guide, i) *
               vote_of(guide.rest.y - whole_u[i], guide.rest.z - whole_v[i], job.p.vote_scale);
      },
      [&](int, int count) { add_batch(lane, memory.batch, memory.factors.weights, count, mean); });
  if (label >= 0 && label != voters.turn_label && mean.weight > 0)
    motion = {mean.u / mean.weight, mean.v / mean.weight};
}

template <bool Fast>
__global__ void __launch_bounds__(lanes, 19) vote_kernel(const __grid_constant__ Job job) {
  __shared__ VoteMemory memory;
  launch_next();
  const int right = job.flow.u.width - 1, bottom = job.flow.u.height - 1;
  Voters voters;
  const TileLane lane = voters.lane = {int(threadIdx.x), int(blockIdx.x)};
  const Pixel& pixel = voters.pixel = {smaller(lane.x(), right), smaller(lane.y(), bottom),
                                       lane.x() <= right && lane.y() <= bottom};
  await_last();
  const Surrounding& guides =
      voters.guides = {reinterpret_cast<const Record*>(job.guides.records), *job.guides.count, &job.guides};
  const Box box = place_pixels(lane, job.colors, job.scale, memory.plane[0], voters.place);
  const int labels = job.labels.count->labels;
  voters.turn_label = job.turn && labels > 0 ? labels : -1;
  voters.labels = labels + (voters.turn_label > 0);

  Ballot ballot;
  int label = -1;
  Motion motion = {};
  const Listing<most_listed> listing{lane.lane, memory.candidates};
  voters.picks = find_best(lane, box, guides, cutoff_of(Fast), voters.place, listing, memory.picked,
                           memory.batch, voters.best);
  if (voters.picks.count > 0 && labels > 0) {
    elect<Fast>(job, voters, memory, ballot);
    label = ballot.winner.label >= 0 ? ballot.winner.label : ballot.top_label;
    if (label >= 0) motion = motion_of(job, voters, label, pixel);
    if (job.p.sub_pixel) refine<Fast>(job, voters, label, memory, motion);
  }
  if (!pixel.inside) return;
  const Winner& winner = ballot.winner;
  const float score = winner.label >= 0 ? winner.score : ballot.top;
  job.flow.u(pixel.x, pixel.y) = motion.u;
  job.flow.v(pixel.x, pixel.y) = motion.v;
  if (job.valid) job.valid(pixel.x, pixel.y) = winner.difference < job.p.test.threshold;
  if (job.confidence) job.confidence(pixel.x, pixel.y) = score > 0 ? score / ballot.weight : 0.0f;
}

}  // namespace

template <>
std::size_t vote_scratch(const Cuda&, int, int) {
  return 0;
}

template <>
void vote(Cuda& cuda, const Guides& guides, const Labels& labels, const Colors& colors,
          const Colors& frame0, const Colors& frame1, LikelihoodScale scale,
          const VoteParameters& parameters, const Homography* turn, FlowPlanes flow, View<std::uint8_t> valid,
          View<float> confidence) {
  const Job job{guides, labels, colors, frame0, frame1, scale, parameters, turn, flow, valid, confidence};
  cuda.launch(parameters.fast ? vote_kernel<true> : vote_kernel<false>, tiles_of(flow.u.size(), 1),
              dim3(lanes), 0, job);
}

}  // namespace parafield
