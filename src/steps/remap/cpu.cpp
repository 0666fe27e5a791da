// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/remap/remap.hpp"

namespace parafield {
namespace {

constexpr int remap_width = 64;  // pixels per pass; positions, reads and interpolation have separate loops

/// Pixels of a row of the result, at most `remap_width`. The first and the last loop vectorize.
template <class Sample, int Channels, int Red>
void remap_chunk(const Frame& frame, const float* x, const float* y, int count, float* out) {
  constexpr int values = Channels == 1 ? 1 : 3;
  const int width = frame.width, height = frame.height;
  const std::ptrdiff_t stride = frame.pitch / std::ptrdiff_t(sizeof(Sample));
  int column[remap_width], row[remap_width], inside[remap_width];
  float share_x[remap_width], share_y[remap_width];
  for (int i = 0; i < count; ++i) {
    const Match at = locate(x[i], y[i], width, height);
    column[i] = at.x;
    row[i] = at.y;
    share_x[i] = at.share_x;
    share_y[i] = at.share_y;
    inside[i] = at.inside;
  }
  float first[values][remap_width], right[values][remap_width], below[values][remap_width],
      last[values][remap_width];
  const Sample* const samples = static_cast<const Sample*>(frame.data);
  for (int i = 0; i < count; ++i) {
    const Match at{column[i], row[i], 0, 0, true};
    const Neighborhood around = neighborhood(at, width, height, Channels, stride);
    const Sample* const here = samples + around.first;
    PF_UNROLL
    for (int c = 0; c < values; ++c) {
      const Sample* const sample = here + channel_in_frame(c, Red);
      first[c][i] = float(sample[0]);
      right[c][i] = float(sample[around.right]);
      below[c][i] = float(sample[around.below]);
      last[c][i] = float(sample[around.below + around.right]);
    }
  }
  for (int c = 0; c < values; ++c)
    for (int i = 0; i < count; ++i)
      out[i * values + c] = remapped_value(first[c][i], right[c][i], below[c][i], last[c][i], share_x[i],
                                           share_y[i], inside[i]);
}

}  // namespace

template <class Backend>
void remap(Backend& cpu, const RemappedFrame& remapped) {
  with_format(remapped.frame, [&]<class Sample, int Channels, int Red>(Scale) {
    const RemappedFrame all = remapped;
    cpu.rows(all.x.height, [=](int y) {
      for (int x = 0; x < all.x.width; x += remap_width)
        remap_chunk<Sample, Channels, Red>(all.frame, all.x.row(y) + x, all.y.row(y) + x,
                                           smaller(remap_width, all.x.width - x),
                                           all.values.row(y) + x * (Channels == 1 ? 1 : 3));
    });
  });
}

PF_STEP(remap<Cpu>);

}  // namespace parafield
