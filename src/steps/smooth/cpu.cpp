// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/convert/convert.hpp"
#include "steps/smooth/rows.hpp"

namespace parafield {

template <class Backend>
void smooth(Backend& cpu, const View<float>* in, const Taps& taps, const View<float>* out, int count) {
  for (int i = 0; i < count; ++i) {
    const View<float> from = in[i], to = out[i];
    cpu.rows(to.height, [&](int y) {
      smooth_row(rows_around(y, to.height, taps.radius, [=](int row) { return from.row(row); }), to.width,
                 taps, to.row(y));
    });
  }
}

template <class Backend>
void smooth_luma(Backend& cpu, const Frame* frames, const Taps& taps, const View<float>* out, int count) {
  for (int i = 0; i < count; ++i)
    with_format(frames[i], [&]<class Sample, int Channels, int Red>(Scale scale) {
      const Frame frame = frames[i];
      const View<float> to = out[i];
      const int width = to.width, height = to.height, radius = taps.radius;
      const int ring = 2 * radius + 1, pitch = (width + 15) / 16 * 16;
      cpu.few_rows(height, [=](RowRange rows, void* scratch) {
        const auto luma_row = [=](int y) { return static_cast<float*>(scratch) + y % ring * pitch; };
        int converted = rows.first_new(radius, height);
        for (int y = rows.begin; y < rows.end; ++y) {
          for (; converted <= smaller(y + radius, height - 1); ++converted) {
            const Sample* const in = row_of<Sample>(frame, converted);
            float* const luma = luma_row(converted);
            for (int x = 0; x < width; ++x) luma[x] = luma_of(in, x, Channels, Red, scale);
          }
          smooth_row(rows_around(y, height, radius, luma_row), width, taps, to.row(y));
        }
      });
    });
}

PF_STEP(smooth<Cpu>);
PF_STEP(smooth_luma<Cpu>);

}  // namespace parafield
