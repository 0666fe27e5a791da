#pragma once
#include "markov/energy.hpp"

/// The pyramid of belief propagation: what its levels hold, and the steps that make their data costs and weights.
namespace parafield {

/// Pair costs as messages count them: of floats the costs themselves, else whole numbers of units.
struct PairUnits {
  bool quadratic = false;
  float slope = 0, limit = 0;
  int reach = 0;            // of quadratic costs: labels farther apart cost the limit
  float per_cost = 1;       // units in a cost of 1
  float most_data = 1e30f;  // data costs count up to this above the least of their pixel's

  /// Of an edge's slope or limit.
  template <class Value>
  PF_HD static Value value_of(float cost) {
    return Value(sizeof(Value) == sizeof(float) ? cost : smaller(cost + 0.5f, 65535.0f));
  }
};

constexpr int most_units = 7168;            // of a pair's cost in 16 bits: nine times as much fits
constexpr int data_units = 4 * most_units;  // data costs so far above the least never win

template <class Value>
PairUnits pair_units(const PairCost& pair, LabelGrid grid);

/// A level of the pyramid. Of an edge between neighbors only the message that was last sent is kept: an iteration reads
/// the messages to one set of the checkerboard and writes, over the same edges, those that it sends. A second set of edges
/// takes those of the last iteration, where a finer level needs all that each pixel has received. How the values lie is
/// the backend's own. Edges out of the image are there too and stay 0.
template <class Value>
struct PropagationLevel {
  int width = 0, height = 0;
  Value* data = nullptr;  // costs
  struct Edges {
    Value *across = nullptr, *down = nullptr;
  } edges[2] = {};
  View<float> weights[2] = {};  // of the edges right and down of a pixel; no data: all 1
};

/// Values that a level takes.
struct LevelCounts {
  std::size_t data = 0, across = 0, down = 0;
};
template <class Backend, class Value>
LevelCounts level_counts(const Backend& backend, LabelGrid grid, const PairUnits& units, int width,
                         int height);

/// The data costs of the finest level.
template <class Backend, class Data, class Value>
void pack_data(Backend& backend, const Energy<Data>& energy, const PairUnits& units,
               const PropagationLevel<Value>& level);

/// Those of a coarser one: sums over blocks of 2 x 2 (section 4, step 2).
template <class Backend, class Value>
void sum_data(Backend& backend, LabelGrid grid, const PairUnits& units, const PropagationLevel<Value>& fine,
              const PropagationLevel<Value>& coarse);

/// Weights of a coarser level's edges: means of the edges between two blocks.
template <class Backend>
void mean_weights(Backend& backend, const View<float>* fine, const View<float>* coarse);

/// Bytes of scratch memory that a thread of the CPU needs: a chunk of all labels, or a row.
constexpr int level_chunk_bytes = 256;
inline std::size_t level_scratch(LabelGrid grid, int width) {
  return larger(2 * level_chunk_bytes * std::size_t(grid.count()), sizeof(float) * std::size_t(width));
}

// What both backends compute.

PF_HD float data_value(float cost, float, const PairUnits&, float) { return cost; }
/// In units above the least cost of the pixel.
PF_HD std::uint16_t data_value(float cost, float least, const PairUnits& units, std::uint16_t) {
  return std::uint16_t(clamp((cost - least) * units.per_cost + 0.5f, 0.0f, units.most_data));
}

/// Of the data costs of four pixels: the same for floats, less the least of the pixel for units.
template <class Value>
using Sum = std::conditional_t<sizeof(Value) == sizeof(float), float, int>;
PF_HD float summed_value(float sum, float, const PairUnits&, float) { return sum; }
PF_HD std::uint16_t summed_value(int sum, int least, const PairUnits& units, std::uint16_t) {
  return std::uint16_t(smaller(sum - least, int(units.most_data)));
}

/// Of plane j (0: edges to the right, 1: down) at a block: the mean over the fine edges between it and the next one.
PF_HD float mean_weight(const View<float>& fine, int j, int x, int y) {
  const int x0 = smaller(2 * x + (j == 0), fine.width - 1), y0 = smaller(2 * y + (j == 1), fine.height - 1);
  const int x1 = smaller(x0 + (j == 1), fine.width - 1), y1 = smaller(y0 + (j == 0), fine.height - 1);
  return 0.5f * (fine(x0, y0) + fine(x1, y1));
}

}  // namespace parafield
