// SPDX-License-Identifier: MIT
#pragma once
#include "markov/binary/binary.hpp"
#include "markov/mask/mask.hpp"

/// Steps of motion detection against a learned background. The background of a pixel is a set of samples:
/// lumas that it had in the past, as in ViBe (Barnich and Van Droogenbroeck, 2011), in bytes. A spread states
/// how far lumas usually are from the samples, as in PBAS (Hofmann, Tiefenbacher, Rigoll, 2012).
namespace parafield {

constexpr int sample_count = 8;
constexpr int spread_unit = 16;    // spreads are bytes in units of 1/16
constexpr int most_support = 255;  // with this support, a background changes only after `absorb` frames

// Lumas are bytes.
constexpr int most_luma = 254, no_luma = 255;  // no_luma: the pixel is not finite

/// A row of a background: one row of bytes for each plane, one after the other.
struct BackgroundRow {
  std::uint8_t* first;
  int pitch;

  PF_HD std::uint8_t* sample(int k) const { return first + k * pitch; }
  /// Usual distance of lumas from the samples, in units of 1/16.
  PF_HD std::uint8_t* spread() const { return sample(sample_count); }
  /// Luma of a moving pixel, which becomes background if it stays.
  PF_HD std::uint8_t* candidate() const { return sample(sample_count + 1); }
  /// Frames in which the pixel was background, up to most_support.
  PF_HD std::uint8_t* support() const { return sample(sample_count + 2); }
  /// Luma of the newest frame, brightness-corrected to match the samples.
  PF_HD std::uint8_t* luma() const { return sample(sample_count + 3); }
  /// Distance of that luma from the samples: the second smallest, so that one wrong sample cannot hide a
  /// change.
  PF_HD std::uint8_t* distance() const { return sample(sample_count + 4); }
};
constexpr int row_planes = sample_count + 5;

/// The background of all pixels, in the backend's memory.
struct Background {
  View<std::uint8_t> rows;  // row_planes rows for each row of the image
  View<std::uint16_t> run;  // frames for which a pixel has kept its candidate
  View<int> numbers;        // values for the whole frame: see below
  int least_spread = 48;    // in units of 1/16
  int renewal = 8;          // mean number of frames between renewals of a pixel's samples
  int absorb = 1500;        // frames after which a stationary object becomes background
  bool frozen = false;      // learns nothing

