// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/fill/fill.hpp"

namespace parafield {
namespace {

template <class Row>
void fill_row(Row row, const std::uint8_t* valid, int width) {
  for (int x = 0; x < width; ++x) {
    if (valid[x]) continue;
    const int left = x - 1;
    int right = x + 1;
    while (right < width && !valid[right]) ++right;
    if (left < 0 && right >= width) return;
    const int source = source_of(row, left, right, width);
    for (; x < right; ++x) copy_pixel(row, source, x);
  }
}

}  // namespace

template <class Backend, class Planes>
void fill_from_row(Backend& cpu, Planes planes, View<const std::uint8_t> valid) {
  cpu.rows(valid.height, [=](int y) { fill_row(row_of(planes, y), valid.row(y), valid.width); });
}

PF_STEP(fill_from_row<Cpu, View<float>>);
PF_STEP(fill_from_row<Cpu, FlowPlanes>);

}  // namespace parafield
