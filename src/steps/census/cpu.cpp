// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/census/census.hpp"

namespace parafield {

template <class Backend>
void census(Backend& cpu, View<const float> image, View<std::uint32_t> transformed) {
  cpu.rows(image.height, [=](int y) {
    const float* rows[5];
    for (int i = 0; i < 5; ++i) rows[i] = image.row(clamp(y + i - 2, 0, image.height - 1));
    census_row(rows, image.width, transformed.row(y));
  });
}

PF_STEP(census<Cpu>);

}  // namespace parafield
