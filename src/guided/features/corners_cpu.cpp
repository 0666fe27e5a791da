// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/features/corners.hpp"

namespace parafield {
namespace {

/// Columns that are computed together, with their tensors on the stack.
constexpr int corner_chunk = 256;

/// For each column, the sum of three vertically adjacent tensors.
struct Columns {
  float xx[corner_chunk + 2], xy[corner_chunk + 2], yy[corner_chunk + 2];
};

/// Writes the sums of `count` columns from `first` on. Beyond the border, the nearest column is repeated.
void sum_down(View<const float> luma, int y, int first, int count, Columns& out) {
  const int width = luma.width, bottom = luma.height - 1;
  const int middle[3] = {clamp(y - 1, 0, bottom), y, clamp(y + 1, 0, bottom)};
  const auto at = [&](int column) {
    const int x = clamp(column, 0, width - 1);
    return corner_tensor_at(luma, x, middle[0]) + corner_tensor_at(luma, x, middle[1]) +
           corner_tensor_at(luma, x, middle[2]);
  };
  const auto put = [&](int i, const CornerTensor& sum) {
    out.xx[i] = sum.xx;
    out.xy[i] = sum.xy;
    out.yy[i] = sum.yy;
  };
  const int begin = clamp(2 - first, 0, count), end = clamp(width - 2 - first, begin, count);
  for (int i = 0; i < begin; ++i) put(i, at(first + i));
  for (int i = end; i < count; ++i) put(i, at(first + i));
  float* __restrict xx = out.xx, * __restrict xy = out.xy, * __restrict yy = out.yy;
  for (int k = 0; k < 3; ++k) {
    const auto line = [&](int j) { return luma.row(clamp(middle[k] + j, 0, bottom)) + first; };
    const float *above2 = line(-2), *above = line(-1), *here = line(0), *below = line(1), *below2 = line(2);
    for (int i = begin; i < end; ++i) {
      const CornerTensor part = corner_tensor(derivative(here[i - 2], here[i - 1], here[i + 1], here[i + 2]),
                                              derivative(above2[i], above[i], below[i], below2[i]));
      xx[i] = k == 0 ? part.xx : xx[i] + part.xx;
      xy[i] = k == 0 ? part.xy : xy[i] + part.xy;
      yy[i] = k == 0 ? part.yy : yy[i] + part.yy;
    }
  }
}

void score_row(View<const float> luma, int y, float* __restrict scores) {
  Columns sums;
  for (int x0 = 0; x0 < luma.width; x0 += corner_chunk) {
    const int count = smaller(corner_chunk, luma.width - x0);
    sum_down(luma, y, x0 - 1, count + 2, sums);
    for (int i = 0; i < count; ++i)
      scores[x0 + i] = corner_score({sums.xx[i] + sums.xx[i + 1] + sums.xx[i + 2],
                                     sums.xy[i] + sums.xy[i + 1] + sums.xy[i + 2],
                                     sums.yy[i] + sums.yy[i + 1] + sums.yy[i + 2]});
  }
}

Feature strongest(View<const float> scores, int x0, int x1, int y0, int y1) {
  Feature found{__builtin_nanf(""), __builtin_nanf("")};
  float best = least_corner;
  bool any = false;
  for (int y = y0; y < y1; ++y) {
    const float* const row = scores.row(y);
    for (int x = x0; x < x1; ++x) {
      if (!(any ? row[x] > best : row[x] >= best) || !is_peak(scores, x, y)) continue;
      best = row[x];
      any = true;
      found = {float(x), float(y)};
    }
  }
  return found;
}

}  // namespace

template <class Backend>
void find_corners(Backend& cpu, View<const float> luma, const FeatureGrid& grid, View<float> scores,
                  Feature* corners) {
  cpu.rows(luma.height, [=](int y) { score_row(luma, y, scores.row(y)); });
  cpu.rows(grid.rows, [=](int row) {
    for (int column = 0; column < grid.columns; ++column)
      corners[row * grid.columns + column] = strongest(scores, grid.first_x(column), grid.first_x(column + 1),
                                                       grid.first_y(row), grid.first_y(row + 1));
  });
}

PF_STEP(find_corners<Cpu>);

}  // namespace parafield
