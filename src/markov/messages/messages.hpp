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

/// Bytes of scratch memory for each CPU thread: nine chunks of pixels for all labels.
inline std::size_t message_scratch(LabelGrid grid) {
  return 9 * level_chunk_bytes * std::size_t(grid.count());
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

}  // namespace parafield
