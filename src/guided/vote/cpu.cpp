#include "core/cpu/backend.hpp"
#include "guided/vote/polls.hpp"

// A thread takes tiles of its band of rows: the guides that matter to the tile, then, for a few guides at a time, their weights
// for all of its pixels and what they add to every label's scores, which stay in the cache as long as the labels are few.
// A pixel and guide take 34 operations and one for each label: 320x240 pixels, 200 guides and 8 labels 0.65e9, of which
// tiles leave out what is far.
//
// Then each pixel's best label is tested, all pixels together, and label by label those of which one can still win.

namespace parafield {
namespace {

void weigh(const Tile& tile, const Place& guide, float cutoff, const float* __restrict best,
           float* __restrict weight, float* __restrict sum) {
  const int count = tile.count;
  const float *const x = tile.x, *const y = tile.y, *const red = tile.red, *const green = tile.green,
                     *const blue = tile.blue;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const float w =
        relative_likelihood(exponent({x[i], y[i], red[i], green[i], blue[i]}, guide), best[i], cutoff);
    weight[i] = w;
    sum[i] += w;
  }
}

void add_votes(const float* __restrict weights, const float (&votes)[together], int count,
               float* __restrict scores) {
  static_assert(together == 8);
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

/// All labels' scores and the sum of the weights.
void score_labels(const Tile& tile, const Election& election, const Polls& polls) {
  const Labels& labels = election.labels;
  const std::size_t pitch = std::size_t(labels.pitch);
  for (int i = 0; i < tile.count; ++i) polls.weight[i] = 0;
  for (int label = 0; label < election.count; ++label) {
    float* const score = polls.score(label);
    for (int i = 0; i < tile.count; ++i) score[i] = 0;
  }
  for (int first = 0; first < tile.guides; first += together) {
    const int guides = smaller(together, tile.guides - first);
    const float* rows[together];
    for (int k = 0; k < together; ++k) {
      const int guide = tile.guide[first + smaller(k, guides - 1)];
      rows[k] = labels.votes + std::size_t(guide) * pitch;
      float* const weight = polls.weights + k * tile_pixels;
      if (k < guides)
        weigh(tile, place_of(election.guides, guide), cutoff_of(election.p.fast), polls.best, weight,
              polls.weight);
      else
        for (int i = 0; i < tile.count; ++i) weight[i] = 0;  // which changes no score
    }
    for (int word = 0; word < (election.count + 31) / 32; ++word) {
      unsigned voted = 0;
      for (int k = 0; k < guides; ++k)
        voted |= labels.voted[std::size_t(tile.guide[first + k]) * (pitch / 32) + std::size_t(word)];
      for (; voted != 0; voted &= voted - 1) {
        const int label = word * 32 + __builtin_ctz(voted);
        float votes[together];
        for (int k = 0; k < together; ++k) votes[k] = rows[k][label];
        add_votes(polls.weights, votes, tile.count, polls.score(label));
      }
    }
  }
}

/// The camera's motion at each pixel; where there is none its label scores nothing.
void turn_pixels(const Tile& tile, const Homography& turn, const Polls& polls, int label) {
  float* const score = polls.score(label);
  for (int j = 0; j < tile.height; ++j)
    for (int i = 0; i < tile.width; ++i) {
      const int at = j * tile.width + i;
      const Motion motion = turn.flow(float(tile.x0 + i), float(tile.y0 + j));
      polls.turn_u[at] = motion.u, polls.turn_v[at] = motion.v;
      if (!is_motion(motion)) score[at] = 0;
    }
}

void find_top(const Tile& tile, int labels, const Polls& polls) {
  const int count = tile.count;
  float* __restrict top = polls.top;
  int* __restrict top_label = polls.top_label;
  for (int i = 0; i < count; ++i) top[i] = 0, top_label[i] = -1;
  for (int label = 0; label < labels; ++label) {
    const float* const score = polls.score(label);
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      const bool higher = score[i] > top[i];
      top[i] = higher ? score[i] : top[i];
      top_label[i] = higher ? label : top_label[i];
    }
  }
}

/// Tests the listed pixels' labels: one for all, or where that is -1, each pixel's best.
void meet_listed(const Election& election, const Polls& polls, int count, int label) {
  test_listed(election, polls, count);
  const float threshold = election.p.test.threshold, softness = election.p.softness;
  for (int at = 0; at < count; ++at) {
    const int i = polls.listed[at], of = label < 0 ? polls.top_label[i] : label;
    const float score = polls.score(of)[i], difference = polls.tested[at];
    Winner winner = polls.winner(i);
    winner.meet(value_of(score, difference, threshold, softness), difference, score, of);
    polls.set(i, winner);
  }
}

/// Where no label has won, the first of those that nothing voted for and that passes.
void test_unvoted(const Tile& tile, const Election& election, const Polls& polls) {
  if (!election.p.unvoted || election.p.softness > 0) return;
  for (int label = 0; label < election.count; ++label) {
    const float* const score = polls.score(label);
    int listed = 0;
    for (int i = 0; i < tile.count; ++i)
      if (score[i] == 0 && takes_unvoted(polls.winner(i), election.p))
        list_pixel(tile, polls, listed++, i, motion_of(election, polls, label, i));
    if (listed > 0) test_listed(election, polls, listed);
    for (int at = 0; at < listed; ++at)
      if (polls.tested[at] < election.p.test.threshold)
        polls.set(polls.listed[at], {0, polls.tested[at], 0, label});
  }
}

/// Alg. 3.
void find_winners(const Tile& tile, const Election& election, const Polls& polls) {
  find_top(tile, election.count, polls);
  int listed = 0;
  for (int i = 0; i < tile.count; ++i) {
    polls.set(i, {});
    if (polls.top_label[i] >= 0)
      list_pixel(tile, polls, listed++, i, motion_of(election, polls, polls.top_label[i], i));
  }
  meet_listed(election, polls, listed, -1);
  int pending = 0;
  for (int i = 0; i < tile.count; ++i) {
    polls.pending[pending] = i;
    pending += polls.value[i] < polls.top[i];
  }
  for (int label = 0; label < election.count; ++label) {
    const float* const score = polls.score(label);
    listed = 0;
    for (int k = 0; k < pending; ++k) {
      const int i = polls.pending[k];
      if (polls.top_label[i] != label && polls.winner(i).may_lose_to(score[i], label))
        list_pixel(tile, polls, listed++, i, motion_of(election, polls, label, i));
    }
    if (listed > 0) meet_listed(election, polls, listed, label);
  }
  test_unvoted(tile, election, polls);
}

/// Alg. 2: a winner behind as many labels as may be tested is none.
void rank_winners(const Tile& tile, const Election& election, const Polls& polls) {
  int* __restrict ahead = polls.listed;
  const float* const winning = polls.winning;
  const int* const winner = polls.label;
  for (int i = 0; i < tile.count; ++i) ahead[i] = 0;
  for (int label = 0; label < election.count; ++label) {
    const float* const score = polls.score(label);
#pragma GCC ivdep
    for (int i = 0; i < tile.count; ++i) ahead[i] += is_ahead(score[i], label, winning[i], winner[i]);
  }
  for (int i = 0; i < tile.count; ++i)
    if (ahead[i] >= election.p.ranked) polls.set(i, {});
}

/// The guides' mean flow, by their votes for each pixel's label.
void refine(const Tile& tile, const Election& election, const Polls& polls) {
  const Guides& guides = election.guides;
  const int count = tile.count;
  const float cutoff = cutoff_of(election.p.fast);
  const float *const x = tile.x, *const y = tile.y, *const red = tile.red, *const green = tile.green,
                     *const blue = tile.blue, *const best = polls.best, *const u = polls.u,
                     *const v = polls.v, scale = election.p.vote_scale;
  float* __restrict sum = polls.sum, * __restrict sum_u = polls.sum_u, * __restrict sum_v = polls.sum_v;
  for (int i = 0; i < count; ++i) sum[i] = sum_u[i] = sum_v[i] = 0;
  for (int k = 0; k < tile.guides; ++k) {
    const Place guide = place_of(guides, tile.guide[k]);
    const float guide_u = guides.u[tile.guide[k]], guide_v = guides.v[tile.guide[k]];
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      const float vote = vote_of(guide_u - u[i], guide_v - v[i], scale);
      const float w =
          relative_likelihood(exponent({x[i], y[i], red[i], green[i], blue[i]}, guide), best[i], cutoff) *
          vote;
      sum[i] += w;
      sum_u[i] = fma(w, guide_u, sum_u[i]);
      sum_v[i] = fma(w, guide_v, sum_v[i]);
    }
  }
  for (int i = 0; i < count; ++i) {
    if (polls.label[i] == election.turn_label || !(sum[i] > 0)) continue;
    polls.u[i] = sum_u[i] / sum[i];
    polls.v[i] = sum_v[i] / sum[i];
  }
}

