// SPDX-License-Identifier: MIT
#pragma once
#include "markov/levels/packing.cuh"
#include "markov/messages/messages.hpp"

/// Messages of a pixel whose labels are spread over the lanes of a warp.
namespace parafield {
namespace {

/// Finds the messages that pixel (x, y) has received before an iteration.
template <class Value>
__device__ void find_received(const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarser,
                              const Iteration& iteration, int x, int y, int values, Value* (&edges)[4]) {
  if (iteration.from == Iteration::From::coarser) {
    const int set = ((x / 2 + y / 2) & 1) == iteration.coarser_color ? 0 : 1;
    return find_edges(coarser, set, x / 2, y / 2, values, edges);
  }
  find_edges(level, 0, x, y, values, edges);
}

/// At least as high as any belief. Adding the highest pair cost does not overflow 16 bits.
constexpr std::uint32_t far16 = 8 * most_units;

/// Weight of the edge of pixel (x, y) to neighbor k. Beyond the border, it is arbitrary.
template <class Value>
__device__ float edge_weight_at(const PropagationLevel<Value>& level, int k, int x, int y) {
  const View<float>& plane = level.weights.used[edge_plane(k)];
  const Offset to = is_forward(k) ? Offset{0, 0} : neighbor_offset(k);
  return plane ? plane(larger(x + to.x, 0), larger(y + to.y, 0)) : 1.0f;
}

/// Pair costs of the four edges of a pixel.
template <class Value>
struct PixelEdges {
  WordOf<Value> slope[4], limit[4];
};

template <class Value>
__device__ PixelEdges<Value> edges_of(const PropagationLevel<Value>& level, const PairUnits& units, int x,
                                      int y) {
  PixelEdges<Value> edges;
  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    const float weight = edge_weight_at(level, k, x, y);
    edges.slope[k] = PairUnits::value_of<Value>(weight * units.slope);
    edges.limit[k] = PairUnits::value_of<Value>(weight * units.limit);
  }
  return edges;
}

template <class Value, int PerLane>
using LaneMessages = LaneValues<Value, PerLane>[4];

/// Finds the least value of each of the four messages.
template <int PerLane>
__device__ void find_least(const LaneMessages<float, PerLane>& h, int lanes, float (&least)[4]) {
  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    least[k] = h[k].word[0];
    PF_UNROLL
    for (int i = 1; i < PerLane; ++i) least[k] = least_of(least[k], h[k].word[i]);
    least[k] = least_over(least[k], lanes);
  }
}
template <int PerLane>
__device__ void find_least(const LaneMessages<std::uint16_t, PerLane>& h, int lanes,
                           std::uint32_t (&least)[4]) {
  PF_UNROLL
  for (int k = 0; k < 4; k += 2) {
    std::uint32_t both[2];
    PF_UNROLL
    for (int j = 0; j < 2; ++j) {
      std::uint32_t word = h[k + j].word[0];
      PF_UNROLL
      for (int i = 1; i < PerLane / 2; ++i) word = least_of(word, h[k + j].word[i]);
      both[j] = word;
    }
    // Least value of each word's halves, for two messages in one word.
    const std::uint32_t word =
        least_of(__byte_perm(both[0], both[1], 0x5410), __byte_perm(both[0], both[1], 0x7632));
    const std::uint32_t all = least_over(word, lanes);
    least[k] = low(all), least[k + 1] = high(all);
  }
}

/// Subtracts each message's least value and limits the rest.
template <class Value, int PerLane>
__device__ void finish(LaneMessages<Value, PerLane>& h, const WordOf<Value> (&least)[4],
                       const PixelEdges<Value>& edges) {
  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    const WordOf<Value> lowest = filled(least[k]), limit = filled(edges.limit[k]);
    PF_UNROLL
    for (auto& word : h[k].word) word = least_of(word - lowest, limit);
  }
}

