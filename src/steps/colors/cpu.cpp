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

template <class Backend>
void keep_frames(Backend& cpu, const Frame* frames, int slot, int count, const KeptFrames& kept) {
  for (int i = 0; i < count; ++i) {
    const Frame& frame = frames[i];
    const View<std::uint8_t> bytes = kept.bytes[slot + i];
    const Frame copy = kept_frame(frame, bytes);
    const std::size_t row_bytes = std::size_t(frame.width) * std::size_t(bytes_per_pixel(frame.format));
    cpu.few_rows(frame.height, [=](RowRange rows, void*) {
      for (int y = rows.begin; y < rows.end; ++y)
        __builtin_memcpy(bytes.data + y * copy.pitch, static_cast<const char*>(frame.data) + y * frame.pitch,
                         row_bytes);
    });
    kept.frames[slot + i] = copy;
  }
}

template <class Backend>
void smooth_kept(Backend& cpu, const KeptFrames& kept, const Taps& taps, const View<float>* scratch,
                 const Colors* smoothed) {
  for (int i = 0; i < 2; ++i) {
    convert_color(cpu, kept.frames[i], scratch);
    smooth(cpu, scratch, taps, smoothed[i].plane, 3);
  }
}

PF_STEP(make_colors<Cpu>);
PF_STEP(keep_frames<Cpu>);
PF_STEP(smooth_kept<Cpu>);

}  // namespace parafield
