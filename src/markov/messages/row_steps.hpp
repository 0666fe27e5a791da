// SPDX-License-Identifier: MIT
#pragma once
#include "markov/messages/envelopes.hpp"
#include "markov/messages/received.hpp"
#include "markov/messages/winners.hpp"

/// Iterations and beliefs of a row of pixels, on the CPU. Pixels of a color are adjacent in memory
/// (levels/rows.hpp). Their messages are computed in chunks, label by label in scratch memory, so that every
/// inner loop runs along the row. In an unnamed namespace, because each instruction set has its own copy.
namespace parafield {
namespace {

/// Computes the beliefs of a chunk's pixels and stores the labels of least belief.
template <class Value>
void read_chunk(const PairUnits& units, Labeled<Value> data, const Messages<Value>& in, Labeled<Value> belief,
                int first, int i0, int y, const Beliefs& beliefs) {
  LeastBeliefs<Value> winners;
  const Labeled<Value> sources[5] = {data, in.with[0], in.with[1], in.with[2], in.with[3]};
  find_least(units.grid, sources, belief, bool(beliefs.costs.margin), winners);
  store_beliefs(
      units, winners, belief, first, i0, y, beliefs, [](int i) { return i; },
      [&](int label, int i) { return data[label][i]; });
}

/// Computes the messages `out` that a chunk's first N pixels send, from the messages `in` that they have
/// received.
template <int N, class Value>
void send_chunk(const PairUnits& units, const PropagationLevel<Value>& level, Labeled<Value> data,
                const Messages<Value>& in, const Messages<Value>& out, Value* scratch, int first, int i0,
                int y) {
  constexpr int n = N, pitch = chunk<Value>;
  const LabelGrid grid = units.grid;
  const int labels = grid.count();
  const auto buffer = [&](int k) { return Labeled<Value>{scratch + k * labels * pitch, pitch}; };
  const Labeled<Value> spare = buffer(4);
  Value least[4][n];
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < n; ++i) least[k][i] = farthest<Value>;
  for (int label = 0; label < labels; ++label) {
    const Value *const d = data[label], *const left = in.with[0][label], *const up = in.with[1][label],
                       *const right = in.with[2][label], *const down = in.with[3][label];
    Value *const to_left = buffer(0)[label], *const to_up = buffer(1)[label],
                 *const to_right = buffer(2)[label], *const to_down = buffer(3)[label];
#pragma GCC ivdep  // scratch memory does not overlap with levels
    for (int i = 0; i < n; ++i) {
      const Value with_row = Value(d[i] + (left[i] + right[i])),
                  with_column = Value(d[i] + (up[i] + down[i]));
      to_left[i] = Value(with_column + right[i]);
      to_right[i] = Value(with_column + left[i]);
      to_up[i] = Value(with_row + down[i]);
      to_down[i] = Value(with_row + up[i]);
    }
    Value* const made[4] = {to_left, to_up, to_right, to_down};
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < n; ++i) least[k][i] = smaller(least[k][i], made[k][i]);
  }
  for (int k = 0; k < 4; ++k) {
    const int to_y = y + neighbor_offset(k).y;
    if (to_y < 0 || to_y >= level.height) continue;
    EdgeCosts<Value, N> costs;
    find_edge_costs(level, units, k, y, first, i0, costs);
    const Labeled<Value> h = buffer(k);
    for (int ly = 0; ly < grid.ny; ++ly) lower({h[ly * grid.nx], pitch}, spare, grid.nx, units, costs);
    for (int lx = 0; lx < grid.nx && grid.ny > 1; ++lx)
      lower({h[lx], pitch * grid.nx}, spare, grid.ny, units, costs);
    if constexpr (sizeof(Value) == 4)
      if (level.rise[0]) {
        EdgeRises<Value, N> rises;
        find_edge_rises(level, k, y, first, i0, costs, rises);
        if (const std::uint32_t shifts = rises.shifts(0, n); shifts != 0) {
          for (int label = 0; label < labels; ++label)
            for (int i = 0; i < n; ++i)
              h[label][i] = smaller(Value(h[label][i] - least[k][i]), costs.limit[i]);
          follow_rises(h, out.with[k], labels, costs, rises, shifts);
          continue;
        }
      }
    for (int label = 0; label < labels; ++label) {
      const Value* const lowered = h[label];
      Value* const sent = out.with[k][label];
#pragma GCC ivdep
      for (int i = 0; i < n; ++i) sent[i] = smaller(Value(lowered[i] - least[k][i]), costs.limit[i]);
    }
  }
}

