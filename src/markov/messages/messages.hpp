// SPDX-License-Identifier: MIT
#pragma once
#include "markov/levels/levels.hpp"
#include "markov/sweep/sweep.hpp"

/// Steps of min-sum belief propagation (Grauer-Gray sections 3 and 4). `Value`: float, or 16-bit whole units.
/// Candidates of a minimum are one rounded float each, or exact: so no result depends on their order.
namespace parafield {

/// Result: labels of least belief and the beliefs around them. Without labels none is stored.
struct Beliefs {
  View<Label> labels;
  CostsAround costs;                   // beliefs, in costs
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // pixels [x0, x1) x [y0, y1) are stored
};

/// Iteration: the pixels with (x + y) % 2 == color send messages to all neighbors (section 4, step 3).
struct Iteration {
  enum class From { nothing, coarser, here };

  int color = 0;
  From from = From::here;  // level that holds the messages that the pixels have received
  int coarser_color = 0;   // color that sent last at the coarser level
  bool last = false;       // last one of a level with a finer one: messages go to the second set of edges
  bool keeps = false;      // received messages are copied to the first set of edges
};

/// Iteration i of the `iterations` of a level; `top`: the coarsest level; `coarser`: iterations of the coarser one.
PF_HD Iteration iteration_of(int level, int top, int i, int iterations, int coarser) {
  using From = Iteration::From;
  const From from = i > 0 ? From::here : level < top ? From::coarser : From::nothing;
  const bool last = i == iterations - 1 && level > 0;
  return {i & 1, from, (coarser - 1) & 1, last, last && from != From::here};
}

/// Runs an iteration. `beliefs`: of the pixels that send, read before they do (step 4).
template <class Backend, class Value>
void send_messages(Backend& backend, const PairUnits& units, const PropagationLevel<Value>& level,
                   const PropagationLevel<Value>& coarser, Iteration iteration, const Beliefs& beliefs);

/// All iterations of a level, and those of the coarser one.
struct Iterations {
  int level = 0, top = 0;  // the level's number, and that of the coarsest
  int count = 0, coarser = 0;

  PF_HD Iteration operator[](int i) const { return iteration_of(level, top, i, count, coarser); }
};

/// On the CPU: runs all iterations of a level in bands of rows, so that messages are loaded and stored once. In a band
/// each iteration follows a row behind the one before, and begins and ends a row further inside; then seams between
/// bands get the rest. Computes bands `begin` to `end` - 1 of `count`, or, with `seams`, those between a band and the
/// next. `beliefs`: of all pixels, after the last iteration.
template <class Backend, class Value>
void send_in_bands(Backend& backend, const PairUnits& units, const PropagationLevel<Value>& level,
                   const PropagationLevel<Value>& coarser, const Iterations& iterations, int count, int begin,
                   int end, bool seams, const Beliefs& beliefs);

/// Reads the beliefs of the pixels of a color, whose messages the level's first set of edges holds.
template <class Backend, class Value>
void read_beliefs(Backend& backend, const PairUnits& units, const PropagationLevel<Value>& level, int color,
                  const Beliefs& beliefs);

/// Reads the beliefs of all pixels of a level without messages. A pixel takes those that its block, one pixel of the
/// coarser level, has received: data + ((left + right) + (up + down)). `coarser_color`: the color that sent last
/// there. A coarser level without data is none: then beliefs are data costs. On the CPU a level without data gets its
/// costs from the energy.
template <class Backend, class Data, class Value>
void read_coarse_beliefs(Backend& backend, const Energy<Data>& energy, const PairUnits& units,
                         const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarser,
                         int coarser_color, const Beliefs& beliefs);

/// On the CPU: runs all iterations of level 1 and reads the beliefs of the finest level, which has none, like
/// send_messages and read_coarse_beliefs. The messages of level 1 stay in a thread's cache: each iteration follows a
/// row behind the one before, and no more rows are kept than that takes. `top`: the coarsest level.
template <class Backend, class Data, class Value>
void send_and_read(Backend& backend, const Energy<Data>& energy, const PairUnits& units,
                   const PropagationLevel<Value>& finest, const PropagationLevel<Value>& level,
                   const PropagationLevel<Value>& coarser, int top, int iterations, const Beliefs& beliefs);

constexpr int most_band_rows = 96;  // between bands the CPU can be cancelled
/// Rows of messages that send_and_read keeps: a power of 2.
inline int kept_rows(int iterations) {
  int rows = 4;
  while (rows < iterations + 2) rows *= 2;
  return rows;
}
/// Number of messages that it keeps over one kind of edges.
template <class Value>
std::size_t kept_count(LabelGrid grid, int width, int iterations) {
  return 2 * std::size_t(kept_rows(iterations)) * std::size_t(grid.count()) *
         std::size_t(half_pitch<Value>(width));
}

/// Bytes of scratch memory for each CPU thread in the other steps: nine chunks of pixels for all labels, or what data
/// costs need.
template <class Value>
std::size_t step_scratch(LabelGrid grid, int width) {
  return larger(level_scratch<Value>(grid, width), 9 * level_chunk_bytes * std::size_t(grid.count()));
}

// Both backends compute these.

/// Value of a message plus the quadratic cost of two labels. `square`: their squared distance.
PF_HD float raised(float value, float slope, float, float square) { return fma(slope, square, value); }
PF_HD std::uint16_t raised(std::uint16_t value, float slope, std::uint16_t limit, float square) {
  return std::uint16_t(value + std::uint16_t(smaller(slope * square + 0.5f, float(limit))));
}

/// Compiles the steps for a backend and its values.
#define PF_MESSAGE_STEPS(Backend, Value)                        \
  PF_STEP(send_messages<Backend, Value>);                       \
  PF_STEP(read_beliefs<Backend, Value>);                        \
  PF_STEP(read_coarse_beliefs<Backend, StoredCosts, Value>);    \
  PF_STEP(read_coarse_beliefs<Backend, Differences<1>, Value>); \
  PF_STEP(read_coarse_beliefs<Backend, Differences<3>, Value>); \
  PF_STEP(read_coarse_beliefs<Backend, MixedCosts, Value>)

/// Compiles the steps of the CPU alone.
#define PF_BAND_STEPS(Backend, Value)                     \
  PF_STEP(send_in_bands<Backend, Value>);                 \
  PF_STEP(send_and_read<Backend, StoredCosts, Value>);    \
  PF_STEP(send_and_read<Backend, Differences<1>, Value>); \
  PF_STEP(send_and_read<Backend, Differences<3>, Value>); \
  PF_STEP(send_and_read<Backend, MixedCosts, Value>)

}  // namespace parafield
