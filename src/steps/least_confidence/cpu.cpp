// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/least_confidence/least_confidence.hpp"

namespace parafield {

template <class Backend>
void withhold_unsure(Backend& cpu, View<const float> confidence, float least, View<std::uint8_t> valid) {
  cpu.rows(valid.height, [=](int y) {
    const int width = valid.width;
    const float limit = least;
    const float* const certainty = confidence.row(y);
    std::uint8_t* const kept = valid.row(y);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) kept[x] = std::uint8_t(kept[x] & std::uint8_t(certainty[x] >= limit));
  });
}

PF_STEP(withhold_unsure<Cpu>);

}  // namespace parafield
