#include "blocks/smooth/smooth.hpp"
#include "core/cpu/backend.hpp"

namespace parafield {
namespace {

/// Columns x0 .. x0 + count of a row of the result.
void smooth_part(View<const float> in, const GaussianTaps& taps, int y, int x0, int count, float* out,
                 float* columns) {
  const int radius = taps.radius, last = in.width - 1, bottom = in.height - 1;
  const int first = larger(0, x0 - radius), end = smaller(in.width, x0 + count + radius);
  float* column = columns + radius - x0;  // column[x] for x0 - radius <= x < x0 + count + radius
  const float* middle = in.row(y);
  for (int x = first; x < end; ++x) column[x] = taps.weight[0] * middle[x];
  for (int k = 1; k <= radius; ++k) {
    const float *above = in.row(clamp(y - k, 0, bottom)), *below = in.row(clamp(y + k, 0, bottom));
    const float weight = taps.weight[k];
    for (int x = first; x < end; ++x) column[x] = fma(weight, above[x] + below[x], column[x]);
  }
  for (int x = x0 - radius; x < first; ++x) column[x] = column[0];
  for (int x = end; x < x0 + count + radius; ++x) column[x] = column[last];
  for (int x = x0; x < x0 + count; ++x) out[x] = taps.weight[0] * column[x];
  for (int k = 1; k <= radius; ++k) {
    const float weight = taps.weight[k];
    for (int x = x0; x < x0 + count; ++x) out[x] = fma(weight, column[x - k] + column[x + k], out[x]);
  }
}

}  // namespace

template <>
void smooth(Cpu& cpu, const View<float>* in, const GaussianTaps& taps, const View<float>* out, int count) {
  constexpr int chunk = 1024;
  for (int i = 0; i < count; ++i) {
    const View<float> from = in[i], to = out[i];
    cpu.rows(to.height, [=](int y) {
      float columns[chunk + 2 * GaussianTaps::max_radius];
      for (int x = 0; x < to.width; x += chunk)
        smooth_part(from, taps, y, x, smaller(chunk, to.width - x), to.row(y), columns);
    });
  }
}

}  // namespace parafield
