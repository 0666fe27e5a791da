#include "core/cpu/backend.hpp"
#include "guided/colours/colours.hpp"

namespace parafield {

template <>
void make_colours(Cpu& cpu, const Frame* frames, int count, const Taps& taps, const Colours* colours,
                  const Colours* smoothed, int smooth_count) {
  for (int i = 0; i < count; ++i) {
    convert_color(cpu, frames[i], colours[i].plane);
    if (taps.radius > 0 && i < smooth_count) smooth(cpu, colours[i].plane, taps, smoothed[i].plane, 3);
  }
}

}  // namespace parafield
