// SPDX-License-Identifier: MIT
#pragma once
#include "markov/mask/mask.hpp"
#include "parafield/methods/energy.hpp"

/// A learned background. The background of a pixel is a set of samples: lumas and colors that it had in the
/// past, as in ViBe (Barnich and Van Droogenbroeck, 2011), in bytes. A spread states how far lumas usually
/// are from the samples, as in PBAS (Hofmann, Tiefenbacher, Rigoll, 2012). For each frame, in this order:
/// - shift.hpp finds how far the camera has moved,
/// - light.hpp finds how much brighter or darker the scene has become,
/// - compare.hpp measures how far each pixel is from its samples,
/// - shadow.hpp reduces this where a shadow explains it,
/// - decide.hpp turns it into data costs, which the solver minimizes,
/// - ghosts.hpp finds out whether a moving region is an object or the place that an object has left,
/// - learn.hpp updates the background.
namespace parafield {

constexpr int sample_count = 16;
constexpr int spread_unit = 16;    // spreads are bytes in units of 1/16
constexpr int most_spread = 160;   // larger only if the least spread is
constexpr int most_support = 255;  // with this support, a background changes only after `absorb` frames
constexpr int vote_unit = 16;      // votes are in units of 1/16 luma

// Lumas and colors are bytes.
constexpr int most_luma = 254, no_luma = 255;  // no_luma: the pixel is not finite

// A pixel's flicker is a byte that grows when the pixel leaves its samples or returns to them.
constexpr int dynamic_flicker = 128;  // from here on the pixel is dynamic: leaves, water

// Bits of BackgroundRow::apart.
constexpr int is_apart = 1;   // the distance seems to be motion
constexpr int in_shadow = 2;  // a shadow explains this distance
constexpr int has_left = 4;   // so does the distance from the pixel's own samples, and it is more than noise
constexpr int is_leaf = 8;    // it has left them, but is close to the samples of a pixel around it

// Bits of BackgroundRow::before.
constexpr int had_left = 1, was_moving = 2, was_leaf = 4;

/// A row of a background: a row of bytes for each plane, one after the other, and rows of 16-bit numbers. The
/// planes of colors are the last ones, and missing without colors.
struct BackgroundRow {
  std::uint8_t* bytes;
  std::uint16_t* words;
  int pitch, word_pitch;  // bytes, numbers

  PF_HD std::uint8_t* plane(int i) const { return bytes + std::ptrdiff_t(i) * pitch; }
  PF_HD std::uint16_t* word_plane(int i) const { return words + std::ptrdiff_t(i) * word_pitch; }

  /// Usual distance of lumas from the samples, in units of 1/16.
  PF_HD std::uint8_t* spread() const { return plane(0); }
  /// Luma of a moving pixel, which becomes background if it stays.
  PF_HD std::uint8_t* candidate() const { return plane(1); }
  /// Frames in which the pixel was background, up to most_support.
  PF_HD std::uint8_t* support() const { return plane(2); }
  PF_HD std::uint8_t* flicker() const { return plane(3); }
  /// What holds for the last frame: had_left, was_moving, was_leaf.
  PF_HD std::uint8_t* before() const { return plane(4); }
  PF_HD std::uint8_t* sample(int k) const { return plane(5 + k); }

  // Of the newest frame:
  /// Luma, corrected for shift and brightness to match the samples.
  PF_HD std::uint8_t* luma() const { return plane(5 + sample_count); }
  /// Distance from the samples: the third smallest, so that a few wrong samples cannot hide a change.
  PF_HD std::uint8_t* distance() const { return plane(6 + sample_count); }
  /// What the distances mean: is_apart, in_shadow, has_left, is_leaf.
  PF_HD std::uint8_t* apart() const { return plane(7 + sample_count); }
  /// Distance in spreads, without shadows, as difference_byte stores it.
  PF_HD std::uint8_t* difference() const { return plane(8 + sample_count); }
  /// The same, averaged where the background flickers.
  PF_HD std::uint8_t* smooth() const { return plane(9 + sample_count); }

