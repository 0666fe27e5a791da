// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/background/learn_row.hpp"
#include "steps/convert/convert.hpp"

namespace parafield {
namespace {

/// Writes the second smallest distance of each luma of a chunk from its samples.
inline void find_distances(const BackgroundRow& row, int x0, int count, const std::uint8_t* luma,
                           std::uint8_t* distance) {
  std::uint8_t least[chunk], second[chunk];
  for (int i = 0; i < count; ++i) least[i] = second[i] = 255;
  for (int k = 0; k < sample_count; ++k) {
    const std::uint8_t* const sample = row.sample(k) + x0;
    for (int i = 0; i < count; ++i) {
      const std::uint8_t a = luma[i], b = sample[i], apart = a > b ? a - b : b - a;
      const std::uint8_t more = apart > least[i] ? apart : least[i];
      second[i] = second[i] < more ? second[i] : more;
      least[i] = apart < least[i] ? apart : least[i];
    }
  }
  for (int i = 0; i < count; ++i) distance[i] = second[i];
}

/// Least differences at which a site takes label 1, by its last label and the number of its neighbors with
/// label 1. A site's threshold is the number of cuts that its difference is below.
struct Cuts {
  std::uint8_t at[2][never];
};
Cuts cuts_of(const BackgroundModel& model, bool has_last, int neighbors) {
  Cuts cuts;
  for (int last = 0; last < 2; ++last)
    for (int ones = 0; ones < never; ++ones) {
      int low = 0, high = top_difference + 1;
      while (low < high) {
        const int middle = (low + high) / 2;
        const ChangeCosts cost = background_cost(model, true, middle, has_last, last);
        if (binary_label(cost.still, cost.moving, ones, neighbors, model.pair))
          high = middle;
        else
          low = middle + 1;
      }
      cuts.at[last][ones] = std::uint8_t(low);
    }
  return cuts;
}

/// Least difference that counts as moving: see seems_moving.
int first_cut(const BackgroundModel& model) {
  int cut = 0;
  while (cut <= top_difference && !seems_moving(model, float(cut) * model.step)) ++cut;
  return cut;
}

/// Differences of a chunk.
inline void find_differences(const BackgroundModel& model, const std::uint8_t* distance,
                             const std::uint8_t* spread, int count, std::uint8_t* difference) {
  const BackgroundModel own = model;
  for (int i = 0; i < count; ++i)
    difference[i] = std::uint8_t(difference_byte(distance[i], factor_of(own, spread[i])));
}

}  // namespace

template <class Backend>
void luma_bytes(Backend& cpu, const Frame* frames, const View<std::uint8_t>* luma, int count) {
  for (int i = 0; i < count; ++i)
    with_format(frames[i], [&]<class Sample, int Channels, int Red>(Scale scale) {
      const Frame frame = frames[i];
      const View<std::uint8_t> to = luma[i];
      const bool are_bytes =
          __is_same(Sample, unsigned char) && Channels == 1 && scale.black == 0 && scale.gain == 1;
      cpu.rows(to.height, [=](int y) {
        const Sample* in = row_of<Sample>(frame, y);
        for (int x0 = 0; x0 < to.width; x0 += chunk) {
          const int some = smaller(chunk, to.width - x0);
          std::uint8_t bytes[chunk];
          if (are_bytes)
            for (int x = 0; x < some; ++x)
              bytes[x] = std::uint8_t(in[x0 + x] < most_luma ? in[x0 + x] : most_luma);
          else
            for (int x = 0; x < some; ++x)
              bytes[x] = std::uint8_t(luma_byte(luma_of(in, x0 + x, Channels, Red, scale)));
          __builtin_memcpy(to.row(y) + x0, bytes, std::size_t(some));
        }
      });
    });
}

template <class Backend>
void begin_background(Backend& cpu, View<const std::uint8_t> luma, const Background& background) {
  for (int i = 0; i < number_count; ++i) background.numbers.data[i] = 0;
  cpu.rows(luma.height, [=](int y) {
    for (int x = 0; x < luma.width; ++x) begin_pixel(background, luma, x, y);
  });
}

template <class Backend>
void find_gain(Backend&, View<const std::uint8_t> luma, const Background& background) {
  constexpr int points = grid_side * grid_side;
  int upto[gain_bins] = {}, bins[points], samples[points];
  for (int i = 0; i < points; ++i) {
    const int x = grid_place(i % grid_side, luma.width), y = grid_place(i / grid_side, luma.height);
    samples[i] = median_sample([&](int k) { return int(background.row(y).sample(k)[x]); });
    bins[i] = gain_bin(luma(x, y), samples[i]);
    if (bins[i] >= 0) ++upto[bins[i]];
  }
  for (int bin = 1; bin < gain_bins; ++bin) upto[bin] += upto[bin - 1];
  const int all = upto[gain_bins - 1];
  if (all < least_grid) return store_numbers(background, -1, -1);
  /// Number of pixels in bins first to last.
  const auto between = [&](int first, int last) {
    return first > last ? 0 : upto[last] - (first > 0 ? upto[first - 1] : 0);
  };
  const auto median_of = [&](int first, int last) {
    int bin = first;
    while (2 * between(first, bin) <= between(first, last)) ++bin;
    return bin;
  };
  const auto near = [&](int bin) { return between(first_near(bin), last_near(bin)); };
  const int median = median_of(0, gain_bins - 1);
  int first = median;
  for (int bin = 0; bin < gain_bins && 2 * near(median) < all; ++bin)
    if (near(bin) > near(first) || (near(bin) == near(first) && bin < first)) first = bin;
  // The second cluster is apart from the first.
  int second = -1, second_count = 0;
  for (int bin = 0; bin < gain_bins; ++bin) {
    const bool apart = last_near(bin) < first_near(first, 8) || first_near(bin) > last_near(first, 8);
    if (apart && near(bin) > second_count) second = bin, second_count = near(bin);
  }
  int lumas[luma_bins] = {}, in_band = 0;
  for (int i = 0; i < points && second >= 0; ++i)
    if (bins[i] >= first_near(second) && bins[i] <= last_near(second)) ++lumas[samples[i] / 4];
  for (int i = 0; i + band_bins <= luma_bins; ++i) {
    int count = 0;
    for (int k = 0; k < band_bins; ++k) count += lumas[i + k];
    in_band = larger(in_band, count);
  }
  if (are_two_gains(near(first), second_count, all, in_band))
    store_numbers(background, median_of(first_near(first), last_near(first)),
                  median_of(first_near(second), last_near(second)));
  else
    store_numbers(background,
                  is_main_gain(near(median), near(first), all)
                      ? median_of(first_near(first), last_near(first))
                      : median,
                  -1);
}

template <class Backend>
void compare_background(Backend& cpu, View<const std::uint8_t> luma, const Background& background,
                        const BackgroundModel& model, View<const std::uint8_t> last, const BinaryRoom& room) {
  const int width = luma.width, height = luma.height;
  const bool has_last = last.data;
  const int edge_neighbors = neighbor_count(1, 0, 3, height), inner_neighbors = neighbor_count(1, 1, 3, 3);
  const Cuts edge_cuts = cuts_of(model, has_last, edge_neighbors),
             inner_cuts = cuts_of(model, has_last, inner_neighbors);
  const int least_moving = first_cut(model);
  cpu.rows(height, [=](int y) {
    const bool at_edge = y == 0 || y == height - 1;
    const Cuts& cuts = at_edge ? edge_cuts : inner_cuts;
    const auto without_luma =
        std::uint8_t(threshold_of(0, 0, at_edge ? edge_neighbors : inner_neighbors, model.pair));
    const float inverse = gain_of(background.numbers.data, inverse_gain_bits),
                second_inverse = gain_of(background.numbers.data, second_inverse_gain_bits);
    const BackgroundRow row = background.row(y);
    std::uint8_t *const labels = room.begin_row(y), *const thresholds = room.thresholds.row(y);
    const auto compare = [&]<int Count>(int x0, int some) {
      const int count = Count ? Count : some;
      const std::uint8_t* const frame = luma.row(y) + x0;
      std::uint8_t lit[chunk], distance[chunk], difference[chunk], moved[chunk] = {}, label[chunk],
                                                                   threshold[chunk] = {};
      for (int i = 0; i < count; ++i) lit[i] = std::uint8_t(lit_luma(frame[i], inverse));
      find_distances(row, x0, count, lit, distance);
      if (second_inverse > 0) {
        std::uint8_t other[chunk], apart[chunk];
        for (int i = 0; i < count; ++i) other[i] = std::uint8_t(lit_luma(frame[i], second_inverse));
        find_distances(row, x0, count, other, apart);
        for (int i = 0; i < count; ++i) lit[i] = apart[i] < distance[i] ? other[i] : lit[i];
        for (int i = 0; i < count; ++i) distance[i] = apart[i] < distance[i] ? apart[i] : distance[i];
      }
      find_differences(model, distance, row.spread() + x0, count, difference);
      for (int i = 0; i < count; ++i) label[i] = (difference[i] >= least_moving) & (lit[i] != no_luma);
      if (has_last) __builtin_memcpy(moved, last.row(y) + x0, std::size_t(count));
      for (int k = 0; k < never; ++k) {
        const std::uint8_t still_cut = cuts.at[0][k], moved_cut = cuts.at[1][k];
        for (int i = 0; i < count; ++i)
          threshold[i] = std::uint8_t(threshold[i] + (difference[i] < (moved[i] ? moved_cut : still_cut)));
      }
      for (int i = 0; i < count; ++i) threshold[i] = lit[i] == no_luma ? without_luma : threshold[i];
      __builtin_memcpy(row.luma() + x0, lit, std::size_t(count));
      __builtin_memcpy(row.distance() + x0, distance, std::size_t(count));
      __builtin_memcpy(labels + x0, label, std::size_t(count));
      __builtin_memcpy(thresholds + x0, threshold, std::size_t(count));
    };
    for_chunks(width, compare);
    for (const int x : {0, width - 1}) {
      const int difference = difference_byte(row.distance()[x], factor_of(model, row.spread()[x]));
      const ChangeCosts cost =
          background_cost(model, row.luma()[x] != no_luma, difference, has_last, has_last ? last(x, y) : 0);
      thresholds[x] = std::uint8_t(
          threshold_of(cost.still, cost.moving, neighbor_count(x, y, width, height), model.pair));
    }
  });
}

template <class Backend>
void background_costs(Backend& cpu, const Background& background, const BackgroundModel& model,
                      View<const std::uint8_t> last, Volume costs, View<Label> labels) {
  cpu.rows(labels.height, [=](int y) {
    for (int x = 0; x < labels.width; ++x)
      store_background_costs(background, model, last, costs, labels, x, y);
  });
}

template <class Backend>
void learn_background(Backend& cpu, const Background& background, const BackgroundModel& model,
                      const BinaryLabels& labels, View<const std::uint8_t> last, View<std::uint8_t> moving,
                      Trust trust) {
  const Lesson lesson = lesson_of(background);
  const int width = moving.width, height = moving.height;
  const bool has_last = last.data;
  cpu.rows(height, [=](int y) {
    const BackgroundModel own = model;
    const BackgroundRow row = background.row(y);
    const int inner = neighbor_count(1, y, 3, height);
    int moving_here = 0;
    const auto learn_from = [&]<int Count>(int x0, int some) {
      const int count = Count ? Count : some;
      const std::uint8_t *const above = labels.row(y - 1) + x0, *const label = labels.row(y) + x0,
                                *const below = labels.row(y + 1) + x0, *const luma = row.luma() + x0;
      std::uint8_t difference[chunk], moved[chunk] = {}, ones[chunk], known[chunk], replaced[chunk];
      float still[chunk], moves[chunk], confidence[chunk];
      find_differences(model, row.distance() + x0, row.spread() + x0, count, difference);
      if (has_last) __builtin_memcpy(moved, last.row(y) + x0, std::size_t(count));
      for (int i = 0; i < count; ++i)
        ones[i] = std::uint8_t(above[i - 1] + above[i] + above[i + 1] + label[i - 1] + label[i + 1] +
                               below[i - 1] + below[i] + below[i + 1]);
      for (int i = 0; i < count; ++i) known[i] = luma[i] != no_luma;
      for (int i = 0; i < count; ++i) {
        const ChangeCosts cost = background_cost(own, known[i], difference[i], has_last, moved[i]);
        still[i] = cost.still;
        moves[i] = cost.moving;
      }
      for (int i = 0; i < count; ++i)
        confidence[i] = mask_confidence(label[i], still[i], moves[i], ones[i], inner, own.pair);
      for (const int i : {0, count - 1})  // these may be at the image's border
        confidence[i] = mask_confidence(label[i], still[i], moves[i], ones[i],
                                        neighbor_count(x0 + i, y, width, height), own.pair);
      for (int i = 0; i < count; ++i) moving_here += label[i];
      const bool any = learn_chunk(background, lesson, labels, y, x0, count, replaced);
      for (int i = 0; i < count && !background.frozen; i += segment)
        with_constant<segment>(smaller(segment, count - i), [&]<int Pixels>() {
          renew_segment<Pixels>(background, labels, lesson, y, x0 + i, count - i,
                                any ? replaced + i : nullptr);
        });
      __builtin_memcpy(trust.confidence.row(y) + x0, confidence, std::size_t(count) * sizeof(float));
      __builtin_memcpy(trust.valid.row(y) + x0, known, std::size_t(count));
      __builtin_memcpy(moving.row(y) + x0, label, std::size_t(count));
    };
    // Prefetches the samples that the next row renews, because the processor cannot predict where they are.
    if (y + 1 < height) {
      const BackgroundRow next = background.row(y + 1);
      for (int x0 = 0; x0 < width; x0 += segment) {
        const SegmentLesson own = segment_lesson(lesson, x0 / segment, y + 1);
        if (own.own >= 0) __builtin_prefetch(next.sample(own.own) + x0);
        if (own.other >= 0) __builtin_prefetch(next.sample(own.other) + x0);
      }
    }
    for_chunks(width, learn_from);
    __atomic_fetch_add(background.numbers.data + moving_count, moving_here, __ATOMIC_RELAXED);
  });
}

PF_STEP(luma_bytes<Cpu>);
PF_STEP(begin_background<Cpu>);
PF_STEP(find_gain<Cpu>);
PF_STEP(compare_background<Cpu>);
PF_STEP(background_costs<Cpu>);
PF_STEP(learn_background<Cpu>);

}  // namespace parafield