/// Lower envelopes of the messages for linear costs over one row of labels: see lower_linear in
/// envelopes.hpp.
template <int PerLane>
__device__ void lower_labels(LaneMessages<float, PerLane>& h, int lane, int lanes,
                             const PixelEdges<float>& edges) {
  const float first = float(lane * PerLane);
  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    const float slope = edges.slope[k];
    float* const values = h[k].word;
    float before = 3e38f, after = 3e38f;  // least of this lane, then of the lanes before and after it
    PF_UNROLL
    for (int i = 0; i < PerLane; ++i) {
      before = least_of(before, fma(-slope, first + float(i), values[i]));
      after = least_of(after, fma(slope, first + float(i), values[i]));
    }
    before = __shfl_up_sync(whole_warp, before, 1, lanes);
    after = __shfl_down_sync(whole_warp, after, 1, lanes);
    if (lane == 0) before = 3e38f;
    if (lane == lanes - 1) after = 3e38f;
    for (int step = 1; step < lanes; step *= 2) {  // beyond the ends a shuffle returns the lane's own value
      before = least_of(before, __shfl_up_sync(whole_warp, before, step, lanes));
      after = least_of(after, __shfl_down_sync(whole_warp, after, step, lanes));
    }
    float up[PerLane];
    PF_UNROLL
    for (int i = 0; i < PerLane; ++i) {
      before = least_of(before, fma(-slope, first + float(i), values[i]));
      up[i] = fma(slope, first + float(i), before);
    }
    PF_UNROLL
    for (int i = PerLane - 1; i >= 0; --i) {
      after = least_of(after, fma(slope, first + float(i), values[i]));
      values[i] = least_of(up[i], fma(-slope, first + float(i), after));
    }
  }
}

/// Cost of `count` (a power of two) steps between labels for each slope, at most its limit.
__device__ std::uint32_t steps_cost(std::uint32_t slopes, std::uint32_t limits, int count) {
  std::uint32_t cost = slopes;
  for (int n = 1; n < count; n *= 2) cost = least_of(cost + cost, limits);
  return cost;
}

template <int PerLane>
__device__ void lower_labels(LaneMessages<std::uint16_t, PerLane>& h, int lane, int lanes,
                             const PixelEdges<std::uint16_t>& edges) {
  constexpr int half = PerLane / 2;
  PF_UNROLL
  for (int k = 0; k < 4; k += 2) {  // a word carries two messages from lane to lane
    const std::uint32_t slopes = pair_of(edges.slope[k], edges.slope[k + 1]),
                        limits = pair_of(edges.limit[k], edges.limit[k + 1]);
    const std::uint32_t over_half = steps_cost(slopes, limits, half);
    std::uint32_t *const a = h[k].word, *const b = h[k + 1].word;
    const std::uint32_t slope_a = filled(edges.slope[k]), slope_b = filled(edges.slope[k + 1]);
    PF_UNROLL
    for (int direction = 0; direction < 2; ++direction) {
      const auto at = [&](int i) { return direction == 0 ? i : half - 1 - i; };
      const auto pass = [&](std::uint32_t* values, std::uint32_t slope, std::uint32_t carry) {
        values[at(0)] = raised_least(carry, slope, values[at(0)]);
        PF_UNROLL
        for (int i = 1; i < half; ++i) values[at(i)] = raised_least(values[at(i - 1)], slope, values[at(i)]);
      };
      PF_UNROLL
      for (int i = 1; i < half; ++i) {
        a[at(i)] = raised_least(a[at(i - 1)], slope_a, a[at(i)]);
        b[at(i)] = raised_least(b[at(i - 1)], slope_b, b[at(i)]);
      }
      // Last values of both halves of a lane's labels. Each word holds the values of two messages.
      const std::uint32_t lows = __byte_perm(a[at(half - 1)], b[at(half - 1)], 0x5410),
                          highs = __byte_perm(a[at(half - 1)], b[at(half - 1)], 0x7632);
      const std::uint32_t first = direction == 0 ? lows : highs, second = direction == 0 ? highs : lows;
      std::uint32_t carry = raised_least(first, over_half, second),
                    cost = least_of(over_half + over_half, limits);
      for (int step = 1; step < lanes; step *= 2) {
        const std::uint32_t from = direction == 0 ? __shfl_up_sync(whole_warp, carry, step, lanes)
                                                  : __shfl_down_sync(whole_warp, carry, step, lanes);
        carry = raised_least(from, cost, carry);
        cost = least_of(cost + cost, limits);
      }
      carry = direction == 0 ? __shfl_up_sync(whole_warp, carry, 1, lanes)
                             : __shfl_down_sync(whole_warp, carry, 1, lanes);
      if (lane == (direction == 0 ? 0 : lanes - 1)) carry = filled(far16);
      const std::uint32_t next = raised_least(carry, over_half, first);
      const std::uint32_t lower_half = direction == 0 ? carry : next,
                          upper_half = direction == 0 ? next : carry;
      pass(a, slope_a, __byte_perm(lower_half, upper_half, 0x5410));
      pass(b, slope_b, __byte_perm(lower_half, upper_half, 0x7632));
    }
  }
}

