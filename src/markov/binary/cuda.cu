// SPDX-License-Identifier: MIT
#include "markov/binary/binary.hpp"
#include "markov/launch.cuh"

// Memory-bound: the costs (8 bytes per site) are read once, to compute thresholds. The sweeps move 2 bytes
// per site and take about 50 operations for 32 sites. At 1920x1080, reading 16 MB of costs takes 7 us, and
// every ten sweeps take 5 us.
namespace parafield {
namespace {

constexpr int most_sweeps = 10;                  // per launch
constexpr int inner_words = 4, inner_rows = 64;  // words and rows that a block stores
constexpr int tile_words = inner_words + 2;      // one more word on each side, far wider than most_sweeps
constexpr int tile_rows = inner_rows + 2 * most_sweeps;

/// A warp packs 32 sites of a row.
__global__ void pack_labels_kernel(View<const Label> labels, BinaryRoom room) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (y >= labels.height) return;
  const std::uint32_t bits = __ballot_sync(~0u, x < labels.width && labels(x, y) != 0);
  if (threadIdx.x == 0 && x < labels.width) room.word_row(y, 0)[x / 32] = bits;
}

/// The same, with thresholds.
__global__ void pack_thresholds_kernel(Energy<StoredCosts> energy, View<const Label> labels,
                                       BinaryRoom room) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (y >= energy.height) return;
  const bool inside = x < energy.width;
  int threshold = never;
  bool label = false;
  if (inside) {
    const float pair = energy.pair.cost<PairModel::linear>(1, 0);
    threshold = threshold_of(energy.data.volume.row(y, 0)[x], energy.data.volume.row(y, 1)[x],
                             neighbor_count(x, y, energy.width, energy.height), pair);
    label = labels(x, y) != 0;
  }
  std::uint32_t mine = __ballot_sync(~0u, label);
  PF_UNROLL
  for (int bit = 0; bit < 4; ++bit) {
    const std::uint32_t bits = __ballot_sync(~0u, threshold >> bit & 1);
    if (threadIdx.x == bit + 1) mine = bits;
  }
  const int lane = int(threadIdx.x);
  if (lane < 5 && x - lane < energy.width) room.word_row(y, lane == 0 ? 0 : lane + 1)[x / 32] = mine;
}

/// One bit for each of 32 sites.
using SiteBits = std::uint32_t;

struct BitSum {
  SiteBits ones, twos;
};
__device__ BitSum add_bits(SiteBits a, SiteBits b, SiteBits c) {
  return {a ^ b ^ c, (a & b) | (c & (a ^ b))};
}

/// Runs `sweeps` sweeps of a tile. Sites outside the image stay 0. Sites at the tile's border become wrong,
/// one site farther in with each sweep, and are not stored.
__global__ void __launch_bounds__(tile_words* tile_rows)
    binary_sweeps_kernel(BinaryRoom room, Size size, View<Label> labels, int from, int sweeps, bool last) {
  begin_kernel();
  __shared__ SiteBits tile[2][tile_rows + 2][tile_words + 2];
  const int thread = int(threadIdx.x), column = thread % tile_words, row = thread / tile_words;
  const int word = int(blockIdx.x) * inner_words + column - 1,
            y = int(blockIdx.y) * inner_rows + row - most_sweeps;
  const bool inside = word >= 0 && word < room.words.width && y >= 0 && y < size.height;
  for (int i = thread; i < 2 * (tile_rows + 2) * (tile_words + 2); i += tile_words * tile_rows)
    (&tile[0][0][0])[i] = 0;
  __syncthreads();
  SiteBits threshold[4] = {~0u, ~0u, ~0u, ~0u}, own = 0;
  if (inside) {
    PF_UNROLL
    for (int bit = 0; bit < 4; ++bit) threshold[bit] = room.word_row(y, 2 + bit)[word];
    own = room.word_row(y, from)[word];
  }
  tile[0][row + 1][column + 1] = own;
  __syncthreads();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const auto& now = tile[sweep & 1];
    BitSum sums[3];
    PF_UNROLL
    for (int j = 0; j < 3; ++j) {
      const SiteBits* const at = &now[row + j][column + 1];
      const SiteBits left = at[0] << 1 | at[-1] >> 31, right = at[0] >> 1 | at[1] << 31;
      sums[j] = add_bits(left, right, j == 1 ? 0 : at[0]);
    }
    const BitSum low = add_bits(sums[0].ones, sums[1].ones, sums[2].ones),
                 high = add_bits(sums[0].twos, sums[1].twos, sums[2].twos);
    const SiteBits carry = high.ones & low.twos;
    const SiteBits count[4] = {low.ones, high.ones ^ low.twos, high.twos ^ carry, high.twos & carry};
    SiteBits below = 0;
    PF_UNROLL
    for (int bit = 0; bit < 4; ++bit) {
      const SiteBits differ = count[bit] ^ threshold[bit];
      below = (differ & threshold[bit]) | (~differ & below);
    }
    own = ~below;
    tile[1 - (sweep & 1)][row + 1][column + 1] = own;
    __syncthreads();
  }
  if (!inside || column == 0 || column > inner_words || row < most_sweeps || row >= most_sweeps + inner_rows)
    return;
  if (!last || !labels.data) {
    room.word_row(y, 1 - from)[word] = own;
    return;
  }
  // Two labels per 32 bits, eight per store. Rows are padded to whole words.
  auto* const to = reinterpret_cast<uint4*>(labels.row(y) + 32 * word);
  const auto two = [&](int i) { return (own >> i & 1) | (own >> (i + 1) & 1) << 16; };
  PF_UNROLL
  for (int i = 0; i < 4; ++i)
    if (32 * word + 8 * i < size.width)
      to[i] = make_uint4(two(8 * i), two(8 * i + 2), two(8 * i + 4), two(8 * i + 6));
}

}  // namespace

template <class Backend>
void store_thresholds(Backend& cuda, const Energy<StoredCosts>& energy, View<const Label> labels,
                      const BinaryRoom& room) {
  cuda.launch(pack_thresholds_kernel, pixel_grid(labels.size()), pixel_block, 0, energy, labels, room);
}

template <class Backend>
void store_labels(Backend& cuda, View<const Label> labels, const BinaryRoom& room) {
  cuda.launch(pack_labels_kernel, pixel_grid(labels.size()), pixel_block, 0, labels, room);
}

template <class Backend>
BinaryLabels binary_sweeps(Backend& cuda, const BinaryRoom& room, Size size, int sweeps, View<Label> labels) {
  const dim3 grid(blocks_for(room.words.width, inner_words), blocks_for(size.height, inner_rows));
  int from = 0;
  for (int done = 0; done < sweeps; done += most_sweeps, from = 1 - from) {
    const int some = smaller(most_sweeps, sweeps - done);
    cuda.launch(binary_sweeps_kernel, grid, dim3(tile_words * tile_rows), 0, room, size, labels, from, some,
                done + some == sweeps);
  }
  return {{}, room.words, from};
}

PF_STEP(store_thresholds<Cuda>);
PF_STEP(store_labels<Cuda>);
PF_STEP(binary_sweeps<Cuda>);

}  // namespace parafield
