// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/color_test/color_test.hpp"

namespace parafield {
namespace {

constexpr int chunk = 256;  // pixels of a row that are processed together

/// Tests columns x0 to x0 + count - 1 of row y with flow u, v.
void test_part(const ColorTest& test, int y, int x0, int count, const float* __restrict u,
               const float* __restrict v, std::uint8_t* __restrict passed) {
  float differences[chunk];
  window_differences(
      test, count, [=](int i) { return x0 + i; }, [=](int) { return y; }, u, v, differences);
  const float threshold = test.threshold;
  for (int i = 0; i < count; ++i) passed[i] = differences[i] < threshold;
}

}  // namespace

template <class Backend>
void test_colors(Backend& cpu, const ColorTest& all, FlowPlanes flow) {
  cpu.rows(all.valid.height, [test = all, flow](int y) {
    for (int x0 = 0; x0 < test.valid.width; x0 += chunk) {
      const int count = smaller(chunk, test.valid.width - x0);
      float *const u = flow.u.row(y) + x0, *const v = flow.v.row(y) + x0;
      std::uint8_t* const passed = test.valid.row(y) + x0;
      test_part(test, y, x0, count, u, v, passed);
      for (int i = 0; i < count; ++i) u[i] = known(u[i]), v[i] = known(v[i]);
      if (!test.rotation) continue;
      float rotation_u[chunk], rotation_v[chunk];
      std::uint8_t rotation_passed[chunk];
      const Homography rotation = *test.rotation;
      for (int i = 0; i < count; ++i) {
        const Motion motion = rotation.flow(float(x0 + i), float(y));
        rotation_u[i] = motion.u;
        rotation_v[i] = motion.v;
      }
      test_part(test, y, x0, count, rotation_u, rotation_v, rotation_passed);
      for (int i = 0; i < count; ++i) {
        const bool rotates = rotation_passed[i] > passed[i];
        u[i] = rotates ? rotation_u[i] : u[i];
        v[i] = rotates ? rotation_v[i] : v[i];
        passed[i] |= rotation_passed[i];
      }
    }
  });
}

template <class Backend>
void keep_better(Backend& cpu, View<const float> frame0, View<const float> frame1, FlowPlanes candidate,
                 View<float> gain, FlowPlanes flow) {
  const int width = gain.width, height = gain.height;
  cpu.rows(height, [=](int y) {
    const int columns = width, rows = height, stride = int(frame1.stride());
    const float *const luma = frame0.row(y), *const pixels = frame1.data;
    const FlowRow own = flow.row(y), other = candidate.row(y);
    float* const out = gain.row(y);
    const float line = float(y);
#pragma GCC ivdep
    for (int x = 0; x < columns; ++x)
      out[x] = gain_of(luma[x], pixels, stride, columns, rows, float(x), line, own[x], other[x]);
  });
  cpu.rows(height, [=](int y) {
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

PF_STEP(test_colors<Cpu>);
PF_STEP(keep_better<Cpu>);

}  // namespace parafield
