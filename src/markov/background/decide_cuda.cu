// SPDX-License-Identifier: MIT
#include "markov/background/decide.hpp"
#include "markov/background/shift.hpp"
#include "markov/background/words.cuh"

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

constexpr int threshold_bits = 4;

/// Threshold of a pixel, and in the next bit the label to start from. `all`: number of its neighbors.
__device__ int decision_of(const BackgroundModel& model, bool known, int difference, int flicker,
                           bool has_last, int moved, int all) {
  const ChangeCosts cost = background_cost(model, known, difference, flicker, has_last, moved);
  const int label = known && byte_seems_moving(model, difference);
  return threshold_of(cost.still, cost.moving, all, model.pair) | label << threshold_bits;
}

/// Decisions for known pixels with eight neighbors and little flicker, which most pixels are, by their last label
/// and difference.
struct UsualDecisions {
  std::uint8_t of[2][256];
};

/// Decides the pixels of four words of a row. All lanes of the warp must call it.
__device__ void decide_words(const Background& background, const BackgroundModel& model,
                             const UsualDecisions& usual, const BinaryRoom& room, int x, int y) {
  const Size size = background.size;
  const bool has_last = background.number(has_mask) != 0;
  std::uint32_t labels = 0, bits[threshold_bits];  // of the thread's pixels
  PF_UNROLL
  for (int bit = 0; bit < threshold_bits; ++bit) bits[bit] = never >> bit & 1 ? 15 : 0;
  if (x < size.width) {
    const BackgroundRow row = background.row(y);
    const std::uint32_t flickers = word_at(row.flicker() + x), differences = word_at(row.difference() + x),
                        lumas = word_at(row.luma() + x), before = word_at(row.before() + x);
    std::uint32_t all_smooth = 0;
    for (std::uint32_t& four : bits) four = 0;
    each_pixel([&](int i) {
      int decision = never;  // outside the image
      if (x + i < size.width) {
        const int flicker = byte_of(flickers, i), difference = byte_of(differences, i),
                  moved = byte_of(before, i) & was_moving,
                  all = neighbor_count(x + i, y, size.width, size.height);
        const bool known = byte_of(lumas, i) != no_luma;
        const int smooth = flicker >= dynamic_flicker
                               ? smooth_difference(difference, flicker, sum_of_square(background, x + i, y))
                               : difference;
        put_byte(all_smooth, i, smooth);
        decision = known && flicker <= free_flicker && all == 8
                       ? usual.of[moved != 0][smooth]
                       : decision_of(model, known, smooth, flicker, has_last, moved, all);
      }
      labels |= std::uint32_t(decision >> threshold_bits) << i;
      PF_UNROLL
      for (int bit = 0; bit < threshold_bits; ++bit) bits[bit] |= (std::uint32_t(decision) >> bit & 1) << i;
    });
    word_at(row.smooth() + x) = all_smooth;
  }
  // Eight threads share a word; the first five of them store a plane each.
  const int plane = int(threadIdx.x) % 8, column = x / 32;
  std::uint32_t own = joined_bits(labels);
  PF_UNROLL
  for (int bit = 0; bit < threshold_bits; ++bit) {
    const std::uint32_t word = joined_bits(bits[bit]);
    if (plane == bit + 1) own = word;
  }
  if (column < room.words.width && plane <= threshold_bits)
    room.word_row(y, plane == 0 ? 0 : plane + 1)[column] = own;
}

constexpr int decided_rows = 4;  // of a warp

__global__ void __launch_bounds__(256) decide_background_kernel(const __grid_constant__ Background background,
                                                                BackgroundModel model, BinaryRoom room) {
  begin_kernel();
  __shared__ UsualDecisions usual;
  const bool has_last = background.number(has_mask) != 0;
  const int thread = int(threadIdx.y) * 32 + int(threadIdx.x);
  for (int moved = 0; moved < 2; ++moved)
    usual.of[moved][thread] =
        std::uint8_t(decision_of(model, true, thread, 0, has_last, moved * was_moving, 8));
  __syncthreads();
  for (int k = 0; k < decided_rows; ++k) {
    const int y = decided_rows * own_y() + k;
    if (y < background.size.height)  // the same for all threads of a warp
      decide_words(background, model, usual, room, pixels_of_thread * own_x(), y);
  }
}

