// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/trust/trust.hpp"
#include "steps/resize/enlarge_row.hpp"
#include "steps/warp/warp_row.hpp"

namespace parafield {
namespace {

/// Sets `valid` of row y.
void judge_row(View<const float> frame, View<const float> next, FlowRow flow, int y, float max_residual,
               std::uint8_t* valid) {
  const int width = frame.width, height = frame.height, pitch = int(next.stride());
  const float line = float(y), most = max_residual;
  const float *const pixels = next.data, *const luma = frame.row(y), *const u = flow.u, *const v = flow.v;
  const auto judge_each = [=](int begin, int end) {
#pragma GCC ivdep
    for (int x = begin; x < end; ++x)
      valid[x] = is_match(pixels, pitch, width, height, float(x) + u[x], line + v[x], luma[x], most);
  };
  int x = 0;
  for (; x + warp_block <= width; x += warp_block)
    if (!compare_block(next, flow, y, x, luma, most, valid + x)) judge_each(x, x + warp_block);
  judge_each(x, width);
}

/// Computes the confidence of a row of normal equations.
void rate_row(const NormalPlanes& normal, int y, float* confidence) {
  const int width = normal.xx.width;
  const float *const xx = normal.xx.row(y), *const xy = normal.xy.row(y), *const yy = normal.yy.row(y);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) confidence[x] = smaller_eigenvalue(xx[x], xy[x], yy[x]);
}

/// Writes each value twice.
void spread(const float* in, float* __restrict out, int width) {
  for (int x = 0; x < width / 2; ++x) out[2 * x] = out[2 * x + 1] = in[x];
  if (width % 2 != 0) out[width - 1] = in[width / 2];
}

}  // namespace

template <class Backend>
void judge_flow(Backend& cpu, View<const float> frame, View<const float> next, const NormalPlanes& normal,
                StartingFlow flow, float max_residual, Trust out) {
  if (!flow.coarser.u) {
    cpu.rows(frame.height, [=](int y) {
      rate_row(normal, y, out.confidence.row(y));
      judge_row(frame, next, {flow.flow.u.row(y), flow.flow.v.row(y)}, y, max_residual, out.valid.row(y));
    });
    return;
  }
  cpu.few_rows(flow.coarser.u.height, [=](RowRange rows, void* scratch) {
    const int width = frame.width;
    float* const rated = static_cast<float*>(scratch);
    for (int coarse = rows.begin; coarse < rows.end; ++coarse) {
      rate_row(normal, coarse, rated);
      for (int y = 2 * coarse; y < smaller(2 * coarse + 2, frame.height); ++y) {
        float *const u = flow.flow.u.row(y), *const v = flow.flow.v.row(y);
        enlarge_row(flow.coarser.u, y, width, u);
        enlarge_row(flow.coarser.v, y, width, v);
        judge_row(frame, next, {u, v}, y, max_residual, out.valid.row(y));
        spread(rated, out.confidence.row(y), width);
      }
    }
  });
}

PF_STEP(judge_flow<Cpu>);

}  // namespace parafield
