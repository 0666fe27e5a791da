#include <type_traits>

#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/features/propagation.hpp"

// One launch, and one for each round of propagation. A warp tracks a feature there and back; its lanes are
// those of the sums, and each keeps its pixels of the window. In a round, warps of features that are not
// dropped only copy. A block has two warps, so that a few hundred features reach all multiprocessors.
//
// Floor of 1000 features, window 9, 4 levels: not bytes (the levels of two frames lie in the L2 cache) but
// operations that wait for each other. A level begins with a patch (a read of the cache, shared memory, five
// steps of additions across the lanes: about 700 cycles); a solution is a read, five steps and a division:
// about 450. Eight levels there and back with four solutions each are 20000 cycles, 12 us of an H100; with
// ten, the most by default, 23 us. (Counted, not measured.)
namespace parafield {
namespace {

constexpr int lanes = lanes_of_window, warps = 2;
static_assert(lanes == 32);

/// Every lane gets the sum. Lane j adds the same two values as lane j - 16, in the other order.
__device__ float add_lanes(float value) {
  PF_UNROLL
  for (int step = lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__device__ WindowTensor add_lanes(const WindowTensor& sum) {
  return {add_lanes(sum.xx), add_lanes(sum.xy), add_lanes(sum.yy)};
}

/// Pixels of the window that a lane has.
template <int Window>
struct Lane {
  static constexpr int pixels = (Window * Window + lanes - 1) / lanes;
  static constexpr int side = Window + 2 * derivative_reach;  // patch of values that the gradients need

  int index;

  __device__ int pixel(int i) const { return i * lanes + index; }
  __device__ bool exists(int i) const { return pixel(i) < Window * Window; }
  __device__ int column(int i) const { return pixel(i) % Window; }
  __device__ int row(int i) const { return pixel(i) / Window; }
  __device__ int dx(int i) const { return column(i) - Window / 2; }
  __device__ int dy(int i) const { return row(i) - Window / 2; }
};

/// Reads a warp's patch into shared memory, and each lane's pixels from there.
template <int Window>
__device__ void read_window(const Level& level, const WindowPlace& place, const Lane<Window>& lane,
                            float* patch, WindowPixel (&window)[Lane<Window>::pixels]) {
  constexpr int side = Lane<Window>::side;
  __syncwarp();  // the patch of the level before has been read
  PF_UNROLL
  for (int first = 0; first < side * side; first += lanes) {
    const int i = first + lane.index;
    if (i < side * side) patch[i] = value_at(level, place, i % side - side / 2, i / side - side / 2);
  }
  __syncwarp();
  PF_UNROLL
  for (int i = 0; i < Lane<Window>::pixels; ++i) {
    window[i] = {0, 0, 0};
    if (!lane.exists(i)) continue;
    const int at = (lane.row(i) + derivative_reach) * side + lane.column(i) + derivative_reach;
    window[i] = window_pixel(patch, at, side, is_inside(level, place, lane.dx(i), lane.dy(i)));
  }
}

/// Residual of the lane's pixel i of a window at a place.
template <int Window>
__device__ Residual lane_residual(const Level& to, const WindowPlace& place, const Lane<Window>& lane, int i,
                                  float value) {
  const int dx = lane.dx(i), dy = lane.dy(i);
  return residual(value, value_at(to, place, dx, dy), lane.exists(i) & is_inside(to, place, dx, dy));
}

/// Squared error of a window at a place, px^2; the same for all lanes.
template <int Window>
__device__ float match_error2(const Level& to, const WindowPlace& place, const Lane<Window>& lane,
                              const WindowPixel (&window)[Lane<Window>::pixels]) {
  float squares = 0;
  WindowTensor sum{0, 0, 0};
  PF_UNROLL
  for (int i = 0; i < Lane<Window>::pixels; ++i) {
    const Residual r = lane_residual(to, place, lane, i, window[i].value);
    squares = fma(r.e, r.e, squares);
    sum.add(r.counts ? window[i].gx : 0.0f, r.counts ? window[i].gy : 0.0f);
  }
  return match_error2(add_lanes(squares), add_lanes(sum));
}

/// Tracks one way from a start. All lanes have the same x, y and start, and return the same. `error2`: null =
/// not asked for.
template <int Window>
__device__ Motion track(const Pyramid& from, const Pyramid& to, const TrackingParameters& p,
                        const Lane<Window>& lane, float x, float y, const Motion& start, float* error2,
                        float* patch) {
  constexpr int pixels = Lane<Window>::pixels;
  if (!is_seen(level_of(from, 0), x, y)) return no_track();
  const int levels = smaller(p.levels, from.levels);
  Motion flow = reduced(start, levels);
#pragma unroll 1
  for (int level = levels - 1; level >= 0; --level) {
    const Level first = level_of(from, level), second = level_of(to, level);
    const float scale = 1 / float(1 << level), at_x = x * scale, at_y = y * scale;
    flow = {2 * flow.u, 2 * flow.v};
    WindowPixel window[pixels];
    read_window<Window>(first, place_at(at_x, at_y, first), lane, patch, window);
    WindowTensor all{0, 0, 0};
    PF_UNROLL
    for (int i = 0; i < pixels; ++i) all.add(window[i].gx, window[i].gy);
    all = add_lanes(all);
#pragma unroll 1
    for (int k = 0; k < p.iterations; ++k) {
      const WindowPlace place = place_at(at_x + flow.u, at_y + flow.v, second);
      float bx = 0, by = 0;
      WindowTensor sum{0, 0, 0};
      bool is_lost = false;
      PF_UNROLL
      for (int i = 0; i < pixels; ++i) {
        const Residual r = lane_residual(second, place, lane, i, window[i].value);
        const float gx = window[i].gx, gy = window[i].gy;
        bx = fma(gx, r.e, bx);
        by = fma(gy, r.e, by);
        sum.add(r.counts ? gx : 0.0f, r.counts ? gy : 0.0f);
        is_lost |= !r.counts & ((gx != 0) | (gy != 0));
      }
      bx = add_lanes(bx);
      by = add_lanes(by);
      sum = __any_sync(~0u, is_lost) ? add_lanes(sum) : all;
      if (!is_solvable(sum, p.least_sum)) {
        if (level == 0) return no_track();
        break;
      }
      const Motion step = solution(sum, bx, by);
      flow = {flow.u + step.u, flow.v + step.v};
      if (is_last(step)) break;
    }
    if (level == 0 && error2)
      *error2 = match_error2<Window>(second, place_at(at_x + flow.u, at_y + flow.v, second), lane, window);
  }
  return is_seen(level_of(to, 0), x + flow.u, y + flow.v) ? flow : no_track();
}

template <int Window>
__global__ void __launch_bounds__(lanes* warps)
    track_kernel(const __grid_constant__ Pyramid from, const __grid_constant__ Pyramid to, FeatureGrid grid,
                 const Feature* features, TrackingParameters p, Track* tracks) {
  begin_kernel();
  __shared__ float patches[warps][Lane<Window>::side * Lane<Window>::side];
  const int warp = int(threadIdx.y), cell = int(blockIdx.x) * warps + warp;
  if (cell >= grid.count()) return;  // whole warps
  const Lane<Window> lane{int(threadIdx.x)};
  const Track found =
      there_and_back(feature_of(grid, features, cell), p.check2, [&](bool back, float x, float y) {
        return track<Window>(back ? to : from, back ? from : to, p, lane, x, y, {0, 0}, nullptr,
                             patches[warp]);
      });
  if (lane.index == 0) tracks[cell] = found;
}

/// Bits of the starts to try. The first lanes have the start of one direction each; of starts that are alike
/// the first is tried.
__device__ unsigned new_starts(const Motion& start, int lane) {
  bool is_new = (lane < directions) & (start.u == start.u);
  PF_UNROLL
  for (int i = 0; i < directions - 1; ++i) {
    const Motion other{__shfl_sync(~0u, start.u, i), __shfl_sync(~0u, start.v, i)};
    is_new &= !((i < lane) & are_alike(start, other));
  }
  return __ballot_sync(~0u, is_new);
}

template <int Window>
__global__ void __launch_bounds__(lanes* warps)
    retry_kernel(const __grid_constant__ Pyramid from, const __grid_constant__ Pyramid to, FeatureGrid grid,
                 TrackingParameters p, const Track* before, const Track* tracks, Track* kept) {
  begin_kernel();
  __shared__ float patches[warps][Lane<Window>::side * Lane<Window>::side];
  const int warp = int(threadIdx.y), cell = int(blockIdx.x) * warps + warp;
  if (cell >= grid.count()) return;  // whole warps
  const Lane<Window> lane{int(threadIdx.x)};
  Track feature = tracks[cell];
  if (is_dropped(feature)) {
    const int row = cell / grid.columns;
    Motion start = no_track();
    if (lane.index < directions)
      start = start_of(before, tracks, grid, cell - row * grid.columns, row, lane.index);
    float least2 = largest_error2;
#pragma unroll 1
    for (unsigned left = new_starts(start, lane.index); left; left &= left - 1) {
      const int i = __ffs(int(left)) - 1;
      const Motion tried{__shfl_sync(~0u, start.u, i), __shfl_sync(~0u, start.v, i)};
      const auto one_way = [&](bool back, float x, float y, const Motion& from_flow, float& error2) {
        return track<Window>(back ? to : from, back ? from : to, p, lane, x, y, from_flow,
                             back ? nullptr : &error2, patches[warp]);
      };
      try_start(tried, p.check2, one_way, least2, feature);
    }
  }
  if (lane.index == 0) kept[cell] = feature;
}

/// Calls launch(window as a type).
template <int Window = 3, class Launch>
void for_window(int window, Launch launch) {
  if constexpr (Window <= max_window) {
    if (window != Window) return for_window<Window + 2>(window, launch);
    launch(std::integral_constant<int, Window>{});
  }
}

}  // namespace

template <>
void track_features(Cuda& cuda, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const Feature* features, const TrackingParameters& p, Track* tracks) {
  for_window(p.window, [&](auto window) {
    cuda.launch(track_kernel<window()>, dim3(blocks_for(grid.count(), warps)), dim3(lanes, warps), 0, from,
                to, grid, features, p, tracks);
  });
}

template <>
void retry_features(Cuda& cuda, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const TrackingParameters& p, const Track* before, const Track* tracks, Track* kept) {
  for_window(p.window, [&](auto window) {
    cuda.launch(retry_kernel<window()>, dim3(blocks_for(grid.count(), warps)), dim3(lanes, warps), 0, from,
                to, grid, again(p), before, tracks, kept);
  });
}

}  // namespace parafield
