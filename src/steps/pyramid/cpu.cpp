// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/colors/colors.hpp"
#include "steps/convert/convert.hpp"
#include "steps/pyramid/pyramid.hpp"

namespace parafield {
namespace {

/// A row of the coarse level from the five rows of the fine level around it.
void reduce_row(View<const float> fine, int y, float* out, int width) {
  const int last = fine.width - 1, bottom = fine.height - 1;
  const float *a = fine.row(clamp(2 * y - 2, 0, bottom)), *b = fine.row(clamp(2 * y - 1, 0, bottom)),
              *c = fine.row(2 * y), *d = fine.row(clamp(2 * y + 1, 0, bottom)),
              *e = fine.row(clamp(2 * y + 2, 0, bottom));
  const auto column = [=](int x) { return binomial(a[x], b[x], c[x], d[x], e[x]); };
  constexpr int chunk = 256;  // columns per pass, whose sums fit on the stack
  float smoothed[2 * chunk + 3];
  out[0] = reduced(fine, 0, y);
  const int end = larger(1, (last - 2) / 2 + 1);  // x < end: 2x + 2 is inside
  for (int x0 = 1; x0 < end; x0 += chunk) {
    const int count = smaller(chunk, end - x0), first = 2 * x0 - 2;
    for (int i = 0; i < 2 * count + 3; ++i) smoothed[i] = column(first + i);
    for (int i = 0; i < count; ++i)
      out[x0 + i] = binomial(smoothed[2 * i], smoothed[2 * i + 1], smoothed[2 * i + 2], smoothed[2 * i + 3],
                             smoothed[2 * i + 4]);
  }
  for (int x = end; x < width; ++x) out[x] = reduced(fine, x, y);
}

}  // namespace

template <class Backend>
void build_pyramids(Backend& cpu, const Pyramid* pyramids, int count) {
  for (int i = 0; i < count; ++i)
    for (int level = 1; level < pyramids[i].levels; ++level) {
      const View<float> fine = pyramids[i].level[level - 1], coarse = pyramids[i].level[level];
      cpu.rows(coarse.height, [=](int y) { reduce_row(fine, y, coarse.row(y), coarse.width); });
    }
}

template <class Backend>
void convert_pyramids(Backend& cpu, const Frame* frames, const Pyramid* pyramids, int count) {
  const View<float> luma[] = {pyramids[0].level[0], pyramids[count - 1].level[0]};
  convert(cpu, frames, luma, count);
  build_pyramids(cpu, pyramids, count);
}

template <class Backend>
void convert_and_keep(Backend& cpu, const Frame* frames, const Pyramid* pyramids, int count, int slot,
                      const KeptFrames& kept) {
  convert_pyramids(cpu, frames, pyramids, count);
  keep_frames(cpu, frames, slot, count, kept);
}

PF_STEP(build_pyramids<Cpu>);
PF_STEP(convert_pyramids<Cpu>);
PF_STEP(convert_and_keep<Cpu>);

}  // namespace parafield
