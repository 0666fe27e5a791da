#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "markov/fields/fields.hpp"

namespace parafield {
namespace {

/// f(x, y) for each pixel, a thread each.
template <class F>
__global__ void pixels_kernel(int width, int height, F f) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < width && y < height) f(x, y);
}

template <class F>
void for_each_pixel(Cuda& cuda, Size size, F f) {
  cuda.launch(pixels_kernel<F>, dim3(blocks_for(size.width, 32), blocks_for(size.height, 8)), dim3(32, 8), 0,
              size.width, size.height, f);
}

/// The same where it reads what the user handed in.
template <class F>
void for_each_input_pixel(Cuda& cuda, Size size, F f) {
  cuda.launch_input(pixels_kernel<F>, dim3(blocks_for(size.width, 32), blocks_for(size.height, 8)),
                    dim3(32, 8), size.width, size.height, f);
}

struct NearestLabels {
  View<const float> u, v;
  LabelGrid grid;
  View<Label> labels;
  __device__ void operator()(int x, int y) const {
    labels(x, y) = grid.label(nearest_index(u(x, y), grid.x0, grid.nx),
                              v ? nearest_index(v(x, y), grid.y0, grid.ny) : 0);
  }
};
struct StoreValue {
  Values values;
  View<float> u, v;
  Trust trust;
  __device__ void operator()(int x, int y) const {
    const LabelGrid grid = values.grid;
    const CostsAround& costs = values.costs;
    const Label label = values.labels(x, y);
    const float middle = costs.middle(x, y), before = costs.before_x(x, y), after = costs.after_x(x, y);
    float confidence = label_confidence(before, middle, after);
    const float whole_x = float(grid.x0 + grid.x(label));
    u(x, y) = values.sub_pixel ? whole_x + parabola(before, middle, after) : whole_x;
    if (v) {
      const float above = costs.before_y(x, y), below = costs.after_y(x, y),
                  whole_y = float(grid.y0 + grid.y(label));
      v(x, y) = values.sub_pixel ? whole_y + parabola(above, middle, below) : whole_y;
      confidence = smaller(confidence, label_confidence(above, middle, below));
    }
    if (!trust.valid) return;
    trust.confidence(x, y) = confidence;
    trust.valid(x, y) =
        (values.known(x, y) != 0) & is_inside(grid, label, values.step, bool(v), x, y, u.width, u.height);
  }
};
struct StoreChange {
  Change change;
  Volume costs;
  View<Label> winners;
  View<std::uint8_t> known;
  __device__ void operator()(int x, int y) const {
    const View<const float>*a = change.frame0, *b = change.frame1;
    const float difference = change.channels == 3 ? mean_difference(a[0](x, y), a[1](x, y), a[2](x, y),
                                                                    b[0](x, y), b[1](x, y), b[2](x, y))
                                                  : magnitude(b[0](x, y) - a[0](x, y));
    const float temporal = !change.last ? 0.0f : change.last(x, y) ? change.temporal : -change.temporal;
    const auto [still, moving] = change_cost(change, difference, temporal);
    costs.row(y, 0)[x] = still;
    costs.row(y, 1)[x] = moving;
    winners(x, y) = moving < still ? 1 : 0;
    known(x, y) = is_finite(difference);
  }
};
struct StoreMask {
  MaskOf from;
  View<std::uint8_t> moving;
  Trust trust;
  __device__ void operator()(int x, int y) const {
    const int width = moving.width, height = moving.height;
    int ones = 0, all = 0;
    PF_UNROLL
    for (int k = 0; k < 8; ++k) {
      if (k >= from.pair.neighbors) break;
      const int nx = x + neighbor_offset(k).x, ny = y + neighbor_offset(k).y;
      const bool inside = (nx >= 0) & (nx < width) & (ny >= 0) & (ny < height);
      const int label = from.labels(clamp(nx, 0, width - 1), clamp(ny, 0, height - 1));
      all += inside;
      ones += inside ? label : 0;
    }
    const int label = from.labels(x, y);
    moving(x, y) = std::uint8_t(label);
    trust.valid(x, y) = from.known(x, y);
    trust.confidence(x, y) = mask_confidence(label, from.costs.row(y, 0)[x], from.costs.row(y, 1)[x], ones,
                                             all, from.pair.cost<PairModel::linear>(1, 0));
  }
};
struct StoreLabel {
  View<const std::uint8_t> mask;
  View<Label> labels;
  __device__ void operator()(int x, int y) const { labels(x, y) = mask(x, y) != 0; }
};

}  // namespace

template <>
void nearest_labels(Cuda& cuda, View<const float> u, View<const float> v, LabelGrid grid,
                    View<Label> labels) {
  for_each_input_pixel(cuda, labels.size(), NearestLabels{u, v, grid, labels});
}

template <>
void label_values(Cuda& cuda, const Values& values, View<float> u, View<float> v, Trust trust) {
  for_each_pixel(cuda, u.size(), StoreValue{values, u, v, trust});
}

template <>
void change_costs(Cuda& cuda, const Change& change, Volume costs, View<Label> winners,
                  View<std::uint8_t> known) {
  for_each_pixel(cuda, change.frame0[0].size(), StoreChange{change, costs, winners, known});
}

template <>
void mask_of(Cuda& cuda, const MaskOf& from, View<std::uint8_t> moving, Trust trust) {
  for_each_pixel(cuda, moving.size(), StoreMask{from, moving, trust});
}

template <>
void labels_of_mask(Cuda& cuda, View<const std::uint8_t> mask, View<Label> labels) {
  for_each_input_pixel(cuda, labels.size(), StoreLabel{mask, labels});
}

}  // namespace parafield
