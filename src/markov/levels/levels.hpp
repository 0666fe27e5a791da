// SPDX-License-Identifier: MIT
#pragma once
#include "markov/match/match.hpp"
#include "markov/planes/planes.hpp"

/// Levels of belief propagation: what they hold, and the steps that compute it. Their values are floats
/// (Precision::exact) or 16-bit integers that count units of cost (Precision::fast).
namespace parafield {

// A belief is the sum of four messages and a data cost, at most 8 * 7168 units, so that one more pair cost
// fits in 16 bits.
constexpr int most_units = 7168;  // highest pair cost
constexpr int data_units =
    4 * most_units;  // highest data cost; a label that costs this much more than another never wins
constexpr int low_units = 8190;  // data costs up to this are not reduced by the least cost of their pixel
constexpr int no_label =
    data_units + low_units;  // data cost of padding that is no label; its beliefs also fit in 16 bits

/// Grid of labels and pair cost, in units. For floats a unit is a cost of 1.
struct PairUnits {
  LabelGrid grid;
  bool quadratic = false;
  float slope = 0, limit = 0;
  int reach = 0;              // of quadratic costs: labels farther apart than this cost the limit
  float per_cost = 1;         // units in a cost of 1
  float most_data = 1e30f;    // highest data cost
  float most_finest = 1e30f;  // highest data cost of the finest level
  bool relative = false;      // data costs are relative to their pixel's least, as they may not fit otherwise
  int per_mix = 0;            // units in a mix_unit of the data cost; 0 if that is not a whole number

  /// An edge's slope or limit as a value. Values of 16 bits are rounded to whole units.
  template <class Value>
  PF_HD static Value value_of(float cost) {
    return Value(sizeof(Value) == sizeof(float) ? cost : smaller(cost + 0.5f, float(most_units)));
  }
};

/// Values that the units depend on in addition to the pair cost.
struct UnitDemands {
  float most_cost = 1e30f;  // highest data cost, or 1e30 if it is not known
  float cost_step = 0;      // data costs are whole multiples of this, if it is not 0
  float most_weight = 1;    // highest weight of an edge up to which pair costs must not be clipped
};
template <class Value>
PairUnits pair_units(const PairCost& pair, LabelGrid grid, const UnitDemands& demands);

constexpr int most_rise = 8;  // labels, highest rise of an edge

/// Level of belief propagation. An edge stores the message that was last sent over it: an iteration reads the
/// messages that one color of the checkerboard has received, and overwrites them in place with the messages
/// that it sends. A level that has a finer one has a second set of edges for its last iteration, so that the
/// messages to all pixels are kept. Each backend has its own layout. There are edges that leave the image;
/// their messages stay 0.
template <class Value>
struct PropagationLevel {
  int width = 0, height = 0;
  Value* data = nullptr;  // data costs
  struct Edges {
    Value *across = nullptr, *down = nullptr;
  } edges[2] = {};
  float most_data = 1e30f;  // no data cost is higher
  LevelWeights weights = {};
  /// By how many labels a surface rises from a pixel to its neighbor on the right (0) and below (1), at most
  /// `most_rise`: smoothness compares a label with the neighbor's less the rise. Empty = 0.
  View<float> rise[2] = {};