  // Colors: blue and red minus luma, see chroma_byte; and blue and red, corrected as the luma.
  PF_HD std::uint8_t* blue_sample(int k) const { return plane(10 + sample_count + k); }
  PF_HD std::uint8_t* red_sample(int k) const { return plane(10 + 2 * sample_count + k); }
  PF_HD std::uint8_t* blue_chroma() const { return plane(10 + 3 * sample_count); }
  PF_HD std::uint8_t* red_chroma() const { return plane(11 + 3 * sample_count); }
  PF_HD std::uint8_t* blue() const { return plane(12 + 3 * sample_count); }
  PF_HD std::uint8_t* red() const { return plane(13 + 3 * sample_count); }

  /// Mean luma of the background, in units of 1/256.
  PF_HD std::uint16_t* mean() const { return word_plane(0); }
  /// Frames for which a moving pixel has kept its candidate.
  PF_HD std::uint16_t* run() const { return word_plane(1); }
  /// Evidence that the background is an object that has left (positive), or that a moving pixel is an object
  /// (negative), in units of 1/vote_unit luma.
  PF_HD std::int16_t* vote() const { return reinterpret_cast<std::int16_t*>(word_plane(2)); }
  /// The vote after the newest frame.
  PF_HD std::int16_t* next_vote() const { return reinterpret_cast<std::int16_t*>(word_plane(3)); }
  PF_HD std::uint16_t* mean_blue() const { return word_plane(4); }
  PF_HD std::uint16_t* mean_red() const { return word_plane(5); }
};
/// Planes of a row without and with colors; of these, the first ones are kept between frames, and of the
/// colors' planes, too.
constexpr int gray_planes = 10 + sample_count, color_planes = 14 + 3 * sample_count;
constexpr int kept_planes = 5 + sample_count, kept_color_planes = 2 * sample_count;
constexpr int gray_words = 4, color_words = 6, kept_words = 3, kept_color_words = 2;

/// Pixels of a tile of the image that has one gain, see light.hpp.
constexpr int tile_side = 16;
PF_HD Size tiles_of(Size size) {
  return {(size.width + tile_side - 1) / tile_side, (size.height + tile_side - 1) / tile_side};
}

/// The background of all pixels, in the backend's memory.
struct Background {
  Size size;
  View<std::uint8_t> rows;    // gray_planes or color_planes rows for each row of the image
  View<std::uint16_t> words;  // gray_words or color_words rows for each row of the image
  View<int> numbers;          // values for the whole frame: see below
  View<long long> sums;       // of the search for the camera's shift
  View<int> tile_votes;       // of the choice between two gains
  View<std::uint8_t> tiles;   // TileGain
  bool colors = false;        // there are planes for colors
  int least_spread = 48;      // in units of 1/16; noise raises it, see least_spread_of
  int renewal = 8;            // mean number of frames between renewals of a pixel's samples
  int absorb = 6000;          // frames after which a stationary object becomes background
  bool frozen = false;        // learns nothing

  PF_HD BackgroundRow row(int y) const {
    const int planes = colors ? color_planes : gray_planes, word_planes = colors ? color_words : gray_words;
    return {rows.row(y * planes), words.row(y * word_planes), int(rows.pitch), int(words.pitch / 2)};
  }
  PF_HD int number(int index) const { return numbers.data[index]; }
};

// Indices of Background::numbers. Gains are stored as the bits of floats; the second is 0 if there is only
// one. The shift is in units of 1/16 px.
enum Number {
  frame_number,
  moving_count,
  gain_bits,
  second_gain_bits,
  is_crowded,
  chance_of_renewal,
  shift_x,
  shift_y,
  colored_count,  // pixels of the first frame that have a color
  is_colored,     // colors are compared
  has_mask,       // BackgroundRow::before has the labels of a frame before the newest one
  had_frame,      // it will have them
  frame_noise,    // of the frame, in units of 1/16 luma: see light.hpp
  number_count
};

/// Least spread of a pixel in the newest frame: noise within it is not motion.
PF_HD int least_spread_of(const Background& background) {
  constexpr int noise_spread = 2;  // in units of the noise
  return larger(background.least_spread, noise_spread * background.number(frame_noise));
}
/// Least distance at which a pixel has left its samples: noise below it is not flicker. Leaves usually move it
/// farther than `most_departure` lumas.
PF_HD int least_departure(const Background& background) {
  constexpr int noise_departure = 12, most_departure = 12;  // in units of the noise; in lumas
  const int sixteenths = noise_departure * background.number(frame_noise);
  return smaller((sixteenths + spread_unit - 1) / spread_unit, most_departure);
}
/// A spread that is larger than the least one by `more`, if most_spread allows it.
PF_HD int spread_above(int least, int more) { return larger(least, smaller(least + more, most_spread)); }

constexpr int first_spread = 24;  // how much larger a spread is at first than the least one

/// A frame's planes of bytes. Without colors, only the luma has memory.
struct FrameBytes {
  View<std::uint8_t> luma, blue, red;
};
struct SeenFrame {
  View<const std::uint8_t> luma, blue, red;

