#pragma once
#include "blocks/convert/convert.hpp"
#include "core/fail.hpp"
#include "gradient/gradient_tensor/step.hpp"
#include "parafield/flow.hpp"

namespace parafield {

/// Flow at the middle of five frames. Frames live in slots, each converted once.
template <class Backend>
class GradientTensorSolver {
 public:
  static constexpr int slots = GradientTensor::frames;

  GradientTensorSolver(Backend& backend, Workspace& workspace, const GradientTensor& method, Size size,
                       const FlowOptions&)
      : backend_(backend), method_(method) {
    for (View<float>& frame : luma_) frame = workspace.image<float>(size);
    backend.reserve_scratch(tensor_scratch(size.width));
  }

  void prepare(const Frame* frames, int slot, int count) {
    for (int i = 0; i < count; i += 2) convert(backend_, frames + i, luma_ + slot + i, smaller(2, count - i));
  }

  /// `first`: the slot of the oldest frame; the others follow in a ring.
  void solve(int first, const FlowView*, FlowPlanes result, Trust trust, bool) {
    TensorFrames frames{{}, method_.min_determinant};
    for (int i = 0; i < slots; ++i) frames.frame[i] = luma_[(first + i) % slots];
    gradient_tensor(backend_, frames, result, trust);
  }

  bool takes_start() const { return false; }
  bool starts_from_last() const { return false; }
  View<double> energies() const { return {}; }

 private:
  Backend& backend_;
  const GradientTensor method_;
  View<float> luma_[slots];
};

}  // namespace parafield
