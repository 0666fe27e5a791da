// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/consistency/consistency.hpp"

namespace parafield {
namespace {

/// Counts, around each of `count` pixels of row y from x0 on, the pixels of the 5x5 window with a similar
/// disparity.
void count_similar(View<const float> d, int y, int x0, int count, int* similar) {
  const float* rows[5];
  for (int j = 0; j < 5; ++j) rows[j] = d.row(clamp(y + j - 2, 0, d.height - 1));
  const float* const own = rows[2] + x0;
  for (int i = 0; i < count; ++i) similar[i] = 0;
  const int begin = clamp(2 - x0, 0, count), end = clamp(d.width - 2 - x0, begin, count);
  for (const float* row : rows) {
    const auto is_similar = [&](int i, int x) { return magnitude(row[x] - own[i]) <= 1 ? 1 : 0; };
    const auto count_near_border = [&](int i) {
      for (int dx = -2; dx <= 2; ++dx) similar[i] += is_similar(i, clamp(x0 + i + dx, 0, d.width - 1));
    };
    for (int i = 0; i < begin; ++i) count_near_border(i);
    for (int i = begin; i < end; ++i) {
      const int x = x0 + i;
      similar[i] += is_similar(i, x - 2) + is_similar(i, x - 1) + is_similar(i, x) + is_similar(i, x + 1) +
                    is_similar(i, x + 2);
    }
    for (int i = end; i < count; ++i) count_near_border(i);
  }
}

}  // namespace

template <class Backend>
void check_consistency(Backend& cpu, FlowPlanes forward, FlowPlanes backward, float tolerance,
                       View<std::uint8_t> valid) {
  const int width = valid.width, height = valid.height;
  const int pitch = int(backward.u.stride());
  cpu.rows(height, [=](int y) {
    const float *u = forward.u.row(y), *v = forward.v.row(y), *back_u = backward.u.data,
                *back_v = backward.v.data;
    std::uint8_t* out = valid.row(y);
    for (int x = 0; x < width; ++x)
      out[x] = out[x] & is_consistent(u[x], v[x], back_u, back_v, pitch, width, height, x, y, tolerance);
  });
}

template <class Backend>
void check_disparities(Backend& cpu, View<const float> left, View<const float> right, float tolerance,
                       View<std::uint8_t> valid, View<std::uint8_t> unsure) {
  const int width = valid.width;
  cpu.rows(valid.height, [=](int y) {
    constexpr int chunk = 256;
    int kept[chunk],
        differs[chunk];  // as wide as floats, so that the loop vectorizes
    const float *d = left.row(y), *other = right.row(y), most = tolerance;
    std::uint8_t* out = valid.row(y);
    for (int x0 = 0; x0 < width; x0 += chunk) {
      const int count = smaller(chunk, width - x0);
      for (int i = 0; i < count; ++i) {
        const float difference = difference_to_right(d[x0 + i], other, width, x0 + i);
        kept[i] = difference <= most ? -1 : 0;
        differs[i] = difference > 0 ? 1 : 0;
      }
      for (int i = 0; i < count; ++i) out[x0 + i] = std::uint8_t(out[x0 + i] & kept[i]);
      if (!unsure) continue;
      std::uint8_t* const to = unsure.row(y) + x0;
      for (int i = 0; i < count; ++i) to[i] = std::uint8_t(out[x0 + i] == 0 ? 1 : differs[i]);
    }
  });
}

template <class Backend>
void project_disparities(Backend& cpu, View<const float> left, View<float> right, float tolerance,
                         View<std::uint8_t> valid, View<std::uint8_t> unsure) {
  cpu.rows(left.height, [=](int y) {
    const float* const d = left.row(y);
    float* const out = right.row(y);
    const int width = left.width;
    for (int x = 0; x < width; ++x) out[x] = not_projected;
    for (int x = 0; x < width; ++x) {
      const Column column = column_at(x, d[x], width);
      if (column.inside) out[column.x] = larger(out[column.x], d[x]);
    }
  });
  if (valid) check_disparities<Backend>(cpu, left, right, tolerance, valid, unsure);
}

template <class Backend>
void disparity_confidence(Backend& cpu, const DisparityEvidence& evidence, View<float> confidence) {
  cpu.rows(confidence.height, [=](int y) {
    constexpr int chunk = 256;
    int similar[chunk];
    const int width = confidence.width;
    const float* const d = evidence.left.row(y);
    const float *const right = evidence.right ? evidence.right.row(y) : nullptr,
                       *const margins = evidence.right_margin ? evidence.right_margin.row(y) : nullptr;
    float* const to = confidence.row(y);
    for (int x0 = 0; x0 < width; x0 += chunk) {
      const int count = smaller(chunk, width - x0);
      count_similar(evidence.left, y, x0, count, similar);
      for (int i = 0; i < count; ++i)
        to[x0 + i] = confidence_of(to[x0 + i], d[x0 + i], right, margins, width, x0 + i, similar[i]);
    }
  });
}

PF_STEP(check_consistency<Cpu>);
PF_STEP(check_disparities<Cpu>);
PF_STEP(project_disparities<Cpu>);
PF_STEP(disparity_confidence<Cpu>);

}  // namespace parafield