__global__ void background_costs_kernel(Background background, BackgroundModel model, Volume costs,
                                        View<Label> labels) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x < labels.width && y < labels.height) store_background_costs(background, model, costs, labels, x, y);
}

/// Mask, validity and confidence of four pixels.
struct FourDecided {
  Four<std::uint8_t> moving, valid;
  Four<float> confidence;
};

__global__ void background_mask_kernel(const __grid_constant__ Background background, BackgroundModel model,
                                       BinaryLabels labels, View<std::uint8_t> moving, Trust trust) {
  begin_kernel();
  const int frame_x = pixels_of_thread * own_x(), frame_y = own_y();
  const Size size = background.size;
  if (frame_x >= size.width || frame_y >= size.height) return;
  const Place2 shift = shift_of(background).whole();
  const int y = clamp(frame_y - shift.y, 0, size.height - 1);
  const BackgroundRow row = background.row(y);
  const bool has_last = background.number(has_mask) != 0;
  FourDecided decided;
  // `above`, `own`, `below`: labels of pixels x - 1 to x + 1 of three rows, one bit each.
  const auto decide = [&](int i, int x, bool is_inside, std::uint32_t above, std::uint32_t own,
                          std::uint32_t below, int luma, int smooth, int flicker, int before) {
    const int label = int(own >> 1 & 1), ones = __popc(above) + __popc(own & 5) + __popc(below);
    const bool known = luma != no_luma;
    const ChangeCosts cost = background_cost(model, known, smooth, flicker, has_last, before & was_moving);
    decided.moving.of[i] = std::uint8_t(label);
    decided.valid.of[i] = is_inside && known;
    decided.confidence.of[i] = mask_confidence(label, cost.still, cost.moving, ones,
                                               neighbor_count(x, y, size.width, size.height), model.pair);
  };
  const auto labels_around = [&](int x, int row) { return six_labels(labels, x, row, size); };
  if (shift.x == 0) {
    const std::uint32_t above = labels_around(frame_x, y - 1), own = labels_around(frame_x, y),
                        below = labels_around(frame_x, y + 1);
    const std::uint32_t luma = word_at(row.luma() + frame_x), smooth = word_at(row.smooth() + frame_x),
                        flicker = word_at(row.flicker() + frame_x), before = word_at(row.before() + frame_x);
    each_pixel([&](int i) {
      decide(i, frame_x + i, y == frame_y - shift.y, above >> i & 7, own >> i & 7, below >> i & 7,
             byte_of(luma, i), byte_of(smooth, i), byte_of(flicker, i), byte_of(before, i));
    });
  } else {
    each_pixel([&](int i) {
      const int x = clamp(frame_x + i - shift.x, 0, size.width - 1);
      const auto three = [&](int y) { return labels_around(x / 4 * 4, y) >> x % 4 & 7; };
      decide(i, x, x == frame_x + i - shift.x && y == frame_y - shift.y, three(y - 1), three(y), three(y + 1),
             row.luma()[x], row.smooth()[x], row.flicker()[x], row.before()[x]);
    });
  }
  store_four(moving, frame_x, frame_y, decided.moving);
  store_four(trust.valid, frame_x, frame_y, decided.valid);
  store_four(trust.confidence, frame_x, frame_y, decided.confidence);
}

}  // namespace

template <class Backend>
void decide_background(Backend& cuda, const Background& background, const BackgroundModel& model,
                       const BinaryRoom& room) {
  const Size rows{background.size.width, (background.size.height + decided_rows - 1) / decided_rows};
  cuda.launch(decide_background_kernel, pixel_grid(rows, pixels_of_thread), pixel_block, 0, background, model,
              room);
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
  cuda.launch_input(background_mask_kernel, pixel_grid(moving.size(), pixels_of_thread), pixel_block,
                    background, model, labels, moving, trust);
}

PF_STEP(decide_background<Cuda>);
PF_STEP(background_costs<Cuda>);
PF_STEP(background_mask<Cuda>);

}  // namespace parafield
