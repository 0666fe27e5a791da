// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/median/median.hpp"

namespace parafield {
namespace {

constexpr int chunk = 128;  // pixels at a time, whose columns stay in the nearest cache
constexpr int columns = chunk + 4;

/// Sorts the columns of Side pixels around row y, `count` of them from x0 - Side / 2 on.
template <int Side>
void sort_columns(View<const float> in, int y, int x0, int count, float (&sorted)[Side][columns]) {
  constexpr int radius = Side / 2;
  const float* rows[Side];
  PF_UNROLL
  for (int j = 0; j < Side; ++j) rows[j] = in.row(clamp(y + j - radius, 0, in.height - 1));
  const int left = x0 - radius, last = in.width - 1;
  const int begin = larger(0, -left), end = smaller(count, in.width - left);  // columns inside the image
  for (int i = begin; i < end; ++i) {
    float values[Side];
    PF_UNROLL
    for (int j = 0; j < Side; ++j) values[j] = unsigned_zero(rows[j][left + i]);
    sort(values);
    PF_UNROLL
    for (int j = 0; j < Side; ++j) sorted[j][i] = values[j];
  }
  for (int j = 0; j < Side; ++j) {
    for (int i = 0; i < begin; ++i) sorted[j][i] = sorted[j][begin];
    for (int i = end; i < count; ++i) sorted[j][i] = sorted[j][last - left];
  }
}

void median_row_3(View<const float> in, int y, float* __restrict out) {
  float sorted[3][columns];
  for (int x0 = 0; x0 < in.width; x0 += chunk) {
    const int count = smaller(chunk, in.width - x0);
    sort_columns<3>(in, y, x0, count + 2, sorted);
    for (int i = 0; i < count; ++i) {
      float a[3], b[3], c[3];
      PF_UNROLL
      for (int j = 0; j < 3; ++j) {
        a[j] = sorted[j][i];
        b[j] = sorted[j][i + 1];
        c[j] = sorted[j][i + 2];
      }
      out[x0 + i] = median_of_columns(a, b, c);
    }
  }
}

void median_row_5(View<const float> in, int y, float* __restrict out) {
  float sorted[5][columns], pairs[10][columns];
  for (int x0 = 0; x0 < in.width; x0 += chunk) {
    const int count = smaller(chunk, in.width - x0);
    sort_columns<5>(in, y, x0, count + 4, sorted);
    for (int i = 0; i < count + 2; ++i) {  // columns i and i + 1
      float a[5], b[5], both[10];
      PF_UNROLL
      for (int j = 0; j < 5; ++j) {
        a[j] = sorted[j][i];
        b[j] = sorted[j][i + 1];
      }
      merge(a, b, both);
      PF_UNROLL
      for (int j = 0; j < 10; ++j) pairs[j][i] = both[j];
    }
    for (int i = 0; i < count; ++i) {
      float a[10], b[10], c[5], middle[6];
      PF_UNROLL
      for (int j = 0; j < 10; ++j) {
        a[j] = pairs[j][i];
        b[j] = pairs[j][i + 2];
      }
      PF_UNROLL
      for (int j = 0; j < 5; ++j) c[j] = sorted[j][i + 4];
      middle_of_pairs(a, b, middle);
      out[x0 + i] = median_with_column(middle, c);
    }
  }
}

}  // namespace

template <class Backend>
void median(Backend& cpu, const View<float>* in, int side, const View<float>* out, int count) {
  const View<float> in0 = in[0], in1 = in[count - 1], out0 = out[0], out1 = out[count - 1];
  cpu.rows(in0.height, [=](int y) {
    const auto median_row = side == 3 ? median_row_3 : median_row_5;
    median_row(in0, y, out0.row(y));
    if (count == 2) median_row(in1, y, out1.row(y));
  });
}

PF_STEP(median<Cpu>);

}  // namespace parafield
