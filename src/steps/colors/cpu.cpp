// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/colors/colors.hpp"

namespace parafield {

template <class Backend>
void make_colors(Backend& cpu, const Frame* frames, int count, const Taps& taps, const Colors* colors,
                 const Colors* smoothed, int smooth_count) {
  for (int i = 0; i < count; ++i) {
    convert_color(cpu, frames[i], colors[i].plane);
    if (taps.radius > 0 && i < smooth_count) smooth(cpu, colors[i].plane, taps, smoothed[i].plane, 3);
  }
}

PF_STEP(make_colors<Cpu>);

}  // namespace parafield
