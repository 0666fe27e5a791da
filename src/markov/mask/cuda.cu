// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "markov/launch.cuh"
#include "markov/mask/mask.hpp"
#include "markov/neighbor_counts.cuh"

namespace parafield {
namespace {

// A thread computes four pixels, because with one each it would mostly wait for loads. Rows are padded for
// all four.
constexpr int four = FourSites::count;

__global__ void change_costs_kernel(Change change, Volume costs, View<Label> winners,
                                    View<std::uint8_t> known) {
  begin_kernel();
  const int x0 = own_x() * four, y = own_y();
  if (x0 >= winners.width || y >= winners.height) return;
  Four<float> a[3], b[3], still, moving;
  PF_UNROLL
  for (int channel = 0; channel < 3; ++channel) {
    if (channel >= change.channels) break;
    a[channel] = four_at(change.frame0[channel].row(y) + x0);
    b[channel] = four_at(change.frame1[channel].row(y) + x0);
  }
  const Four<Label> last = change.last ? four_at(change.last.row(y) + x0) : Four<Label>{};
  Four<Label> winner;
  Four<std::uint8_t> finite;
  PF_UNROLL
  for (int i = 0; i < four; ++i) {
    const float difference =
        change.channels == 3
            ? mean_magnitude(b[0].of[i] - a[0].of[i], b[1].of[i] - a[1].of[i], b[2].of[i] - a[2].of[i])
            : magnitude(b[0].of[i] - a[0].of[i]);
    const float temporal = change.last ? temporal_cost(change, last.of[i], difference) : 0.0f;
    const ChangeCosts cost = change_cost(change, difference, temporal);
    still.of[i] = cost.still;
    moving.of[i] = cost.moving;
    winner.of[i] = seems_moving(change, difference) ? 1 : 0;
    finite.of[i] = is_finite(difference);
  }
  four_at(costs.row(y, 0) + x0) = still;
  four_at(costs.row(y, 1) + x0) = moving;
  four_at(winners.row(y) + x0) = winner;
  four_at(known.row(y) + x0) = finite;
}

__global__ void mask_kernel(MaskLabels from, View<std::uint8_t> moving, Trust trust) {
  begin_kernel();
  const int x0 = own_x() * four, y = own_y();
  if (x0 >= moving.width || y >= moving.height) return;
  const Four<std::uint8_t> known = four_at(from.known.row(y) + x0);
  const Four<float> cost0 = four_at(from.costs.row(y, 0) + x0), cost1 = four_at(from.costs.row(y, 1) + x0);
  Four<float> confidence;
  Four<std::uint8_t> label;
  const FourSites sites = four_sites<8>(from.labels, x0, y);
  const float pair = from.pair.cost<PairModel::linear>(1, 0);
  PF_UNROLL
  for (int i = 0; i < four; ++i) {
    confidence.of[i] =
        mask_confidence(sites.label[i], cost0.of[i], cost1.of[i], sites.ones[i], sites.all[i], pair);
    label.of[i] = std::uint8_t(sites.label[i]);
  }
  four_at(trust.confidence.row(y) + x0) = confidence;
  four_at(trust.valid.row(y) + x0) = known;
  four_at(moving.row(y) + x0) = label;
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

template <class Backend, class T>
void clear_outside(Backend& cuda, View<const std::uint8_t> region, View<T> plane, T value) {
  for_pixels(cuda, region.size(), [=] __device__(int x, int y) {
    if (region(x, y) == 0) plane(x, y) = value;
  });
}

PF_STEP(clear_outside<Cuda, std::uint8_t>);
PF_STEP(clear_outside<Cuda, float>);
PF_STEP(change_costs<Cuda>);
PF_STEP(mask_of<Cuda>);
PF_STEP(labels_of_mask<Cuda>);

}  // namespace parafield
