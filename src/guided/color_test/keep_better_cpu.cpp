#include "core/cpu/backend.hpp"
#include "guided/color_test/keep_better.hpp"

namespace parafield {

template <>
void keep_better(Cpu& cpu, View<const float> frame0, View<const float> frame1, FlowPlanes candidate,
                 View<float> gain, FlowPlanes flow) {
  const int width = gain.width, height = gain.height;
  cpu.rows(height, [=](int y) {
    const int columns = width, rows = height, stride = int(frame1.stride());
    const float *const luma = frame0.row(y), *const pixels = frame1.data, *const u = flow.u.row(y),
                       *const v = flow.v.row(y), *const du = candidate.u.row(y),
                       *const dv = candidate.v.row(y);
    float* const out = gain.row(y);
    const float line = float(y);
#pragma GCC ivdep
    for (int x = 0; x < columns; ++x)
      out[x] = gain_of(luma[x], pixels, stride, columns, rows, float(x), line, {u[x], v[x]}, {du[x], dv[x]});
  });
  cpu.rows(height, [=](int y) {
    constexpr int chunk = 256;
    const int top = larger(y - better_reach, 0), bottom = smaller(y + better_reach, height - 1);
    for (int x0 = 0; x0 < width; x0 += chunk) {
      const int count = smaller(chunk, width - x0);
      float sum[chunk];
      for (int i = 0; i < count; ++i) sum[i] = 0;
      for (int row = top; row <= bottom; ++row)
        for (int dx = -better_reach; dx <= better_reach; ++dx) {
          const float* const from = gain.row(row) + x0 + dx;
          const int begin = larger(0, -(x0 + dx)), end = smaller(count, width - (x0 + dx));
          for (int i = begin; i < end; ++i) sum[i] += from[i];
        }
      float *const u = flow.u.row(y) + x0, *const v = flow.v.row(y) + x0;
      const float *const new_u = candidate.u.row(y) + x0, *const new_v = candidate.v.row(y) + x0;
      for (int i = 0; i < count; ++i) {
        u[i] = sum[i] > 0 ? new_u[i] : u[i];
        v[i] = sum[i] > 0 ? new_v[i] : v[i];
      }
    }
  });
}

}  // namespace parafield
