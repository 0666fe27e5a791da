// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/convert/convert.hpp"

namespace parafield {

template <class Backend>
void convert(Backend& cpu, const Frame* frames, const View<float>* luma, int count) {
  for (int i = 0; i < count; ++i)
    with_format(frames[i], [&]<class Sample, int Channels, int Red>(Scale scale) {
      const Frame frame = frames[i];
      const View<float> to = luma[i];
      cpu.rows(to.height, [=](int y) {
        const Sample* in = row_of<Sample>(frame, y);
        float* out = to.row(y);
        for (int x = 0; x < to.width; ++x) out[x] = luma_of(in, x, Channels, Red, scale);
      });
    });
}

template <class Backend>
void convert_color(Backend& cpu, const Frame& frame, const View<float>* red_green_blue) {
  with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    const View<float> red = red_green_blue[0], green = red_green_blue[1], blue = red_green_blue[2];
    cpu.rows(red.height, [=](int y) {
      const Sample* in = row_of<Sample>(frame, y);
      float *r = red.row(y), *g = green.row(y), *b = blue.row(y);
      for (int x = 0; x < red.width; ++x) {
        r[x] = channel_of(in, x, 0, Channels, Red, scale);
        g[x] = channel_of(in, x, 1, Channels, Red, scale);
        b[x] = channel_of(in, x, 2, Channels, Red, scale);
      }
    });
  });
}

PF_STEP(convert<Cpu>);
PF_STEP(convert_color<Cpu>);

}  // namespace parafield
