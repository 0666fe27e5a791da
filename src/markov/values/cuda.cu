// SPDX-License-Identifier: MIT
#include "markov/launch.cuh"
#include "markov/values/values.hpp"

namespace parafield {
namespace {

__global__ void nearest_labels_kernel(View<const float> u, View<const float> v, LabelGrid grid,
                                      View<Label> labels) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x < labels.width && y < labels.height) labels(x, y) = nearest_label(grid, u(x, y), v ? v(x, y) : 0.0f);
}

/// Refines the disparity of sample (i, j).
__device__ void refine_label(const Values& values, const RefinedLabels& refined, int i, int j) {
  const View<const Label> labels = values.labels;
  const CostsAround& costs = values.costs;
  const int x = 2 * i, y = 2 * j;
  const Label own = labels(x, y);
  CostRises rises;
  for (int row = larger(y - refined_radius, 0); row < smaller(y + refined_radius + 1, labels.height); ++row) {
    PF_UNROLL
    for (int k = -refined_radius; k <= refined_radius; ++k) {
      if (x + k < 0 || x + k >= labels.width) continue;
      rises.add(labels(x + k, row) == own, costs.before_x(x + k, row), costs.middle(x + k, row),
                costs.after_x(x + k, row));
    }
  }
  refined.d(i, j) = float(values.grid.x0 + own) + rises.offset();
  refined.certainty(i, j) = rises.mean();
}

/// The last `refining` rows of blocks refine disparities, in the time that the others take.
__global__ void label_values_kernel(Values values, View<float> u, View<float> v, Trust trust,
                                    RefinedLabels refined, int refining) {
  begin_kernel();
  const int first_refining = int(gridDim.y) - refining;
  if (int(blockIdx.y) >= first_refining) {
    const int i = own_x(), j = own_y() - first_refining * int(blockDim.y);
    if (i < refined.d.width && j < refined.d.height) refine_label(values, refined, i, j);
    return;
  }
  const int x = own_x(), y = own_y();
  if (x >= u.width || y >= u.height) return;
  const LabelGrid grid = values.grid;
  const CostsAround& costs = values.costs;
  const Label label = values.labels(x, y);
  const float middle = costs.middle(x, y), before = costs.before_x(x, y), after = costs.after_x(x, y);
  float confidence = label_confidence(before, middle, after);
  u(x, y) = label_value(grid.x0 + grid.x(label), v && values.sub_pixel, before, middle, after);
  if (v) {
    const float above = costs.before_y(x, y), below = costs.after_y(x, y);
    v(x, y) = label_value(grid.y0 + grid.y(label), values.sub_pixel, above, middle, below);
    confidence = smaller(confidence, label_confidence(above, middle, below));
  }
  if (!trust.valid) return;
  const float margin = costs.margin ? costs.margin(x, y) : confidence;
  trust.confidence(x, y) = costs.margin ? margin_confidence(margin) : confidence;
  trust.valid(x, y) = (values.known(x, y) != 0) & (margin >= values.uniqueness) &
                      is_inside(grid, label, values.step, bool(v), x, y, u.width, u.height);
}

}  // namespace

template <class Backend>
void nearest_labels(Backend& cuda, View<const float> u, View<const float> v, LabelGrid grid,
                    View<Label> labels) {
  cuda.launch_input(nearest_labels_kernel, pixel_grid(labels.size()), pixel_block, u, v, grid, labels);
}

template <class Backend>
void label_values(Backend& cuda, const Values& values, View<float> u, View<float> v, Trust trust,
                  const RefinedLabels& refined) {
  dim3 grid = pixel_grid(u.size());
  const int refining = refined.d ? int(pixel_grid(refined.d.size()).y) : 0;
  grid.y += unsigned(refining);
  cuda.launch(label_values_kernel, grid, pixel_block, 0, values, u, v, trust, refined, refining);
}

PF_STEP(nearest_labels<Cuda>);
PF_STEP(label_values<Cuda>);

}  // namespace parafield
