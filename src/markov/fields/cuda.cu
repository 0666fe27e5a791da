#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "markov/binary.cuh"
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
struct StoreLabel {
  View<const std::uint8_t> mask;
  View<Label> labels;
  __device__ void operator()(int x, int y) const { labels(x, y) = mask(x, y) != 0; }
};

// Of masks a thread makes four pixels: one each would leave most of the time to waiting for loads. Rows have room for
// them.
constexpr int four = FourSites::count;

__device__ float& part(float4& vector, int i) { return (&vector.x)[i]; }

__device__ float4 four_of(const View<const float>& image, int x0, int y) {
  return *reinterpret_cast<const float4*>(image.row(y) + x0);
}

__global__ void change_costs_kernel(Change change, Volume costs, View<Label> winners,
                                    View<std::uint8_t> known) {
  begin_kernel();
  const int x0 = int(blockIdx.x * blockDim.x + threadIdx.x) * four,
            y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x0 >= winners.width || y >= winners.height) return;
  float4 a[3], b[3], still, moving;
  PF_UNROLL
  for (int channel = 0; channel < 3; ++channel) {
    if (channel >= change.channels) break;
    a[channel] = four_of(change.frame0[channel], x0, y);
    b[channel] = four_of(change.frame1[channel], x0, y);
  }
  const ushort4 last = change.last ? *reinterpret_cast<const ushort4*>(change.last.row(y) + x0) : ushort4{};
  const unsigned short moved[] = {last.x, last.y, last.z, last.w};
  unsigned short winner[four];
  unsigned char finite[four];
  PF_UNROLL
  for (int i = 0; i < four; ++i) {
    const float difference = change.channels == 3
                                 ? mean_difference(part(a[0], i), part(a[1], i), part(a[2], i), part(b[0], i),
                                                   part(b[1], i), part(b[2], i))
                                 : magnitude(part(b[0], i) - part(a[0], i));
    const float temporal = !change.last ? 0.0f : moved[i] ? change.temporal : -change.temporal;
    const ChangeCosts cost = change_cost(change, difference, temporal);
    part(still, i) = cost.still;
    part(moving, i) = cost.moving;
    winner[i] = seems_moving(change, difference) ? 1 : 0;
    finite[i] = is_finite(difference);
  }
  *reinterpret_cast<float4*>(costs.row(y, 0) + x0) = still;
  *reinterpret_cast<float4*>(costs.row(y, 1) + x0) = moving;
  *reinterpret_cast<ushort4*>(winners.row(y) + x0) = make_ushort4(winner[0], winner[1], winner[2], winner[3]);
  *reinterpret_cast<uchar4*>(known.row(y) + x0) = make_uchar4(finite[0], finite[1], finite[2], finite[3]);
}

__global__ void mask_kernel(MaskOf from, View<std::uint8_t> moving, Trust trust) {
  begin_kernel();
  const int x0 = int(blockIdx.x * blockDim.x + threadIdx.x) * four,
            y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x0 >= moving.width || y >= moving.height) return;
  const uchar4 known = *reinterpret_cast<const uchar4*>(from.known.row(y) + x0);
  float4 cost0 = *reinterpret_cast<const float4*>(from.costs.row(y, 0) + x0),
         cost1 = *reinterpret_cast<const float4*>(from.costs.row(y, 1) + x0), confidence;
  const FourSites sites = four_sites<8>(from.labels, x0, y);
  const float pair = from.pair.cost<PairModel::linear>(1, 0);
  PF_UNROLL
  for (int i = 0; i < four; ++i)
    part(confidence, i) =
        mask_confidence(sites.label[i], part(cost0, i), part(cost1, i), sites.ones[i], sites.all[i], pair);
  *reinterpret_cast<float4*>(trust.confidence.row(y) + x0) = confidence;
  *reinterpret_cast<uchar4*>(trust.valid.row(y) + x0) = known;
  using Byte = unsigned char;
  *reinterpret_cast<uchar4*>(moving.row(y) + x0) =
      make_uchar4(Byte(sites.label[0]), Byte(sites.label[1]), Byte(sites.label[2]), Byte(sites.label[3]));
}

dim3 grid_of_four(Size size) { return {blocks_for(size.width, 32 * four), blocks_for(size.height, 8)}; }

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
  cuda.launch(change_costs_kernel, grid_of_four(winners.size()), dim3(32, 8), 0, change, costs, winners,
              known);
}

template <>
void mask_of(Cuda& cuda, const MaskOf& from, View<std::uint8_t> moving, Trust trust) {
  cuda.launch(mask_kernel, grid_of_four(moving.size()), dim3(32, 8), 0, from, moving, trust);
}

template <>
void labels_of_mask(Cuda& cuda, View<const std::uint8_t> mask, View<Label> labels) {
  for_each_input_pixel(cuda, labels.size(), StoreLabel{mask, labels});
}

}  // namespace parafield
