// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/values/values.hpp"

namespace parafield {

template <class Backend>
void nearest_labels(Backend& cpu, View<const float> u, View<const float> v, LabelGrid grid,
                    View<Label> labels) {
  cpu.rows(labels.height, [=](int y) {
    for (int x = 0; x < labels.width; ++x) labels(x, y) = nearest_label(grid, u(x, y), v ? v(x, y) : 0.0f);
  });
}

template <class Backend>
void label_values(Backend& cpu, const Values& values, View<float> u, View<float> v, View<float> fine,
                  Trust trust) {
  const int width = u.width, height = u.height;
  cpu.rows(height, [=](int y) {
    const LabelGrid grid = values.grid;
    const CostsAround costs = values.costs;
    const int step = values.step, shift = grid.shift(), mask = (1 << shift) - 1;
    const bool sub_pixel = values.sub_pixel;
    const Label* const labels = values.labels.row(y);
    const float *const middle = costs.middle.row(y), *const before = costs.before_x.row(y),
                       *const after = costs.after_x.row(y);
    float* const to = u.row(y);
    for (int x = 0; x < width; ++x)
      to[x] = label_value(grid.x0 + (labels[x] & mask), v && sub_pixel, before[x], middle[x], after[x]);
    if (fine) {
      float* const to_fine = fine.row(y);
      for (int x = 0; x < width; ++x)
        to_fine[x] = disparity_value(grid.x0 + labels[x], before[x], middle[x], after[x]);
    }
    if (v) {
      const float *const above = costs.before_y.row(y), *const below = costs.after_y.row(y);
      float* const to_v = v.row(y);
      for (int x = 0; x < width; ++x)
        to_v[x] = label_value(grid.y0 + (labels[x] >> shift), sub_pixel, above[x], middle[x], below[x]);
    }
    if (!trust.valid) return;
    float* const confidence = trust.confidence.row(y);
    for (int x = 0; x < width; ++x) confidence[x] = label_confidence(before[x], middle[x], after[x]);
    if (v) {
      const float *const above = costs.before_y.row(y), *const below = costs.after_y.row(y);
      for (int x = 0; x < width; ++x)
        confidence[x] = smaller(confidence[x], label_confidence(above[x], middle[x], below[x]));
    }
    const float* const margin = costs.margin ? costs.margin.row(y) : confidence;
    const float uniqueness = values.uniqueness;
    const std::uint8_t* const known = values.known.row(y);
    std::uint8_t* const valid = trust.valid.row(y);
    for (int x = 0; x < width; ++x)
      valid[x] = (known[x] != 0) & (margin[x] >= uniqueness) &
                 is_inside(grid, labels[x], step, bool(v), x, y, width, height);
    for (int x = 0; x < width && costs.margin; ++x) confidence[x] = margin_confidence(margin[x]);
  });
}

PF_STEP(nearest_labels<Cpu>);
PF_STEP(label_values<Cpu>);

}  // namespace parafield
