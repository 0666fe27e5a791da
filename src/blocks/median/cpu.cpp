#include "blocks/median/median.hpp"
#include "core/cpu/backend.hpp"

namespace parafield {
namespace {

template <int Radius>
PF_HD float median_at(const float* const (&rows)[2 * Radius + 1], const int (&columns)[2 * Radius + 1]) {
  constexpr int side = 2 * Radius + 1;
  float values[side * side];
  PF_UNROLL
  for (int j = 0; j < side; ++j) PF_UNROLL
  for (int i = 0; i < side; ++i) values[j * side + i] = rows[j][columns[i]];
  return median_of(values);
}

template <int Radius>
void median_row(View<const float> in, int y, float* __restrict out) {
  constexpr int side = 2 * Radius + 1;
  const int last = in.width - 1;
  const float* rows[side];
  for (int j = 0; j < side; ++j) rows[j] = in.row(clamp(y + j - Radius, 0, in.height - 1));
  const auto at_border = [&](int x) {
    int columns[side];
    for (int i = 0; i < side; ++i) columns[i] = clamp(x + i - Radius, 0, last);
    out[x] = median_at<Radius>(rows, columns);
  };
  const int begin = smaller(Radius, in.width), end = larger(begin, in.width - Radius);
  for (int x = 0; x < begin; ++x) at_border(x);
  for (int x = begin; x < end; ++x) {
    float values[side * side];
    PF_UNROLL
    for (int j = 0; j < side; ++j) PF_UNROLL
    for (int i = 0; i < side; ++i) values[j * side + i] = rows[j][x + i - Radius];
    out[x] = median_of(values);
  }
  for (int x = end; x < in.width; ++x) at_border(x);
}

}  // namespace

template <>
void median(Cpu& cpu, FlowPlanes in, int side, FlowPlanes out) {
  cpu.rows(in.u.height, [=](int y) {
    if (side == 3) {
      median_row<1>(in.u, y, out.u.row(y));
      median_row<1>(in.v, y, out.v.row(y));
    } else {
      median_row<2>(in.u, y, out.u.row(y));
      median_row<2>(in.v, y, out.v.row(y));
    }
  });
}

}  // namespace parafield
