// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/trust/trust.hpp"
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
  const NormalRow sums = normal.row(y);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) confidence[x] = confidence_of(sums[x]);
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
      judge_row(frame, next, flow.flow.row(y), y, max_residual, out.valid.row(y));
    });
    return;
  }
  cpu.few_rows(flow.coarser.u.height, [=](RowRange rows, void* scratch) {
    const int width = frame.width;
    float* const rated = static_cast<float*>(scratch);
    for (int coarse = rows.begin; coarse < rows.end; ++coarse) {
      rate_row(normal, coarse, rated);
      for (int y = 2 * coarse; y < smaller(2 * coarse + 2, frame.height); ++y) {
        const FlowRow fine = flow.flow.row(y);
        enlarge_row(flow.coarser.u, y, width, fine.u);
        enlarge_row(flow.coarser.v, y, width, fine.v);
        judge_row(frame, next, fine, y, max_residual, out.valid.row(y));
        spread(rated, out.confidence.row(y), width);
      }
    }
  });
}

template <class Backend>
void take_visible(Backend& cpu, FlowPlanes flow, FlowPlanes back, const Matches& matches) {
  cpu.pixels(matches.grid.seeds(),
             [=](int column, int row) { take_visible_seed(flow, back, matches, column, row); });
}

template <class Backend>
void fill_hidden(Backend& cpu, FlowPlanes flow, FlowPlanes back, FlowPlanes filled) {
  cpu.rows(flow.u.height, [=](int y) {
    const FlowRow to = flow.row(y), from = filled.row(y);
    const float *const back_u = back.u.data, *const back_v = back.v.data;
    const int width = flow.u.width, height = flow.u.height, pitch = int(back.u.stride());
#pragma GCC ivdep  // planes do not overlap
    for (int x = 0; x < width; ++x) {
      const Motion own = to[x], other = from[x];
      const bool takes = is_hidden(own.u, own.v, back_u, back_v, pitch, width, height, x, y) &
                         (other.u == other.u) & (other.v == other.v);
      to.set(x, {takes ? other.u : own.u, takes ? other.v : own.v});
    }
  });
}

PF_STEP(judge_flow<Cpu>);
PF_STEP(take_visible<Cpu>);
PF_STEP(fill_hidden<Cpu>);

}  // namespace parafield
