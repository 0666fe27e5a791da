// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/trust/trust.hpp"

namespace parafield {

template <class Backend>
void judge_flow(Backend& cpu, View<const float> frame, View<const float> next, const NormalPlanes& normal,
                FlowPlanes flow, float max_residual, Trust out) {
  cpu.rows(frame.height, [=](int y) {
    const int width = frame.width, height = frame.height, pitch = int(next.stride());
    const float line = float(y), most = max_residual;
    const float *const pixels = next.data, *const luma = frame.row(y), *const u = flow.u.row(y),
                       *const v = flow.v.row(y), *const xx = normal.xx.row(y), *const xy = normal.xy.row(y),
                       *const yy = normal.yy.row(y);
    std::uint8_t* const valid = out.valid.row(y);
    float* const confidence = out.confidence.row(y);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      confidence[x] = smaller_eigenvalue(xx[x], xy[x], yy[x]);
      valid[x] = is_match(pixels, pitch, width, height, float(x) + u[x], line + v[x], luma[x], most);
    }
  });
}

PF_STEP(judge_flow<Cpu>);

}  // namespace parafield
