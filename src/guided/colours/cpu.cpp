#include "core/cpu/backend.hpp"
#include "guided/colours/colours.hpp"

namespace parafield {

template <>
void make_colours(Cpu& cpu, const Frame* frames, const Taps& taps, const Colours* colours,
                  const Colours* smoothed, int count) {
  for (int i = 0; i < count; ++i) {
    convert_color(cpu, frames[i], colours[i].plane);
    if (taps.radius > 0) smooth(cpu, colours[i].plane, taps, smoothed[i].plane, 3);
  }
}

}  // namespace parafield