  /// Rise of the edge from pixel (x, y) to its neighbor k. Beyond the border, it is arbitrary.
  PF_HD float rise_at(int k, int x, int y) const {
    const View<float>& plane = rise[k & 1];
    const Offset to = is_forward(k) ? Offset{0, 0} : neighbor_offset(k);
    const float value = plane(larger(x + to.x, 0), larger(y + to.y, 0));
    return is_forward(k) ? value : -value;
  }
};

/// Number of values in a level's arrays.
struct LevelCounts {
  std::size_t data = 0, across = 0, down = 0;
};
template <class Backend, class Value>
LevelCounts level_counts(const Backend& backend, const PairUnits& units, Size size);

/// Stores an energy's data costs in the finest level. The CPU also stores their sums in the next level,
/// `coarse`, and the sums of these in the level after it, `third`, while rows are in the cache; there, levels
/// without data are left out.
template <class Backend, class Data, class Value>
void pack_data(Backend& backend, const Energy<Data>& energy, const PairUnits& units,
               const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarse,
               const PropagationLevel<Value>& third);

/// One or two levels that are computed from the next finer one.
template <class Value>
struct CoarserLevels {
  int number = 1;                         // of the first one; the finest level is number 0
  PropagationLevel<Value> level[2] = {};  // from fine to coarse; the second may have no pixels
  View<std::uint32_t> color[2] = {};      // planes of level[i].weights.color, to write
  CoarseEdges edges = CoarseEdges::crossed;
};

/// Computes the data costs and the weights of coarser levels. Data costs are sums over 2 x 2 pixels
/// (Grauer-Gray section 4, step 2); for weights, see mean_weights. Planes that are empty are left out, and so
/// are the costs that the CPU's pack_data has stored. Two levels at once are for CUDA, which has one launch
/// for all of it: the second level's weights are computed from the finer level, too.
template <class Backend, class Value>
void find_coarser(Backend& backend, const PairUnits& units, const PropagationLevel<Value>& fine,
                  const CoarserLevels<Value>& coarser);

constexpr int level_chunk_bytes = 256;
/// Columns of one parity of a row that the CPU keeps as bytes for a mix, with padding because loops may read
/// up to 63 columns too many.
inline int mix_columns(LabelGrid grid, int width) { return ((width + grid.nx) / 2 + 2 + 63 + 63) / 64 * 64; }
/// Bytes of a row of pixels of a mix and of their matches: 9 for each pixel and match, and two factors.
inline std::size_t mix_row_bytes(LabelGrid grid, int width) {
  return std::size_t(2 * (9 + 9 + 2)) * std::size_t(mix_columns(grid, width));
}
/// Bytes of scratch memory for each CPU thread that packs data costs: two rows of costs, or of a mix.
inline std::size_t pack_scratch(LabelGrid grid, int width) {
  return larger<std::size_t>(2 * sizeof(float) * std::size_t((width + 15) / 16 * 16),
                             2 * mix_row_bytes(grid, width));
}
/// Values from one label's half row to the next, on the CPU. The last chunk may end beyond the last column.
template <class Value>
constexpr int half_pitch(int width) {
  constexpr int chunk = level_chunk_bytes / int(sizeof(Value)), alignment = 64 / int(sizeof(Value));
  return ((width + 2) / 2 + chunk - 1) / chunk * chunk + alignment;
}
/// Bytes of scratch memory for each CPU thread: pack_scratch, two rows of values, and three chunks per label.
template <class Value>
std::size_t level_scratch(LabelGrid grid, int width) {
  const std::size_t rows = 2 * 2 * sizeof(Value) * std::size_t(half_pitch<Value>(width));
  return pack_scratch(grid, width) + std::size_t(grid.count()) * (rows + 3 * level_chunk_bytes);
}

// Shared by both backends.

/// Value of a data cost: the cost itself, or its units above `least`.
PF_HD float data_value(float cost, float, const PairUnits&, float) { return cost; }
PF_HD std::uint16_t data_value(float cost, float least, const PairUnits& units, std::uint16_t) {
  return std::uint16_t(clamp((cost - least) * units.per_cost + 0.5f, 0.0f, units.most_data));
}

/// Type that sums of values are computed in.
template <class Value>
using Sum = std::conditional_t<sizeof(Value) == sizeof(float), float, int>;

/// Value of the sum of four pixels' data costs: the sum itself, or its units above the least sum.
PF_HD float summed_value(float sum, float, const PairUnits&, float) { return sum; }
PF_HD std::uint16_t summed_value(int sum, int least, const PairUnits& units, std::uint16_t) {
  return std::uint16_t(smaller(sum - least, int(units.most_data)));
}

/// Instantiates a step of belief propagation for all types of data costs.
#define PF_STEP_OF_COSTS(step, Backend, Value)   \
  PF_STEP(step<Backend, StoredCosts, Value>);    \
  PF_STEP(step<Backend, Differences<1>, Value>); \
  PF_STEP(step<Backend, Differences<3>, Value>); \
  PF_STEP(step<Backend, MixedCosts, Value>)
/// Instantiates the steps for a backend and its values.
#define PF_LEVEL_STEPS(Backend, Value)   \
  PF_STEP(level_counts<Backend, Value>); \
  PF_STEP(find_coarser<Backend, Value>); \
  PF_STEP_OF_COSTS(pack_data, Backend, Value)

}  // namespace parafield
