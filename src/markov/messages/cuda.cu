#include "core/cuda/backend.hpp"
#include "markov/messages/long_lines.cuh"
#include "markov/messages/pixel.cuh"

// The lanes of a warp share the labels of a pixel: its data costs and its four messages are read once and
// written once, in whole vectors, and stay in registers in between.
//
// Floor: for each label of half the pixels an iteration reads five values and writes four. At 3.35e12 B/s an
// H100 takes 0.542 ms (values of 4 bytes) or 0.271 ms (2 bytes) for all levels of 450x375 pixels, 64 labels,
// 5 x 7 iterations. Measured for the whole method (bench/results, commit 8dcea97): 0.724 and 0.408 ms; for
// 900x750 pixels and 256 labels 81 and 79 % of that bandwidth, about as much as a copy reaches on that card.
// Small images are bound by launches: an iteration of few pixels takes 2.0 us, 0.9 us of it for the launch;
// 28 of the 35 iterations of Tsukuba (0.118 ms) are of that kind. A cluster of 16 CUDA blocks that ran the
// coarse levels without launches was slower (2.7 to 3.8 us an iteration: too few multiprocessors for the
// arithmetic).
namespace parafield {
namespace {

/// Pixel of this thread in a launch over all pixels of a color.
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
  using Word = WordOf<Value>;
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
    for (auto& word : data.word)
      word = sizeof(Value) == 4 ? WordOf<Value>(1e30f) : WordOf<Value>(twice(data_units));
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
  WordOf<Value> least[4];
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

/// Threads of the CUDA block of one pixel.
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

}  // namespace

template <class Backend, class Value>
void send_messages(Backend& cuda, LabelGrid grid, const PairUnits& units,
                   const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarser,
                   Iteration iteration, const Beliefs& beliefs) {
  const Packing packing = packing_of<Value>(grid, units);
  const int pixels = pixels_of_color(level.width, level.height);
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

template <class Backend, class Value>
void read_beliefs(Backend& cuda, LabelGrid grid, const PairUnits& units, const PropagationLevel<Value>& level,
                  int color, const Beliefs& beliefs) {
  const Packing packing = packing_of<Value>(grid, units);
  const int pixels = pixels_of_color(level.width, level.height);
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

#define PF_MESSAGES(Value)                                                                            \
  template void send_messages(Cuda&, LabelGrid, const PairUnits&, const PropagationLevel<Value>&,     \
                              const PropagationLevel<Value>&, Iteration, const Beliefs&);             \
  template void read_beliefs(Cuda&, LabelGrid, const PairUnits&, const PropagationLevel<Value>&, int, \
                             const Beliefs&);

PF_MESSAGES(float)
PF_MESSAGES(std::uint16_t)

}  // namespace parafield
