// SPDX-License-Identifier: MIT
#pragma once
#include "common/cuda.hpp"
#include "kim/serial.hpp"

namespace parafield::bench {

/// Algorithms of the paper as plain kernels with a thread for each pixel. Features and labels are in constant
/// memory (section 5.1). It exists once: only the newest object can be used.
class PaperKernels {
 public:
  static constexpr int most_features = 512;
  enum class Exponential {
    accurate,  ///< expf
    device,    ///< __expf
    constant,  ///< a table in constant memory
    shared,    ///< the table, copied to shared memory by each block
    texture    ///< a table read as a texture
  };
  enum class Layout {
    by_label,
    by_pixel
  };  ///< adjacent scores: scores of a label's pixels (Fig. 2), or of a pixel's labels

  /// Problems of one size with the same features, labels and votes, which are taken from the first.
  explicit PaperKernels(const std::vector<Problem>& problems);
  ~PaperKernels();
  PaperKernels(const PaperKernels&) = delete;

  /// Runs Alg. 1 on the problem `turn`.
  void interpolate(cudaStream_t stream, int turn, Exponential exponential) const;
  /// Runs Alg. 3.
  void vote(cudaStream_t stream, int turn, Form form) const;
  /// Computes the scores that Alg. 2 sorts.
  void score(cudaStream_t stream, int turn, Layout layout, float* scores) const;

  FlowField flow() const;  ///< the last result, in host memory

 private:
  Planes planes(int turn) const;

  Size size_;
  int features_, labels_;
  Spread spread_;
  float threshold_;
  std::vector<DeviceArray<float>> pixels_;
  DeviceArray<FlowAt> flow_;
  DeviceArray<float> table_;  // gauss_table, for the texture
  cudaTextureObject_t texture_ = 0;
};

}  // namespace parafield::bench
