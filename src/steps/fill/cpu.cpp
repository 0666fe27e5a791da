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
    for (; x < right; ++x) row.copy(source, x);
  }
}

template <class Planes>
void fill_rows(Cpu& cpu, Planes planes, View<const std::uint8_t> valid) {
  cpu.rows(valid.height, [=](int y) { fill_row(row_of(planes, y), valid.row(y), valid.width); });
}

}  // namespace

template <>
void fill_from_row(Cpu& cpu, View<float> disparities, View<const std::uint8_t> valid) {
  fill_rows(cpu, disparities, valid);
}

template <>
void fill_from_row(Cpu& cpu, FlowPlanes flow, View<const std::uint8_t> valid) {
  fill_rows(cpu, flow, valid);
}

}  // namespace parafield
