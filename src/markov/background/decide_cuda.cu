// SPDX-License-Identifier: MIT
#include "markov/background/bits.cuh"
#include "markov/background/decide.hpp"
#include "markov/background/shift.hpp"

namespace parafield {
namespace {

__device__ int sum_of_square(const Background& background, int x, int y) {
  int sum = 0;
  for (int from = larger(y - smooth_reach, 0); from <= smaller(y + smooth_reach, background.size.height - 1);
       ++from) {
    const std::uint8_t* const difference = background.row(from).difference();
    for (int i = larger(x - smooth_reach, 0); i <= smaller(x + smooth_reach, background.size.width - 1); ++i)
      sum += difference[i];
  }
  return sum;
}

/// A warp computes the 32 pixels of a word.
__global__ void decide_background_kernel(Background background, BackgroundModel model, BinaryRoom room) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (y >= background.size.height) return;  // the same for all threads of a warp
  int threshold = never, label = 0;         // outside the image
  if (x < background.size.width) {
    const BackgroundRow row = background.row(y);
    const int flicker = row.flicker()[x], difference = row.difference()[x];
    const bool known = row.luma()[x] != no_luma;
    const int smooth = flicker >= dynamic_flicker
                           ? smooth_difference(difference, flicker, sum_of_square(background, x, y))
                           : difference;
    row.smooth()[x] = std::uint8_t(smooth);
    const ChangeCosts cost = background_cost(model, known, smooth, flicker, background.number(has_mask) != 0,
                                             row.before()[x] & was_moving);
    threshold = threshold_of(cost.still, cost.moving,
                             neighbor_count(x, y, background.size.width, background.size.height), model.pair);
    label = known && byte_seems_moving(model, smooth);
  }
  const std::uint32_t labels = __ballot_sync(~0u, label);
  std::uint32_t bits[4];
  PF_UNROLL
  for (int i = 0; i < 4; ++i) bits[i] = __ballot_sync(~0u, threshold >> i & 1);
  const int column = x / 32;
  if (threadIdx.x != 0 || column >= room.words.width) return;
  room.word_row(y, 0)[column] = labels;
  PF_UNROLL
  for (int i = 0; i < 4; ++i) room.word_row(y, 2 + i)[column] = bits[i];
}

__global__ void background_costs_kernel(Background background, BackgroundModel model, Volume costs,
                                        View<Label> labels) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x < labels.width && y < labels.height) store_background_costs(background, model, costs, labels, x, y);
}

__global__ void background_mask_kernel(Background background, BackgroundModel model, BinaryLabels labels,
                                       View<std::uint8_t> moving, Trust trust) {
  begin_kernel();
  const int frame_x = own_x(), frame_y = own_y();
  const Size size = background.size;
  if (frame_x >= size.width || frame_y >= size.height) return;
  const Place2 shift = shift_of(background).whole();
  const int x = clamp(frame_x - shift.x, 0, size.width - 1), y = clamp(frame_y - shift.y, 0, size.height - 1);
  const bool inside = x == frame_x - shift.x && y == frame_y - shift.y;
  const BackgroundRow row = background.row(y);
  const std::uint32_t above = three_labels(labels, x, y - 1, size), own = three_labels(labels, x, y, size),
                      below = three_labels(labels, x, y + 1, size);
  const int label = int(own >> 1 & 1), ones = __popc(above) + __popc(own & 5) + __popc(below);
  const ChangeCosts cost = background_cost(model, row, x, background.number(has_mask) != 0);
  trust.confidence(frame_x, frame_y) = mask_confidence(
      label, cost.still, cost.moving, ones, neighbor_count(x, y, size.width, size.height), model.pair);
  trust.valid(frame_x, frame_y) = inside && row.luma()[x] != no_luma;
  moving(frame_x, frame_y) = std::uint8_t(label);
}

}  // namespace

template <class Backend>
void decide_background(Backend& cuda, const Background& background, const BackgroundModel& model,
                       const BinaryRoom& room) {
  cuda.launch(decide_background_kernel, pixel_grid(background.size), pixel_block, 0, background, model, room);
}

template <class Backend>
void background_costs(Backend& cuda, const Background& background, const BackgroundModel& model, Volume costs,
                      View<Label> labels) {
  cuda.launch(background_costs_kernel, pixel_grid(labels.size()), pixel_block, 0, background, model, costs,
              labels);
}

template <class Backend>
void background_mask(Backend& cuda, const Background& background, const BackgroundModel& model,
                     const BinaryLabels& labels, View<std::uint8_t> moving, Trust trust) {
  cuda.launch_input(background_mask_kernel, pixel_grid(moving.size()), pixel_block, background, model, labels,
                    moving, trust);
}

PF_STEP(decide_background<Cuda>);
PF_STEP(background_costs<Cuda>);
PF_STEP(background_mask<Cuda>);

}  // namespace parafield