/// The flow of the winner, or where there is none of the best score.
void decide(const Tile& tile, const Election& election, const Polls& polls) {
  for (int i = 0; i < tile.count; ++i) {
    if (polls.label[i] < 0) polls.label[i] = polls.top_label[i], polls.winning[i] = polls.top[i];
    const Motion motion = polls.label[i] < 0 ? Motion{} : motion_of(election, polls, polls.label[i], i);
    polls.u[i] = motion.u, polls.v[i] = motion.v;
  }
  if (election.p.sub_pixel) refine(tile, election, polls);
}

void store(const Tile& tile, const Election& election, const Polls& polls, bool any, FlowPlanes flow,
           View<std::uint8_t> valid, View<float> confidence) {
  for (int j = 0; j < tile.height; ++j)
    for (int i = 0; i < tile.width; ++i) {
      const int x = tile.x0 + i, y = tile.y0 + j, at = j * tile.width + i;
      const bool known = any && polls.label[at] >= 0;
      flow.u(x, y) = known ? polls.u[at] : 0.0f;
      flow.v(x, y) = known ? polls.v[at] : 0.0f;
      if (valid) valid(x, y) = known && polls.difference[at] < election.p.test.threshold;
      if (confidence) confidence(x, y) = known ? polls.winning[at] / polls.weight[at] : 0.0f;
    }
}

}  // namespace