  PF_HD BackgroundRow row(int y) const { return {rows.row(y * row_planes), int(rows.pitch)}; }
};

// Indices of Background::numbers. Inverse gains are stored as the bits of floats; the second is 0 if there is
// only one gain.
constexpr int frame_number = 0, moving_count = 1, inverse_gain_bits = 2, second_inverse_gain_bits = 3,
              is_crowded = 4, chance_of_renewal = 5, number_count = 6;

/// Data costs from distances. A difference is a distance divided by the spread, limited to 3 * `mean` and
/// stored as a byte in steps of `step`.
struct BackgroundModel : ChangeModel {
  float scale = 0, step = 0;  // a difference's byte is scale * distance / spread
  float pair = 0;             // cost of two neighbors with different labels
};
constexpr int top_difference = 254;

/// Computes the luma of one or two frames in bytes. On CUDA each replay of a graph may get other frames.
template <class Backend>
void luma_bytes(Backend& backend, const Frame* frames, const View<std::uint8_t>* luma, int count);

/// Starts a background from one frame: the samples come from the pixel and its neighbors.
template <class Backend>
void begin_background(Backend& backend, View<const std::uint8_t> luma, const Background& background);

/// Counts a frame, and finds its brightness gain: the median of luma / background over a grid of 32x32
/// pixels. Finds two gains if the light has changed in a part of the scene.
template <class Backend>
void find_gain(Backend& backend, View<const std::uint8_t> luma, const Background& background);

/// Stores brightness-corrected lumas, their distances from the samples, labels without the temporal prior,
/// and thresholds with it. `last`: the last mask, or empty.
template <class Backend>
void compare_background(Backend& backend, View<const std::uint8_t> luma, const Background& background,
                        const BackgroundModel& model, View<const std::uint8_t> last, const BinaryRoom& room);

/// Stores the data costs that those thresholds follow from, and the same labels.
template <class Backend>
void background_costs(Backend& backend, const Background& background, const BackgroundModel& model,
                      View<const std::uint8_t> last, Volume costs, View<Label> labels);

/// Stores the mask of a frame's labels, as mask_of does, and learns from it. `last` and `moving` may be the
/// same.
template <class Backend>
void learn_background(Backend& backend, const Background& background, const BackgroundModel& model,
                      const BinaryLabels& labels, View<const std::uint8_t> last, View<std::uint8_t> moving,
                      Trust trust);

// Shared by both backends.

/// Pseudo-random bits: a hash of the position and the frame (sweep.hpp).
PF_HD std::uint32_t random_bits(int x, int y, int frame) {
  return scrambled(std::uint32_t(x) + 0x9e3779b9U * (std::uint32_t(y) + 0x85ebca6bU * std::uint32_t(frame)));
}

/// A luma as a byte; no_luma if it is not finite.
PF_HD int luma_byte(float luma) {
  const float inside = smaller(larger(luma, 0.0f), float(most_luma));
  return is_finite(luma) ? int(inside + 0.5f) : no_luma;
}

/// A luma, brightness-corrected to match the samples.
PF_HD int lit_luma(int luma, float inverse_gain) {
  const int lit = int(smaller(float(luma) * inverse_gain, float(most_luma)) + 0.5f);
  return luma == no_luma ? no_luma : lit;
}

/// A difference as a byte, limited so that one pixel cannot dominate its neighbors.
PF_HD int difference_byte(int distance, float factor) {
  return int(smaller(float(distance) * factor, float(top_difference)) + 0.5f);
}
PF_HD float factor_of(const BackgroundModel& model, int spread) { return model.scale / float(spread); }

/// Data costs of a pixel. `moved`: whether it moved in the last mask.
PF_HD ChangeCosts background_cost(const BackgroundModel& model, bool known, int difference, bool has_last,
                                  int moved) {
  const float y = float(difference) * model.step;
  const float temporal = has_last ? temporal_cost(model, moved, y) : 0.0f;
  const ChangeCosts costs = change_cost(model, y, temporal);
  return {known ? costs.still : 0.0f, known ? costs.moving : 0.0f};
}

/// What background_costs stores for a pixel.
PF_HD void store_background_costs(const Background& background, const BackgroundModel& model,
                                  const View<const std::uint8_t>& last, const Volume& costs,
                                  const View<Label>& labels, int x, int y) {
  const BackgroundRow row = background.row(y);
  const bool known = row.luma()[x] != no_luma;
  const int difference = difference_byte(row.distance()[x], factor_of(model, row.spread()[x]));
  const ChangeCosts cost =
      background_cost(model, known, difference, last.data != nullptr, last.data ? last(x, y) : 0);
  costs.row(y, 0)[x] = cost.still;
  costs.row(y, 1)[x] = cost.moving;
  labels(x, y) = known && seems_moving(model, float(difference) * model.step);
}

/// Bin of the ratio of a luma to a sample, 256 for a ratio of 1; -1 if one is too dark or too bright to use.
constexpr int gain_bins = 1024, grid_side = 32;
PF_HD int gain_bin(int luma, int sample) {
  const bool clear = sample >= 20 && sample <= most_luma && luma >= 8 && luma < 250;
  const int bin = clear ? int(smaller(float(luma) * 256 / float(sample), 1023.0f) + 0.5f) : -1;
  return bin < gain_bins ? bin : gain_bins - 1;
}
/// The upper median of the samples. sample(k) returns one of them.
template <class Sample>
PF_HD int median_sample(Sample sample) {
  int median = 0;
  PF_UNROLL
  for (int k = 0; k < sample_count; ++k) {
    const int value = sample(k);
    int rank = 0;
    PF_UNROLL
    for (int j = 0; j < sample_count; ++j) {
      const int other = sample(j);
      rank += (other < value) | ((other == value) & (j < k));
    }
    median = rank == sample_count / 2 ? value : median;
  }
  return median;
}
PF_HD int grid_place(int i, int side) { return int((std::int64_t(2 * i + 1) * side) / (2 * grid_side)); }

constexpr int least_grid = 64;  // fewest usable pixels

// Two gains. If the light changes in a part of the scene, as when a lamp is switched on, the ratios cluster
// around two values. A cluster is the ratios within a sixteenth of its bin. Two clusters count as two gains
// if they contain three quarters of the usable pixels, the second a fifth, and if its pixels have different
// lumas. An object of one color in front of a wall does not have them.

/// First and last bin of a cluster around a bin, or of its `share` (16 for a sixteenth).
PF_HD int first_near(int bin, int share = 16) { return bin - bin / share; }
PF_HD int last_near(int bin, int share = 16) { return smaller(bin + bin / share, gain_bins - 1); }

/// Bins of lumas: four values each. A band of four bins holds the lumas of an object of one color.
constexpr int luma_bins = 64, band_bins = 4;

/// Whether two clusters of `first` and `second` pixels out of `all` are two gains. `in_band`: the most pixels
/// of the second cluster whose samples are in one band.
PF_HD bool are_two_gains(int first, int second, int all, int in_band) {
  return 4 * (first + second) >= 3 * all && 5 * second >= all && 4 * in_band <= 3 * second;
}

/// Whether the largest cluster is the gain instead of the median of all ratios, because the median is apart
/// from it. `median`, `largest`: pixels in the clusters around both.
PF_HD bool is_main_gain(int median, int largest, int all) {
  return 5 * largest >= 2 * all && 2 * median < largest;
}

PF_HD float gain_of(const int* numbers, int index) { return __builtin_bit_cast(float, numbers[index]); }

constexpr int young_frames = 32;  // a background with fewer frames is young

/// Chance that a sample is renewed, in units of 1/65536. A young background changes faster.
PF_HD int renewal_chance(int frame, int renewal) {
  const int young = larger(frame / 2, 2);
  return 65536 / (frame < young_frames ? smaller(young, renewal) : renewal);
}

/// Inverse of the gain of a bin, as bits.
PF_HD int inverse_gain_of(int bin) {
  const float gain = bin > 0 ? float(bin) / 256 : 1.0f;
  return __builtin_bit_cast(int, 1 / gain);
}

/// Updates Background::numbers for a new frame. `bin`: bin of the gain, or -1 if too few pixels are usable.
/// `second`: bin of the second gain, or -1.
PF_HD void store_numbers(const Background& background, int bin, int second) {
  int* const numbers = background.numbers.data;
  numbers[inverse_gain_bits] = inverse_gain_of(bin);
  numbers[second_inverse_gain_bits] = second > 0 ? inverse_gain_of(second) : 0;
  if (background.frozen) return;
  const float all = float(background.run.width) * float(background.run.height);
  numbers[is_crowded] = float(numbers[moving_count]) > 0.7f * all;
  numbers[moving_count] = 0;
  if (numbers[frame_number] < (1 << 30)) ++numbers[frame_number];
  numbers[chance_of_renewal] = renewal_chance(numbers[frame_number], background.renewal);
}

struct Place2 {
  int x, y;
};
/// Pixel whose luma is the initial sample k of pixel (x, y).
PF_HD Place2 first_place(int x, int y, int k, Size size) {
  const std::uint32_t bits = random_bits(x, y, -1 - k);
  const int dx = k ? int(bits % 3) - 1 : 0, dy = k ? int((bits >> 8) % 3) - 1 : 0;
  return {clamp(x + dx, 0, size.width - 1), clamp(y + dy, 0, size.height - 1)};
}

/// What begin_background stores for a pixel.
PF_HD void begin_pixel(const Background& background, const View<const std::uint8_t>& luma, int x, int y) {
  const BackgroundRow row = background.row(y);
  for (int k = 0; k < sample_count; ++k) {
    const Place2 from = first_place(x, y, k, {luma.width, luma.height});
    row.sample(k)[x] = luma(from.x, from.y);
  }
  row.spread()[x] = std::uint8_t(larger(background.least_spread, 6 * spread_unit));
  row.candidate()[x] = row.support()[x] = 0;
  background.run(x, y) = 0;
}

/// Parameters of learning from a frame, the same for all pixels.
struct Lesson {
  int frame, chance, least_spread, absorb;
  bool young, crowded;
};
PF_HD Lesson lesson_of(const Background& background) {
  const int frame = background.numbers.data[frame_number];
  return {frame,
          background.numbers.data[chance_of_renewal],
          background.least_spread,
          background.absorb,
          frame < young_frames,
          background.numbers.data[is_crowded] != 0};
}

constexpr int doubt_reach = 96;  // px, how far resolve_doubt looks for static pixels
constexpr int most_doubt = 48;   // largest difference of lumas that counts there

/// State of a pixel's background apart from its samples.
struct PixelMemory {
  int spread, candidate, support, run;
};

/// Pixels of a row that renew the same samples in a frame.
constexpr int segment = 32;

/// What a segment renews in a frame. Sample `own` becomes the pixel's own luma, and then sample `other` the
/// luma of its neighbor `from`, in each case only where the luma's pixel is static (see renews_own); -1:
/// nothing. `half`: bits of half the samples.
struct SegmentLesson {
  int own, other, from, half;
};
PF_HD SegmentLesson segment_lesson(const Lesson& lesson, int number, int y) {
  const std::uint32_t chances = random_bits(number, y, lesson.frame), bits = scrambled(chances ^ 0x9e3779b9U);
  const int wrapped = 15 << (bits >> 9 & 7);
  return {int(chances & 65535) < lesson.chance ? int(bits & 7) : -1,
          int(chances >> 16) < lesson.chance ? int(bits >> 3 & 7) : -1, int(bits >> 6 & 7),
          (wrapped | wrapped >> sample_count) & 255};
}
/// Whether a pixel with this label and luma renews a sample: 0 or 1, as is `label`.
PF_HD int renews_sample(int label, int luma) { return (label ^ 1) & int(luma != no_luma); }
/// Whether it renews one of its own. A young background also learns from moving pixels whose distance may
/// be noise.
PF_HD int renews_own(int young, int label, int luma, int distance, int spread) {
  const int still = (label ^ 1) | (young & int(spread_unit * distance <= 3 * spread));
  return still & int(luma != no_luma);
}

/// Samples of a pixel that its luma replaces. `doubted`: the luma may be the background, see doubts.
enum Replaced { none_replaced, half_replaced, all_replaced, doubted };

/// Next spread of a static pixel: one step toward twice the distance.
PF_HD int next_spread(int spread, int distance, int least) {
  const int off = 2 * spread_unit * distance - spread;
  return clamp(spread + (off > 0) - (off < 0), least, 255);
}

/// Makes the candidate of a moving pixel its background. A background with little support is replaced in all
/// samples. One with more support is replaced only in half of them, so that it is recognized when it returns.
PF_HD Replaced replace(PixelMemory& memory) {
  const Replaced replaced = memory.support < 32 ? all_replaced : half_replaced;
  memory.support = smaller(memory.run, most_support);
  memory.run = 0;
  return replaced;
}

/// Learns from a pixel, and returns which samples its luma replaces. A static pixel adapts its spread. A
/// moving pixel counts for how many frames it has kept its luma. After `absorb` frames this luma replaces the
/// background. If the background has been seen for a shorter time than its support requires, it may itself be
/// an object that has left: the pixel is doubted. If most of the frame moves, doubted backgrounds are
/// replaced. If a pixel has no luma, the caller must discard the result.
PF_HD Replaced learn(const Lesson& lesson, bool moving, int luma, int distance, PixelMemory& memory) {
  const int support = lesson.crowded ? memory.support >> 1 : memory.support;
  const int apart = luma - memory.candidate, spread = memory.spread;
  const bool stays = spread_unit * (apart < 0 ? -apart : apart) <= 2 * spread;
  const int run = moving ? (stays ? smaller(memory.run + 1, 65535) : 1) : 0;
  const bool doubts = support < most_support && run > support / 3 + support * support / 25;
  const bool replaces = run > lesson.absorb || (doubts && lesson.crowded);
  const int next = next_spread(spread, distance, lesson.least_spread);
  memory.spread = moving ? spread : next;
  memory.candidate = (moving & !stays) ? luma : memory.candidate;
  memory.support = replaces ? smaller(run, most_support)
                   : moving ? support
                            : smaller(support + 1, most_support);
  memory.run = replaces ? 0 : run;
  return replaces ? (support < 32 ? all_replaced : half_replaced) : doubts ? doubted : none_replaced;
}

/// Decides about a doubted pixel. Its background was an object that has left if the luma that it has now is
/// closer to its static surroundings than its background is; then the luma replaces the background. If not, a
/// new object is in front of it, and the background is doubted less. `is_static(x, y)` returns whether
/// a pixel of the image is static. A pixel takes its surroundings from eight directions.
template <class IsStatic>
PF_HD Replaced resolve_doubt(const Background& background, int x, int y, PixelMemory& memory,
                             IsStatic is_static) {
  const BackgroundRow row = background.row(y);
  const int width = background.run.width, height = background.run.height, now = row.luma()[x];
  const int before = median_sample([&](int k) { return int(row.sample(k)[x]); });
  int closer = 0;
  for (int direction = 0; direction < 8; ++direction) {
    const Offset to = neighbor_offset(direction);
    for (int step = 1; step <= doubt_reach; ++step) {
      const int there_x = x + step * to.x, there_y = y + step * to.y;
      if (there_x < 0 || there_x >= width || there_y < 0 || there_y >= height) break;
      const int around = background.row(there_y).luma()[there_x];
      if (around == no_luma || !is_static(there_x, there_y)) continue;
      const int off_before = before - around, off_now = now - around;
      closer += smaller(off_before < 0 ? -off_before : off_before, most_doubt) -
                smaller(off_now < 0 ? -off_now : off_now, most_doubt);
      break;
    }
  }
  if (closer > 0) return replace(memory);
  memory.support = smaller(2 * memory.support + 8, most_support);
  return none_replaced;
}

}  // namespace parafield
