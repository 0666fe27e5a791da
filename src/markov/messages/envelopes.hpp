// SPDX-License-Identifier: MIT
#pragma once
#include "core/cpu/lanes.hpp"
#include "markov/levels/rows.hpp"
#include "markov/messages/messages.hpp"

/// Lower envelopes of a chunk's messages, on the CPU. In an unnamed namespace, because each instruction set
/// has its own copy.
namespace parafield {
namespace {

/// Pair costs of the edges of a chunk's first N pixels to one neighbor. Loops over chunks of few pixels are
/// compiled for a smaller N.
template <class Value, int N>
struct EdgeCosts {
  Value slope[N], limit[N];
  float unrounded[N];  // slope, for quadratic costs
};

/// Loads what `plane` holds of the edges to neighbor k in all columns from a chunk's first pixel on; 0 for
/// edges that leave the image.
template <int N>
void load_edges(const View<float>& plane, int k, int y, int first, int i0, float (&values)[2 * N]) {
  const Offset to = neighbor_offset(k);
  const int begin = 2 * i0 + first + (is_forward(k) ? 0 : to.x);
  const float* const row = plane.row(clamp(is_forward(k) ? y : y + to.y, 0, plane.height - 1));
  const int inside = smaller(2 * N, plane.width - begin);
  for (int i = larger(-begin, 0); i < inside; ++i) values[i] = row[begin + i];
  for (int i = larger(inside, 0); i < 2 * N; ++i) values[i] = 0;
  if (begin < 0) values[0] = 0;
}

/// Finds the pair costs of a chunk's edges to neighbor k.
template <class Value, int N>
void find_edge_costs(const PropagationLevel<Value>& level, const PairUnits& units, int k, int y, int first,
                     int i0, EdgeCosts<Value, N>& costs) {
  const View<float>& plane = level.weights.used[edge_plane(k)];
  constexpr int n = N;
  float weights[2 * n];
  if (plane) {
    load_edges<n>(plane, k, y, first, i0, weights);
  } else {
    for (int i = 0; i < 2 * n; ++i) weights[i] = 1;
  }
  const float slope = units.slope, limit = units.limit;
  for (int i = 0; i < n; ++i) {
    const float weight = weights[2 * i];
    costs.unrounded[i] = weight * slope;
    costs.slope[i] = PairUnits::value_of<Value>(costs.unrounded[i]);
    costs.limit[i] = PairUnits::value_of<Value>(weight * limit);
  }
}

/// Lower envelope for linear costs over `count` labels, h[l] = min over m of h[m] + slope |l - m|, in two
/// passes (Grauer-Gray section 3). `spare`: memory for as many values.
template <int N>
void lower_linear(Labeled<float> h, Labeled<float> spare, int count, const EdgeCosts<float, N>& costs) {
  constexpr int n = N;
  float least[n];
  for (int i = 0; i < n; ++i) least[i] = 3e38f;
  for (int label = 0; label < count; ++label) {
    const float *const in = h[label], at = float(label);
    float* const out = spare[label];
    for (int i = 0; i < n; ++i) {
      least[i] = smaller(least[i], fma(-costs.slope[i], at, in[i]));
      out[i] = fma(costs.slope[i], at, least[i]);
    }
  }
  for (int i = 0; i < n; ++i) least[i] = 3e38f;
  for (int label = count - 1; label >= 0; --label) {
    const float *const before = spare[label], at = float(label);
    float* const in = h[label];
    for (int i = 0; i < n; ++i) {
      least[i] = smaller(least[i], fma(costs.slope[i], at, in[i]));
      in[i] = smaller(before[i], fma(-costs.slope[i], at, least[i]));
    }
  }
}
template <int N>
void lower_linear(Labeled<std::uint16_t> h, Labeled<std::uint16_t>, int count,
                  const EdgeCosts<std::uint16_t, N>& costs) {
  constexpr int n = N;
  const auto pass = [&](const std::uint16_t* from, std::uint16_t* to) {
    for (int i = 0; i < n; ++i) {
      const std::uint16_t beside = std::uint16_t(from[i] + costs.slope[i]);
      to[i] = smaller(to[i], beside);
    }
  };
  for (int label = 1; label < count; ++label) pass(h[label - 1], h[label]);
  for (int label = count - 2; label >= 0; --label) pass(h[label + 1], h[label]);
}

/// Lower envelope for quadratic costs: h[l] = min over m of h[m] + slope (l - m)^2, where |l - m| <= reach.
template <class Value, int N>
void lower_quadratic(Labeled<Value> h, Labeled<Value> spare, int count, int reach,
                     const EdgeCosts<Value, N>& costs) {
  constexpr int n = N;
  for (int label = 0; label < count; ++label) {
    Value* const out = spare[label];
    for (int i = 0; i < n; ++i) out[i] = h[label][i];
    for (int other = larger(0, label - reach); other <= smaller(count - 1, label + reach); ++other) {
      const float square = float((label - other) * (label - other));
      const Value* const in = h[other];
      for (int i = 0; i < n; ++i)
        out[i] = smaller(out[i], raised(in[i], costs.unrounded[i], costs.limit[i], square));
    }
  }
  for (int label = 0; label < count; ++label)
    for (int i = 0; i < n; ++i) h[label][i] = spare[label][i];
}

template <class Value, int N>
void lower(Labeled<Value> h, Labeled<Value> spare, int count, const PairUnits& units,
           const EdgeCosts<Value, N>& costs) {
  units.quadratic ? lower_quadratic(h, spare, count, units.reach, costs)
                  : lower_linear(h, spare, count, costs);
}

/// Rises of the edges of a chunk's first N pixels to one neighbor: see Rise.
template <class Value, int N>
struct EdgeRises {
  std::conditional_t<sizeof(Value) == 2, std::int16_t, std::int32_t> shift[N];
  Value part[N], rest[N];

