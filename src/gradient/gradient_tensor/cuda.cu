#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/gradient_tensor/step.hpp"

// One kernel: a tile's derivatives, weighted down and then along, lie in shared memory; a thread makes the tensor of four
// pixels below each other in registers.
namespace parafield {
namespace {

constexpr int tile_width = 64, tile_height = 16, strip = 4, threads = tile_width * tile_height / strip;
constexpr int columns = tile_width + 8, rows = tile_height + 8;  // of derivatives
constexpr int weighed_columns = tile_width + 2, weighed_rows = tile_height + 2;

__device__ float derivative_along(View<const float> image, int x, int y) {
  const float* const row = image.row(y);
  const int last = image.width - 1;
  return derivative(row[clamp(x - 2, 0, last)], row[clamp(x - 1, 0, last)], row[clamp(x + 1, 0, last)],
                    row[clamp(x + 2, 0, last)]);
}
__device__ float derivative_down(View<const float> image, int x, int y) {
  const int last = image.height - 1;
  return derivative(image(x, clamp(y - 2, 0, last)), image(x, clamp(y - 1, 0, last)),
                    image(x, clamp(y + 1, 0, last)), image(x, clamp(y + 2, 0, last)));
}

__global__ void __launch_bounds__(threads) tensor_kernel(TensorFrames in, FlowPlanes out, Trust trust) {
  begin_kernel();
  __shared__ float derivatives[3][rows][columns], down[3][weighed_rows][columns];
  float(&along)[3][rows][columns] = derivatives;  // takes the place of the derivatives
  const View<const float> middle = in.frame[2];
  const int width = middle.width, height = middle.height;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_height, thread = int(threadIdx.x);

  for (int i = thread; i < rows * columns; i += threads) {
    const int row = i / columns, column = i - row * columns;
    const int x = clamp(x0 + column - 4, 0, width - 1), y = clamp(y0 + row - 4, 0, height - 1);
    derivatives[0][row][column] = derivative_along(middle, x, y);
    derivatives[1][row][column] = derivative_down(middle, x, y);
    derivatives[2][row][column] =
        derivative(in.frame[0](x, y), in.frame[1](x, y), in.frame[3](x, y), in.frame[4](x, y));
  }
  __syncthreads();
  for (int i = thread; i < weighed_rows * columns; i += threads) {
    const int row = i / columns, column = i - row * columns, y = clamp(y0 + row - 1, 0, height - 1);
    PF_UNROLL
    for (int plane = 0; plane < 3; ++plane) {
      float at[7];
      PF_UNROLL
      for (int k = 0; k < 7; ++k)
        at[k] = derivatives[plane][clamp(y + k - 3, 0, height - 1) - y0 + 4][column];
      down[plane][row][column] = weighted(at[0], at[1], at[2], at[3], at[4], at[5], at[6]);
    }
  }
  __syncthreads();
  for (int i = thread; i < weighed_rows * weighed_columns; i += threads) {
    const int row = i / weighed_columns, column = i - row * weighed_columns,
              x = clamp(x0 + column - 1, 0, width - 1);
    PF_UNROLL
    for (int plane = 0; plane < 3; ++plane) {
      float at[7];
      PF_UNROLL
      for (int k = 0; k < 7; ++k) at[k] = down[plane][row][clamp(x + k - 3, 0, width - 1) - x0 + 4];
      along[plane][row][column] = weighted(at[0], at[1], at[2], at[3], at[4], at[5], at[6]);
    }
  }
  __syncthreads();

  const int column = thread % tile_width, first = thread / tile_width * strip, x = x0 + column;
  if (x >= width) return;
  Tensor means[strip][3];  // down the three columns
  PF_UNROLL
  for (int side = 0; side < 3; ++side) {
    Tensor product[strip + 2];
    PF_UNROLL
    for (int i = 0; i < strip + 2; ++i)
      product[i] = products(along[0][first + i][column + side], along[1][first + i][column + side],
                            along[2][first + i][column + side]);
    PF_UNROLL
    for (int i = 0; i < strip; ++i) {
      const Tensor &a = product[i], &b = product[i + 1], &c = product[i + 2];
      means[i][side] = {mean_of(a.xx, b.xx, c.xx), mean_of(a.yy, b.yy, c.yy), mean_of(a.xy, b.xy, c.xy),
                        mean_of(a.xt, b.xt, c.xt), mean_of(a.yt, b.yt, c.yt)};
    }
  }
  PF_UNROLL
  for (int i = 0; i < strip; ++i) {
    const int y = y0 + first + i;
    if (y >= height) return;
    const Tensor &a = means[i][0], &b = means[i][1], &c = means[i][2];
    const Tensor tensor{mean_of(a.xx, b.xx, c.xx), mean_of(a.yy, b.yy, c.yy), mean_of(a.xy, b.xy, c.xy),
                        mean_of(a.xt, b.xt, c.xt), mean_of(a.yt, b.yt, c.yt)};
    const TensorFlow flow = solved(tensor, in.min_determinant);
    out.u(x, y) = flow.u;
    out.v(x, y) = flow.v;
    trust.valid(x, y) = flow.determinant > in.min_determinant;
    trust.confidence(x, y) = tensor_confidence(tensor);
  }
}

}  // namespace

template <>
void gradient_tensor(Cuda& cuda, const TensorFrames& in, FlowPlanes out, Trust trust) {
  cuda.launch(tensor_kernel, dim3(blocks_for(out.u.width, tile_width), blocks_for(out.u.height, tile_height)),
              dim3(threads), 0, in, out, trust);
}

}  // namespace parafield
