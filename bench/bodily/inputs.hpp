// SPDX-License-Identifier: MIT
#pragma once
#include <array>

#include "bodily/tiled.hpp"
#include "common/cuda.hpp"
#include "common/study.hpp"

namespace parafield::bench {

/// Number of runs for a time that is reported.
inline int runs(const Study& study) { return study.quick ? 3 : 100; }

/// Makes the study's device the current one.
inline void use(const Study& study) { check(cudaSetDevice(study.device.index), "cudaSetDevice"); }

/// Floats from one row to the next, if rows are padded to a multiple of `bytes`.
inline int pitch_of(int width, int bytes) {
  const int unit = bytes / int(sizeof(float));
  return (width + unit - 1) / unit * unit;
}

/// A rendered sequence. The input of a turn is five consecutive frames of it, which begin at frame turn %
/// turns.
class Inputs {
 public:
  static constexpr int turns = 5;

  /// `pitch`: floats from one row to the next.
  Inputs(Size size, int pitch);
  std::array<const unsigned char*, 5> bytes(int turn) const;  ///< rows touch
  TiledTensor::Frames floats(int turn) const;
  std::array<Frame, 5> frames(int turn) const;  ///< in host memory
  const std::vector<FrameBuffer>& all() const { return frames_; }

 private:
  std::vector<FrameBuffer> frames_;
  std::vector<DeviceArray<unsigned char>> bytes_;
  std::vector<DeviceArray<float>> floats_;
};

/// The best tile of a kernel.
struct BestTile {
  Tile tile;
  double ms, thesis_ms;  ///< milliseconds of a launch, with this tile and with the thesis's
  int tried;             ///< number of tiles that were timed
};
/// The best tile of each kernel at 640x480, searched for at the first call.
const std::array<BestTile, tiled_kernels>& best_tiles(const Study& study);
Tiles tiles_of(const std::array<BestTile, tiled_kernels>& best);

}  // namespace parafield::bench