  /// Bit i is set if some of the edges [begin, begin + count) shift by i - most_rise labels; 0 if none rises.
  std::uint32_t shifts(int begin, int count) const {
    std::uint32_t found = 0;
    bool rises = false;
    for (int i = begin; i < begin + count; ++i) {
      found |= std::uint32_t(1) << (shift[i] + most_rise);
      rises |= bool((shift[i] != 0) | (part[i] != 0));
    }
    return rises ? found : 0;
  }
};

/// Finds the rises of a chunk's edges to neighbor k.
template <class Value, int N>
void find_edge_rises(const PropagationLevel<Value>& level, int k, int y, int first, int i0,
                     const EdgeCosts<Value, N>& costs, EdgeRises<Value, N>& rises) {
  constexpr int n = N;
  float values[2 * n];
  load_edges<n>(level.rise[k & 1], k, y, first, i0, values);
  const float sign = is_forward(k) ? 1.0f : -1.0f;
  for (int i = 0; i < n; ++i) {
    const Rise<Value> rise = Rise<Value>::of(sign * values[2 * i], costs.slope[i], costs.limit[i]);
    rises.shift[i] = decltype(+rises.shift[i])(rise.shift);
    rises.part[i] = rise.part, rises.rest[i] = rise.rest;
  }
}

/// Stores messages of edges that rise by `shifts` in `out`. `even`: the messages without rises.
template <int N>
void follow_rises(Labeled<float> even, Labeled<float> out, int labels, const EdgeCosts<float, N>& costs,
                  const EdgeRises<float, N>& rises, std::uint32_t shifts) {
  constexpr int n = N;
  float outside[2][n];
  const auto message_at = [&](int label, float* memory) -> const float* {
    if (label >= 0 && label < labels) return even[label];
    const int end = label < 0 ? 0 : labels - 1, distance = label < 0 ? -label : label - end;
    for (int i = 0; i < n; ++i)
      memory[i] = even[end][i] + cost_outside(costs.slope[i], costs.limit[i], distance);
    return memory;
  };
  for (int shift = -most_rise; shift <= most_rise; ++shift) {
    if (!(shifts >> (shift + most_rise) & 1)) continue;
    for (int label = 0; label < labels; ++label) {
      const float *const at = message_at(label - shift, outside[0]), *const before = message_at(
                                                                         label - shift - 1, outside[1]);
      float* const to = out[label];
#pragma GCC ivdep  // scratch memory does not overlap with levels
      for (int i = 0; i < n; ++i) {
        const float message = rising_message(Rise<float>{shift, rises.part[i], rises.rest[i]}, costs.limit[i],
                                             at[i], before[i]);
        to[i] = rises.shift[i] == shift ? message : to[i];
      }
    }
  }
}
/// The same for the vector of pixels from index `i` on.
template <int N>
void follow_rises(Labeled<std::uint16_t> even, Labeled<std::uint16_t> out, int labels,
                  const EdgeCosts<std::uint16_t, N>& costs, const EdgeRises<std::uint16_t, N>& rises,
                  std::uint32_t shifts, int i) {
  Lanes limit, part, rest, own_shift;
  load(limit, costs.limit + i);
  load(part, rises.part + i);
  load(rest, rises.rest + i);
  std::memcpy(&own_shift, rises.shift + i, sizeof own_shift);
  const auto message_at = [&](int label) {
    const bool inside = label >= 0 && label < labels;
    const int nearest = clamp(label, 0, labels - 1);
    Lanes message;
    load(message, even[nearest]);
    if (!inside)
      for (int j = 0; j < lanes; ++j)
        message[j] += cost_outside(costs.slope[i + j], costs.limit[i + j],
                                   label < nearest ? nearest - label : label - nearest);
    return message;
  };
  for (int shift = -most_rise; shift <= most_rise; ++shift) {
    if (!(shifts >> (shift + most_rise) & 1)) continue;
    const bool is_only = shifts == std::uint32_t(1) << (shift + most_rise);
    Lanes before = message_at(-shift - 1);
    for (int label = 0; label < labels; ++label) {
      const Lanes at = message_at(label - shift);
      Lanes message = at + part;
      lower_to(message, before + rest);
      lower_to(message, limit);
      before = at;
      if (!is_only) {
        Lanes other;
        load(other, out[label]);
        message = own_shift == std::uint16_t(shift) ? message : other;
      }
      store(out[label], message);
    }
  }
}

/// Computes the messages that `lanes` pixels of a chunk, from index `i` on, send from those that they have
/// received, for a row of labels with linear costs. `sends`: whether there is a neighbor. `rises`: of the
/// edges to each neighbor, or null. `scratch`: four vectors for each label.
///
/// A vector holds several pixels, and their messages to all four neighbors are computed together: upward
/// through the labels with the running minima in registers, then downward. That takes nine loads, eight
/// stores and 34 operations for each label and vector.
template <int N>
void send_lanes(int labels, Labeled<std::uint16_t> data, const Labeled<std::uint16_t> (&in)[4],
                const Labeled<std::uint16_t> (&out)[4], const bool (&sends)[4],
                const EdgeCosts<std::uint16_t, N> (&costs)[4], const EdgeRises<std::uint16_t, N>* rises,
                int i, std::uint16_t* scratch) {
  Lanes slope[4], least[4], running[4];
  for (int k = 0; k < 4; ++k) {
    load(slope[k], costs[k].slope + i);
    running[k] = Lanes{} + std::uint16_t(0xffff - most_units);  // adding a slope does not overflow
    least[k] = Lanes{} + std::uint16_t(0xffff);
  }
  // Local copies of the pointers, because as far as the compiler knows, `scratch` may alias the originals.
  const std::uint16_t *from_data = data[0] + i, *from[4];
  std::ptrdiff_t pitches[4];
  for (int k = 0; k < 4; ++k) from[k] = in[k][0] + i, pitches[k] = in[k].pitch;
  std::uint16_t* to = scratch;
  for (int label = 0; label < labels; ++label) {
    Lanes d, left, up, right, down, made[4];
    load(d, from_data);
    load(left, from[0]);
    load(up, from[1]);
    load(right, from[2]);
    load(down, from[3]);
    from_data += data.pitch;
    PF_UNROLL
    for (int k = 0; k < 4; ++k) from[k] += pitches[k];
    const Lanes with_row = d + (left + right), with_column = d + (up + down);
    made[0] = with_column + right;
    made[2] = with_column + left;
    made[1] = with_row + down;
    made[3] = with_row + up;
    PF_UNROLL
    for (int k = 0; k < 4; ++k) {
      running[k] += slope[k];
      lower_to(running[k], made[k]);
      lower_to(least[k], made[k]);
      store(to + k * lanes, running[k]);
    }
    to += 4 * lanes;
  }
  for (int k = 0; k < 4; ++k) {
    if (!sends[k]) continue;
    Lanes limit, last = running[k];
    const Lanes step = slope[k], base = least[k];
    load(limit, costs[k].limit + i);
    const std::uint32_t shifts = rises ? rises[k].shifts(i, lanes) : 0;
    // Messages that follow rises take the place of the running minima first.
    const Labeled<std::uint16_t> even{scratch + k * lanes, 4 * lanes},
        sent_on{out[k].values + i, out[k].pitch};
    const Labeled<std::uint16_t> target = shifts != 0 ? even : sent_on;
    const std::uint16_t* before_at = even[labels];
    std::uint16_t* sent_to = target[labels];
    const std::ptrdiff_t pitch = target.pitch;
    for (int label = 0; label < labels; ++label) {
      Lanes before, sent;
      load(before, before_at -= 4 * lanes);
      last += step;
      lower_to(last, before);
      sent = last - base;
      lower_to(sent, limit);
      store(sent_to -= pitch, sent);
    }
    if (shifts != 0) follow_rises(even, sent_on, labels, costs[k], rises[k], shifts, i);
  }
}

}  // namespace
}  // namespace parafield
