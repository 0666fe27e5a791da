#pragma once
#include "common/cuda.hpp"
#include "kim/serial.hpp"

namespace parafield::bench {

/// The paper's algorithms as plain kernels, a thread a pixel; features and labels are in constant memory (section
/// 5.1), of which there is one: a new object's replace those of the last.
class PaperKernels {
 public:
  static constexpr int most_features = 512;
  enum class Exponential {
    accurate,  ///< expf
    device,    ///< __expf
    constant,  ///< a table in constant memory
    shared,    ///< copied from there to shared memory by each block
    texture    ///< a table read as a texture
  };
  enum class Layout {
    by_label,
    by_pixel
  };  ///< what lies side by side: a label's pixels (Fig. 2), a pixel's labels

  /// Problems of one size with the same features, labels and votes; the first one's.
  explicit PaperKernels(const std::vector<Problem>& problems);
  ~PaperKernels();
  PaperKernels(const PaperKernels&) = delete;

  /// Alg. 1, of the problem `turn`.
  void interpolate(cudaStream_t stream, int turn, Exponential exponential) const;
  /// Alg. 3.
  void vote(cudaStream_t stream, int turn, Form form) const;
  /// The scores that Alg. 2 sorts.
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
