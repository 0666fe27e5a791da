
#include "core/cuda/backend.hpp"
#include "markov/propagation/long_lines.cuh"
#include "markov/propagation/pixel.cuh"

namespace parafield {
namespace {

constexpr int threads = 128;

/// How labels are packed; `quadratic` costs and many labels are for blocks of threads.
template <class Value>
Packing packing_of(LabelGrid grid, const PairUnits& units) {
  constexpr int vector = 8 / int(sizeof(Value));
  const int labels = grid.count();
  const auto rounded = [](int count, int to) { return (count + to - 1) / to * to; };
  Packing packing{0, 1, rounded(labels, vector), false};
  if (units.quadratic) return packing;
  if (grid.ny > 1) {
    if (larger(grid.nx, grid.ny) > 32) return packing;
    packing.per_lane = rounded(grid.nx, grid.nx <= 16 ? 4 : 8);
    packing.values = grid.ny * packing.per_lane;
    packing.rows = true;
    while (packing.lanes < grid.ny) packing.lanes *= 2;
    return packing;
  }
  const int most = 16 * 4 / int(sizeof(Value));
  if (labels > 32 * most) return packing;
  packing.per_lane = labels <= 8 * 4 ? most / 4 : most / 2;
  while (packing.lanes * packing.per_lane < labels) {
    if (packing.lanes < 32)
      packing.lanes *= 2;
    else
      packing.per_lane *= 2;
  }
  packing.values = rounded(labels, packing.per_lane);
  return packing;
}

/// Calls f.template operator()<PerLane, Rows>().
template <class Value, class F>
void with_packing(const Packing& packing, F f) {
  constexpr int scale = 4 / int(sizeof(Value));
  if (packing.rows) {
    switch (packing.per_lane) {
      case 4:
        return f.template operator()<4, true>();
      case 8:
        return f.template operator()<8, true>();
      case 12:
        return f.template operator()<12, true>();
      case 16:
        return f.template operator()<16, true>();
      case 24:
        return f.template operator()<24, true>();
      default:
        return f.template operator()<32, true>();
    }
  }
  switch (packing.per_lane / scale) {
    case 4:
      return f.template operator()<4 * scale, false>();
    case 8:
      return f.template operator()<8 * scale, false>();
    default:
      return f.template operator()<16 * scale, false>();
  }
}

/// The thread's pixel of a launch over all of a colour.
__device__ OwnPixel own_pixel(int width, int height, int lanes, int color) {
  const int pixel = int(blockIdx.x) * (threads / lanes) + int(threadIdx.x) / lanes;
  return {width, height, color, pixel, int(threadIdx.x) % lanes};
}

template <class Value, int PerLane, bool Rows>
__global__ void __launch_bounds__(threads)
    send_kernel(LabelGrid grid, PairUnits units, Packing packing, int warp_words,
                PropagationLevel<Value> level, PropagationLevel<Value> coarser, Iteration iteration,
                Beliefs beliefs) {
  launch_next();
  extern __shared__ char memory[];
  using Word = typename LaneValues<Value, PerLane>::Word;
  Word* const shared = reinterpret_cast<Word*>(memory) + int(threadIdx.x) / 32 * warp_words;
  const OwnPixel own = own_pixel(level.width, level.height, packing.lanes, iteration.color);
  const auto [x, y, lane, inside] = own;
  const int at = lane * PerLane;
  const bool has_values = at < packing.values;

  LaneValues<Value, PerLane> data;
  LaneMessages<Value, PerLane> in;
  Value* edges[4];
  find_received(level, coarser, iteration, x, y, packing.values, edges);
  await_last();
  if (has_values) {
    data.load(level.data + (std::ptrdiff_t(y) * level.width + x) * packing.values + at);
    if (iteration.from != Iteration::From::nothing) {
      PF_UNROLL
      for (int k = 0; k < 4; ++k) in[k].load(edges[k] + at);
    }
  }
  if (!has_values) {
    PF_UNROLL
    for (auto& word : data.word) word = sizeof(Value) == 4 ? 1e30f : data_units * 0x10001u;
  }
  if (!has_values || iteration.from == Iteration::From::nothing) {
    PF_UNROLL
    for (int k = 0; k < 4; ++k) in[k].clear();
  }
  if (beliefs.labels) read_pixel(data, in, own, grid, packing, units, beliefs);

  const bool has_neighbor[4] = {x > 0, y > 0, x + 1 < level.width, y + 1 < level.height};
  find_edges(level, 0, x, y, packing.values, edges);
  if (iteration.keeps && inside && has_values) {
    PF_UNROLL
    for (int k = 0; k < 4; ++k)
      if (has_neighbor[k]) in[k].store(edges[k] + at);
  }
  const PixelEdges<Value> costs = edges_of(level, units, x, y);
  PF_UNROLL
  for (int i = 0; i < data.words; ++i) {
    const auto left = in[0].word[i], up = in[1].word[i], right = in[2].word[i], down = in[3].word[i];
    const auto with_row = data.word[i] + (left + right), with_column = data.word[i] + (up + down);
    in[0].word[i] = with_column + right;
    in[2].word[i] = with_column + left;
    in[1].word[i] = with_row + down;
    in[3].word[i] = with_row + up;
  }
  typename LaneValues<Value, PerLane>::Word least[4];
  find_least(in, packing.lanes, least);
  if constexpr (Rows) {
    lower_grid(in, lane, packing.lanes, grid.ny, costs, shared);
  } else {
    lower_labels(in, lane, packing.lanes, costs);
  }
  finish(in, least, costs);
  if (!inside || !has_values) return;
  if (iteration.last) find_edges(level, 1, x, y, packing.values, edges);
  PF_UNROLL
  for (int k = 0; k < 4; ++k)
    if (has_neighbor[k]) in[k].store(edges[k] + at);
}

template <class Value, int PerLane>
__global__ void __launch_bounds__(threads)
    read_kernel(LabelGrid grid, PairUnits units, Packing packing, PropagationLevel<Value> level, int color,
                Beliefs beliefs) {
  begin_kernel();
  const OwnPixel own = own_pixel(level.width, level.height, packing.lanes, color);
  const auto [x, y, lane, inside] = own;
  const int at = lane * PerLane;
  LaneValues<Value, PerLane> data;
  LaneMessages<Value, PerLane> in;
  Value* edges[4];
  find_edges(level, 0, x, y, packing.values, edges);
  data.clear();
  PF_UNROLL
  for (int k = 0; k < 4; ++k) in[k].clear();
  if (at < packing.values) {
    data.load(level.data + (std::ptrdiff_t(y) * level.width + x) * packing.values + at);
    PF_UNROLL
    for (int k = 0; k < 4; ++k) in[k].load(edges[k] + at);
  }
  read_pixel(data, in, own, grid, packing, units, beliefs);
}

/// The data costs of a lane's labels.
template <class Value, class Data, int PerLane, bool Rows>
__global__ void __launch_bounds__(threads)
    pack_kernel(Energy<Data> energy, PairUnits units, Packing packing, PropagationLevel<Value> level) {
  begin_kernel();
  const int pixel = int(blockIdx.x) * (threads / packing.lanes) + int(threadIdx.x) / packing.lanes;
  const int lane = int(threadIdx.x) % packing.lanes, row = pixel / energy.width;
  const int y = smaller(row, energy.height - 1), x = pixel - row * energy.width;
  const LabelGrid grid = energy.grid;
  const int first = Rows ? 0 : lane * PerLane, ly = Rows ? smaller(lane, grid.ny - 1) : 0;
  const auto costs = energy.data.site(x, y).row(ly);
  float cost[PerLane], least = 3e38f;
  PF_UNROLL
  for (int i = 0; i < PerLane; ++i) {
    cost[i] = costs(smaller(first + i, grid.nx - 1));  // labels beyond the last repeat it, for `least`
    least = smaller(least, cost[i]);
  }
  if constexpr (sizeof(Value) == 2) least = least_over(least, packing.lanes);
  if (row >= energy.height || lane * PerLane >= packing.values) return;
  const auto value = [&](int i) {
    if (first + i >= grid.nx) return Value(sizeof(Value) == 4 ? 1e30f : float(data_units));
    return data_value(cost[i], least, units, Value());
  };
  LaneValues<Value, PerLane> values;
  PF_UNROLL
  for (int i = 0; i < values.words; ++i) {
    if constexpr (sizeof(Value) == 4)
      values.word[i] = value(i);
    else
      values.word[i] = pair_of(value(i), value(i + PerLane / 2));
  }
  values.store(level.data + (std::ptrdiff_t(y) * energy.width + x) * packing.values + lane * PerLane);
}

/// ... of all labels in a row: a warp a pixel.
template <class Value, class Data>
__global__ void __launch_bounds__(threads)
    pack_long_kernel(Energy<Data> energy, PairUnits units, int values, PropagationLevel<Value> level) {
  begin_kernel();
  const int pixel = int(blockIdx.x) * (threads / 32) + int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int y = pixel / energy.width, x = pixel - y * energy.width;
  if (y >= energy.height) return;
  const LabelGrid grid = energy.grid;
  const auto site = energy.data.site(x, y);
  const auto cost = [&](int label) { return site.row(label / grid.nx)(label % grid.nx); };
  float least = 3e38f;
  if constexpr (sizeof(Value) == 2) {
    for (int label = lane; label < grid.count(); label += 32) least = smaller(least, cost(label));
    least = least_over(least, 32);
  }
  Value* const out = level.data + (std::ptrdiff_t(y) * energy.width + x) * values;
  const Value none = Value(sizeof(Value) == 4 ? 1e30f : float(data_units));
  for (int label = lane; label < values; label += 32)
    out[label] = label < grid.count() ? data_value(cost(label), least, units, Value()) : none;
}

/// A warp, or a part of it, for each pixel of the coarser level.
template <class Value>
__global__ void __launch_bounds__(threads)
    sum_kernel(PairUnits units, int values, int lanes, PropagationLevel<Value> fine,
               PropagationLevel<Value> coarse) {
  begin_kernel();
  const int pixel = int(blockIdx.x) * (threads / lanes) + int(threadIdx.x) / lanes,
            lane = int(threadIdx.x) % lanes;
  const int y = smaller(pixel / coarse.width, coarse.height - 1), x = pixel % coarse.width;
  const bool inside = pixel < coarse.width * coarse.height;
  const bool right = 2 * x + 1 < fine.width, below = 2 * y + 1 < fine.height;
  const Value* const first = fine.data + (std::ptrdiff_t(2 * y) * fine.width + 2 * x) * values;
  const std::ptrdiff_t row = std::ptrdiff_t(fine.width) * values;
  constexpr int each = 8 / int(sizeof(Value));
  struct alignas(8) Vector {
    Value value[each];
  };
  const auto sum_at = [&](int v, Sum<Value>(&sum)[each]) {
    const Vector none{};
    const auto at = [&](const Value* from, bool there) {
      return there ? *reinterpret_cast<const Vector*>(from + v * each) : none;
    };
    const Vector a = at(first, true), b = at(first + values, right), c = at(first + row, below),
                 d = at(first + row + values, right && below);
    PF_UNROLL
    for (int i = 0; i < each; ++i)
      sum[i] = (Sum<Value>(a.value[i]) + Sum<Value>(b.value[i])) +
               (Sum<Value>(c.value[i]) + Sum<Value>(d.value[i]));
  };
  Sum<Value> least = 0, sum[each];
  if constexpr (sizeof(Value) == 2) {
    least = 1 << 30;
    for (int v = lane; v < values / each; v += lanes) {
      sum_at(v, sum);
      PF_UNROLL
      for (int i = 0; i < each; ++i) least = smaller(least, sum[i]);
    }
    for (int step = 1; step < lanes; step *= 2)
      least = smaller(least, __shfl_xor_sync(whole_warp, least, step));
  }
  if (!inside) return;
  Value* const out = coarse.data + (std::ptrdiff_t(y) * coarse.width + x) * values;
  for (int v = lane; v < values / each; v += lanes) {
    sum_at(v, sum);
    Vector vector;
    PF_UNROLL
    for (int i = 0; i < each; ++i) vector.value[i] = summed_value(sum[i], least, units, Value());
    reinterpret_cast<Vector*>(out)[v] = vector;
  }
}

__global__ void mean_weights_kernel(View<float> fine_right, View<float> fine_down, View<float> right,
                                    View<float> down) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= right.width || y >= right.height) return;
  right(x, y) = mean_weight(fine_right, 0, x, y);
  down(x, y) = mean_weight(fine_down, 1, x, y);
}

