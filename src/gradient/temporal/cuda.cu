#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/temporal/step.hpp"

// One kernel, without shared memory: a warp makes four rows of 56 pixels. A lane holds two columns, with all rows that it
// reaches in registers, and takes what it needs of the columns beside it from the lanes beside it.
//
// Floor: gradient-tensor reads 20 bytes a pixel (five frames) and writes 13, ridge-regression reads 28, writes 13 and
// moves another 16 to smooth the flow. Frames come in at 5 (blocks/smooth). An H100 (3.0 TB/s) needs 3.9 us and 0.105 ms
// for 38 bytes at 640x480 and 3840x2160, 6.3 us and 0.171 ms for 62. About 90 and 150 operations a pixel, the
// smoothing included.

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
/// Of the lane to the left or to the right.
__device__ float from_left(float value) { return __shfl_up_sync(~0u, value, 1); }
__device__ float from_right(float value) { return __shfl_down_sync(~0u, value, 1); }

/// The two columns of a lane. Beyond the border the nearest pixel stands in.
struct Columns {
  int x, last;
  bool at_border;  // some lane of the warp has a column that is or reaches beyond

  /// Where two floats can be loaded: rows have room for an even number.
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
  /// Derivatives along the row; beyond the border those of the nearest pixel.
  __device__ Two derivatives(Two here) const {
    const float left1 = from_left(here.right), left2 = from_left(here.left), right1 = from_right(here.left),
                right2 = from_right(here.right);
    Two result{derivative(left2, left1, here.right, right1), derivative(left1, here.left, right1, right2)};
    if (at_border) {
      const float before = from_left(result.right), after = from_right(result.left);
      if (x == -each) result.right = after;
      if (x == last) result.right = result.left;
      if (x == last + 1) result.left = before;
    }
    return result;
  }
};

/// Frames and results; images of one size have one pitch.
template <class Model>
struct Planes {
  const float* frame[Model::frames];
  float *u, *v, *confidence;
  std::uint8_t* valid;
  int width, height, pitch, valid_pitch;
};

template <class Model>
__global__ void __launch_bounds__(lanes* warps, 5) temporal_kernel(Planes<Model> planes, Model model) {
  launch_next();
  constexpr int middle = Model::frames / 2, newest = Model::frames - 1;
  constexpr int blended_rows = rows_each + 2 * reach, product_rows = rows_each + 2 * mean_reach;
  const int lane = int(threadIdx.x), left = int(blockIdx.x) * tile_width - halo;
  const int y0 = (int(blockIdx.y) * warps + int(threadIdx.y)) * rows_each, bottom = planes.height - 1;
  const Columns columns{left + lane * each, planes.width - 1, left < 0 || left + lanes * each > planes.width};
  int at[blended_rows];  // from row y0 - reach on
  PF_UNROLL
  for (int i = 0; i < blended_rows; ++i)
    at[i] = clamp(y0 + i - reach, 0, bottom) * planes.pitch + columns.first();
  await_last();
  if (y0 > bottom) return;  // whole warps
  const auto load = [&](int frame, int row) {
    return columns.extended(*reinterpret_cast<const float2*>(planes.frame[frame] + at[row]));
  };

  Two blended[blended_rows], change[product_rows];  // change: around the middle in time
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
  // Products beyond the border are those of the nearest row, where the others' values lie already.
  if (y0 == 0) gy[0] = gy[1];
  PF_UNROLL
  for (int i = 1; i < product_rows; ++i)
    if (y0 + i - mean_reach > bottom) gy[i] = gy[i - 1];

  Tensor of_left[product_rows], of_right[product_rows];
  PF_UNROLL
  for (int i = 0; i < product_rows; ++i) {
    const int row = i + derivative_reach;
    const Two oldest = columns.extended(__ldcs(reinterpret_cast<const float2*>(planes.frame[0] + at[row])));
    const Two old = load(1, row), late = load(newest - 1, row), latest = load(newest, row);
    const Two gx = columns.derivatives(blended[row]),
              gt = both([&](auto c) {
                return Model::time_derivative(oldest.*c, old.*c, change[i].*c, late.*c, latest.*c);
              });
    of_left[i] = products(gx.left, gy[i].left, gt.left);
    of_right[i] = products(gx.right, gy[i].right, gt.right);
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
    if (lane < halo / each || lane >= lanes - halo / each || x > columns.last || y > bottom) continue;
    const TensorFlow flow0 = model.flow_of(here_mean), flow1 = model.flow_of(next_mean);
    const float confidence0 = tensor_confidence(here_mean), confidence1 = tensor_confidence(next_mean);
    const int to = y * planes.pitch + x, valid_to = y * planes.valid_pitch + x;
    if (x < columns.last) {
      auto *const u = reinterpret_cast<float2*>(planes.u + to), *const v =
                                                                    reinterpret_cast<float2*>(planes.v + to);
      const float2 us = make_float2(flow0.u, flow1.u), vs = make_float2(flow0.v, flow1.v);
      if constexpr (Model::smooths_flow)
        *u = us, *v = vs;  // soon read
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
void launch(Cuda& cuda, const FrameWindow<Model>& in, const Model& model, FlowPlanes out, Trust trust) {
  const View<float>& u = out.u;
  Planes<Model> planes{{},
                       u.data,
                       out.v.data,
                       trust.confidence.data,
                       trust.valid.data,
                       u.width,
                       u.height,
                       int(u.pitch / std::ptrdiff_t(sizeof(float))),
                       int(trust.valid.pitch)};
  for (int i = 0; i < Model::frames; ++i) planes.frame[i] = in.frame[i].data;
  cuda.launch(temporal_kernel<Model>,
              dim3(blocks_for(u.width, tile_width), blocks_for(u.height, tile_height)), dim3(lanes, warps), 0,
              planes, model);
}

}  // namespace

template <>
void temporal_flow(Cuda& cuda, const FrameWindow<GradientTensorModel>& in, const GradientTensorModel& model,
                   FlowPlanes out, Trust trust) {
  launch(cuda, in, model, out, trust);
}

template <>
void temporal_flow(Cuda& cuda, const FrameWindow<RidgeRegressionModel>& in, const RidgeRegressionModel& model,
                   FlowPlanes out, Trust trust) {
  launch(cuda, in, model, out, trust);
}

}  // namespace parafield