/// The same for a row of labels with linear costs.
template <int N>
void send_lines(const PairUnits& units, const PropagationLevel<std::uint16_t>& level,
                Labeled<std::uint16_t> data, const Messages<std::uint16_t>& in,
                const Messages<std::uint16_t>& out, std::uint16_t* scratch, int first, int i0, int y) {
  EdgeCosts<std::uint16_t, N> costs[4];
  EdgeRises<std::uint16_t, N> rises[4];
  const bool has_rises = bool(level.rise[0]);
  bool sends[4];
  for (int k = 0; k < 4; ++k) {
    const int to_y = y + neighbor_offset(k).y;
    sends[k] = to_y >= 0 && to_y < level.height;
    if (sends[k])
      find_edge_costs(level, units, k, y, first, i0, costs[k]);
    else
      costs[k] = {};
    if (has_rises && sends[k]) find_edge_rises(level, k, y, first, i0, costs[k], rises[k]);
  }
  for (int i = 0; i < N; i += lanes)
    send_lanes(units.grid.nx, data, in.with, out.with, sends, costs, has_rises ? rises : nullptr, i, scratch);
}

/// Runs an iteration on row y. `scratch`: five chunks per label.
template <class Value>
void send_row(const PairUnits& units, const Rows<Value>& rows, const Rows<Value>& coarser,
              const Iteration& iteration, const Beliefs& beliefs, int y, Value* scratch,
              ReceivedRoom<Value>& room) {
  constexpr int n = chunk<Value>;
  const PropagationLevel<Value>& level = rows.level;
  const int labels = rows.labels, first = (y + iteration.color) & 1, target = iteration.last ? 1 : 0;
  for (int i0 = 0; 2 * i0 + first < level.width; i0 += n) {
    const Labeled<Value> data{rows.data(y, first) + i0, rows.pitch};
    const Messages<Value> here = edges_of(rows, 0, y, first, i0);
    const Messages<Value> in =
        received_before(rows, coarser, iteration, y, first, i0, level.width <= 2 * n, room);
    if (beliefs.labels) read_chunk(units, data, in, {scratch, n}, first, i0, y, beliefs);
    for (int k = 0; k < 4 && iteration.keeps; ++k)
      for (int label = 0; label < labels; ++label)
        for (int i = 0; i < n; ++i) here.with[k][label][i] = in.with[k][label][i];
    const int left = (level.width - first + 1) / 2 - i0;  // pixels in this chunk and after it
    const Messages<Value> out = edges_of(rows, target, y, first, i0);
    with_one_of<n / 4, n / 2, n>(left <= n / 4   ? n / 4
                                 : left <= n / 2 ? n / 2
                                                 : n,
                                 [&]<int N>() {
                                   if constexpr (sizeof(Value) == 2)
                                     if (units.grid.ny == 1 && !units.quadratic)
                                       return send_lines<N>(units, level, data, in, out, scratch, first, i0,
                                                            y);
                                   send_chunk<N>(units, level, data, in, out, scratch, first, i0, y);
                                 });
  }
  clear_border(rows, target, y);
  if (iteration.keeps) clear_border(rows, 0, y);
}

/// Memory for received messages, after send_row's scratch memory.
template <class Value>
ReceivedRoom<Value> room_behind(const Rows<Value>& rows, Value* scratch) {
  return {scratch + 5 * rows.labels * chunk<Value>};
}

