// SPDX-License-Identifier: MIT
#pragma once
#include <cstring>

#include "markov/messages/envelopes.hpp"

/// Messages of 16 bits over a row of labels with linear costs, on the CPU. In an unnamed namespace: each instruction
/// set has a copy.
///
/// Some pixels lie side by side in a vector, and their messages to all four neighbors are made together: upwards
/// through the labels with the running minima in registers, then downwards. For each label and vector that is nine
/// loads, eight stores and 34 operations.
namespace parafield {
namespace {

/// As many as a register has: the compiler handles wider vectors badly.
#if defined(__AVX512BW__)
constexpr int lanes = 32;
#elif defined(__AVX2__)
constexpr int lanes = 16;
#else
constexpr int lanes = 8;
#endif
typedef std::uint16_t Lanes __attribute__((vector_size(2 * lanes)));

#define PF_INLINE __attribute__((always_inline)) inline

PF_INLINE void load(Lanes& to, const std::uint16_t* from) { std::memcpy(&to, from, sizeof to); }
PF_INLINE void store(std::uint16_t* to, const Lanes& from) { std::memcpy(to, &from, sizeof from); }
/// a = min(a, b)
PF_INLINE void lower_to(Lanes& a, const Lanes& b) { a = a < b ? a : b; }

/// Computes the messages that `lanes` pixels of a chunk, from number `i` on, send from those that they have received.
/// `sends`: whether there is a neighbor. `scratch`: four vectors for each label.
template <int N>
void send_lanes(int labels, Labeled<std::uint16_t> data, const Labeled<std::uint16_t> (&in)[4],
                const Labeled<std::uint16_t> (&out)[4], const bool (&sends)[4],
                const EdgeCosts<std::uint16_t, N> (&costs)[4], int i, std::uint16_t* scratch) {
  Lanes slope[4], least[4], running[4];
  for (int k = 0; k < 4; ++k) {
    load(slope[k], costs[k].slope + i);
    running[k] = Lanes{} + std::uint16_t(0xffff - most_units);  // with a slope it still fits
    least[k] = Lanes{} + std::uint16_t(0xffff);
  }
  for (int label = 0; label < labels; ++label) {
    Lanes d, left, up, right, down, made[4];
    load(d, data[label] + i);
    load(left, in[0][label] + i);
    load(up, in[1][label] + i);
    load(right, in[2][label] + i);
    load(down, in[3][label] + i);
    const Lanes with_row = d + (left + right), with_column = d + (up + down);
    made[0] = with_column + right;
    made[2] = with_column + left;
    made[1] = with_row + down;
    made[3] = with_row + up;
    std::uint16_t* const to = scratch + label * 4 * lanes;
    PF_UNROLL
    for (int k = 0; k < 4; ++k) {
      running[k] += slope[k];
      lower_to(running[k], made[k]);
      lower_to(least[k], made[k]);
      store(to + k * lanes, running[k]);
    }
  }
  for (int k = 0; k < 4; ++k) {
    if (!sends[k]) continue;
    Lanes limit, last;
    load(limit, costs[k].limit + i);
    load(last, scratch + (labels - 1) * 4 * lanes + k * lanes);
    for (int label = labels - 1; label >= 0; --label) {
      Lanes before, sent;
      load(before, scratch + label * 4 * lanes + k * lanes);
      last += slope[k];
      lower_to(last, before);
      sent = last - least[k];
      lower_to(sent, limit);
      store(out[k][label] + i, sent);
    }
  }
}

/// Labels of least belief of `lanes` pixels of a chunk, from number i on. `sum_at(label)`: their beliefs, which are
/// stored in `belief`. `rest`: least beliefs of the labels that are not beside the best ones; null = not wanted.
template <class SumAt>
PF_INLINE void find_winners(int labels, SumAt sum_at, Labeled<std::uint16_t> belief, int i,
                            std::uint16_t* least_of, std::uint16_t* best_of, std::uint16_t* rest_of) {
  const Lanes all_ones = Lanes{} + std::uint16_t(0xffff);
  Lanes least = all_ones, best{}, rest = all_ones;
  for (int label = 0; label < labels; ++label) {
    const Lanes sum = sum_at(label);
    store(belief[label] + i, sum);
    best = sum < least ? Lanes{} + std::uint16_t(label) : best;
    lower_to(least, sum);
  }
  store(least_of + i, least);
  store(best_of + i, best);
  if (!rest_of) return;
  for (int label = 0; label < labels; ++label) {
    Lanes sum;
    load(sum, belief[label] + i);
    const Lanes apart = best - std::uint16_t(label - 1);  // 0, 1 or 2 beside the best one
    rest = apart > 2 && sum < rest ? sum : rest;
  }
  store(rest_of + i, rest);
}

}  // namespace
}  // namespace parafield
