// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/background/chunks.hpp"
#include "markov/background/shift.hpp"
#include "steps/convert/convert.hpp"

namespace parafield {

template <class Backend>
void frame_bytes(Backend& cpu, const Frame* frames, const FrameBytes* bytes, int count) {
  for (int i = 0; i < count; ++i)
    with_format(frames[i], [&]<class Sample, int Channels, int Red>(Scale scale) {
      const Frame frame = frames[i];
      const FrameBytes to = bytes[i];
      const bool are_bytes =
          __is_same(Sample, unsigned char) && Channels == 1 && scale.black == 0 && scale.gain == 1;
      cpu.rows(to.luma.height, [=](int y) {
        const Sample* in = row_of<Sample>(frame, y);
        for_chunks(to.luma.width, [&]<int Count>(int x0, int some) {
          const int pixels = Count ? Count : some;
          std::uint8_t luma[background_chunk];
          if (are_bytes)
            for (int x = 0; x < pixels; ++x)
              luma[x] = std::uint8_t(in[x0 + x] < most_luma ? in[x0 + x] : most_luma);
          else
            for (int x = 0; x < pixels; ++x)
              luma[x] = std::uint8_t(luma_byte(luma_of(in, x0 + x, Channels, Red, scale)));
          store_chunk(to.luma.row(y) + x0, luma, pixels);
          if (!to.blue.data) return;
          if (Channels == 1) {
            store_chunk(to.blue.row(y) + x0, luma, pixels);
            store_chunk(to.red.row(y) + x0, luma, pixels);
            return;
          }
          std::uint8_t blue[background_chunk], red[background_chunk];
          for (int x = 0; x < pixels; ++x) {
            blue[x] = std::uint8_t(luma_byte(channel_of(in, x0 + x, 2, Channels, Red, scale)));
            red[x] = std::uint8_t(luma_byte(channel_of(in, x0 + x, 0, Channels, Red, scale)));
          }
          store_chunk(to.blue.row(y) + x0, blue, pixels);
          store_chunk(to.red.row(y) + x0, red, pixels);
        });
      });
    });
}

template <class Backend>
void begin_background(Backend& cpu, const SeenFrame& frame, const Background& background) {
  for (int i = 0; i < number_count; ++i) background.numbers.data[i] = 0;
  for (int i = 0; i < sum_count; ++i) background.sums.data[i] = 0;
  cpu.rows(background.size.height, [=](int y) {
    int colored = 0;
    for (int x = 0; x < background.size.width; ++x) colored += begin_pixel(background, frame, x, y);
    __atomic_fetch_add(background.numbers.data + colored_count, colored, __ATOMIC_RELAXED);
  });
}

template <class Backend>
void begin_mask(Backend& cpu, View<const std::uint8_t> mask, const Background& background) {
  background.numbers.data[had_frame] = 1;
  cpu.rows(mask.height, [=](int y) {
    std::uint8_t* const before = background.row(y).before();
    for (int x = 0; x < mask.width; ++x) before[x] = mask(x, y) ? was_moving : 0;
  });
}

PF_STEP(frame_bytes<Cpu>);
PF_STEP(begin_background<Cpu>);
PF_STEP(begin_mask<Cpu>);

}  // namespace parafield
