#include "core/cpu/backend.hpp"
#include "gradient/gradient_tensor/step.hpp"

// Bands of rows. Down a band, rows of derivatives go through a ring of seven, rows of products through one of three, so
// that each is made once; everything between frames and flow stays in the cache.
namespace parafield {
namespace {

constexpr int weights_reach = 3, mean_reach = 1;

/// A row of floats with room on both sides.
struct Row {
  float* first;  // of column 0
  float& operator[](int x) const { return first[x]; }
};

/// The nearest value stands in beyond the border.
void extend(Row row, int width, int reach) {
  for (int x = 1; x <= reach; ++x) row[-x] = row[0], row[width - 1 + x] = row[width - 1];
}

/// Derivatives in x, y and time of row y of the middle frame.
void differentiate(const TensorFrames& in, int y, Row x_row, Row y_row, Row t_row) {
  const View<const float>& middle = in.frame[2];
  const int width = middle.width, bottom = middle.height - 1;
  const auto row = [&](int frame, int offset) { return in.frame[frame].row(clamp(y + offset, 0, bottom)); };
  const float *const here = row(2, 0), *const up2 = row(2, -2), *const up1 = row(2, -1),
                     *const down1 = row(2, 1), *const down2 = row(2, 2);
  const float *const before2 = row(0, 0), *const before1 = row(1, 0), *const after1 = row(3, 0),
                     *const after2 = row(4, 0);
  float *const gx = x_row.first, *const gy = y_row.first, *const gt = t_row.first;
  const auto along = [&](int x) {
    const auto at = [&](int offset) { return here[clamp(x + offset, 0, width - 1)]; };
    gx[x] = derivative(at(-2), at(-1), at(1), at(2));
  };
  const int inner = larger(2, width - 2);
  for (int x = 0; x < smaller(2, width); ++x) along(x);
#pragma GCC ivdep
  for (int x = 2; x < inner; ++x) gx[x] = derivative(here[x - 2], here[x - 1], here[x + 1], here[x + 2]);
  for (int x = inner; x < width; ++x) along(x);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    gy[x] = derivative(up2[x], up1[x], down1[x], down2[x]);
    gt[x] = derivative(before2[x], before1[x], after1[x], after2[x]);
  }
}

void band(const TensorFrames& in, FlowPlanes out, Trust trust, int begin, int end, float* scratch) {
  const int width = in.frame[2].width, height = in.frame[2].height, pitch = tensor_row_floats(width);
  const auto row = [=](int i) { return Row{scratch + i * pitch + tensor_margin}; };
  const auto derivatives = [=](int plane, int y) { return row(plane * 7 + y % 7); };
  const auto down = [=](int plane) { return row(21 + plane); };
  const auto product = [=](int plane, int y) { return row(24 + plane * 3 + y % 3); };
  const auto mean = [=](int plane) { return row(39 + plane); };

  int differentiated = larger(0, begin - weights_reach - mean_reach), weighed = larger(0, begin - mean_reach);
  for (int y = begin; y < end; ++y) {
    for (; weighed <= smaller(y + mean_reach, height - 1); ++weighed) {
      for (; differentiated <= smaller(weighed + weights_reach, height - 1); ++differentiated)
        differentiate(in, differentiated, derivatives(0, differentiated), derivatives(1, differentiated),
                      derivatives(2, differentiated));
      for (int plane = 0; plane < 3; ++plane) {
        const float* at[7];
        for (int k = 0; k < 7; ++k) at[k] = derivatives(plane, clamp(weighed + k - 3, 0, height - 1)).first;
        float* const to = down(plane).first;
#pragma GCC ivdep
        for (int x = 0; x < width; ++x)
          to[x] = weighted(at[0][x], at[1][x], at[2][x], at[3][x], at[4][x], at[5][x], at[6][x]);
        extend(down(plane), width, weights_reach);
      }
      const float *const gx = down(0).first, *const gy = down(1).first, *const gt = down(2).first;
      float* to[5];
      for (int plane = 0; plane < 5; ++plane) to[plane] = product(plane, weighed).first;
      const auto along = [](const float* g, int x) {
        return weighted(g[x - 3], g[x - 2], g[x - 1], g[x], g[x + 1], g[x + 2], g[x + 3]);
      };
#pragma GCC ivdep
      for (int x = 0; x < width; ++x) {
        const Tensor tensor = products(along(gx, x), along(gy, x), along(gt, x));
        to[0][x] = tensor.xx, to[1][x] = tensor.yy, to[2][x] = tensor.xy, to[3][x] = tensor.xt,
        to[4][x] = tensor.yt;
      }
    }
    for (int plane = 0; plane < 5; ++plane) {
      const float *const above = product(plane, larger(y - 1, 0)).first,
                         *const here = product(plane, y).first,
                         *const below = product(plane, smaller(y + 1, height - 1)).first;
      float* const to = mean(plane).first;
#pragma GCC ivdep
      for (int x = 0; x < width; ++x) to[x] = mean_of(above[x], here[x], below[x]);
      extend(mean(plane), width, mean_reach);
    }
    const float* t[5];
    for (int plane = 0; plane < 5; ++plane) t[plane] = mean(plane).first;
    float *const u = out.u.row(y), *const v = out.v.row(y);
    std::uint8_t* const valid = trust.valid.row(y);
    float* const confidence = trust.confidence.row(y);
    const float least = in.min_determinant;
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const auto at = [&](int plane) { return mean_of(t[plane][x - 1], t[plane][x], t[plane][x + 1]); };
      const Tensor tensor{at(0), at(1), at(2), at(3), at(4)};
      const TensorFlow flow = solved(tensor, least);
      u[x] = flow.u, v[x] = flow.v;
      valid[x] = flow.determinant > least;
      confidence[x] = tensor_confidence(tensor);
    }
  }
}

}  // namespace

template <>
void gradient_tensor(Cpu& cpu, const TensorFrames& in, FlowPlanes out, Trust trust) {
  cpu.bands(out.u.height, [&](int begin, int end, void* scratch) {
    band(in, out, trust, begin, end, static_cast<float*>(scratch));
  });
}

}  // namespace parafield
