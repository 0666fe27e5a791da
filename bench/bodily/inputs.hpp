// SPDX-License-Identifier: MIT
#pragma once
#include <array>

#include "bodily/kernels.hpp"
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
  Inputs(Size size, int pitch) {
    frames_ = render_scene("affine", {.size = size, .frames = turns + 4}).frames;
    for (const FrameBuffer& frame : frames_) {
      std::vector<unsigned char> bytes(std::size_t(size.width) * std::size_t(size.height));
      std::vector<float> floats(std::size_t(pitch) * std::size_t(size.height));
      for (int y = 0; y < size.height; ++y) {
        const auto* row = static_cast<const unsigned char*>(frame.row(y));
        for (int x = 0; x < size.width; ++x) {
          bytes[std::size_t(y * size.width + x)] = row[x];
          floats[std::size_t(y * pitch + x)] = float(row[x]);
        }
      }
      bytes_.emplace_back(bytes);
      floats_.emplace_back(floats);
    }
  }
  std::array<const unsigned char*, 5> bytes(int turn) const {  ///< rows touch
    return five<const unsigned char*>(turn, [&](std::size_t i) { return bytes_[i].get(); });
  }
  TiledTensor::Frames floats(int turn) const {
    return five<const float*>(turn, [&](std::size_t i) { return floats_[i].get(); });
  }
  std::array<Frame, 5> frames(int turn) const {  ///< in host memory
    return five<Frame>(turn, [&](std::size_t i) { return Frame(frames_[i]); });
  }
  const std::vector<FrameBuffer>& all() const { return frames_; }

 private:
  template <class T, class At>
  static std::array<T, 5> five(int turn, At at) {
    const std::size_t first = std::size_t(turn % turns);
    return {at(first), at(first + 1), at(first + 2), at(first + 3), at(first + 4)};
  }

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