/// Threads of a block that has a pixel to itself.
int long_threads(LabelGrid grid) {
  int count = 32;
  while (count < 512 && count < grid.count()) count *= 2;
  return count;
}
template <class Value>
std::size_t long_bytes(LabelGrid grid) {
  return 16 * std::size_t(long_threads(grid)) + sizeof(Value) * std::size_t(grid.count());
}

/// Pixels of a colour, and room for one more in rows that have fewer.
int slots(int width, int height) { return (width + 1) / 2 * height; }

template <class Value>
void send(Cuda& cuda, LabelGrid grid, const PairUnits& units, const PropagationLevel<Value>& level,
          const PropagationLevel<Value>& coarser, Iteration iteration, const Beliefs& beliefs) {
  const Packing packing = packing_of<Value>(grid, units);
  const int pixels = slots(level.width, level.height);
  if (packing.per_lane == 0) {
    const std::size_t bytes = long_bytes<Value>(grid);
    if (bytes > 48 * 1024)
      cuda.allow_shared_memory(reinterpret_cast<const void*>(send_long_kernel<Value>), bytes);
    return cuda.launch(send_long_kernel<Value>, dim3(unsigned(pixels)), dim3(unsigned(long_threads(grid))),
                       bytes, grid, units, packing.values, level, coarser, iteration, beliefs);
  }
  with_packing<Value>(packing, [&]<int PerLane, bool Rows>() {
    const int warp_words = shared_words<Value, PerLane, Rows>(packing, grid.ny);
    const std::size_t bytes = 4 * std::size_t(threads / 32) * std::size_t(warp_words);
    const auto kernel = send_kernel<Value, PerLane, Rows>;
    if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
    cuda.launch(kernel, dim3(blocks_for(pixels, threads / packing.lanes)), dim3(threads), bytes, grid, units,
                packing, warp_words, level, coarser, iteration, beliefs);
  });
}

