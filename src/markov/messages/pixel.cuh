// SPDX-License-Identifier: MIT
#pragma once
#include "markov/messages/lanes.cuh"

/// Pixels whose labels are spread over the lanes of a warp, and their beliefs.
namespace parafield {
namespace {

/// Finds a pixel by its index among the pixels of a color. Returns false if its row has no such pixel.
__device__ bool find_pixel(int width, int color, int pixel, int& x, int& y) {
  const int columns = (width + 1) / 2;
  y = pixel / columns;
  x = 2 * (pixel - y * columns) + ((y + color) & 1);
  return x < width;
}

/// Pixel that a thread works on.
struct OwnPixel {
  int x, y;
  int lane;     // index of this thread among the pixel's lanes
  bool inside;  // whether there is such a pixel

  __device__ OwnPixel(int x, int y, int lane) : x(x), y(y), lane(lane), inside(true) {}
  /// `pixel`: index among the pixels of a color.
  __device__ OwnPixel(int width, int height, int color, int pixel, int lane) : lane(lane) {
    inside = find_pixel(width, color, pixel, x, y) && y < height;
    if (!inside) x = y = 0;
  }
};

/// Beliefs: data costs plus messages.
template <class Value, int PerLane>
__device__ LaneValues<Value, PerLane> sum_of(const LaneValues<Value, PerLane>& data,
                                             const LaneMessages<Value, PerLane>& in) {
  LaneValues<Value, PerLane> sums;
  PF_UNROLL
  for (int i = 0; i < data.words; ++i)
    sums.word[i] = (data.word[i] + (in[0].word[i] + in[2].word[i])) + (in[1].word[i] + in[3].word[i]);
  return sums;
}

/// Stores the label of least belief, and the beliefs or data costs around it. `sums`: beliefs. All lanes of a
/// warp must call this.
template <class Value, int PerLane>
__device__ void read_pixel(const LaneValues<Value, PerLane>& sums, const LaneValues<Value, PerLane>& data,
                           const OwnPixel& own, const Packing& packing, const PairUnits& units,
                           const Beliefs& beliefs) {
  constexpr int words = LaneValues<Value, PerLane>::words;
  const LabelGrid grid = units.grid;
  const int x = own.x, y = own.y, lane = own.lane;
  float belief[PerLane];
  const auto unpack = [&](const LaneValues<Value, PerLane>& values) {
    PF_UNROLL
    for (int i = 0; i < words; ++i) {
      const auto value = values.word[i];
      if constexpr (sizeof(Value) == 4)
        belief[i] = value;
      else
        belief[i] = float(low(value)), belief[i + words] = float(high(value));
    }
  };
  unpack(sums);
  // The lane's labels are (first + i, row) of the grid.
  const int row = packing.rows ? lane : 0, first = packing.rows ? 0 : lane * PerLane;
  const int count = row < grid.ny ? grid.nx - first : 0;
  float least = 3.2e38f;
  int best = 1 << 30;
  PF_UNROLL
  for (int i = 0; i < PerLane; ++i)
    if (i < count && belief[i] < least) least = belief[i], best = i;
  best += row * grid.nx + first;
  for (int step = 1; step < packing.lanes; step *= 2) {
    const float other = __shfl_xor_sync(whole_warp, least, step);
    const int label = __shfl_xor_sync(whole_warp, best, step);
    if (other < least || (other == least && label < best)) least = other, best = label;
  }
  const int ly = packing.rows ? best / grid.nx : 0, lx = best - ly * grid.nx;
  float rest = most_margin;  // least belief of the labels that are not adjacent to the best one
  if (beliefs.costs.margin) {
    const bool beside_row = row >= ly - 1 && row <= ly + 1;
    PF_UNROLL
    for (int i = 0; i < PerLane; ++i) {
      const bool beside = beside_row && first + i >= lx - 1 && first + i <= lx + 1;
      if (i < count && !beside) rest = smaller_number(rest, belief[i]);
    }
    for (int step = 1; step < packing.lanes; step *= 2)
      rest = smaller_number(rest, __shfl_xor_sync(whole_warp, rest, step));
  }
  if (!own.inside || x < beliefs.x0 || x >= beliefs.x1 || y < beliefs.y0 || y >= beliefs.y1) return;

  if (beliefs.data_costs) unpack(data);
  const bool inside_x = lx > 0 && lx + 1 < grid.nx, inside_y = ly > 0 && ly + 1 < grid.ny;
  const int i_best = lx - first;
  float before = 0, middle = 0, after = 0;
  PF_UNROLL
  for (int i = 0; i < PerLane; ++i) {
    before = i == i_best - 1 ? belief[i] : before;
    middle = i == i_best ? belief[i] : middle;
    after = i == i_best + 1 ? belief[i] : after;
  }
  const auto has = [&](int i) { return i >= 0 && i < PerLane; };
  const float cost = 1 / units.per_cost;
  const CostsAround& costs = beliefs.costs;
  if (row == ly && has(i_best)) {
    beliefs.labels(x, y) = grid.label(lx, ly);
    costs.middle(x, y) = middle * cost;
    if (costs.margin) costs.margin(x, y) = rest < most_margin ? (rest - least) * cost : most_margin;
    if (!inside_x) costs.before_x(x, y) = costs.after_x(x, y) = middle * cost;
    if (grid.ny > 1 && !inside_y) costs.before_y(x, y) = costs.after_y(x, y) = middle * cost;
  }
  if (row == ly && inside_x && has(i_best - 1)) costs.before_x(x, y) = before * cost;
  if (row == ly && inside_x && has(i_best + 1)) costs.after_x(x, y) = after * cost;
  if (inside_y && row == ly - 1) costs.before_y(x, y) = middle * cost;
  if (inside_y && row == ly + 1) costs.after_y(x, y) = middle * cost;
}

/// read_pixel for 16 bits and a grid with one row of labels. `staged`: shared memory for the values of the
/// pixel's lanes. All lanes of a warp must call this.
template <int PerLane>
__device__ void read_line(const LaneValues<std::uint16_t, PerLane>& sums,
                          const LaneValues<std::uint16_t, PerLane>& data, const OwnPixel& own,
                          const Packing& packing, const PairUnits& units, const Beliefs& beliefs,
                          std::uint16_t* staged) {
  constexpr int words = PerLane / 2;
  constexpr std::uint32_t far = 0xffff;
  const int lane = own.lane, lanes = packing.lanes, labels = units.grid.nx, x = own.x, y = own.y;
  // A belief and its label in one number: the least number has the lowest label of least belief.
  std::uint32_t least = ~0u;
  PF_UNROLL
  for (int i = 0; i < words; ++i) {
    const std::uint32_t label = std::uint32_t(lane * PerLane + i);
    least = smaller(least, sums.word[i] << 16 | label);
    least = smaller(least, (sums.word[i] & 0xffff0000u) | (label + words));
  }
  for (int step = 1; step < lanes; step *= 2)
    least = smaller(least, __shfl_xor_sync(whole_warp, least, step));
  const int best = int(low(least));
  const auto place_of_label = [](int label) {
    const int at = label % PerLane;
    return label - at + 2 * (at % words) + at / words;
  };
  __syncwarp();
  if (beliefs.data_costs)
    data.store(staged + lane * PerLane);
  else
    sums.store(staged + lane * PerLane);
  __syncwarp();
  const bool stored = own.inside && x >= beliefs.x0 && x < beliefs.x1 && y >= beliefs.y0 && y < beliefs.y1;
  const float cost = 1 / units.per_cost;
  const CostsAround& costs = beliefs.costs;
  const bool inside = best > 0 && best + 1 < labels;
  for (int k = lane; k < 3; k += lanes) {
    const int label = best - 1 + k;
    const float value = float(staged[place_of_label(inside ? label : best)]) * cost;
    if (stored) (k == 0 ? costs.before_x : k == 1 ? costs.middle : costs.after_x)(x, y) = value;
    if (stored && k == 1) beliefs.labels(x, y) = units.grid.label(best, 0);
  }
  if (!costs.margin) return;
  __syncwarp();
  if (beliefs.data_costs) {
    sums.store(staged + lane * PerLane);
    __syncwarp();
  }
  for (int k = lane; k < 3; k += lanes)
    if (const int label = best - 1 + k; label >= 0 && label < lanes * PerLane)
      staged[place_of_label(label)] = std::uint16_t(far);
  if (labels < lanes * PerLane)  // padding that is no label
    for (int label = labels + lane; label < lanes * PerLane; label += lanes)
      staged[place_of_label(label)] = std::uint16_t(far);
  __syncwarp();
  LaneValues<std::uint16_t, PerLane> others;
  others.load(staged + lane * PerLane);
  std::uint32_t rest = others.word[0];
  PF_UNROLL
  for (int i = 1; i < words; ++i) rest = least_of(rest, others.word[i]);
  rest = smaller(low(rest), high(rest));
  for (int step = 1; step < lanes; step *= 2) rest = smaller(rest, __shfl_xor_sync(whole_warp, rest, step));
  if (stored && lane == 0)
    costs.margin(x, y) = rest < far ? float(int(rest) - int(high(least))) * cost : most_margin;
}

/// Calls read_line or read_pixel, depending on the values. `staged`: shared memory for the values of all
/// lanes of the CUDA block.
template <class Value, int PerLane>
__device__ void read_any(const LaneValues<Value, PerLane>& sums, const LaneValues<Value, PerLane>& data,
                         const OwnPixel& own, const Packing& packing, const PairUnits& units,
                         const Beliefs& beliefs, Value* staged) {
  if constexpr (sizeof(Value) == 2) {
    const int first_thread = int(threadIdx.x) - own.lane;
    if (!packing.rows)
      return read_line(sums, data, own, packing, units, beliefs, staged + first_thread * PerLane);
  }
  read_pixel(sums, data, own, packing, units, beliefs);
}

/// Words of shared memory per warp for lower_grid: for each pixel, four messages of `rows` rows, and four
/// slopes.
template <class Value, int PerLane, bool Rows>
int shared_words(const Packing& packing, int rows) {
  constexpr int words = LaneValues<Value, PerLane>::words, pitch = words + 1 - words % 2;
  return Rows ? 4 * (32 / packing.lanes) * (rows * pitch + 1) : 0;
}

}  // namespace
}  // namespace parafield
