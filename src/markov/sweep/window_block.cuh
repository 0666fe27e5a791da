// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>

#include "markov/sweep/sites.cuh"

/// Data of a block in a sweep over displacements: see windows.cuh.
namespace parafield {
namespace {

/// Energy of displacements that are compared by absolute differences of gray, with weight 1 and without a
/// limit, which is the usual case.
struct WindowEnergy : Energy<Differences<1>> {
  bool is_exact = false;  // pair costs are whole multiples of the slope, without rounding
};

/// Whether slope * i is exact for all whole numbers i up to 128.
inline bool is_short(float slope) {
  int exponent;
  const float significand = std::frexp(slope, &exponent) * 0x1p17f;
  return significand == std::floor(significand);
}

inline WindowEnergy window_energy(const Energy<Differences<1>>& energy) {
  return {energy, !energy.edges.forward[0] && is_short(energy.pair.slope)};
}

/// Sites of a block: `Strips` strips of 16 x 8 sites of one of `Colors` colors. A warp has 8 x 4 sites of
/// each strip. Every thread has one site in each strip, which may be outside the image.
template <int Side, int Colors, int Strips>
struct WindowBlock {
  static constexpr int strips = Strips;
  static constexpr int step_x = Colors == 1 ? 1 : 2, step_y = Colors == 4 ? 2 : 1;
  static constexpr int columns = 16, rows = 8 * strips, warps = site_threads / 32;  // sites
  // A row of matches has one extra match at its end, because matches are read in pairs. Rows of a warp begin
  // in different banks.
  static constexpr int match_columns = step_x * (columns - 1) + (Colors == 2 ? 1 : 0) + Side + 1,
                       match_rows = step_y * (rows - 1) + Side,
                       match_pitch = (match_columns + 7) / 16 * 16 + 8;
  static constexpr int label_columns = step_x * (columns - 1) + (Colors == 2 ? 1 : 0) + 3,
                       label_rows = step_y * (rows - 1) + 3, label_pitch = 40;

  struct Room {
    alignas(8) float matches[match_rows * match_pitch];
    Label labels[label_rows * label_pitch];
    float along_y[(Side + 1) * site_threads];  // pair costs: a column for each thread, and one row to spare
  };

  const WindowEnergy& energy;
  Room& room;
  const int left, top;
  float values[strips];

  __device__ WindowBlock(const WindowEnergy& energy, View<const Label> labels, Sites sites, Room& room)
      : energy(energy),
        room(room),
        left(int(blockIdx.x) * columns * step_x + (Colors == 4 ? sites.color & 1 : 0)),
        top(int(blockIdx.y) * rows * step_y + (Colors == 4 ? sites.color >> 1 : 0)) {
    const int width = energy.width, height = energy.height;
    const Differences<1>& data = energy.data;
    const int pitch = int(data.pitch), warp = int(threadIdx.x) >> 5, lane = int(threadIdx.x) & 31;
    // Matches of sites outside the image are not used.
    const int last_column = width - 1 - left + Side - 1, last_row = height - 1 - top + Side - 1;
    const float* const matches = data.frame1[0] + (top + data.y0) * data.pitch + left + data.x0;
    const int last_lane = smaller(lane, last_column), last_other = smaller(lane + 32, last_column);
    float* const to = room.matches + warp * match_pitch + lane;
    PF_UNROLL
    for (int first = 0; first < match_rows; first += warps) {
      const float* const from = matches + smaller(first + warp, last_row) * pitch;
      if (first + warps > match_rows && first + warp >= match_rows) continue;
      if (match_columns >= 32 || lane < match_columns) copy_later(to + first * match_pitch, from + last_lane);
      if (lane + 32 < match_columns) copy_later(to + first * match_pitch + 32, from + last_other);
    }
    constexpr int label_turns = (label_rows + warps - 1) / warps, label_parts = label_columns > 32 ? 2 : 1;
    Label near[label_turns][label_parts];
    const int label_stride = int(labels.stride());
    PF_UNROLL
    for (int i = 0; i < label_turns; ++i) PF_UNROLL
    for (int j = 0; j < label_parts; ++j)
      near[i][j] = labels.data[clamp(top - 1 + i * warps + warp, 0, height - 1) * label_stride +
                               clamp(left - 1 + lane + 32 * j, 0, width - 1)];
    PF_UNROLL
    for (int i = 0; i < label_turns; ++i) PF_UNROLL
    for (int j = 0; j < label_parts; ++j)
      if (lane + 32 * j < label_columns && (i + 1 < label_turns || i * warps + warp < label_rows))
        room.labels[(i * warps + warp) * label_pitch + lane + 32 * j] = near[i][j];
    PF_UNROLL
    for (int strip = 0; strip < strips; ++strip)
      values[strip] =
          data.frame0[0][smaller(y_of(strip), height - 1) * pitch + smaller(x_of(strip, sites), width - 1)];
  }

  /// Starts copying a float to shared memory; `wait` completes it.
  __device__ static void copy_later(float* to, const float* from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(unsigned(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
#else
    *to = *from;
#endif
  }
  /// Waits until the copies of all threads are complete.
  __device__ static void wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncthreads();
  }

  // Position of this thread's site in a strip.
  __device__ static int row_of(int strip) {
    return strip * 8 + (int(threadIdx.x) >> 6) * 4 + ((int(threadIdx.x) & 31) >> 3);
  }
  __device__ int y_of(int strip) const { return top + row_of(strip) * step_y; }
  __device__ int column_of(int strip, Sites sites) const {
    const int column = ((int(threadIdx.x) >> 5 & 1) * 8 + (int(threadIdx.x) & 7)) * step_x;
    return column + (Colors == 2 ? sites.first(y_of(strip)) : 0);
  }
  __device__ int x_of(int strip, Sites sites) const { return left + column_of(strip, sites); }
};

}  // namespace
}  // namespace parafield
