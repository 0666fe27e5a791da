// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/values/values.hpp"

namespace parafield {
namespace {

constexpr int refined_chunk = 128;  // pixels that are refined together

/// Adds a pixel of row y to the rises of pixel (x0, y0), if it has the same label.
void add_pixel(CostRises& rises, View<const Label> labels, const CostsAround& costs, int x0, int y0, int x,
               int y) {
  rises.add(labels(x, y) == labels(x0, y0), costs.before_x(x, y), costs.middle(x, y), costs.after_x(x, y));
}

/// Refines disparities: see RefinedLabels.
void refine_labels(Cpu& cpu, View<const Label> labels, const CostsAround& costs, LabelGrid grid,
                   View<float> fine, View<float> certainty) {
  cpu.rows(fine.height, [=](int j) {
    constexpr int radius = refined_radius;
    const int y = 2 * j, width = labels.width, count = fine.width;
    const int y0 = larger(y - radius, 0), y1 = smaller(y + radius + 1, labels.height);
    const Label* const own = labels.row(y);
    const int begin = smaller(radius / 2, count), end = larger((width - radius + 1) / 2, begin);
    float *const to = fine.row(j), *const to_certainty = certainty.row(j);
    const auto refine_near_border = [&](int i) {
      CostRises rises;
      for (int row = y0; row < y1; ++row)
        for (int x = larger(2 * i - radius, 0); x < smaller(2 * i + radius + 1, width); ++x)
          add_pixel(rises, labels, costs, 2 * i, y, x, row);
      to[i] = float(grid.x0 + own[2 * i]) + rises.offset();
      to_certainty[i] = rises.mean();
    };
    for (int i = 0; i < begin; ++i) refine_near_border(i);
    for (int i = end; i < count; ++i) refine_near_border(i);
    for (int i0 = begin; i0 < end; i0 += refined_chunk) {
      const int n = smaller(refined_chunk, end - i0);
      float rise_before[refined_chunk], rise_after[refined_chunk];
      for (int i = 0; i < n; ++i) rise_before[i] = rise_after[i] = 0;
      for (int row = y0; row < y1; ++row) {
        const std::ptrdiff_t from = 2 * i0 - radius;
        const Label *const other = labels.row(row) + from, *const here = own + 2 * i0;
        const float *const before = costs.before_x.row(row) + from,
                           *const middle = costs.middle.row(row) + from,
                           *const after = costs.after_x.row(row) + from;
        for (int i = 0; i < n; ++i) {
          CostRises rises{rise_before[i], rise_after[i]};
          PF_UNROLL
          for (int k = 0; k < 2 * radius + 1; ++k) {
            const int x = 2 * i + k;
            rises.add(other[x] == here[2 * i], before[x], middle[x], after[x]);
          }
          rise_before[i] = rises.before, rise_after[i] = rises.after;
        }
      }
      for (int i = 0; i < n; ++i) {
        const CostRises rises{rise_before[i], rise_after[i]};
        to[i0 + i] = float(grid.x0 + own[2 * (i0 + i)]) + rises.offset();
        to_certainty[i0 + i] = rises.mean();
      }
    }
  });
}

}  // namespace

template <class Backend>
void nearest_labels(Backend& cpu, View<const float> u, View<const float> v, LabelGrid grid,
                    View<Label> labels) {
  cpu.rows(labels.height, [=](int y) {
    for (int x = 0; x < labels.width; ++x) labels(x, y) = nearest_label(grid, u(x, y), v ? v(x, y) : 0.0f);
  });
}

template <class Backend>
void label_values(Backend& cpu, const Values& values, View<float> u, View<float> v, Trust trust,
                  const RefinedLabels& refined) {
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
  if (refined.d) refine_labels(cpu, values.labels, values.costs, values.grid, refined.d, refined.certainty);
}

PF_STEP(nearest_labels<Cpu>);
PF_STEP(label_values<Cpu>);

}  // namespace parafield
