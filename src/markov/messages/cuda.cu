// SPDX-License-Identifier: MIT
#include "markov/launch.cuh"
#include "markov/messages/long_lines.cuh"

// The labels of a pixel are spread over the lanes of a warp. Its data costs and its four messages are read
// once and written once, in whole vectors, and stay in registers in between.
//
// Lower bound: for each label of half the pixels, an iteration reads five values and writes four. At 3.35e12
// B/s an H100 takes 0.542 ms (4 bytes per value) or 0.271 ms (2 bytes) for all levels of 450x375 pixels, 64
// labels, 35 iterations. Measured for the whole method (bench/results, commit 8dcea97): 0.724 and 0.408 ms.
// For 900x750 pixels and 256 labels it reaches 81 and 79 % of that bandwidth, as much as a copy does.
// Iterations of few pixels are bound by launches, which take 2.0 us. Without launches, in a cluster of 16
// CUDA blocks, they took 2.7 to 3.8 us.
namespace parafield {
namespace {

/// Pixel of this thread in a launch over all pixels of a color.
__device__ OwnPixel own_pixel(int width, int height, int lanes, int color) {
  const int pixel = int(blockIdx.x) * (threads / lanes) + int(threadIdx.x) / lanes;
  return {width, height, color, pixel, int(threadIdx.x) % lanes};
}

/// `Rises`: whether the level has rises.
template <class Value, int PerLane, bool Rows, bool Rises>
__global__ void __launch_bounds__(threads)
    send_kernel(PairUnits units, Packing packing, int warp_words, PropagationLevel<Value> level,
                PropagationLevel<Value> coarser, Iteration iteration, Beliefs beliefs) {
  launch_next();
  extern __shared__ char memory[];
  WordOf<Value>* const shared = reinterpret_cast<WordOf<Value>*>(memory) + int(threadIdx.x) / 32 * warp_words;
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
  if (!has_values) data.fill_without_labels();
  if (!has_values || iteration.from == Iteration::From::nothing) {
    PF_UNROLL
    for (int k = 0; k < 4; ++k) in[k].clear();
  }
  __shared__ alignas(16) Value staged[Rises || (sizeof(Value) == 2 && !Rows) ? threads * PerLane : 8];
  if (beliefs.labels) read_any(sum_of(data, in), data, own, packing, units, beliefs, staged);

  const bool has_neighbor[4] = {x > 0, y > 0, x + 1 < level.width, y + 1 < level.height};
  find_edges(level, 0, x, y, packing.values, edges);
  if (iteration.keeps && inside && has_values) {
    PF_UNROLL
    for (int k = 0; k < 4; ++k)
      if (has_neighbor[k]) in[k].store(edges[k] + at);
  }
  const PixelEdges<Value> costs = edges_of(level, units, x, y);
  float rises[4];  // loaded early, to be there when they are needed
  PF_UNROLL
  for (int k = 0; k < 4; ++k) rises[k] = Rises ? level.rise_at(k, x, y) : 0.0f;
  PF_UNROLL
  for (int i = 0; i < data.words; ++i) {
    const auto left = in[0].word[i], up = in[1].word[i], right = in[2].word[i], down = in[3].word[i];
    const auto with_row = data.word[i] + (left + right), with_column = data.word[i] + (up + down);
    in[0].word[i] = with_column + right;
    in[2].word[i] = with_column + left;
    in[1].word[i] = with_row + down;
    in[3].word[i] = with_row + up;
  }
  WordOf<Value> least[4];
  find_least(in, packing.lanes, least);
  if constexpr (Rows) {
    lower_grid(in, lane, packing.lanes, units.grid.ny, costs, shared);
  } else {
    lower_labels(in, lane, packing.lanes, costs);
  }
  finish(in, least, costs);
  if constexpr (Rises)
    follow_rises(in, rises, lane, packing, units.grid.nx, costs,
                 staged + (int(threadIdx.x) - lane) * PerLane);
  if (!inside || !has_values) return;
  if (iteration.last) find_edges(level, 1, x, y, packing.values, edges);
  PF_UNROLL
  for (int k = 0; k < 4; ++k)
    if (has_neighbor[k]) in[k].store(edges[k] + at);
}

template <class Value, int PerLane>
__global__ void __launch_bounds__(threads)
    read_kernel(PairUnits units, Packing packing, PropagationLevel<Value> level, int set, int color,
                Beliefs beliefs) {
  begin_kernel();
  const OwnPixel own = own_pixel(level.width, level.height, packing.lanes, color);
  const auto [x, y, lane, inside] = own;
  const int at = lane * PerLane;
  LaneValues<Value, PerLane> data;
  LaneMessages<Value, PerLane> in;
  Value* edges[4];
  find_edges(level, set, x, y, packing.values, edges);
  data.fill_without_labels();
  PF_UNROLL
  for (int k = 0; k < 4; ++k) in[k].clear();
  if (at < packing.values) {
    data.load(level.data + (std::ptrdiff_t(y) * level.width + x) * packing.values + at);
    PF_UNROLL
    for (int k = 0; k < 4; ++k) in[k].load(edges[k] + at);
  }
  __shared__ alignas(16) Value staged[sizeof(Value) == 2 ? threads * PerLane : 8];
  read_any(sum_of(data, in), data, own, packing, units, beliefs, staged);
}

/// Reads the beliefs of all pixels from the coarser level. A group of lanes reads the four pixels of a block
/// in turn.
template <class Value, int PerLane>
__global__ void __launch_bounds__(threads)
    read_coarse_kernel(PairUnits units, Packing packing, PropagationLevel<Value> level,
                       PropagationLevel<Value> coarser, int coarser_color, Beliefs beliefs) {
  begin_kernel();
  const int block = int(blockIdx.x) * (threads / packing.lanes) + int(threadIdx.x) / packing.lanes;
  const int columns = (level.width + 1) / 2, block_y = block / columns, block_x = block - block_y * columns;
  const int lane = int(threadIdx.x) % packing.lanes, at = lane * PerLane;
  const bool has_values = at < packing.values, inside = 2 * block_y < level.height;
  LaneMessages<Value, PerLane> in;
  PF_UNROLL
  for (int k = 0; k < 4; ++k) in[k].clear();
  if (coarser.data && has_values && inside) {
    Value* edges[4];
    find_edges(coarser, ((block_x + block_y) & 1) == coarser_color ? 0 : 1, block_x, block_y, packing.values,
               edges);
    PF_UNROLL
    for (int k = 0; k < 4; ++k) in[k].load(edges[k] + at);
  }
  PF_UNROLL
  for (int i = 0; i < in[0].words; ++i)
    in[0].word[i] = (in[0].word[i] + in[2].word[i]) + (in[1].word[i] + in[3].word[i]);
  __shared__ alignas(16) Value staged[sizeof(Value) == 2 ? threads * PerLane : 8];
  for (int pixel = 0; pixel < 4; ++pixel) {
    OwnPixel own{2 * block_x + (pixel & 1), 2 * block_y + (pixel >> 1), lane};
    own.inside = inside && own.x < level.width && own.y < level.height;
    if (!own.inside) own.x = own.y = 0;
    LaneValues<Value, PerLane> data;
    data.fill_without_labels();
    if (has_values)
      data.load(level.data + (std::ptrdiff_t(own.y) * level.width + own.x) * packing.values + at);
    LaneValues<Value, PerLane> sums;
    PF_UNROLL
    for (int i = 0; i < data.words; ++i) sums.word[i] = data.word[i] + in[0].word[i];
    read_any(sums, data, own, packing, units, beliefs, staged);
  }
}

/// Threads of the CUDA block that computes a pixel.
int long_threads(LabelGrid grid) {
  int count = 32;
  while (count < 512 && count < grid.count()) count *= 2;
  return count;
}
/// Bytes of its shared memory.
template <class Value>
std::size_t long_bytes(LabelGrid grid) {
  return 16 * std::size_t(long_threads(grid)) + sizeof(Value) * std::size_t(grid.count());
}

/// Pixels of a color, counted as if every row had as many as the longest.
int pixels_of_color(int width, int height) { return (width + 1) / 2 * height; }

/// Runs an iteration. `beliefs` receives the beliefs of the pixels that send, read before they do.
template <class Value>
void send(Cuda& cuda, const PairUnits& units, const PropagationLevel<Value>& level,
          const PropagationLevel<Value>& coarser, Iteration iteration, const Beliefs& beliefs) {
  const Packing packing = packing_of<Value>(units);
  const int pixels = pixels_of_color(level.width, level.height);
  if (packing.per_lane == 0)
    return launch_shared(cuda, send_long_kernel<Value>, dim3(unsigned(pixels)),
                         dim3(unsigned(long_threads(units.grid))), long_bytes<Value>(units.grid), units,
                         packing.values, level, coarser, iteration, beliefs);
  with_packing<Value>(packing, [&]<int PerLane, bool Rows>() {
    const int warp_words = shared_words<Value, PerLane, Rows>(packing, units.grid.ny);
    const std::size_t bytes = 4 * std::size_t(threads / 32) * std::size_t(warp_words);
    const auto launch = [&]<bool Rises>() {
      launch_shared(cuda, send_kernel<Value, PerLane, Rows, Rises>,
                    dim3(blocks_for(pixels, threads / packing.lanes)), dim3(threads), bytes, units, packing,
                    warp_words, level, coarser, iteration, beliefs);
    };
    if constexpr (!Rows)
      if (level.rise[0]) return launch.template operator()<true>();
    launch.template operator()<false>();
  });
}

/// Reads the beliefs of the pixels of a color. `set`: the set of edges with the messages that they have
/// received.
template <class Value>
void read(Cuda& cuda, const PairUnits& units, const PropagationLevel<Value>& level, int set, int color,
          const Beliefs& beliefs) {
  const Packing packing = packing_of<Value>(units);
  const int pixels = pixels_of_color(level.width, level.height);
  if (packing.per_lane == 0) {
    const int count = long_threads(units.grid);
    return cuda.launch(read_long_kernel<Value>, dim3(unsigned(pixels)), dim3(unsigned(count)),
                       8 * std::size_t(count), units, packing.values, level, set, color, beliefs);
  }
  with_packing<Value>(packing, [&]<int PerLane, bool Rows>() {
    cuda.launch(read_kernel<Value, PerLane>, dim3(blocks_for(pixels, threads / packing.lanes)), dim3(threads),
                0, units, packing, level, set, color, beliefs);
  });
}

}  // namespace

template <class Backend, class Value>
std::size_t message_scratch(const Backend&, LabelGrid, int, const Iterations&) {
  return 0;
}

template <class Backend>
int turns_of(const Backend&, int, const Iterations& iterations) {
  return iterations.count;
}

template <class Backend, class Value>
void send_messages(Backend& cuda, const PairUnits& units, const PropagationLevel<Value>& level,
                   const PropagationLevel<Value>& coarser, const Iterations& iterations, int turn,
                   const Beliefs& beliefs) {
  const bool reads = beliefs.labels && (iterations.each || turn == iterations.count - 1);
  send(cuda, units, level, coarser, iterations[turn], reads ? beliefs : Beliefs{});
  if (reads) read(cuda, units, level, iterations.last_set(), 1 - (turn & 1), beliefs);
}

template <class Backend, class Data, class Value>
void read_coarse_beliefs(Backend& cuda, const Energy<Data>&, const PairUnits& units,
                         const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarser,
                         const PropagationLevel<Value>&, const Iterations& iterations,
                         const Beliefs& beliefs) {
  const Packing packing = packing_of<Value>(units);
  const int coarser_color = iterations.last_color();
  if (packing.per_lane == 0) {
    const int count = long_threads(units.grid);
    return cuda.launch(read_long_coarse_kernel<Value>, dim3(unsigned(level.width) * unsigned(level.height)),
                       dim3(unsigned(count)), 8 * std::size_t(count), units, packing.values, level, coarser,
                       coarser_color, beliefs);
  }
  const int blocks = (level.width + 1) / 2 * ((level.height + 1) / 2);
  with_packing<Value>(packing, [&]<int PerLane, bool Rows>() {
    cuda.launch(read_coarse_kernel<Value, PerLane>, dim3(blocks_for(blocks, threads / packing.lanes)),
                dim3(threads), 0, units, packing, level, coarser, coarser_color, beliefs);
  });
}

PF_MESSAGE_STEPS(Cuda, float);
PF_MESSAGE_STEPS(Cuda, std::uint16_t);
PF_STEP(turns_of<Cuda>);

}  // namespace parafield
