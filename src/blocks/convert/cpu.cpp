#include "blocks/convert/convert.hpp"
#include "core/cpu/backend.hpp"

namespace parafield {
namespace {

template <class Sample, int Channels, int Red>
void convert_rows(const Cpu& cpu, const Frame& frame, View<float> luma, float scale) {
  const View<const Sample> pixels{static_cast<const Sample*>(frame.data), frame.width, frame.height,
                                  frame.pitch};
  cpu.rows(luma.height, [=](int y) {
    const Sample* in = pixels.row(y);
    float* out = luma.row(y);
    for (int x = 0; x < luma.width; ++x) out[x] = luma_of(in, x, Channels, Red, scale);
  });
}

void convert_frame(const Cpu& cpu, const Frame& frame, View<float> luma) {
  using enum PixelFormat;
  switch (frame.format) {
    case gray_u8:
      return convert_rows<unsigned char, 1, 0>(cpu, frame, luma, 1);
    case gray_u16:
      return convert_rows<unsigned short, 1, 0>(cpu, frame, luma, scale_u16);
    case gray_f32:
      return convert_rows<float, 1, 0>(cpu, frame, luma, 1);
    case rgb_u8:
      return convert_rows<unsigned char, 3, 0>(cpu, frame, luma, 1);
    case rgb_u16:
      return convert_rows<unsigned short, 3, 0>(cpu, frame, luma, scale_u16);
    case rgb_f32:
      return convert_rows<float, 3, 0>(cpu, frame, luma, 1);
    case bgr_u8:
      return convert_rows<unsigned char, 3, 2>(cpu, frame, luma, 1);
    case rgba_u8:
      return convert_rows<unsigned char, 4, 0>(cpu, frame, luma, 1);
    case bgra_u8:
      return convert_rows<unsigned char, 4, 2>(cpu, frame, luma, 1);
  }
}

}  // namespace

template <>
void convert(Cpu& cpu, const Frame* frames, const View<float>* luma, int count) {
  for (int i = 0; i < count; ++i) convert_frame(cpu, frames[i], luma[i]);
}

}  // namespace parafield
