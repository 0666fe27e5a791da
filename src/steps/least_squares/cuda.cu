// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "steps/least_squares/large_tiles.cuh"
#include "steps/least_squares/small_tiles.cuh"

// A solution is one launch, in which each block computes a tile. The products of all pixels under the tile's
// windows go to shared memory; they are summed along rows, then along columns, and then each pixel is solved.
// Levels that fill the device get large tiles, whose height is chosen to load the SMs evenly. Other levels
// get small tiles, which all fit on the device at once. With the option `throughput`, an estimator plans for
// a quarter of the device.
//
// All of these kernels allow the next launch only after the preceding kernel has ended. The kernel after a
// solution therefore starts when the frames are already complete: see `follows`.
//
// Lower bound: a solution reads 16 bytes per pixel (two frames, u, v), writes 8, and takes about 190
// operations (60 for the products, 2 * 5 * 10 additions at window 11, 30 to solve). At 1920x1080, an H100
// (3.0 TB/s) needs 17 us for the bytes and 12 us for the operations. The finest level takes 42 us, or 40 %,
// with 328 instructions per pixel: 127 for the products (of 1.34 times as many pixels, because tiles
// overlap), 74 for the sums along rows, and 127 for the rest. With small tiles, levels of 80x60, 160x120 and
// 320x240 take 1.6, 1.9 and 2.9 us instead of 2.7, 3.0 and 3.8.
namespace parafield {
namespace {

std::size_t shared_bytes(int tile_rows, const LeastSquares& p) {
  constexpr std::size_t beyond = 8;  // floats that sum_along may read after the last row
  const int pitch = Layout<0>{p.before, p.after}.pitch();
  return (std::size_t(tile_rows + p.window() - 1) * std::size_t(pitch) * equations + beyond) * sizeof(float);
}

/// The height of a large tile that gives the busiest SM the least work, including the halo. With
/// `whole_strips` it is a multiple of 4; otherwise it is a multiple of 2 above 8 and of 4 above 16.
int choose_tile_rows(Cuda& cuda, Size size, const LeastSquares& p, bool whole_strips) {
  const auto step = [=](int rows) { return whole_strips || rows >= 16 ? 4 : rows < 8 ? 1 : 2; };
  int best = 0;
  double least = 1e30;
  for (int rows = step(0); rows <= 64; rows += step(rows)) {
    if (best > 0 && shared_bytes(rows, p) > cuda.shared_memory()) break;
    const int blocks = int(blocks_for(size.width, tile_width) * blocks_for(size.height, rows));
    const double work =
        double((blocks + cuda.multiprocessors() - 1) / cuda.multiprocessors()) * (rows + p.window() - 1 + 4);
    if (work >= least) continue;
    least = work;
    best = rows;
  }
  return best;
}

/// Calls f.template operator()<FromCoarser, Robust>(), the arguments of the kernels that solve these inputs.
template <class F>
void with_kind(const Input& in, const LeastSquares& p, F f) {
  if (p.robust2 > 0)
    in.coarser.u ? f.template operator()<true, true>() : f.template operator()<false, true>();
  else
    in.coarser.u ? f.template operator()<true, false>() : f.template operator()<false, false>();
}

template <int Window, int Strip, int Threads>
void launch_large(Cuda& cuda, const Input& in, const LeastSquares& p, FlowPlanes out, Trust trust,
                  int tile_rows) {
  const std::size_t bytes = shared_bytes(tile_rows, p);
  const auto launch = [&](auto kernel) {
    if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
    const dim3 grid(blocks_for(in.width, tile_width), blocks_for(in.height, tile_rows));
    cuda.launch(kernel, grid, dim3(Threads), bytes, in, p, out, trust, tile_rows);
  };
  with_kind(in, p, [&]<bool FromCoarser, bool Robust>() {
    launch(least_squares_kernel<Window, Strip, Threads, FromCoarser, Robust>);
  });
}

template <int Window>
void launch_large(Cuda& cuda, const Input& in, const LeastSquares& p, FlowPlanes out, Trust trust) {
  const int rows = choose_tile_rows(cuda, {in.width, in.height}, p, Window > 0);
  const auto blocks = int(blocks_for(in.width, tile_width) * blocks_for(in.height, rows));
  if constexpr (Window == 0) {
    if (rows <= 8) return launch_large<Window, 1, 1024>(cuda, in, p, out, trust, rows);
    if (rows <= 16) return launch_large<Window, 2, 1024>(cuda, in, p, out, trust, rows);
  }
  if (blocks <= cuda.multiprocessors())
    launch_large<Window, 4, 1024>(cuda, in, p, out, trust, rows);
  else
    launch_large<Window, 4, 512>(cuda, in, p, out, trust, rows);  // two blocks per SM
}

/// Launches tiles of a shape if all of them fit on the device at once. Returns whether they do.
template <class Shape, int Window>
bool launch_small(Cuda& cuda, const Input& in, const LeastSquares& p, FlowPlanes out, Trust trust,
                  bool follows) {
  const dim3 grid(blocks_for(in.width, Shape::width), blocks_for(in.height, Shape::height));
  if (std::int64_t(grid.x) * grid.y > 2 * cuda.multiprocessors()) return false;
  constexpr std::size_t bytes = sizeof(SmallTile<Shape, Window>);
  const auto launch = [&](auto kernel) {
    const void* const address = reinterpret_cast<const void*>(kernel);
    if (bytes > 48 * 1024) cuda.allow_shared_memory(address, bytes);
    // All shapes use the same carveout: an SM that must change it cannot start a kernel before the preceding
    // one has ended. Two blocks of the largest shape fit.
    cuda.share_memory(address, 50);
    cuda.launch(kernel, grid, dim3(Shape::threads), bytes, in, p, out, trust, follows);
  };
  with_kind(in, p, [&]<bool FromCoarser, bool Robust>() {
    launch(least_squares_small_kernel<Shape, Window, FromCoarser, Robust>);
  });
  return true;
}

template <int Window, class... Shapes>
bool launch_smallest(Cuda& cuda, const Input& in, const LeastSquares& p, FlowPlanes out, Trust trust,
                     bool follows) {
  return (launch_small<Shapes, Window>(cuda, in, p, out, trust, follows) || ...);
}

}  // namespace

template <class Backend>
void least_squares_step(Backend& cuda, View<const float> frame0, View<const float> frame1,
                        const LeastSquares& p, StartingFlow in, FlowPlanes out, Trust trust, bool follows) {
  for (const View<float>& plane : {in.flow.u, in.flow.v, out.u, out.v})
    if (plane.pitch != frame0.pitch || plane.pitch != frame1.pitch)
      fail(ErrorCode::invalid_argument, "the planes of a level have pitches of ", plane.pitch, " and ",
           frame0.pitch, " bytes; they must be equal");
  if (in.coarser.u.pitch != in.coarser.v.pitch)
    fail(ErrorCode::invalid_argument, "the planes of the coarser flow have pitches of ", in.coarser.u.pitch,
         " and ", in.coarser.v.pitch, " bytes; they must be equal");
  const Input input{frame0.data,  frame1.data,   in.flow.u.data,       in.flow.v.data,
                    frame0.width, frame0.height, int(frame0.stride()), in.coarser};
  const int window = larger(input.width, input.height) <= most_side ? p.window() : 0;
  with_constant<7, 9, 10, 11, 15>(window, [&]<int Window>() {
    if constexpr (Window > 0)
      if (launch_smallest<Window, TileShape<8, 8, 352, 1, 4>, TileShape<16, 10, 544, 1, 5>,
                          TileShape<32, 20, 640, 2, 5>>(cuda, input, p, out, trust, follows))
        return;
    launch_large<Window>(cuda, input, p, out, trust);
  });
}

PF_STEP(least_squares_step<Cuda>);

}  // namespace parafield
