#include "steps/convert/convert.hpp"
#include "core/cpu/backend.hpp"

namespace parafield {
namespace {

template <class Sample>
View<const Sample> pixels_of(const Frame& frame) {
  return {static_cast<const Sample*>(frame.data), frame.width, frame.height, frame.pitch};
}

}  // namespace

template <>
void convert(Cpu& cpu, const Frame* frames, const View<float>* luma, int count) {
  for (int i = 0; i < count; ++i)
    with_format(frames[i].format, [&]<class Sample, int Channels, int Red>(float scale) {
      const View<const Sample> pixels = pixels_of<Sample>(frames[i]);
      const View<float> to = luma[i];
      cpu.rows(to.height, [=](int y) {
        const Sample* in = pixels.row(y);
        float* out = to.row(y);
        for (int x = 0; x < to.width; ++x) out[x] = luma_of(in, x, Channels, Red, scale);
      });
    });
}

template <>
void convert_color(Cpu& cpu, const Frame& frame, const View<float>* red_green_blue) {
  with_format(frame.format, [&]<class Sample, int Channels, int Red>(float scale) {
    const View<const Sample> pixels = pixels_of<Sample>(frame);
    const View<float> red = red_green_blue[0], green = red_green_blue[1], blue = red_green_blue[2];
    cpu.rows(red.height, [=](int y) {
      const Sample* in = pixels.row(y);
      float *r = red.row(y), *g = green.row(y), *b = blue.row(y);
      for (int x = 0; x < red.width; ++x) {
        r[x] = channel_of(in, x, 0, Channels, Red, scale);
        g[x] = channel_of(in, x, 1, Channels, Red, scale);
        b[x] = channel_of(in, x, 2, Channels, Red, scale);
      }
    });
  });
}

}  // namespace parafield
