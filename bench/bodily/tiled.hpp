// SPDX-License-Identifier: MIT
#pragma once
#include <array>

#include "common/cuda.hpp"
#include "parafield/image.hpp"

namespace parafield::bench {

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
};
constexpr std::array<TiledKernelFacts, tiled_kernels> tiled_kernel_facts{{{"Gradient X", {320, 1}, 1},
                                                                          {"Gradient Y", {16, 20}, 1},
                                                                          {"Gradient Z", {16, 4}, 1},
                                                                          {"Weight X", {320, 1}, 3},
                                                                          {"Weight Y", {16, 18}, 3},
                                                                          {"Outer Product", {32, 2}, 1},
                                                                          {"Tensor X", {320, 1}, 5},
                                                                          {"Tensor Y", {16, 20}, 5},
                                                                          {"Flow", {32, 4}, 1}}};

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

}  // namespace parafield::bench
