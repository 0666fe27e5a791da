// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "core/cuda/backend.hpp"

/// Tiles of error bars on CUDA.
namespace parafield {

constexpr int bars_width = 32, bars_height = 16, bars_threads = 256;  ///< px, px, threads of a block

/// The part of the image that a block computes. Planes have margins; beyond the image's border they repeat
/// the nearest pixel.
struct BarsRegion {
  int x0, y0;         ///< first pixel
  int width, height;  ///< of the image

  __device__ static BarsRegion of_block(int width, int height) {
    return {int(blockIdx.x) * bars_width, int(blockIdx.y) * bars_height, width, height};
  }
  static dim3 blocks(Size size) {
    return dim3(blocks_for(size.width, bars_width), blocks_for(size.height, bars_height));
  }

  /// Calls f(i, x, y) for `columns` x `rows` positions from (left, top) on: index i, nearest pixel (x, y).
  template <class F>
  __device__ void each(int columns, int rows, int left, int top, F f) const {
    for (int i = int(threadIdx.x); i < columns * rows; i += bars_threads)
      f(i, clamp(left + i % columns, 0, width - 1), clamp(top + i / columns, 0, height - 1));
  }
  /// For a BarsPlane.
  template <int Reach, class F>
  __device__ void fill(F f) const {
    each(bars_width + 2 * Reach, bars_height + 2 * Reach, x0 - Reach, y0 - Reach, f);
  }
  /// For BarsColumns.
  template <int Reach, class F>
  __device__ void fill_columns(F f) const {
    each(bars_width + 2 * Reach, bars_height, x0 - Reach, y0, f);
  }
  /// Calls f(x, y) for the pixels of the tile that are in the image.
  template <class F>
  __device__ void each_pixel(F f) const {
    for (int i = int(threadIdx.x); i < bars_width * bars_height; i += bars_threads) {
      const int x = x0 + i % bars_width, y = y0 + i / bars_width;
      if (x < width && y < height) f(x, y);
    }
  }
};

/// A plane of a tile with a margin of `Reach` px on all sides.
template <int Reach, class T = float>
struct BarsPlane {
  static constexpr int columns = bars_width + 2 * Reach;
  T value[columns * (bars_height + 2 * Reach)];

  __device__ T at(const BarsRegion& region, int x, int y) const {
    return value[(y - region.y0 + Reach) * columns + (x - region.x0 + Reach)];
  }
};

/// The same with a margin on the left and right only, for sums over columns.
template <int Reach, class T = float>
struct BarsColumns {
  static constexpr int columns = bars_width + 2 * Reach;
  T value[columns * bars_height];

  __device__ T at(const BarsRegion& region, int x, int y) const {
    return value[(y - region.y0) * columns + (x - region.x0 + Reach)];
  }
};

}  // namespace parafield
