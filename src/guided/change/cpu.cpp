#include "core/cpu/backend.hpp"
#include "guided/change/change.hpp"

namespace parafield {
namespace {

constexpr int chunk = 256;

/// Whether columns x0 .. x0 + count of row y pass with flow u, v.
void test_part(const Colors& frame0, const Colors& frame1, ChangeTest test, int y, int x0, int count,
               const float* __restrict u, const float* __restrict v, std::uint8_t* __restrict passed) {
  const int width = frame0.plane[0].width, height = frame0.plane[0].height, radius = test.window / 2;
  const int pitch = int(frame1.plane[0].pitch / std::ptrdiff_t(sizeof(float)));
  const float *const red = frame1.plane[0].data, *const green = frame1.plane[1].data,
                     *const blue = frame1.plane[2].data;
  float sum[chunk];
  for (int i = 0; i < count; ++i) sum[i] = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      const int row = clamp(y + dy, 0, height - 1);
      const float *const red0 = frame0.plane[0].row(row), *const green0 = frame0.plane[1].row(row),
                         *const blue0 = frame0.plane[2].row(row);
      const float line = float(row);
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const int column = clamp(x0 + i + dx, 0, width - 1);
        const Match match = locate(float(column) + u[i], line + v[i], width, height);
        const float r = magnitude(red0[column] - sample(red, pitch, width, height, match)),
                    g = magnitude(green0[column] - sample(green, pitch, width, height, match)),
                    b = magnitude(blue0[column] - sample(blue, pitch, width, height, match));
        sum[i] += ((r + g) + b) * (1.0f / 3);
      }
    }
  const float share = 1 / float(test.window * test.window), threshold = test.threshold, line = float(y);
  for (int i = 0; i < count; ++i)
    passed[i] =
        locate(float(x0 + i) + u[i], line + v[i], width, height).inside & (sum[i] * share < threshold);
}

}  // namespace

template <>
void test_change(Cpu& cpu, const HypothesisTest& all, FlowPlanes flow) {
  const Colors frame0 = all.frame0, frame1 = all.frame1;
  const ChangeTest test = all.change;
  const Homography* const turn = all.turn;
  const View<std::uint8_t> valid = all.valid;
  cpu.rows(valid.height, [=](int y) {
    for (int x0 = 0; x0 < valid.width; x0 += chunk) {
      const int count = smaller(chunk, valid.width - x0);
      float *const u = flow.u.row(y) + x0, *const v = flow.v.row(y) + x0;
      std::uint8_t* const passed = valid.row(y) + x0;
      test_part(frame0, frame1, test, y, x0, count, u, v, passed);
      for (int i = 0; i < count; ++i) u[i] = known(u[i]), v[i] = known(v[i]);
      if (!turn) continue;
      float turn_u[chunk], turn_v[chunk];
      std::uint8_t turn_passed[chunk];
      const Homography homography = *turn;
      for (int i = 0; i < count; ++i) {
        const Motion motion = homography.flow(float(x0 + i), float(y));
        turn_u[i] = motion.u;
        turn_v[i] = motion.v;
      }
      test_part(frame0, frame1, test, y, x0, count, turn_u, turn_v, turn_passed);
      for (int i = 0; i < count; ++i) {
        const bool turns = turn_passed[i] > passed[i];
        u[i] = turns ? turn_u[i] : u[i];
        v[i] = turns ? turn_v[i] : v[i];
        passed[i] |= turn_passed[i];
      }
    }
  });
}

}  // namespace parafield
