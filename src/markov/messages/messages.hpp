// SPDX-License-Identifier: MIT
#pragma once
#include <type_traits>

#include "markov/levels/levels.hpp"
#include "markov/sweep/sweep.hpp"

/// Steps of min-sum belief propagation (Grauer-Gray sections 3 and 4). `Value`: float, or 16-bit whole units.
/// Each candidate of a minimum is exact or rounded once, so that no result depends on the order of the
/// candidates.
namespace parafield {

/// Result: labels of least belief and the beliefs around them. If `labels` is empty, nothing is stored.
struct Beliefs {
  View<Label> labels;
  CostsAround costs;                   // beliefs, converted to costs; margins always come from beliefs
  bool data_costs = false;             // store data costs around the labels instead of beliefs
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

/// All iterations of a level, and their number at the next coarser level.
struct Iterations {
  int level = 0, top = 0;  // numbers of this level and of the coarsest
  int count = 0, coarser = 0;
  bool each = false;     // beliefs are read after each iteration, not only after the last one
  bool is_read = false;  // the next finer level has no iterations and reads this level's messages

  PF_HD int last_color() const { return (count - 1) & 1; }
  /// Set of edges that holds the messages of the last iteration.
  PF_HD int last_set() const { return level > 0 ? 1 : 0; }
  PF_HD Iteration operator[](int i) const {
    using From = Iteration::From;
    const From from = i > 0 ? From::here : level < top ? From::coarser : From::nothing;
    const bool last = i == count - 1 && last_set() == 1;
    return {i & 1, from, (coarser - 1) & 1, last, last && from != From::here};
  }
};

/// Number of turns in which a backend runs the iterations of a level of `height` rows. A turn is an iteration
/// or, on the CPU, may be all iterations of a part of the level. 0 if there is nothing to do because there
/// are no iterations, or because read_coarse_beliefs will run them.
template <class Backend>
int turns_of(const Backend& backend, int height, const Iterations& iterations);

/// Runs a turn of a level's iterations. `beliefs` receives the beliefs of all pixels after the last
/// iteration, or after each (step 4).
template <class Backend, class Value>
void send_messages(Backend& backend, const PairUnits& units, const PropagationLevel<Value>& level,
                   const PropagationLevel<Value>& coarser, const Iterations& iterations, int turn,
                   const Beliefs& beliefs);

/// Reads the beliefs of all pixels of a level without messages. A pixel uses the messages that its block, one
/// pixel of the coarser level, has received: data + ((left + right) + (up + down)). If `coarser` has no data,
/// there is no coarser level, and beliefs are data costs. If turns_of the coarser level's `iterations` is 0,
/// runs them too, starting from the messages of the level after it, `third`. On the CPU, the costs of a level
/// without data come from the energy.
template <class Backend, class Data, class Value>
void read_coarse_beliefs(Backend& backend, const Energy<Data>& energy, const PairUnits& units,
                         const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarser,
                         const PropagationLevel<Value>& third, const Iterations& iterations,
                         const Beliefs& beliefs);

/// Bytes of scratch memory that these steps need for each CPU thread. `iterations`: of the level after the
/// finest one, which has `width` columns.
template <class Backend, class Value>
std::size_t message_scratch(const Backend& backend, LabelGrid grid, int width, const Iterations& iterations);

// Shared by both backends.

/// How a message follows a rise: message(label) = min(even(label - shift) + part, even(label - shift - 1) +
/// rest), where `even` is the message without a rise. This is its lower envelope at label - rise, a position
/// between two labels.
template <class Value>
struct Rise {
  int shift = 0;  // whole labels
  Value part = 0, rest = 0;

  /// `slope`, `limit`: of the edge. Without a rise, the message is exactly the even one, also where rounding
  /// has made some of its values slightly negative.
  PF_HD static Rise of(float rise, Value slope, Value limit) {
    const int whole = int(rise), shift = float(whole) > rise ? whole - 1 : whole;
    const Value part = PairUnits::value_of<Value>((rise - float(shift)) * float(slope));
    const Value none = std::is_same_v<Value, float> ? Value(1 << 30) : limit;
    return {shift, part, bool((shift != 0) | (part != 0)) ? Value(slope - part) : none};
  }
};
/// Cost of a label outside the grid, `distance` labels from its end: that of the label at the end, and this.
template <class Value>
PF_HD Value cost_outside(Value slope, Value limit, int distance) {
  return Value(smaller(Sum<Value>(slope) * Sum<Value>(distance), Sum<Value>(limit)));
}

/// Value of a finished message without a rise, whose label may be outside the grid.
template <class Value>
PF_HD Value message_at(const Value* even, int labels, Value slope, Value limit, int label) {
  const int nearest = clamp(label, 0, labels - 1),
            distance = label < nearest ? nearest - label : label - nearest;
  return distance == 0 ? even[nearest] : Value(even[nearest] + cost_outside(slope, limit, distance));
}
/// Value of the message that follows a rise: `at` and `before` are the even message's values, see Rise.
template <class Value>
PF_HD Value rising_message(const Rise<Value>& rise, Value limit, Value at, Value before) {
  return smaller(smaller(Value(at + rise.part), Value(before + rise.rest)), limit);
}

/// Value of a message plus the quadratic cost of two labels. `square`: their squared distance.
PF_HD float raised(float value, float slope, float, float square) { return fma(slope, square, value); }
PF_HD std::uint16_t raised(std::uint16_t value, float slope, std::uint16_t limit, float square) {
  return std::uint16_t(value + std::uint16_t(smaller(slope * square + 0.5f, float(limit))));
}

/// Instantiates the steps for a backend and its values.
#define PF_MESSAGE_STEPS(Backend, Value)    \
  PF_STEP(message_scratch<Backend, Value>); \
  PF_STEP(send_messages<Backend, Value>);   \
  PF_STEP_OF_COSTS(read_coarse_beliefs, Backend, Value)

}  // namespace parafield
