// SPDX-License-Identifier: MIT
#pragma once
#include <array>

#include "common/cuda.hpp"
#include "parafield/image.hpp"

/// The thesis's kernels, written from its text: naive.cu, tiled.cu and smoothing.cu.
namespace parafield::bench {

/// The gradient tensor in the thesis's first form (section 3.2.1): seven kernels, a block for each row or
/// column and a thread for each of its pixels. Frames are bytes; derivatives and their sums along rows are
/// shorts; all else is floats.
class NaiveTensor {
 public:
  static constexpr int kernels = 7;
  static constexpr int longest_side = 1024;  ///< px, as a block has at most as many threads

  /// Throws Error(unsupported) if a side is longer than `longest_side`.
  explicit NaiveTensor(Size size);
  /// Estimates flow from five frames on the device, whose rows touch.
  void run(cudaStream_t stream, const std::array<const unsigned char*, 5>& frames) const;
  const float* u() const { return floats_.get() + 13 * pixels_; }
  const float* v() const { return floats_.get() + 14 * pixels_; }

 private:
  Size size_;
  std::size_t pixels_;
  DeviceArray<short> shorts_;
  DeviceArray<float> floats_;
};

/// Pixels that a block makes.
struct Tile {
  int width, height;
};

/// The kernels of the tiled form, in table 3.1's order.
enum class TiledKernel {
  gradient_x,
  gradient_y,
  gradient_z,
  weight_x,
  weight_y,
  outer_product,
  tensor_x,
  tensor_y,
  flow
};
constexpr std::size_t tiled_kernels = 9;

struct TiledKernelFacts {
  const char* name;
  Tile best;   ///< the thesis's best tile on an 8800 GTX at 640x480 (table 3.1)
  int planes;  ///< number of planes, each of which is a launch
  enum { each_pixel, along_rows, down_columns } kind;
  int radius = 0;  ///< of the operator along rows or down columns
};
constexpr std::array<TiledKernelFacts, tiled_kernels> tiled_kernel_facts{
    {{"Gradient X", {320, 1}, 1, TiledKernelFacts::along_rows, 2},
     {"Gradient Y", {16, 20}, 1, TiledKernelFacts::down_columns, 2},
     {"Gradient Z", {16, 4}, 1, TiledKernelFacts::each_pixel},
     {"Weight X", {320, 1}, 3, TiledKernelFacts::along_rows, 3},
     {"Weight Y", {16, 18}, 3, TiledKernelFacts::down_columns, 3},
     {"Outer Product", {32, 2}, 1, TiledKernelFacts::each_pixel},
     {"Tensor X", {320, 1}, 5, TiledKernelFacts::along_rows, 1},
     {"Tensor Y", {16, 20}, 5, TiledKernelFacts::down_columns, 1},
     {"Flow", {32, 4}, 1, TiledKernelFacts::each_pixel}}};

using Tiles = std::array<Tile, tiled_kernels>;
Tiles thesis_tiles();

/// Whether a tile takes at most 1024 threads, apron included.
bool fits(TiledKernel kernel, Tile tile);

/// The gradient tensor by tiles (section 3.2.2): images of floats, 21 launches.
class TiledTensor {
 public:
  using Frames = std::array<const float*, 5>;

  /// `pitch`: floats from one row to the next, also in the frames.
  TiledTensor(Size size, int pitch);
  void run(cudaStream_t stream, const Frames& frames, const Tiles& tiles) const;
  /// Launches one kernel for one of its planes.
  void launch_one(cudaStream_t stream, TiledKernel kernel, Tile tile, const Frames& frames, int plane) const;
  const float* u() const { return plane(24); }
  const float* v() const { return plane(25); }
  int pitch() const { return pitch_; }

 private:
  float* plane(int i) const { return floats_.get() + std::size_t(i) * std::size_t(pitch_ * size_.height); }

  Size size_;
  int pitch_;
  DeviceArray<float> floats_;
};

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
