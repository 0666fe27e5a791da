#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "markov/values/values.hpp"

namespace parafield {
namespace {

const dim3 block(32, 8);

template <class T>
dim3 grid_of(const View<T>& image) {
  return {blocks_for(image.width, 32), blocks_for(image.height, 8)};
}

__global__ void nearest_labels_kernel(View<const float> u, View<const float> v, LabelGrid grid,
                                      View<Label> labels) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < labels.width && y < labels.height) labels(x, y) = nearest_label(grid, u(x, y), v ? v(x, y) : 0.0f);
}

__global__ void label_values_kernel(Values values, View<float> u, View<float> v, Trust trust) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= u.width || y >= u.height) return;
  const LabelGrid grid = values.grid;
  const CostsAround& costs = values.costs;
  const Label label = values.labels(x, y);
  const float middle = costs.middle(x, y), before = costs.before_x(x, y), after = costs.after_x(x, y);
  float confidence = label_confidence(before, middle, after);
  u(x, y) = label_value(grid.x0 + grid.x(label), values.sub_pixel, before, middle, after);
  if (v) {
    const float above = costs.before_y(x, y), below = costs.after_y(x, y);
    v(x, y) = label_value(grid.y0 + grid.y(label), values.sub_pixel, above, middle, below);
    confidence = smaller(confidence, label_confidence(above, middle, below));
  }
  if (!trust.valid) return;
  trust.confidence(x, y) = confidence;
  trust.valid(x, y) =
      (values.known(x, y) != 0) & is_inside(grid, label, values.step, bool(v), x, y, u.width, u.height);
}

}  // namespace

template <>
void nearest_labels(Cuda& cuda, View<const float> u, View<const float> v, LabelGrid grid,
                    View<Label> labels) {
  cuda.launch_input(nearest_labels_kernel, grid_of(labels), block, u, v, grid, labels);
}

template <>
void label_values(Cuda& cuda, const Values& values, View<float> u, View<float> v, Trust trust) {
  cuda.launch(label_values_kernel, grid_of(u), block, 0, values, u, v, trust);
}

}  // namespace parafield