  SeenFrame() = default;
  SeenFrame(const FrameBytes& bytes) : luma(bytes.luma), blue(bytes.blue), red(bytes.red) {}
};

/// Converts one or two frames into bytes. On CUDA each replay of a graph may get other frames.
template <class Backend>
void frame_bytes(Backend& backend, const Frame* frames, const FrameBytes* bytes, int count);

/// Starts a background from one frame: the samples come from the pixel and its neighbors.
template <class Backend>
void begin_background(Backend& backend, const SeenFrame& frame, const Background& background);

/// Makes a user's mask the last mask of a background that has just begun.
template <class Backend>
void begin_mask(Backend& backend, View<const std::uint8_t> mask, const Background& background);

// Shared by both backends.

/// Pseudo-random bits: a hash of the position and the frame (sweep.hpp).
PF_HD std::uint32_t random_bits(int x, int y, int frame) {
  return scrambled(std::uint32_t(x) + 0x9e3779b9U * (std::uint32_t(y) + 0x85ebca6bU * std::uint32_t(frame)));
}

/// A luma or color as a byte; no_luma if it is not finite.
PF_HD int luma_byte(float luma) {
  const float inside = smaller(larger(luma, 0.0f), float(most_luma));
  return is_finite(luma) ? int(inside + 0.5f) : no_luma;
}

/// How far blue or red is above the luma, as a byte: 128 if it equals the luma.
PF_HD int chroma_byte(int color, int luma) { return (color - luma + 256) >> 1; }

/// Whether a pixel has a color. A video is compared by colors if more than 2 % of its first frame have one:
/// in a gray video, compression leaves few.
PF_HD bool has_color(int luma, int blue, int red) {
  const int a = blue - luma, b = red - luma;
  return larger(a < 0 ? -a : a, b < 0 ? -b : b) > 6;
}

struct Place2 {
  int x, y;
};
/// Pixel whose luma and color are the initial sample k of pixel (x, y).
PF_HD Place2 first_place(int x, int y, int k, Size size) {
  const std::uint32_t bits = random_bits(x, y, -1 - k);
  const int dx = k ? int(bits % 3) - 1 : 0, dy = k ? int((bits >> 8) % 3) - 1 : 0;
  return {clamp(x + dx, 0, size.width - 1), clamp(y + dy, 0, size.height - 1)};
}

/// What begin_background stores for a pixel. Returns whether the pixel has a color.
PF_HD bool begin_pixel(const Background& background, const SeenFrame& frame, int x, int y) {
  const BackgroundRow row = background.row(y);
  for (int k = 0; k < sample_count; ++k) {
    const Place2 from = first_place(x, y, k, background.size);
    const int luma = frame.luma(from.x, from.y);
    row.sample(k)[x] = std::uint8_t(luma);
    if (!background.colors) continue;
    row.blue_sample(k)[x] = std::uint8_t(chroma_byte(frame.blue(from.x, from.y), luma));
    row.red_sample(k)[x] = std::uint8_t(chroma_byte(frame.red(from.x, from.y), luma));
  }
  const int luma = frame.luma(x, y);
  row.spread()[x] = std::uint8_t(spread_above(background.least_spread, first_spread));
  row.candidate()[x] = row.support()[x] = row.flicker()[x] = row.before()[x] = 0;
  row.run()[x] = 0;
  row.vote()[x] = 0;
  row.mean()[x] = std::uint16_t(luma << 8);
  if (!background.colors) return false;
  row.mean_blue()[x] = std::uint16_t(frame.blue(x, y) << 8);
  row.mean_red()[x] = std::uint16_t(frame.red(x, y) << 8);
  return luma != no_luma && has_color(luma, frame.blue(x, y), frame.red(x, y));
}

}  // namespace parafield