template <>
std::size_t vote_scratch(const Cpu&, int guides, int labels) {
  return (Tile::scratch(guides) + 63) / 64 * 64 +
         sizeof(float) * tile_pixels * (std::size_t(Polls::planes) + std::size_t(labels) + 1);
}

template <>
void vote(Cpu& cpu, const Guides& guides, const Labels& labels, const Colors& colors, const Colors& frame0,
          const Colors& frame1, LikelihoodScale scale, const VoteParameters& parameters,
          const Homography* turn, FlowPlanes flow, View<std::uint8_t> valid, View<float> confidence) {
  const int width = flow.u.width, height = flow.u.height, count = labels.count->labels;
  const int turn_label = turn && count > 0 ? count : -1;
  const Election election{guides, labels, frame0, frame1, parameters, count + (turn_label > 0), turn_label};
  cpu.bands((height + tile_height - 1) / tile_height, [=](int first, int end, char* scratch) {
    const Polls polls(scratch + (Tile::scratch(guides.capacity) + 63) / 64 * 64);
    for (int row = first; row < end; ++row)
      for (int x0 = 0; x0 < width; x0 += tile_width) {
        Tile tile(scratch, guides.capacity, x0, row * tile_height, smaller(x0 + tile_width, width),
                  smaller((row + 1) * tile_height, height));
        const Box box = place_pixels(tile, colors, scale);
        const bool any =
            find_guides(tile, box, guides, cutoff_of(parameters.fast), polls.best) && election.count > 0;
        if (any) {
          score_labels(tile, election, polls);
          if (turn_label > 0) turn_pixels(tile, *turn, polls, turn_label);
          find_winners(tile, election, polls);
          if (parameters.ranked > 0 && parameters.ranked < election.count)
            rank_winners(tile, election, polls);
          decide(tile, election, polls);
        }
        store(tile, election, polls, any, flow, valid, confidence);
      }
  });
}

}  // namespace parafield
