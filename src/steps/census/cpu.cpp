// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/census/census.hpp"

namespace parafield {

template <class Backend>
void census(Backend& cpu, View<const float> image, View<std::uint32_t> transformed) {
  const int width = image.width, height = image.height;
  cpu.rows(height, [=](int y) {
    const float* rows[5];
    for (int i = 0; i < 5; ++i) rows[i] = image.row(clamp(y + i - 2, 0, height - 1));
    std::uint32_t* const out = transformed.row(y);
    const auto near_border = [&](int x) {
      return census_of([&](int dx, int dy) { return rows[dy + 2][clamp(x + dx, 0, width - 1)]; });
    };
    const int end = larger(2, width - 2);
    for (int x = 0; x < smaller(2, width); ++x) out[x] = near_border(x);
    for (int x = 2; x < end; ++x) out[x] = census_of([&](int dx, int dy) { return rows[dy + 2][x + dx]; });
    for (int x = end; x < width; ++x) out[x] = near_border(x);
  });
}

PF_STEP(census<Cpu>);

}  // namespace parafield
