// SPDX-License-Identifier: MIT
#pragma once
#include "bodily/tiled.hpp"
#include "common/cuda.hpp"

namespace parafield::bench {

/// Component smoothing of ridge regression: (5 6 5) / 16 along rows and columns of six planes (sections 4.1,
/// 4.2).
class ComponentSmoothing {
 public:
  static constexpr int planes = 6;
  enum class Form {
    separable,  ///< two kernels by tiles, launched for each plane (section 4.2.1)
    row_based,  ///< one kernel, a block of 320 threads for each row, nine reads a pixel (section 4.2.2)
    tile_based  ///< one kernel by tiles with an apron on all sides (section 4.2.2)
  };

  /// `pitch`: floats from one row to the next.
  ComponentSmoothing(Size size, int pitch);
  /// Smooths `planes` planes that lie one after the other. `tile`: tile of the tile-based form. `along`,
  /// `down`: tiles of the separable form.
  void run(cudaStream_t stream, Form form, const float* in, Tile tile = {32, 8}, Tile along = {320, 1},
           Tile down = {16, 20}) const;
  /// Whether blocks have at most 1024 threads, apron included.
  static bool fits(Form form, Tile tile, Tile along, Tile down);
  const float* result() const { return floats_.get() + plane_floats() * planes; }
  std::size_t plane_floats() const { return std::size_t(pitch_) * std::size_t(size_.height); }

 private:
  Size size_;
  int pitch_;
  DeviceArray<float> floats_;  // planes smoothed along rows, then the result
};

}  // namespace parafield::bench
