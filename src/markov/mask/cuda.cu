// SPDX-License-Identifier: MIT
#include "markov/launch.cuh"
#include "markov/mask/mask.hpp"
#include "markov/neighbor_counts.cuh"

namespace parafield {
namespace {

// A thread computes four pixels, because with one each it would mostly wait for loads. Rows are padded for
// all four.
constexpr int four = FourSites::count;

__device__ float& part(float4& vector, int i) { return (&vector.x)[i]; }

__device__ float4 four_of(const View<const float>& image, int x0, int y) {
  return *reinterpret_cast<const float4*>(image.row(y) + x0);
}

__global__ void change_costs_kernel(Change change, Volume costs, View<Label> winners,
                                    View<std::uint8_t> known) {
  begin_kernel();
  const int x0 = own_x() * four, y = own_y();
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
    const float difference =
        change.channels == 3 ? mean_magnitude(part(b[0], i) - part(a[0], i), part(b[1], i) - part(a[1], i),
                                              part(b[2], i) - part(a[2], i))
                             : magnitude(part(b[0], i) - part(a[0], i));
    const float temporal = change.last ? temporal_cost(change, moved[i], difference) : 0.0f;
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

__global__ void mask_kernel(MaskLabels from, View<std::uint8_t> moving, Trust trust) {
  begin_kernel();
  const int x0 = own_x() * four, y = own_y();
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

__global__ void labels_kernel(View<const std::uint8_t> mask, View<Label> labels) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x < labels.width && y < labels.height) labels(x, y) = mask(x, y) != 0;
}

}  // namespace

template <class Backend>
void change_costs(Backend& cuda, const Change& change, Volume costs, View<Label> winners,
                  View<std::uint8_t> known) {
  cuda.launch(change_costs_kernel, pixel_grid(winners.size(), four), pixel_block, 0, change, costs, winners,
              known);
}

template <class Backend>
void mask_of(Backend& cuda, const MaskLabels& from, View<std::uint8_t> moving, Trust trust) {
  cuda.launch(mask_kernel, pixel_grid(moving.size(), four), pixel_block, 0, from, moving, trust);
}

template <class Backend>
void labels_of_mask(Backend& cuda, View<const std::uint8_t> mask, View<Label> labels) {
  cuda.launch_input(labels_kernel, pixel_grid(labels.size()), pixel_block, mask, labels);
}

PF_STEP(change_costs<Cuda>);
PF_STEP(mask_of<Cuda>);
PF_STEP(labels_of_mask<Cuda>);

}  // namespace parafield
