// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/temporal/step.hpp"
#include "steps/convert/convert.hpp"

// A single kernel without shared memory: each warp computes four rows of 56 pixels. A lane keeps two columns
// of all rows it needs in registers and reads neighboring columns from neighboring lanes. A newly pushed
// frame is smoothed in the same pass and stored for the next pushes.
//
// Lower bound for a pushed frame (gray_u8), in bytes per pixel: gradient-tensor reads 1 + 4 * 4 and writes 4
// + 13, 34 in all; ridge-regression reads 8 more and moves another 16 to smooth the flow, 58 in all. On an
// H100 (3.0 TB/s), 34 bytes take 3.5 us at 640x480 and 0.094 ms at 3840x2160; 58 bytes take 5.9 us and 0.160
// ms. Measured (commit e5689ad): gradient-tensor 6.8 us and 0.111 ms, ridge-regression 12.0 us and 0.196 ms.
// At 640x480, half of the time is the launch and one round trip to memory.

namespace parafield {
namespace {

constexpr int lanes = 32, each = 2, warps = 4, rows_each = 4, halo = 4;
constexpr int tile_width = lanes * each - 2 * halo, tile_height = warps * rows_each;
constexpr int derivative_reach = 2, mean_reach = 1, reach = derivative_reach + mean_reach;

/// Values of two columns.
struct Two {
  float left, right;
};
template <class F>
__device__ Two both(F f) {
  return {f(&Two::left), f(&Two::right)};
}
/// Value of the lane `distance` lanes to the left or to the right.
__device__ float from_left(float value, int distance = 1) { return __shfl_up_sync(~0u, value, distance); }
__device__ float from_right(float value, int distance = 1) { return __shfl_down_sync(~0u, value, distance); }

/// The two columns of a lane, x and x + 1. Beyond the border, the nearest pixel is repeated.
struct Columns {
  int x, last;
  bool at_border;  // whether any lane of the warp has a column beyond the border

  /// A column from which two floats can be loaded: row storage is padded to an even number of floats.
  __device__ int first() const { return clamp(x, 0, last & ~1); }
  __device__ Two extended(float2 loaded) const {
    Two two{loaded.x, loaded.y};
    if (at_border) {
      const bool is_odd = last & 1;
      if (x > last && is_odd) two.left = two.right;
      if (x < 0 || (x >= last && !is_odd)) two.right = two.left;
    }
    return two;
  }
  /// Derivatives along the row. Beyond the border, the nearest pixel's derivative is repeated.
  __device__ Two derivatives(Two here) const {
    const float left1 = from_left(here.right), left2 = from_left(here.left), right1 = from_right(here.left),
                right2 = from_right(here.right);
    return continued(
        {derivative(left2, left1, here.right, right1), derivative(left1, here.left, right1, right2)});
  }
  /// Values smoothed along the row. Beyond the border, the nearest pixel's value is repeated.
  template <int Radius>
  __device__ Two smoothed(Two here, const Taps& taps) const {
    float around[each + 2 * Radius];  // x - Radius to x + 1 + Radius
    around[Radius] = here.left, around[Radius + 1] = here.right;
    PF_UNROLL
    for (int k = 1; k <= Radius; ++k) {
      const bool is_odd = k & 1;
      around[Radius - k] = from_left(is_odd ? here.right : here.left, (k + 1) / 2);
      around[Radius + 1 + k] = from_right(is_odd ? here.left : here.right, (k + 1) / 2);
    }
    const auto sum_at = [&](int middle) {
      float sum = taps.weight[0] * around[middle];
      PF_UNROLL
      for (int k = 1; k <= Radius; ++k)
        sum = fma(taps.weight[k], around[middle - k] + around[middle + k], sum);
      return sum;
    };
    return continued({sum_at(Radius), sum_at(Radius + 1)});
  }

