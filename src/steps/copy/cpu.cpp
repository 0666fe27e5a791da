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
      std::memcpy(plane.to + y * plane.to_pitch, plane.from + y * plane.from_pitch,
                  std::size_t(plane.row_bytes));
    });
  }
}

PF_STEP(copy_planes<Cpu>);

}  // namespace parafield