template <class Value>
void read(Cuda& cuda, LabelGrid grid, const PairUnits& units, const PropagationLevel<Value>& level, int color,
          const Beliefs& beliefs) {
  const Packing packing = packing_of<Value>(grid, units);
  const int pixels = slots(level.width, level.height);
  if (packing.per_lane == 0) {
    const int count = long_threads(grid);
    return cuda.launch(read_long_kernel<Value>, dim3(unsigned(pixels)), dim3(unsigned(count)),
                       8 * std::size_t(count), grid, units, packing.values, level, color, beliefs);
  }
  with_packing<Value>(packing, [&]<int PerLane, bool Rows>() {
    cuda.launch(read_kernel<Value, PerLane>, dim3(blocks_for(pixels, threads / packing.lanes)), dim3(threads),
                0, grid, units, packing, level, color, beliefs);
  });
}

template <class Value, class Data>
void pack(Cuda& cuda, const Energy<Data>& energy, const PairUnits& units,
          const PropagationLevel<Value>& level) {
  const Packing packing = packing_of<Value>(energy.grid, units);
  const int pixels = level.width * level.height;
  if (packing.per_lane == 0)
    return cuda.launch(pack_long_kernel<Value, Data>, dim3(blocks_for(pixels, threads / 32)), dim3(threads),
                       0, energy, units, packing.values, level);
  with_packing<Value>(packing, [&]<int PerLane, bool Rows>() {
    cuda.launch(pack_kernel<Value, Data, PerLane, Rows>, dim3(blocks_for(pixels, threads / packing.lanes)),
                dim3(threads), 0, energy, units, packing, level);
  });
}

