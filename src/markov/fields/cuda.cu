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
  __device__ void operator()(int x, int y) const { store_value(values, u, v, trust, x, y); }
};
struct StoreChange {
  Change change;
  Volume costs;
  View<Label> winners;
  View<std::uint8_t> known;
  __device__ void operator()(int x, int y) const { store_change(change, costs, winners, known, x, y); }
};
struct StoreMask {
  MaskOf from;
  View<std::uint8_t> moving;
  Trust trust;
  __device__ void operator()(int x, int y) const { store_mask(from, moving, trust, x, y); }
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
