// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/color_median/color_median.hpp"

namespace parafield {
namespace {

constexpr int most_side = 25, most_samples = ((most_side + 1) / 2) * ((most_side + 1) / 2),
              padded = (most_samples + 15) / 16 * 16;

/// The samples of a window.
struct Samples {
  std::uint32_t color[padded];
  int square[padded], valid[padded], value[padded], weight[padded];
  int count = 0;
};

/// Collects the samples around pixel (x, y).
void take_samples(const ColorMedian& m, int x, int y, Samples& samples) {
  const int radius = m.side / 2, width = m.disparities.width, height = m.disparities.height;
  const int left = larger(-radius, -(x & ~1)), right = smaller(radius, (width - 1 - x) & ~1);
  int count = 0;
  for (int dy = -radius; dy <= radius; dy += 2) {
    if (y + dy < 0 || y + dy >= height) continue;
    const float* const values = m.disparities.row(y + dy) + x;
    const std::uint32_t* const colors = m.colors.row(y + dy) + x;
    const std::uint8_t* const valid = m.valid.row(y + dy) + x;
    for (int dx = left; dx <= right; dx += 2, ++count) {
      samples.color[count] = colors[dx];
      samples.square[count] = dx * dx + dy * dy;
      samples.valid[count] = valid[dx];
      samples.value[count] = int(values[dx]);
    }
  }
  samples.count = count;
}

float median_at(const ColorMedian& m, int x, int y, Samples& samples) {
  take_samples(m, x, y, samples);
  const int count = (samples.count + 15) / 16 * 16;
  for (int i = samples.count; i < count; ++i)
    samples.color[i] = 0, samples.square[i] = samples.valid[i] = samples.value[i] = 0;
  const std::uint32_t own = m.colors(x, y);
  const float falloff = falloff_of(m.side);
  for (int i = 0; i < count; ++i)
    samples.weight[i] = median_weight(color_difference(own, samples.color[i]), samples.square[i], falloff,
                                      samples.valid[i] != 0);
  int all = 0;
  for (int i = samples.count; i < count; ++i) samples.weight[i] = 0;
  for (int i = 0; i < count; ++i) all += samples.weight[i];
  return float(weighted_median(m.least, m.most, all, [&](int value) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += samples.value[i] <= value ? samples.weight[i] : 0;
    return sum;
  }));
}

}  // namespace

template <class Backend>
void color_median(Backend& cpu, const ColorMedian& median, View<float> out) {
  cpu.rows(out.height, [=](int y) {
    const float* const in = median.disparities.row(y);
    float* const to = out.row(y);
    Samples samples;
    for (int x = 0; x < out.width; ++x)
      to[x] = is_filtered(median, x, y) ? median_at(median, x, y, samples) : in[x];
  });
}

PF_STEP(color_median<Cpu>);

}  // namespace parafield
