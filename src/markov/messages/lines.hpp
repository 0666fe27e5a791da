// SPDX-License-Identifier: MIT
#pragma once
#include "core/cpu/lanes.hpp"
#include "markov/messages/envelopes.hpp"

/// 16-bit messages over a row of labels with linear costs, on the CPU. In an unnamed namespace, because each
/// instruction set has its own copy.
///
/// A vector holds several pixels, and their messages to all four neighbors are computed together: upward
/// through the labels with the running minima in registers, then downward. That takes nine loads, eight
/// stores and 34 operations for each label and vector.
namespace parafield {
namespace {

/// Computes the messages that `lanes` pixels of a chunk, from index `i` on, send from those that they have
/// received. `sends`: whether there is a neighbor. `scratch`: four vectors for each label.
template <int N>
void send_lanes(int labels, Labeled<std::uint16_t> data, const Labeled<std::uint16_t> (&in)[4],
                const Labeled<std::uint16_t> (&out)[4], const bool (&sends)[4],
                const EdgeCosts<std::uint16_t, N> (&costs)[4], int i, std::uint16_t* scratch) {
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
    const std::uint16_t* before_at = scratch + labels * 4 * lanes + k * lanes;
    std::uint16_t* sent_to = out[k][labels] + i;
    const std::ptrdiff_t pitch = out[k].pitch;
    for (int label = 0; label < labels; ++label) {
      Lanes before, sent;
      load(before, before_at -= 4 * lanes);
      last += step;
      lower_to(last, before);
      sent = last - base;
      lower_to(sent, limit);
      store(sent_to -= pitch, sent);
    }
  }
}

}  // namespace
}  // namespace parafield