 private:
  /// Copies the value at the border to the adjacent column outside. Columns further out are unused.
  __device__ Two continued(Two result) const {
    if (at_border) {
      const float before = from_left(result.right), after = from_right(result.left);
      if (x == -each) result.right = after;
      if (x == last) result.right = result.left;
      if (x == last + 1) result.left = before;
    }
    return result;
  }
};

/// Frames and results. All float images have the same pitch.
template <class Model>
struct Planes {
  const float* frame[Model::frames];
  float *u, *v, *confidence;
  std::uint8_t* valid;
  int width, height, pitch, valid_pitch;
};

/// The newest frame before it is smoothed.
struct Raw {
  Frame frame;
  bool in_pairs;  // gray_u8, aligned so that two pixels can be loaded at once
  Taps taps;
  float* smoothed;  // destination of the smoothed frame
};
enum class Newest { smoothed, raw, raw_in_pairs };

/// Loads the luma of `rows` rows, starting at row y.
template <Newest newest, int rows>
__device__ void load_raw(const Raw& raw, const Columns& columns, int y, int bottom, Two (&in)[rows]) {
  const auto raw_row = [&](int i) {
    return static_cast<const char*>(raw.frame.data) + clamp(y + i, 0, bottom) * raw.frame.pitch;
  };
  if constexpr (newest == Newest::raw_in_pairs) {
    const Scale scale = scale_of(raw.frame);
    PF_UNROLL
    for (int i = 0; i < rows; ++i) {
      const uchar2 two = *reinterpret_cast<const uchar2*>(raw_row(i) + columns.first());
      const unsigned char pixels[] = {two.x, two.y};
      in[i] = {luma_of(pixels, 0, 1, 0, scale), luma_of(pixels, 1, 1, 0, scale)};
    }
  } else {
    with_format(raw.frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
      const int left = clamp(columns.x, 0, columns.last), right = clamp(columns.x + 1, 0, columns.last);
      PF_UNROLL
      for (int i = 0; i < rows; ++i) {
        const Sample* const row = reinterpret_cast<const Sample*>(raw_row(i));
        in[i] = {luma_of(row, left, Channels, Red, scale), luma_of(row, right, Channels, Red, scale)};
      }
    });
  }
}

template <Newest newest_is, class Model>
__device__ __forceinline__ void solve_tile(const Planes<Model>& planes, const Raw* raw, const Model& model) {
  constexpr int middle = Model::frames / 2, newest = Model::frames - 1;
  constexpr int blended_rows = rows_each + 2 * reach, product_rows = rows_each + 2 * mean_reach;
  constexpr bool is_raw = newest_is != Newest::smoothed;
  static_assert(mean_reach + Model::frame_radius <= halo);
  const int lane = int(threadIdx.x), left = int(blockIdx.x) * tile_width - halo;
  const int y0 = (int(blockIdx.y) * warps + int(threadIdx.y)) * rows_each, bottom = planes.height - 1;
  const Columns columns{left + lane * each, planes.width - 1, left < 0 || left + lanes * each > planes.width};
  int at[blended_rows];  // starting at row y0 - reach
  PF_UNROLL
  for (int i = 0; i < blended_rows; ++i)
    at[i] = clamp(y0 + i - reach, 0, bottom) * planes.pitch + columns.first();
  await_last();
  if (y0 > bottom) return;  // whole warps
  const auto load = [&](int frame, int row) {
    return columns.extended(*reinterpret_cast<const float2*>(planes.frame[frame] + at[row]));
  };
  // Beyond the border, the nearest row's products are repeated. Clamped loads already ensure this, except for
  // values computed from several rows, which are copied here.
  const auto continue_rows = [&](Two* of) {
    if (y0 == 0) of[0] = of[1];
    PF_UNROLL
    for (int i = 1; i < product_rows; ++i)
      if (y0 + i - mean_reach > bottom) of[i] = of[i - 1];
  };

  constexpr int radius = Model::frame_radius;
  Two raw_rows[product_rows + 2 * radius];
  if constexpr (is_raw) load_raw<newest_is>(*raw, columns, y0 - mean_reach - radius, bottom, raw_rows);
  Two blended[blended_rows], change[product_rows];  // change: frame after the middle minus frame before
  PF_UNROLL
  for (int i = 0; i < blended_rows; ++i) {
    const Two here = load(middle, i);
    if constexpr (Model::blends_frames) {
      const Two before = load(middle - 1, i), after = load(middle + 1, i);
      blended[i] = both([&](auto c) { return Model::blended(before.*c, here.*c, after.*c); });
      const int row = i - derivative_reach;
      if (row >= 0 && row < product_rows) change[row] = both([&](auto c) { return after.*c - before.*c; });
    } else {
      blended[i] = here;
      if (i < product_rows) change[i] = {0, 0};
    }
  }
  Two gy[product_rows];
  PF_UNROLL
  for (int i = 0; i < product_rows; ++i)
    gy[i] = both([&](auto c) {
      return derivative(blended[i].*c, blended[i + 1].*c, blended[i + 3].*c, blended[i + 4].*c);
    });
  continue_rows(gy);
  Two latest[product_rows];
  if constexpr (is_raw) {
    PF_UNROLL
    for (int i = 0; i < product_rows; ++i) {
      const Two down = both([&](auto c) {
        float sum = raw->taps.weight[0] * raw_rows[i + radius].*c;
        PF_UNROLL
        for (int k = 1; k <= radius; ++k)
          sum = fma(raw->taps.weight[k], raw_rows[i + radius - k].*c + raw_rows[i + radius + k].*c, sum);
        return sum;
      });
      latest[i] = columns.smoothed<radius>(
          newest_is == Newest::raw_in_pairs ? columns.extended(make_float2(down.left, down.right)) : down,
          raw->taps);
    }
    continue_rows(latest);
  }

  Tensor of_left[product_rows], of_right[product_rows];
  PF_UNROLL
  for (int i = 0; i < product_rows; ++i) {
    const int row = i + derivative_reach;
    const Two oldest = columns.extended(__ldcs(reinterpret_cast<const float2*>(planes.frame[0] + at[row])));
    const Two old = load(1, row), late = load(newest - 1, row);
    if constexpr (!is_raw) latest[i] = load(newest, row);
    const Two gx = columns.derivatives(blended[row]),
              gt = both([&](auto c) {
                return Model::time_derivative(oldest.*c, old.*c, change[i].*c, late.*c, latest[i].*c);
              });
    of_left[i] = products(gx.left, gy[i].left, gt.left);
    of_right[i] = products(gx.right, gy[i].right, gt.right);
  }
  const bool is_own = lane >= halo / each && lane < lanes - halo / each && columns.x <= columns.last;
  if constexpr (
      is_raw) {  // after all loads, which the compiler never moves ahead of a store; cached for the next push
    PF_UNROLL
    for (int i = 0; i < rows_each; ++i)
      if (is_own && y0 + i <= bottom)
        *reinterpret_cast<float2*>(raw->smoothed + at[i + reach]) =
            make_float2(latest[i + mean_reach].left, latest[i + mean_reach].right);
  }
  PF_UNROLL
  for (int i = 0; i < rows_each; ++i) {
    const auto down = [i](const Tensor* of) {
      return each_product<Model>([=](auto p) { return Model::mean(of[i].*p, of[i + 1].*p, of[i + 2].*p); });
    };
    const Tensor here = down(of_left), next = down(of_right);
    const Tensor here_mean =
        each_product<Model>([&](auto p) { return Model::mean(from_left(next.*p), here.*p, next.*p); });
    const Tensor next_mean =
        each_product<Model>([&](auto p) { return Model::mean(here.*p, next.*p, from_right(here.*p)); });
    const int x = columns.x, y = y0 + i;
    if (!is_own || y > bottom) continue;
    const TensorFlow flow0 = model.flow_of(here_mean), flow1 = model.flow_of(next_mean);
    const float confidence0 = smaller_eigenvalue(here_mean.xx, here_mean.xy, here_mean.yy),
                confidence1 = smaller_eigenvalue(next_mean.xx, next_mean.xy, next_mean.yy);
    const int to = y * planes.pitch + x, valid_to = y * planes.valid_pitch + x;
    if (x < columns.last) {
      auto* const u = reinterpret_cast<float2*>(planes.u + to);
      auto* const v = reinterpret_cast<float2*>(planes.v + to);
      const float2 us = make_float2(flow0.u, flow1.u), vs = make_float2(flow0.v, flow1.v);
      if constexpr (Model::smooths_flow)
        *u = us, *v = vs;  // cached, because the smoothing reads them soon
      else
        __stcs(u, us), __stcs(v, vs);
      __stcs(reinterpret_cast<float2*>(planes.confidence + to), make_float2(confidence0, confidence1));
      __stcs(reinterpret_cast<uchar2*>(planes.valid + valid_to), make_uchar2(flow0.valid, flow1.valid));
    } else {
      planes.u[to] = flow0.u, planes.v[to] = flow0.v;
      planes.confidence[to] = confidence0;
      planes.valid[valid_to] = flow0.valid;
    }
  }
}

template <class Model>
__global__ void __launch_bounds__(lanes* warps, 5) temporal_kernel(Planes<Model> planes, Model model) {
  launch_next();
  solve_tile<Newest::smoothed>(planes, nullptr, model);
}

template <class Model>
__global__ void __launch_bounds__(lanes* warps, 4) push_kernel(Planes<Model> planes, Raw raw, Model model) {
  launch_next();
  if (raw.in_pairs)
    solve_tile<Newest::raw_in_pairs>(planes, &raw, model);
  else
    solve_tile<Newest::raw>(planes, &raw, model);
}

template <class Model>
Planes<Model> planes_of(const FrameWindow<Model>& in, FlowPlanes out, Trust trust) {
  const View<float>& u = out.u;
  Planes<Model> planes{{},      u.data,   out.v.data,      trust.confidence.data, trust.valid.data,
                       u.width, u.height, int(u.stride()), int(trust.valid.pitch)};
  for (int i = 0; i < Model::frames; ++i) planes.frame[i] = in.frame[i].data;
  return planes;
}

}  // namespace

template <class Backend, class Model>
void temporal_flow(Backend& cuda, const FrameWindow<Model>& in, const Model& model, FlowPlanes out,
                   Trust trust, const Frame* newest) {
  const Size size = out.u.size();
  const dim3 grid(blocks_for(size.width, tile_width), blocks_for(size.height, tile_height)),
      block(lanes, warps);
  const Planes<Model> planes = planes_of(in, out, trust);
  if (!newest) return cuda.launch(temporal_kernel<Model>, grid, block, 0, planes, model);
  // With an odd width, the last pair of pixels would extend past the end of its row.
  const auto bits = reinterpret_cast<std::size_t>(newest->data) | std::size_t(newest->pitch | newest->width);
  const Raw raw{*newest, newest->format == PixelFormat::gray_u8 && bits % 2 == 0, Model::frame_taps(),
                in.frame[Model::frames - 1].data};
  cuda.launch_input(push_kernel<Model>, grid, block, planes, raw, model);
}

PF_STEP(temporal_flow<Cuda, GradientTensorModel>);
PF_STEP(temporal_flow<Cuda, RidgeRegressionModel>);

}  // namespace parafield