/// Value i of a lane, in the order of labels.
template <int PerLane>
__device__ float value_at(const LaneValues<float, PerLane>& values, int i) {
  return values.word[i];
}
template <int PerLane>
__device__ std::uint16_t value_at(const LaneValues<std::uint16_t, PerLane>& values, int i) {
  constexpr int half = PerLane / 2;
  return std::uint16_t(i < half ? low(values.word[i % half]) : high(values.word[i % half]));
}

/// Lets a message follow a rise of -1 up to, but not including, 1 label. All lanes of a warp must call this.
template <int PerLane>
__device__ void follow_small_rise(LaneValues<std::uint16_t, PerLane>& h, const Rise<std::uint16_t>& rise,
                                  int lane, const Packing& packing, int labels, std::uint16_t slope,
                                  std::uint16_t limit) {
  constexpr int half = PerLane / 2;
  const bool falls = rise.shift < 0;  // reads the labels after a lane's own, not those before them
  const std::uint32_t step = cost_outside(slope, limit, 1);
  const std::uint32_t from_before = __shfl_up_sync(whole_warp, h.word[half - 1], 1, packing.lanes),
                      from_after = __shfl_down_sync(whole_warp, h.word[0], 1, packing.lanes);
  const std::uint32_t before_first = lane > 0 ? from_before >> 16 : low(h.word[0]) + step;
  std::uint32_t beside[half];
  PF_UNROLL
  for (int i = 0; i < half; ++i) {
    const std::uint32_t before = i > 0 ? h.word[i > 0 ? i - 1 : 0] : h.word[half - 1] << 16 | before_first;
    const std::uint32_t after =
        i < half - 1 ? h.word[i < half - 1 ? i + 1 : 0] : h.word[0] >> 16 | from_after << 16;
    beside[i] = falls ? after : before;
  }
  if (const int last = labels - 1 - lane * PerLane; falls && last >= 0 && last < PerLane) {
    PF_UNROLL
    for (int i = 0; i < half; ++i) {
      if (i == last) beside[i] = (beside[i] & 0xffff0000u) | (low(h.word[i]) + step);
      if (i + half == last) beside[i] = (beside[i] & 0xffffu) | (high(h.word[i]) + step) << 16;
    }
  }
  const std::uint32_t part = filled(std::uint32_t(rise.part)), rest = filled(std::uint32_t(rise.rest)),
                      most = filled(std::uint32_t(limit));
  PF_UNROLL
  for (int i = 0; i < half; ++i) {
    const std::uint32_t at = falls ? beside[i] : h.word[i], before = falls ? h.word[i] : beside[i];
    h.word[i] = least_of(least_of(at + part, before + rest), most);
  }
}

/// Lets the finished messages of a pixel follow the `rises` of its edges: see Rise. `staged`: shared memory for
/// the values of the pixel's lanes. All lanes of a warp must call this.
template <class Value, int PerLane>
__device__ void follow_rises(LaneMessages<Value, PerLane>& h, const float (&rises)[4], int lane,
                             const Packing& packing, int labels, const PixelEdges<Value>& edges,
                             Value* staged) {
  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    const Value slope = Value(edges.slope[k]), limit = Value(edges.limit[k]);
    if (!__any_sync(whole_warp, rises[k] != 0)) continue;
    const Rise<Value> rise = Rise<Value>::of(rises[k], slope, limit);
    if constexpr (sizeof(Value) == 2)
      if (__all_sync(whole_warp, rise.shift == 0 || rise.shift == -1)) {
        follow_small_rise(h[k], rise, lane, packing, labels, slope, limit);
        continue;
      }
    __syncwarp();
    PF_UNROLL
    for (int i = 0; i < PerLane; ++i) staged[lane * PerLane + i] = value_at(h[k], i);
    __syncwarp();
    const auto message = [&](int i) {
      const int label = lane * PerLane + i - rise.shift;
      return rising_message(rise, limit, message_at(staged, labels, slope, limit, label),
                            message_at(staged, labels, slope, limit, label - 1));
    };
    PF_UNROLL
    for (int i = 0; i < LaneValues<Value, PerLane>::words; ++i) {
      if constexpr (sizeof(Value) == 4)
        h[k].word[i] = message(i);
      else
        h[k].word[i] = pair_of(message(i), message(i + PerLane / 2));
    }
  }
}

