#pragma once
#include "markov/levels/levels.hpp"
#include "markov/sweep/sweep.hpp"

/// Steps of min-sum belief propagation (Grauer-Gray sections 3 and 4). A message's values are floats, or 16-bit multiples of
/// a unit. Both ways a message is made of sums and minima whose result does not depend on how they are ordered: floats
/// because each candidate is rounded by itself, whole numbers because they are exact. So both have the same bits
/// everywhere.
namespace parafield {

/// What a solve makes: labels of least belief and the beliefs around them, in a part of the level. No labels: not asked for.
struct Beliefs {
  View<Label> labels;
  CostsAround costs;
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// One iteration: the pixels with (x + y) % 2 == color send (section 4, step 3).
struct Iteration {
  enum class From { nothing, coarser, here };

  int color = 0;
  From from = From::here;  // where what the pixels have received lies
  int coarser_color = 0;   // that the coarser level ended with
  bool last = false;       // of a level that has a finer one: messages go to the second set of edges
  bool keeps = false;      // what was received goes to the first set
};

/// Iteration i of a level, of all of them; `top`: the coarsest level.
PF_HD Iteration iteration_of(int level, int top, int i, int iterations) {
  using From = Iteration::From;
  const From from = i > 0 ? From::here : level < top ? From::coarser : From::nothing;
  const bool last = i == iterations - 1 && level > 0;
  return {i & 1, from, (iterations - 1) & 1, last, last && from != From::here};
}

/// An iteration. `beliefs`: of the pixels that send, before they do (step 4).
template <class Backend, class Value>
void send_messages(Backend& backend, LabelGrid grid, const PairUnits& units,
                   const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarser,
                   Iteration iteration, const Beliefs& beliefs);

/// Those of the pixels of a color that has received its messages here.
template <class Backend, class Value>
void read_beliefs(Backend& backend, LabelGrid grid, const PairUnits& units,
                  const PropagationLevel<Value>& level, int color, const Beliefs& beliefs);

/// Bytes of scratch memory that a thread of the CPU needs: nine chunks of all labels.
inline std::size_t message_scratch(LabelGrid grid) {
  return 9 * level_chunk_bytes * std::size_t(grid.count());
}

// What both backends compute.

/// A message's value, raised by the quadratic cost of a distance.
PF_HD float raised(float value, float slope, float, float square) { return fma(slope, square, value); }
PF_HD std::uint16_t raised(std::uint16_t value, float slope, std::uint16_t limit, float square) {
  return std::uint16_t(value + std::uint16_t(smaller(slope * square + 0.5f, float(limit))));
}

}  // namespace parafield
