#include "core/cuda/backend.hpp"
#include "gradient/lucas_kanade/step.hpp"

// One launch a solution. A block makes a tile: the products of every pixel that its windows reach go to
// shared memory, each warp sums whole rows of them in place, and each thread sums down a column for its
// pixels and solves.
namespace parafield {
namespace {

constexpr int equations = NormalEquations::count;
constexpr int tile_width = 32, warps = 8;  // a warp's lanes are the columns of the tile

/// The part of pixel (x, y), which lies inside the level.
__device__ NormalEquations products_at(View<const float> frame0, View<const float> frame1, FlowPlanes in,
                                       float robust2, int x, int y) {
  const int last = frame0.width - 1, bottom = frame0.height - 1;
  const float* row = frame0.row(y);
  const float gx = derivative(row[clamp(x - 2, 0, last)], row[clamp(x - 1, 0, last)],
                              row[clamp(x + 1, 0, last)], row[clamp(x + 2, 0, last)]);
  const float gy = derivative(frame0(x, clamp(y - 2, 0, bottom)), frame0(x, clamp(y - 1, 0, bottom)),
                              frame0(x, clamp(y + 1, 0, bottom)), frame0(x, clamp(y + 2, 0, bottom)));
  const float u = in.u(x, y), v = in.v(x, y);
  const Match match = locate(float(x) + u, float(y) + v, frame1.width, frame1.height);
  const float e = sample(frame1, match) - row[x];
  return normal_equations(gx, gy, e, match.inside, u, v, robust2);
}

/// Window: the window's side where it is known to the compiler, otherwise 0. RowsEach: rows of the tile for
/// each thread.
template <int Window, int RowsEach>
__global__ void __launch_bounds__(tile_width* warps)
    least_squares_kernel(View<const float> frame0, View<const float> frame1, LeastSquares p, FlowPlanes in,
                         FlowPlanes out, Trust trust) {
  extern __shared__ float products[];
  const int window = Window > 0 ? Window : p.window();
  const int columns = tile_width + window - 1, rows = warps * RowsEach + window - 1, plane = rows * columns;
  const int width = frame0.width, height = frame0.height;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * warps * RowsEach;
  const int lane = int(threadIdx.x), warp = int(threadIdx.y);

  for (int i = warp * tile_width + lane; i < plane; i += tile_width * warps) {
    const int row = i / columns, column = i - row * columns;
    const int x = clamp(x0 + column - p.before, 0, width - 1), y = clamp(y0 + row - p.before, 0, height - 1);
    const NormalEquations part = products_at(frame0, frame1, in, p.robust2, x, y);
    products[i] = part.xx;
    products[plane + i] = part.xy;
    products[2 * plane + i] = part.yy;
    products[3 * plane + i] = part.xt;
    products[4 * plane + i] = part.yt;
  }
  __syncthreads();

  for (int row = warp; row < rows; row += warps) {
    float sums[equations];
    PF_UNROLL
    for (int i = 0; i < equations; ++i) {
      const float* values = products + i * plane + row * columns + lane;
      float sum = values[0];
      PF_UNROLL
      for (int k = 1; k < window; ++k) sum += values[k];
      sums[i] = sum;
    }
    __syncwarp();  // every lane has read the row that is now written over
    PF_UNROLL
    for (int i = 0; i < equations; ++i) products[i * plane + row * columns + lane] = sums[i];
  }
  __syncthreads();

  const int x = x0 + lane;
  if (x >= width) return;
  PF_UNROLL
  for (int j = 0; j < RowsEach; ++j) {
    const int row = warp * RowsEach + j, y = y0 + row;
    if (y >= height) return;
    float sums[equations];
    PF_UNROLL
    for (int i = 0; i < equations; ++i) {
      const float* values = products + i * plane + row * columns + lane;
      float sum = values[0];
      PF_UNROLL
      for (int k = 1; k < window; ++k) sum += values[k * columns];
      sums[i] = sum;
    }
    const NormalEquations sum{sums[0], sums[1], sums[2], sums[3], sums[4]};
    const Solution solution = solve(sum, in.u(x, y), in.v(x, y), p.alpha, width, height);
    out.u(x, y) = solution.u;
    out.v(x, y) = solution.v;
    if (trust.valid) {
      const float eigenvalue = smaller_eigenvalue(sum, p.eigenvalue_unit);
      trust.confidence(x, y) = eigenvalue;
      trust.valid(x, y) = is_trusted(eigenvalue, p.min_eigenvalue, frame0(x, y), float(x) + solution.u,
                                     float(y) + solution.v, width, height);
    }
  }
}

template <int Window, int RowsEach>
void launch_step(Cuda& cuda, View<const float> frame0, View<const float> frame1, const LeastSquares& p,
                 FlowPlanes in, FlowPlanes out, Trust trust) {
  constexpr int tile_height = warps * RowsEach;
  const int window = p.window();
  const std::size_t bytes = std::size_t(tile_width + window - 1) * std::size_t(tile_height + window - 1) *
                            equations * sizeof(float);
  const auto kernel = least_squares_kernel<Window, RowsEach>;
  if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
  const dim3 block(tile_width, warps),
      grid(blocks_for(frame0.width, tile_width), blocks_for(frame0.height, tile_height));
  cuda.launch(kernel, grid, block, bytes, frame0, frame1, p, in, out, trust);
}

/// Small levels take flat tiles: more blocks than multiprocessors matter more there than less work at the
/// edges.
template <int Window>
void launch_step(Cuda& cuda, View<const float> frame0, View<const float> frame1, const LeastSquares& p,
                 FlowPlanes in, FlowPlanes out, Trust trust) {
  if (frame0.width * frame0.height < 100'000)
    launch_step<Window, 1>(cuda, frame0, frame1, p, in, out, trust);
  else
    launch_step<Window, 2>(cuda, frame0, frame1, p, in, out, trust);
}

}  // namespace

template <>
void least_squares_step(Cuda& cuda, View<const float> frame0, View<const float> frame1, const LeastSquares& p,
                        FlowPlanes in, FlowPlanes out, Trust trust) {
  switch (p.window()) {  // the usual windows have kernels of their own, unrolled
    case 7:
      return launch_step<7>(cuda, frame0, frame1, p, in, out, trust);
    case 9:
      return launch_step<9>(cuda, frame0, frame1, p, in, out, trust);
    case 10:
      return launch_step<10>(cuda, frame0, frame1, p, in, out, trust);
    case 11:
      return launch_step<11>(cuda, frame0, frame1, p, in, out, trust);
    case 15:
      return launch_step<15>(cuda, frame0, frame1, p, in, out, trust);
    default:
      return launch_step<0>(cuda, frame0, frame1, p, in, out, trust);
  }
}

}  // namespace parafield
