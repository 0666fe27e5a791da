// SPDX-License-Identifier: MIT
#pragma once
#include "core/cpu/lanes.hpp"
#include "markov/levels/rows.hpp"
#include "markov/messages/messages.hpp"

/// Messages of a level's rows, on the CPU: where a chunk of pixels reads received messages and stores sent
/// ones. In an unnamed namespace, because each instruction set has its own copy.
namespace parafield {
namespace {

/// Messages of a chunk over the left, upper, right and lower edges of its pixels (neighbor_offset).
template <class Value>
struct Messages {
  Labeled<Value> with[4];
};

/// Messages on the edges of a chunk: pixels 2 i + first of row y, from i = i0 on.
template <class Value>
Messages<Value> edges_of(const Rows<Value>& rows, int set, int y, int first, int i0) {
  return {{{rows.across(set, y, first) + i0, rows.pitch},
           {rows.down(set, y, first) + i0, rows.pitch},
           {rows.across(set, y, 1 - first) + i0 + first, rows.pitch},
           {rows.down(set, y + 1, first) + i0, rows.pitch}}};
}

/// Messages received by the pixels in columns 2 i + parity of a row, from i = i0 on. For the color that sent
/// last, `ended_with`, they arrived before the last iteration and are in the first set of edges.
template <class Value>
Messages<Value> received_by(const Rows<Value>& rows, int ended_with, int y, int parity, int i0) {
  return edges_of(rows, ((parity + y) & 1) == ended_with ? 0 : 1, y, parity, i0);
}

/// Memory for the messages that a chunk's pixels have received.
template <class Value>
struct ReceivedRoom {
  Value* memory;     // four chunks per label
  int block_y = -1;  // row of the coarser level whose messages are there, if it has one chunk; else -1
};

/// Messages that a chunk's pixels have received at the coarser level, where even and odd columns are
/// interleaved.
template <class Value>
Messages<Value> received_by_blocks(const Rows<Value>& coarser, int ended_with, int y, int i0, bool only_chunk,
                                   ReceivedRoom<Value>& room) {
  const int labels = coarser.labels, block_y = y / 2;
  const Messages<Value> even = received_by(coarser, ended_with, block_y, 0, i0 / 2),
                        odd = received_by(coarser, ended_with, block_y, 1, i0 / 2);
  const bool is_there = only_chunk && room.block_y == block_y;
  room.block_y = only_chunk ? block_y : -1;
  Messages<Value> all;
  for (int k = 0; k < 4; ++k) {
    all.with[k] = {room.memory + k * labels * chunk<Value>, chunk<Value>};
    for (int label = 0; label < labels && !is_there; ++label) {
      const Value *const a = even.with[k][label], *const b = odd.with[k][label];
      Value* const out = all.with[k][label];
      for (int i = 0; i < chunk<Value> / 2; ++i) out[2 * i] = a[i], out[2 * i + 1] = b[i];
    }
  }
  return all;
}

/// Messages that a chunk's pixels have received before an iteration. `only_chunk`: whether it is the only one
/// of its row.
template <class Value>
Messages<Value> received_before(const Rows<Value>& rows, const Rows<Value>& coarser,
                                const Iteration& iteration, int y, int first, int i0, bool only_chunk,
                                ReceivedRoom<Value>& room) {
  if (iteration.from == Iteration::From::here) return edges_of(rows, 0, y, first, i0);
  if (iteration.from == Iteration::From::coarser)
    return received_by_blocks(coarser, iteration.coarser_color, y, i0, only_chunk, room);
  Messages<Value> none;
  for (Labeled<Value>& with : none.with) with = {room.memory, chunk<Value>};
  for (int i = 0; i < rows.labels * chunk<Value>; ++i) room.memory[i] = 0;
  return none;
}

/// Sums of the messages that a row of pixels has received, for a chunk of its columns from column i0 on.
template <class Value>
void sum_received(const Rows<Value>& rows, int ended_with, int y, int i0, Labeled<Value> sums) {
  const Messages<Value> even = received_by(rows, ended_with, y, 0, i0 / 2),
                        odd = received_by(rows, ended_with, y, 1, i0 / 2);
  for (int label = 0; label < rows.labels; ++label) {
    const Value *a[4], *b[4];
    for (int k = 0; k < 4; ++k) a[k] = even.with[k][label], b[k] = odd.with[k][label];
    Value* const out = sums[label];
#pragma GCC ivdep
    for (int i = 0; i < chunk<Value> / 2; ++i) {
      out[2 * i] = Value((a[0][i] + a[2][i]) + (a[1][i] + a[3][i]));
      out[2 * i + 1] = Value((b[0][i] + b[2][i]) + (b[1][i] + b[3][i]));
    }
  }
}

/// The same in halved order.
void sum_received_halved(const Rows<std::uint16_t>& rows, int ended_with, int y, int i0,
                         Labeled<std::uint16_t> sums) {
  const Messages<std::uint16_t> in[2] = {received_by(rows, ended_with, y, 0, i0 / 2),
                                         received_by(rows, ended_with, y, 1, i0 / 2)};
  for (int label = 0; label < rows.labels; ++label) {
    std::uint16_t* const out = sums[label];
    for (int i = 0; i < chunk<std::uint16_t> / 2; i += lanes) {
      Lanes sum[2], with[4], both[2];
      PF_UNROLL
      for (int parity = 0; parity < 2; ++parity) {
        PF_UNROLL
        for (int k = 0; k < 4; ++k) load(with[k], in[parity].with[k][label] + i);
        sum[parity] = (with[0] + with[2]) + (with[1] + with[3]);
      }
      interleave(sum[0], sum[1], both);
      store(out + 2 * i, both[0]), store(out + 2 * i + lanes, both[1]);
    }
  }
}

/// Clears the messages across the left and the right border of the image, which chunks overwrite.
template <class Value>
void clear_border(const Rows<Value>& rows, int set, int y) {
  const int width = rows.level.width;
  Value *const before = rows.across(set, y, 0), *const after = rows.across(set, y, width & 1) + width / 2;
  for (int label = 0; label < rows.labels; ++label)
    before[label * rows.pitch] = after[label * rows.pitch] = 0;
}

}  // namespace
}  // namespace parafield
