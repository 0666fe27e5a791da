// SPDX-License-Identifier: MIT
#include <cstring>

#include "core/cpu/backend.hpp"
#include "steps/copy/copy.hpp"

namespace parafield {

template <class Backend>
void copy_planes(Backend& cpu, const PlaneCopies& copies) {
  for (int i = 0; i < copies.count; ++i) {
    const PlaneCopy plane = copies.planes[i];
    cpu.rows(plane.height, [=](int y) {
      const char* const from = plane.from + y * plane.from_pitch;
      char* const to = plane.to + y * plane.to_pitch;
      if (!plane.to_halves) return void(std::memcpy(to, from, std::size_t(plane.row_bytes)));
      const auto* const values = reinterpret_cast<const float*>(from);
      auto* const halves = reinterpret_cast<Half*>(to);
      const int width = int(plane.row_bytes / std::ptrdiff_t(sizeof(float)));
      for (int x = 0; x < width; ++x) halves[x] = Half(values[x]);
    });
  }
}

PF_STEP(copy_planes<Cpu>);

}  // namespace parafield
