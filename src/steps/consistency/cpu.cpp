// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/consistency/consistency.hpp"

namespace parafield {

template <class Backend>
void check_consistency(Backend& cpu, FlowPlanes forward, FlowPlanes backward, float tolerance,
                       View<std::uint8_t> valid) {
  const int width = valid.width, height = valid.height;
  const int pitch = int(backward.u.stride());
  cpu.rows(height, [=](int y) {
    const float *u = forward.u.row(y), *v = forward.v.row(y), *back_u = backward.u.data,
                *back_v = backward.v.data;
    std::uint8_t* out = valid.row(y);
    for (int x = 0; x < width; ++x)
      out[x] = out[x] & is_consistent(u[x], v[x], back_u, back_v, pitch, width, height, x, y, tolerance);
  });
}

template <class Backend>
void check_disparities(Backend& cpu, View<const float> left, View<const float> right, float tolerance,
                       View<std::uint8_t> valid, View<std::uint8_t> unsure) {
  const int width = valid.width;
  cpu.rows(valid.height, [=](int y) {
    constexpr int chunk = 256;
    int kept[chunk],
        differs[chunk];  // as wide as floats, so that the loop vectorizes
    const float *d = left.row(y), *other = right.row(y), most = tolerance;
    std::uint8_t* out = valid.row(y);
    for (int x0 = 0; x0 < width; x0 += chunk) {
      const int count = smaller(chunk, width - x0);
      for (int i = 0; i < count; ++i) {
        const float difference = difference_to_right(d[x0 + i], other, width, x0 + i);
        kept[i] = difference <= most ? -1 : 0;
        differs[i] = difference > 0 ? 1 : 0;
      }
      for (int i = 0; i < count; ++i) out[x0 + i] = std::uint8_t(out[x0 + i] & kept[i]);
      if (!unsure) continue;
      std::uint8_t* const to = unsure.row(y) + x0;
      for (int i = 0; i < count; ++i) to[i] = std::uint8_t(out[x0 + i] == 0 ? 1 : differs[i]);
    }
  });
}

template <class Backend>
void project_disparities(Backend& cpu, View<const float> left, View<float> right) {
  cpu.rows(left.height, [=](int y) {
    const float* const d = left.row(y);
    float* const out = right.row(y);
    const int width = left.width;
    for (int x = 0; x < width; ++x) out[x] = not_projected;
    for (int x = 0; x < width; ++x) {
      const Column column = column_at(x, d[x], width);
      if (column.inside) out[column.x] = larger(out[column.x], d[x]);
    }
  });
}

PF_STEP(check_consistency<Cpu>);
PF_STEP(check_disparities<Cpu>);
PF_STEP(project_disparities<Cpu>);

}  // namespace parafield