/// Reads the beliefs of the pixels of a color of row y. `set`: the set of edges with their messages.
template <class Value>
void read_row(const PairUnits& units, const Rows<Value>& rows, int set, int color, const Beliefs& beliefs,
              int y, Value* scratch) {
  const int first = (y + color) & 1;
  for (int i0 = 0; 2 * i0 + first < rows.level.width; i0 += chunk<Value>)
    read_chunk(units, {rows.data(y, first) + i0, rows.pitch}, edges_of(rows, set, y, first, i0),
               {scratch, chunk<Value>}, first, i0, y, beliefs);
}

/// Reads the beliefs of the pixels of the finest level whose blocks are row `block_y` of the coarser level.
/// The finest level has no messages. `memory`: level_scratch bytes.
template <class Data, class Value>
void read_blocks(const Energy<Data>& energy, const PairUnits& units, const PropagationLevel<Value>& level,
                 const Rows<Value>& coarser, int coarser_color, const Beliefs& beliefs, int block_y,
                 void* memory) {
  constexpr int n = chunk<Value>;
  const int labels = units.grid.count(), y0 = 2 * block_y, count = smaller(2, level.height - y0);
  const ScratchRows<Value> scratch(level, units, memory);
  const Labeled<Value> belief{static_cast<Value*>(scratch.rest()), n}, received{belief[labels], n};
  for (int label = 0; label < labels && !coarser.level.data; ++label)
    for (int i = 0; i < n; ++i) received[label][i] = 0;
  // Calls sum(i0) and then find(row, parity, i0, winners) for all chunks of the rows y0 + row.
  // data_of(row, parity, i0): see store_beliefs.
  const auto read_chunks = [&](auto sum, auto find, auto place, auto data_of) {
    for (int i0 = 0; 2 * i0 < level.width; i0 += n) {
      // Pixels of even columns are adjacent in memory, as are pixels of odd columns and their blocks.
      if (coarser.level.data) sum(i0);
      for (int j = 0; j < count; ++j)
        for (int parity = 0; parity < 2; ++parity) {
          LeastBeliefs<Value> winners;
          find(j, parity, i0, winners);
          store_beliefs(units, winners, belief, parity, i0, y0 + j, beliefs, place, data_of(j, parity, i0));
        }
    }
  };
  const bool margins = bool(beliefs.costs.margin);
  if constexpr (is_mix<Data, Value>)
    if (!level.data && packs_by_bytes(units)) {
      return with_channels(energy.data, [&]<int Channels>() {
        const MixRows<Channels> mix(energy, units, y0, count > 1, memory);
        read_chunks([&](int i0) { sum_received_halved(coarser, coarser_color, block_y, i0, received); },
                    [&](int j, int parity, int i0, LeastBeliefs<Value>& winners) {
                      find_least(mix[j], parity, i0, labels, received, belief, margins, winners);
                    },
                    [](int i) { return i / byte_lanes * byte_lanes + halved(i % byte_lanes); },
                    [&](int, int, int) {
                      return [&](int label, int i) { return Value(belief[label][i] - received[label][i]); };
                    });
      });
    }
  for (int j = 0; j < count && !level.data; ++j) scratch.pack(energy, units, y0 + j, j);
  const Rows<Value> stored(level, units);
  const Rows<Value>& rows = level.data ? stored : scratch.rows();
  const auto data = [&](int j, int parity, int i0) {
    return Labeled<Value>{rows.data(level.data ? y0 + j : j, parity) + i0, rows.pitch};
  };
  read_chunks([&](int i0) { sum_received(coarser, coarser_color, block_y, i0, received); },
              [&](int j, int parity, int i0, LeastBeliefs<Value>& winners) {
                const Labeled<Value> sources[2] = {data(j, parity, i0), received};
                find_least(units.grid, sources, belief, margins, winners);
              },
              [](int i) { return i; },
              [&](int j, int parity, int i0) {
                return [costs = data(j, parity, i0)](int label, int i) { return costs[label][i]; };
              });
}

}  // namespace
}  // namespace parafield
