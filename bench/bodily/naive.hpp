#pragma once
#include <array>

#include "common/cuda.hpp"
#include "parafield/image.hpp"

namespace parafield::bench {

/// The gradient tensor as the thesis first had it (section 3.2.1): seven kernels, a block for each row or column and a
/// thread for each of its pixels; frames are bytes, derivatives and what is weighted along rows are shorts, the rest
/// is floats.
class NaiveTensor {
 public:
  static constexpr int kernels = 7;
  static constexpr int longest_side = 1024;  ///< threads of a block

  explicit NaiveTensor(Size size);
  /// Five frames whose rows touch, on the device.
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