/// Lower envelope over labels in registers.
template <int Count>
__device__ void lower_line(float (&values)[Count], float slope) {
  float up[Count], least = 3e38f;
  PF_UNROLL
  for (int i = 0; i < Count; ++i) {
    least = least_of(least, fma(-slope, float(i), values[i]));
    up[i] = fma(slope, float(i), least);
  }
  least = 3e38f;
  PF_UNROLL
  for (int i = Count - 1; i >= 0; --i) {
    least = least_of(least, fma(slope, float(i), values[i]));
    values[i] = least_of(up[i], fma(-slope, float(i), least));
  }
}
/// The same for words, whose two halves are separate envelopes.
template <int Count>
__device__ void lower_line(std::uint32_t (&values)[Count], std::uint32_t slope) {
  slope = filled(slope);
  PF_UNROLL
  for (int i = 1; i < Count; ++i) values[i] = raised_least(values[i - 1], slope, values[i]);
  PF_UNROLL
  for (int i = Count - 2; i >= 0; --i) values[i] = raised_least(values[i + 1], slope, values[i]);
}
/// Lower envelope over the row of labels that a lane holds. If a word has two halves, all low halves come
/// before all high halves in the row.
template <class Word, int Words>
__device__ void lower_row(Word (&values)[Words], Word slope) {
  lower_line(values, slope);
  if constexpr (!std::is_same_v<Word, float>) {
    const Word step = filled(slope);
    const Word up = pair_of(far16, low(values[Words - 1])), down = pair_of(high(values[0]), far16);
    values[0] = raised_least(up, step, values[0]);
    values[Words - 1] = raised_least(down, step, values[Words - 1]);
    lower_line(values, slope);
  }
}

/// Lower envelopes of the messages over a square grid of labels, with one row in each lane: along the rows in
/// registers, then down the columns in shared memory. `shared`: this warp's part, see shared_words.
template <class Value, int PerLane>
__device__ void lower_grid(LaneMessages<Value, PerLane>& h, int lane, int lanes, int rows,
                           const PixelEdges<Value>& edges, WordOf<Value>* shared) {
  using Word = WordOf<Value>;
  constexpr int words = LaneValues<Value, PerLane>::words, pitch = words + 1 - words % 2;
  const int thread = int(threadIdx.x) & 31, pixels = 32 / lanes, pixel = thread / lanes;
  Word* const slopes = shared + 4 * pixels * rows * pitch;
  const bool has_row = lane < rows;
  __syncwarp();
  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    lower_row(h[k].word, edges.slope[k]);
    Word* const row = shared + ((pixel * 4 + k) * rows + lane) * pitch;
    PF_UNROLL
    for (int i = 0; i < words; ++i)
      if (has_row) row[i] = h[k].word[i];
    if (lane == k % lanes) slopes[pixel * 4 + k] = edges.slope[k];
  }
  __syncwarp();
  for (int column = thread; column < 4 * pixels * words; column += 32) {
    const int message = column / words;
    Word* const top = shared + message * rows * pitch + (column - message * words);
    Word values[PerLane];
    PF_UNROLL
    for (int i = 0; i < PerLane; ++i)
      values[i] = i < rows ? top[i * pitch] : sizeof(Value) == 4 ? Word(1e30f) : Word(filled(far16));
    lower_line(values, slopes[message]);
    PF_UNROLL
    for (int i = 0; i < PerLane; ++i)
      if (i < rows) top[i * pitch] = values[i];
  }
  __syncwarp();
  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    const Word* const row = shared + ((pixel * 4 + k) * rows + lane) * pitch;
    PF_UNROLL
    for (int i = 0; i < words; ++i)
      if (has_row) h[k].word[i] = row[i];
  }
}

}  // namespace
}  // namespace parafield
