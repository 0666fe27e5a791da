// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/remap/remap.hpp"

namespace parafield {

template <class Backend>
void remap(Backend& cpu, const RemappedFrame& remapped) {
  with_samples(remapped.frame.format, [&]<class Sample>(int channels, int red) {
    const RemappedFrame all = remapped;
    const int count = channels == 1 ? 1 : 3;
    cpu.rows(all.x.height, [=](int y) {
      const float *at_x = all.x.row(y), *at_y = all.y.row(y);
      float* out = all.values.row(y);
      for (int x = 0; x < all.x.width; ++x)
        remap_pixel<Sample>(all.frame, channels, red, at_x[x], at_y[x], out + x * count);
    });
  });
}

PF_STEP(remap<Cpu>);

}  // namespace parafield