template <class Value>
void sum_blocks(Cuda& cuda, LabelGrid grid, const PairUnits& units, const PropagationLevel<Value>& fine,
                const PropagationLevel<Value>& coarse) {
  const int values = packing_of<Value>(grid, units).values;
  int lanes = 1;
  while (lanes < 32 && lanes * 8 / int(sizeof(Value)) < values) lanes *= 2;
  cuda.launch(sum_kernel<Value>, dim3(blocks_for(coarse.width * coarse.height, threads / lanes)),
              dim3(threads), 0, units, values, lanes, fine, coarse);
}

}  // namespace

template <>
void mean_weights(Cuda& cuda, const View<float>* fine, const View<float>* coarse) {
  cuda.launch(mean_weights_kernel, dim3(blocks_for(coarse[0].width, 32), blocks_for(coarse[0].height, 8)),
              dim3(32, 8), 0, fine[0], fine[1], coarse[0], coarse[1]);
}

#define PF_PROPAGATION_DATA(Data, Value)                                         \
  template <>                                                                    \
  void pack_data(Cuda& cuda, const Energy<Data>& energy, const PairUnits& units, \
                 const PropagationLevel<Value>& level) {                         \
    pack(cuda, energy, units, level);                                            \
  }

#define PF_PROPAGATION(Value)                                                                            \
  template <>                                                                                            \
  LevelCounts level_counts<Cuda, Value>(const Cuda&, LabelGrid grid, const PairUnits& units, int width,  \
                                        int height) {                                                    \
    const std::size_t values = std::size_t(packing_of<Value>(grid, units).values),                       \
                      rows = std::size_t(height);                                                        \
    const std::size_t columns = std::size_t(width);                                                      \
    return {values * columns * rows, values * (columns + 1) * rows, values * columns * (rows + 1)};      \
  }                                                                                                      \
  template <>                                                                                            \
  void sum_data(Cuda& cuda, LabelGrid grid, const PairUnits& units, const PropagationLevel<Value>& fine, \
                const PropagationLevel<Value>& coarse) {                                                 \
    sum_blocks(cuda, grid, units, fine, coarse);                                                         \
  }                                                                                                      \
  template <>                                                                                            \
  void send_messages(Cuda& cuda, LabelGrid grid, const PairUnits& units,                                 \
                     const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarser,       \
                     Iteration iteration, const Beliefs& beliefs) {                                      \
    send(cuda, grid, units, level, coarser, iteration, beliefs);                                         \
  }                                                                                                      \
  template <>                                                                                            \
  void read_beliefs(Cuda& cuda, LabelGrid grid, const PairUnits& units,                                  \
                    const PropagationLevel<Value>& level, int color, const Beliefs& beliefs) {           \
    read(cuda, grid, units, level, color, beliefs);                                                      \
  }                                                                                                      \
  PF_PROPAGATION_DATA(StoredCosts, Value)                                                                \
  PF_PROPAGATION_DATA(Differences<1>, Value)                                                             \
  PF_PROPAGATION_DATA(Differences<3>, Value)

PF_PROPAGATION(float)
PF_PROPAGATION(std::uint16_t)

}  // namespace parafield
