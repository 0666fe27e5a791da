// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/temporal/step.hpp"

// Each thread works down a band of rows, with the products in a ring of three rows and the blended frames in
// a ring of five. Each row of a band is therefore computed once, and all intermediate data stay in the cache.
namespace parafield {
namespace {

/// Rows of a band in scratch memory.
struct TemporalRows {
  float* scratch;
  int pitch;

  float* row(int i) const { return scratch + i * pitch + temporal_margin; }
  float* blended(int y) const { return row(y % 5); }
  float* x_derivative() const { return row(5); }
  float* product(int plane, int y) const { return row(6 + plane * 3 + y % 3); }
  template <class Model>
  float* mean(int plane) const {
    return row(6 + 3 * Model::products + plane);
  }
};

/// Row y of the image that is differentiated in x and y.
template <class Model>
const float* blended_row(const FrameWindow<Model>& in, TemporalRows rows, int y) {
  constexpr int middle = Model::frames / 2;
  return Model::blends_frames ? rows.blended(y) : in.frame[middle].row(y);
}

template <class Model>
void blend(const FrameWindow<Model>& in, int y, float* out) {
  constexpr int middle = Model::frames / 2;
  const float *const before = in.frame[middle - 1].row(y), *const here = in.frame[middle].row(y),
                     *const after = in.frame[middle + 1].row(y);
  const int width = in.frame[0].width;
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) out[x] = Model::blended(before[x], here[x], after[x]);
}

void differentiate_along(const float* row, int width, float* out) {
  const int inner = larger(2, width - 2);
  for (int x = 0; x < smaller(2, width); ++x) out[x] = derivative_at(row, x, width);
#pragma GCC ivdep
  for (int x = 2; x < inner; ++x) out[x] = derivative(row[x - 2], row[x - 1], row[x + 1], row[x + 2]);
  for (int x = inner; x < width; ++x) out[x] = derivative_at(row, x, width);
}

/// Computes the products of row y.
template <class Model>
void multiply(const FrameWindow<Model>& in, int y, TemporalRows rows) {
  constexpr int middle = Model::frames / 2, newest = Model::frames - 1;
  const int width = in.frame[0].width, bottom = in.frame[0].height - 1;
  const auto around = [&](int offset) { return blended_row(in, rows, clamp(y + offset, 0, bottom)); };
  const float *const up2 = around(-2), *const up1 = around(-1), *const down1 = around(1),
                     *const down2 = around(2);
  float* const gx = rows.x_derivative();
  differentiate_along(around(0), width, gx);
  const float *const oldest = in.frame[0].row(y), *const old = in.frame[1].row(y),
                     *const before = in.frame[middle - 1].row(y), *const after = in.frame[middle + 1].row(y),
                     *const late = in.frame[newest - 1].row(y), *const latest = in.frame[newest].row(y);
  float* to[6];
  for (int plane = 0; plane < Model::products; ++plane) to[plane] = rows.product(plane, y);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const float gy = derivative(up2[x], up1[x], down1[x], down2[x]);
    const float gt = Model::time_derivative(oldest[x], old[x], after[x] - before[x], late[x], latest[x]);
    const Tensor tensor = products(gx[x], gy, gt);
    to[0][x] = tensor.xx, to[1][x] = tensor.yy, to[2][x] = tensor.xy, to[3][x] = tensor.xt,
    to[4][x] = tensor.yt;
    if constexpr (Model::products == 6) to[5][x] = tensor.tt;
  }
}

/// Solves row y from the products of rows y - 1 to y + 1.
template <class Model>
void solve(TemporalRows rows, const Model& given, int y, FlowPlanes out, Trust trust) {
  const int width = out.u.width, bottom = out.u.height - 1;
  const float* t[6];
  for (int plane = 0; plane < Model::products; ++plane) {
    const float *const above = rows.product(plane, larger(y - 1, 0)), *const here = rows.product(plane, y),
                       *const below = rows.product(plane, smaller(y + 1, bottom));
    float* const to = rows.mean<Model>(plane);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) to[x] = Model::mean(above[x], here[x], below[x]);
    to[-1] = to[0], to[width] = to[width - 1];
    t[plane] = to;
  }
  const Model model = given;
  float *const u = out.u.row(y), *const v = out.v.row(y), *const confidence = trust.confidence.row(y);
  std::uint8_t* const valid = trust.valid.row(y);
  const float least = trust.least;
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const auto at = [&](int plane) { return Model::mean(t[plane][x - 1], t[plane][x], t[plane][x + 1]); };
    Tensor tensor{at(0), at(1), at(2), at(3), at(4), 0};
    if constexpr (Model::products == 6) tensor.tt = at(5);
    const TensorFlow flow = model.flow_of(tensor);
    u[x] = flow.u, v[x] = flow.v;
    const float eigenvalue = smaller_eigenvalue(tensor.xx, tensor.xy, tensor.yy);
    confidence[x] = eigenvalue;
    valid[x] = confident(flow.valid, eigenvalue, least);
  }
}

}  // namespace

template <class Backend, class Model>
void temporal_flow(Backend& cpu, const FrameWindow<Model>& in, const Model& model, FlowPlanes out,
                   Trust trust, const Frame* newest) {
  if (newest) smooth_luma(cpu, newest, Model::frame_taps(), &in.frame[Model::frames - 1], 1);
  const int height = out.u.height, bottom = height - 1;
  cpu.few_rows(height, [&](RowRange part, void* scratch) {
    const TemporalRows rows{static_cast<float*>(scratch), temporal_row_floats(out.u.width)};
    int multiplied = part.first_new(1, height), blended = part.first_new(3, height);
    for (int y = part.begin; y < part.end; ++y) {
      for (; multiplied <= smaller(y + 1, bottom); ++multiplied) {
        for (; Model::blends_frames && blended <= smaller(multiplied + 2, bottom); ++blended)
          blend(in, blended, rows.blended(blended));
        multiply(in, multiplied, rows);
      }
      solve(rows, model, y, out, trust);
    }
  });
}

PF_STEP(temporal_flow<Cpu, GradientTensorModel>);
PF_STEP(temporal_flow<Cpu, RidgeRegressionModel>);

}  // namespace parafield
