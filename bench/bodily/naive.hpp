// SPDX-License-Identifier: MIT
#pragma once
#include <array>

#include "common/cuda.hpp"
#include "parafield/image.hpp"

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

}  // namespace parafield::bench
