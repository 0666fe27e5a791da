// SPDX-License-Identifier: MIT
#pragma once
#include "markov/levels/levels.hpp"
#include "markov/sweep/sweep.hpp"

/// Steps of min-sum belief propagation (Grauer-Gray sections 3 and 4). `Value`: float, or 16-bit whole units.
/// Each candidate of a minimum is exact or rounded once, so that no result depends on the order of the
/// candidates.
namespace parafield {

/// Result: labels of least belief and the beliefs around them. If `labels` is empty, nothing is stored.
struct Beliefs {
  View<Label> labels;
  CostsAround costs;                   // beliefs, converted to costs
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // pixels [x0, x1) x [y0, y1) are stored
};

/// Iteration: pixels with (x + y) % 2 == color send messages to all neighbors (section 4, step 3).
struct Iteration {
  enum class From { nothing, coarser, here };

  int color = 0;
  From from = From::here;  // level that holds the messages that the pixels have received
  int coarser_color = 0;   // color that sent last at the coarser level
  bool last = false;   // last iteration of a level with a finer one: messages go to the second set of edges
  bool keeps = false;  // received messages are copied to the first set of edges
};

/// Iteration i of a level's `iterations`. `top`: the coarsest level; `coarser`: iterations of the next
/// coarser level.
PF_HD Iteration iteration_of(int level, int top, int i, int iterations, int coarser) {
  using From = Iteration::From;
  const From from = i > 0 ? From::here : level < top ? From::coarser : From::nothing;
  const bool last = i == iterations - 1 && level > 0;
  return {i & 1, from, (coarser - 1) & 1, last, last && from != From::here};
}

/// Runs an iteration. `beliefs` receives the beliefs of the pixels that send, read before they do (step 4).
template <class Backend, class Value>
void send_messages(Backend& backend, const PairUnits& units, const PropagationLevel<Value>& level,
                   const PropagationLevel<Value>& coarser, Iteration iteration, const Beliefs& beliefs);

/// All iterations of a level, and their number at the next coarser level.
struct Iterations {
  int level = 0, top = 0;  // numbers of this level and of the coarsest
  int count = 0, coarser = 0;

  PF_HD Iteration operator[](int i) const { return iteration_of(level, top, i, count, coarser); }
};

/// On the CPU: runs all iterations of a level in bands of rows, so that messages are loaded and stored only
/// once. In a band, each iteration runs one row behind the previous one, and begins and ends one row farther
/// inside. A later call computes what is missing at the seams between bands. Computes bands [begin, end) of
/// `count` or, with `seams`, the seam between each of these bands and the next. `beliefs` receives the
/// beliefs of all pixels after the last iteration.
template <class Backend, class Value>
void send_in_bands(Backend& backend, const PairUnits& units, const PropagationLevel<Value>& level,
                   const PropagationLevel<Value>& coarser, const Iterations& iterations, int count, int begin,
                   int end, bool seams, const Beliefs& beliefs);

/// Reads the beliefs of the pixels of a color. The messages that they have received must be in the level's
/// first set of edges.
template <class Backend, class Value>
void read_beliefs(Backend& backend, const PairUnits& units, const PropagationLevel<Value>& level, int color,
                  const Beliefs& beliefs);

/// Reads the beliefs of all pixels of a level without messages. A pixel uses the messages that its block, one
/// pixel of the coarser level, has received: data + ((left + right) + (up + down)). `coarser_color`: the
/// color that sent last at the coarser level. If `coarser` has no data, there is no coarser level, and
/// beliefs are data costs. On the CPU, the costs of a level without data come from the energy.
template <class Backend, class Data, class Value>
void read_coarse_beliefs(Backend& backend, const Energy<Data>& energy, const PairUnits& units,
                         const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarser,
                         int coarser_color, const Beliefs& beliefs);

/// On the CPU: runs all iterations of level 1 and reads the beliefs of the finest level, which has no
/// iterations, like send_messages and read_coarse_beliefs. The messages of level 1 stay in a thread's cache,
/// because each iteration runs one row behind the previous one and only the rows that this requires are kept.
/// `top`: the coarsest level.
template <class Backend, class Data, class Value>
void send_and_read(Backend& backend, const Energy<Data>& energy, const PairUnits& units,
                   const PropagationLevel<Value>& finest, const PropagationLevel<Value>& level,
                   const PropagationLevel<Value>& coarser, int top, int iterations, const Beliefs& beliefs);

constexpr int most_band_rows = 96;  // between bands, a solve can be cancelled
/// Rows of messages that send_and_read keeps: a power of 2.
inline int kept_rows(int iterations) {
  int rows = 4;
  while (rows < iterations + 2) rows *= 2;
  return rows;
}
/// Number of messages that send_and_read keeps over one kind of edges.
template <class Value>
std::size_t kept_count(LabelGrid grid, int width, int iterations) {
  return 2 * std::size_t(kept_rows(iterations)) * std::size_t(grid.count()) *
         std::size_t(half_pitch<Value>(width));
}

/// Bytes of scratch memory for each CPU thread in the other steps: nine chunks of pixels per label, or
/// level_scratch if that is more.
template <class Value>
std::size_t step_scratch(LabelGrid grid, int width) {
  return larger(level_scratch<Value>(grid, width), 9 * level_chunk_bytes * std::size_t(grid.count()));
}

// Shared by both backends.

/// Value of a message plus the quadratic cost of two labels. `square`: their squared distance.
PF_HD float raised(float value, float slope, float, float square) { return fma(slope, square, value); }
PF_HD std::uint16_t raised(std::uint16_t value, float slope, std::uint16_t limit, float square) {
  return std::uint16_t(value + std::uint16_t(smaller(slope * square + 0.5f, float(limit))));
}

/// Instantiates the steps for a backend and its values.
#define PF_MESSAGE_STEPS(Backend, Value)                        \
  PF_STEP(send_messages<Backend, Value>);                       \
  PF_STEP(read_beliefs<Backend, Value>);                        \
  PF_STEP(read_coarse_beliefs<Backend, StoredCosts, Value>);    \
  PF_STEP(read_coarse_beliefs<Backend, Differences<1>, Value>); \
  PF_STEP(read_coarse_beliefs<Backend, Differences<3>, Value>); \
  PF_STEP(read_coarse_beliefs<Backend, MixedCosts, Value>)

/// Instantiates the steps of the CPU alone.
#define PF_BAND_STEPS(Backend, Value)                     \
  PF_STEP(send_in_bands<Backend, Value>);                 \
  PF_STEP(send_and_read<Backend, StoredCosts, Value>);    \
  PF_STEP(send_and_read<Backend, Differences<1>, Value>); \
  PF_STEP(send_and_read<Backend, Differences<3>, Value>); \
  PF_STEP(send_and_read<Backend, MixedCosts, Value>)

}  // namespace parafield
