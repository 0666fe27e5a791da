#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/tile.cuh"
#include "guided/vote/vote.hpp"

// A block is one warp and a tile of 8x4 pixels, one a lane. It finds the guides that matter to it. Then labels go through in
// chunks of 8, 16 or 32, whose scores a lane keeps in registers: for each chunk it goes through the guides, and weighs them anew.
// Then labels of the chunk are tested from the best score on, until one cannot win: mostly one test a pixel.
//
// Floor of a pixel and guide: 10 operations for the best exponent, 24 for the weight (once a chunk), one fma a label. So of
// 320x240 pixels, 200 guides and 8 labels on an H100 (29e12 a second) 22 us, of 422 guides and 25 labels 66 us, if no guide is
// left out. What shared memory gives to a register of every lane costs as much as 4 fma: 8 values of the guide twice and
// one for each label, 24 us in the first case.

namespace parafield {
namespace {

constexpr int pixels = tile::each, most_chunk = 32;
constexpr int stride = pixels * lanes;  // from a label's scores to the next one's
constexpr int together = 2;             // guides
constexpr int most_listed = 1024;

struct VoteMemory {
  GuideList<most_listed> list;
  float4 votes[lanes * most_chunk / 4];  // of a batch of guides
  unsigned voted[lanes];
  float score[most_chunk * stride];  // read only by the lane that wrote it: there it can be indexed
};

struct Job {
  Guides guides;
  Labels labels;
  Colours colours, frame0, frame1;
  LikelihoodScale scale;
  VoteParameters p;
  const Homography* turn;
  FlowPlanes flow;
  View<std::uint8_t> valid;
  View<float> confidence;
};

/// What a thread knows of one of its pixels.
struct Ballot {
  float best, weight = 0;  // the least exponent; the sum of all weights
  float top = 0;           // score of any label
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
  Pixel pixel[pixels];
  Place place[pixels];
  Listing listing;
  float limit;             // of the guides' least exponents
  int labels, turn_label;  // all; the camera's, or -1
};

/// Scores of the labels from `first` on.
template <bool Fast, int Chunk>
__device__ void add_votes(const Job& job, const Voters& voters, int first, VoteMemory& memory,
                          Ballot (&ballot)[pixels]) {
  constexpr int parts = Chunk / 4;
  const int lane = voters.listing.lane;
  const std::size_t pitch = std::size_t(job.labels.pitch);
  float weight[pixels], score[pixels][Chunk];
  PF_UNROLL
  for (int k = 0; k < pixels; ++k) {
    weight[k] = 0;
    PF_UNROLL
    for (int i = 0; i < Chunk; ++i) score[k][i] = 0;
  }
  for_each_batch(voters.listing, job.guides, -1, voters.limit, memory.list, [&](int count) {
    const auto row = [&](int j) { return std::size_t(memory.list.index[j]) * pitch + std::size_t(first); };
    for (int i = lane; i < count * parts; i += lanes)
      memory.votes[i] = reinterpret_cast<const float4*>(job.labels.votes + row(i / parts))[i % parts];
    if (lane < count) memory.voted[lane] = job.labels.voted[row(lane) / 32];
    __syncwarp();
#pragma unroll 1
    for (int j = 0; j < count; j += together) {
      unsigned voted[together];
      PF_UNROLL
      for (int g = 0; g < together; ++g) voted[g] = j + g < count ? memory.voted[j + g] : 0;
      if (first > 0 && !(voted[0] | voted[1])) continue;
      float w[together][pixels];
      PF_UNROLL
      for (int g = 0; g < together; ++g) {
        const int at = smaller(j + g, count - 1);
        const Place guide = memory.list.batch[at].place();
        PF_UNROLL
        for (int k = 0; k < pixels; ++k)
          w[g][k] = relative_likelihood_of<Fast>(exponent(voters.place[k], guide), ballot[k].best);
      }
      PF_UNROLL
      for (int k = 0; k < pixels; ++k) {
        weight[k] += w[0][k];
        weight[k] += j + 1 < count ? w[1][k] : 0.0f;
      }
      PF_UNROLL
      for (int block = 0; block < Chunk; block += 8) PF_UNROLL
      for (int g = 0; g < together; ++g) {
        if (!(voted[g] >> block & 0xff)) continue;  // zeros would change no bit
        PF_UNROLL
        for (int part = 0; part < 8; part += 4) {
          const float4 votes = memory.votes[(j + g) * parts + (block + part) / 4];
          PF_UNROLL
          for (int k = 0; k < pixels; ++k) {
            float* const to = score[k] + block + part;
            to[0] = fma(w[g][k], votes.x, to[0]);
            to[1] = fma(w[g][k], votes.y, to[1]);
            to[2] = fma(w[g][k], votes.z, to[2]);
            to[3] = fma(w[g][k], votes.w, to[3]);
          }
        }
      }
    }
  });
  PF_UNROLL
  for (int k = 0; k < pixels; ++k) {
    if (first == 0) ballot[k].weight = weight[k];
    PF_UNROLL
    for (int i = 0; i < Chunk; ++i) memory.score[i * stride + k * lanes + lane] = score[k][i];
  }
}

__device__ Motion motion_of(const Job& job, const Voters& voters, int label, const Pixel& pixel) {
  if (label == voters.turn_label) return job.turn->flow(float(pixel.x), float(pixel.y));
  return {job.labels.u[label], job.labels.v[label]};
}

/// Tests labels of a chunk, the best score first.
__device__ void test_labels(const Job& job, const Voters& voters, int first, int chunk, const Pixel& pixel,
                            const float* score, Ballot& ballot) {
  unsigned tested = 0;
  while (true) {
    float top = 0;
    int at = -1;
#pragma unroll 8
    for (int i = 0; i < chunk; ++i) {
      const float value = score[i * stride];
      const bool higher = (value > top) & !(tested >> i & 1);
      top = higher ? value : top;
      at = higher ? i : at;
    }
    const int label = first + at;
    if (at >= 0 && top > ballot.top) {
      ballot.top = top;
      ballot.top_label = label;
    }
    if (at < 0 || !ballot.winner.may_lose_to(top, label)) return;
    tested |= 1u << at;
    const float difference = window_difference(job.frame0, job.frame1, job.p.test.window, pixel.x, pixel.y,
                                               motion_of(job, voters, label, pixel));
    ballot.winner.meet(value_of(top, difference, job.p.test.threshold, job.p.softness), difference, top,
                       label);
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
__device__ void elect(const Job& job, const Voters& voters, VoteMemory& memory, Ballot (&ballot)[pixels]) {
  const int chunk = voters.labels <= 8 ? 8 : voters.labels <= 16 ? 16 : most_chunk;
  const int chunks = (voters.labels + chunk - 1) / chunk, ranked = job.p.ranked;
  const bool counts = ranked > 0 && ranked < voters.labels;
  const int steps = counts && chunks > 1 ? 2 * chunks : chunks;
  for (int step = 0; step < steps; ++step) {
    const int first = (step < chunks ? step : step - chunks) * chunk;
    if (chunk == 8)
      add_votes<Fast, 8>(job, voters, first, memory, ballot);
    else if (chunk == 16)
      add_votes<Fast, 16>(job, voters, first, memory, ballot);
    else
      add_votes<Fast, most_chunk>(job, voters, first, memory, ballot);
    PF_UNROLL
    for (int k = 0; k < pixels; ++k) {
      const Pixel& pixel = voters.pixel[k];
      if (!pixel.inside) continue;
      float* const score = memory.score + k * lanes + voters.listing.lane;
      const int turn = voters.turn_label - first;  // scores nothing without a motion
      if (voters.turn_label >= 0 && turn >= 0 && turn < chunk &&
          !is_motion(motion_of(job, voters, voters.turn_label, pixel)))
        score[turn * stride] = 0;
      if (step < chunks) test_labels(job, voters, first, chunk, pixel, score, ballot[k]);
      if (step == chunks - 1) test_unvoted(job, voters, pixel, ballot[k]);
      if (!counts || (step < chunks && chunks > 1)) continue;
      for (int i = 0; i < chunk; ++i)
        ballot[k].ahead +=
            is_ahead(score[i * stride], first + i, ballot[k].winner.score, ballot[k].winner.label);
    }
  }
  if (!counts) return;
  PF_UNROLL
  for (int k = 0; k < pixels; ++k)
    if (ballot[k].ahead >= ranked) ballot[k].winner = {};
}

/// The guides' mean flow, by their votes for the label.
template <bool Fast>
__device__ void refine(const Job& job, const Voters& voters, const int (&label)[pixels],
                       const Ballot (&ballot)[pixels], VoteMemory& memory, Motion (&motion)[pixels]) {
  Motion whole[pixels];
  PF_UNROLL
  for (int k = 0; k < pixels; ++k) whole[k] = motion[k];
  float weight[pixels] = {}, u[pixels] = {}, v[pixels] = {};
  for_each_batch(voters.listing, job.guides, -1, voters.limit, memory.list, [&](int count) {
#pragma unroll 2
    for (int j = 0; j < count; ++j) {
      const Record guide = memory.list.batch[j];
      PF_UNROLL
      for (int k = 0; k < pixels; ++k) {
        const float likelihood =
            relative_likelihood_of<Fast>(exponent(voters.place[k], guide.place()), ballot[k].best);
        const float w =
            likelihood * vote_of(guide.rest.y - whole[k].u, guide.rest.z - whole[k].v, job.p.vote_scale);
        weight[k] += w;
        u[k] = fma(w, guide.rest.y, u[k]);
        v[k] = fma(w, guide.rest.z, v[k]);
      }
    }
  });
  PF_UNROLL
  for (int k = 0; k < pixels; ++k)
    if (label[k] >= 0 && label[k] != voters.turn_label && weight[k] > 0)
      motion[k] = {u[k] / weight[k], v[k] / weight[k]};
}

template <bool Fast>
__global__ void __launch_bounds__(lanes) vote_kernel(const __grid_constant__ Job job) {
  __shared__ VoteMemory memory;
  launch_next();
  const int right = job.flow.u.width - 1, bottom = job.flow.u.height - 1;
  Voters voters;
  voters.listing = {int(threadIdx.x)};
  const TileLane of_tile = tile_lane();
  PF_UNROLL
  for (int k = 0; k < pixels; ++k) {
    const int x = of_tile.x, y = of_tile.y(k);
    voters.pixel[k] = {smaller(x, right), smaller(y, bottom), x <= right && y <= bottom};
  }
  await_last();
  place_pixels(of_tile, job.colours, job.scale, voters.place);
  const int labels = job.labels.count->labels;
  voters.turn_label = job.turn && labels > 0 ? labels : -1;
  voters.labels = labels + (voters.turn_label > 0);

  Ballot ballot[pixels];
  int label[pixels];
  Motion motion[pixels] = {};
  float best[pixels];
  voters.limit = find_best(voters.listing, box_of(voters.place), job.guides, voters.place, memory.list, best);
  if (voters.limit >= 0 && labels > 0) {
    PF_UNROLL
    for (int k = 0; k < pixels; ++k) ballot[k].best = best[k];
    elect<Fast>(job, voters, memory, ballot);
    PF_UNROLL
    for (int k = 0; k < pixels; ++k) {
      label[k] = ballot[k].winner.label >= 0 ? ballot[k].winner.label : ballot[k].top_label;
      if (label[k] >= 0) motion[k] = motion_of(job, voters, label[k], voters.pixel[k]);
    }
    if (job.p.sub_pixel) refine<Fast>(job, voters, label, ballot, memory, motion);
  }
  PF_UNROLL
  for (int k = 0; k < pixels; ++k) {
    const Pixel& pixel = voters.pixel[k];
    if (!pixel.inside) continue;
    const Winner& winner = ballot[k].winner;
    const float score = winner.label >= 0 ? winner.score : ballot[k].top;
    job.flow.u(pixel.x, pixel.y) = motion[k].u;
    job.flow.v(pixel.x, pixel.y) = motion[k].v;
    if (job.valid) job.valid(pixel.x, pixel.y) = winner.difference < job.p.test.threshold;
    if (job.confidence) job.confidence(pixel.x, pixel.y) = score > 0 ? score / ballot[k].weight : 0.0f;
  }
}

}  // namespace

template <>
std::size_t vote_scratch(const Cuda&, int, int) {
  return 0;
}

template <>
void vote(Cuda& cuda, const Guides& guides, const Labels& labels, const Colours& colours,
          const Colours& frame0, const Colours& frame1, LikelihoodScale scale,
          const VoteParameters& parameters, const Homography* turn, FlowPlanes flow, View<std::uint8_t> valid,
          View<float> confidence) {
  const Job job{guides, labels, colours, frame0, frame1, scale, parameters, turn, flow, valid, confidence};
  cuda.launch(parameters.fast ? vote_kernel<true> : vote_kernel<false>, tiles_of(flow.u.size()), dim3(lanes),
              0, job);
}

}  // namespace parafield
