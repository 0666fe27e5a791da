// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/ghosts.hpp"
#include "markov/background/light.hpp"

/// Learning from a frame. A pixel's flicker grows when it leaves its samples or returns to them, and fades. It
/// grows more where the samples of pixels around explain it, as they do for leaves but not for objects. A
/// static pixel adapts its spread; a dynamic pixel, one that flickers, does so even if it moves, and toward a
/// high quantile of its distances. Static pixels that are close to their samples renew samples at random:
/// their own and their neighbors'. Static pixels that flicker do so even if they are apart from their samples,
/// and so do pixels of a young background whose distance may be noise. A moving pixel counts for how many
/// frames it has kept its luma. After `absorb` frames this luma becomes the background. It does so sooner if
/// the vote says that an object has left here, or if the vote is undecided and the background has been seen
/// for a shorter time.
namespace parafield {

/// Learns from a frame, given its labels.
template <class Backend>
void learn_background(Backend& backend, const Background& background, const BinaryLabels& labels);

// Shared by both backends.

/// Parameters of learning from a frame, the same for all pixels.
struct Lesson {
  int frame, chance, least_spread, absorb;
  int added;  // to the flicker of a pixel that leaves its samples or returns to them
  int rate;   // the mean luma moves by 2^-rate of its distance
  int young, crowded, fades, colors;
};
PF_HD Lesson lesson_of(const Background& background) {
  const int frame = background.number(frame_number);
  return {.frame = frame,
          .chance = background.number(chance_of_renewal),
          .least_spread = least_spread_of(background),
          .absorb = background.absorb,
          .added = larger(2048 / (frame + 32), 8),
          .rate = frame < 16 ? 2 : 4,
          .young = frame < young_frames,
          .crowded = background.number(is_crowded) != 0,
          .fades = (frame & 7) == 0,
          .colors = background.colors && background.number(is_colored)};
}

/// What a frame shows of a pixel.
struct Seen {
  int luma, distance;
  int label, apart;  // 0 or 1
  int bits;          // BackgroundRow::apart
};
/// State of a pixel's background apart from its samples.
struct PixelMemory {
  int spread = 0, candidate = 0, support = 0, flicker = 0, before = 0, run = 0, vote = 0, mean = 0;
};

/// `a` if `flag` is 1, `b` if it is 0. The CPU's form has no branch, because GCC turns several branches on the
/// same flag into control flow, which keeps loops from being vectorized.
PF_HD int either(int flag, int a, int b) {
#ifdef __CUDA_ARCH__
  return flag ? a : b;
#else
  return b ^ ((a ^ b) & -flag);
#endif
}

constexpr int leaf_support = 8;  // least support of a background that leaves can explain

/// Flicker after a frame. It grows half as much where something moves now or did before, so that passing
/// objects count little, unless leaves explain that the pixel has left its samples.
PF_HD int next_flicker(const Lesson& lesson, const Seen& seen, const PixelMemory& memory) {
  const int faded = memory.flicker - (lesson.fades ? memory.flicker >> 5 : 0);
  // In bits, because comparisons keep the loop from being vectorized.
  static_assert(has_left == 4 && is_leaf == 8 && had_left == 1 && was_moving == 2 && was_leaf == 4);
  const int changes = ((seen.bits >> 2) ^ memory.before) & 1;
  const int leaf = ((seen.bits >> 3) | (memory.before >> 2)) & int(memory.support >= leaf_support);
  const int moves = seen.label | (memory.before >> 1 & 1);
  const int added = either(moves & (leaf ^ 1), lesson.added / 2, lesson.added);
  return smaller(faded + either(changes, added, 0), 255);
}
/// BackgroundRow::before after a frame, except for was_moving.
PF_HD int next_before(int bits) {
  static_assert(has_left == 4 * had_left && is_leaf == 2 * was_leaf);
  return (bits & has_left) >> 2 | (bits & is_leaf) >> 1;
}

constexpr int spread_range = 48;  // how much larger a spread can become than the least one

/// Spread after a frame in which it adapts. It moves toward twice the distance in steps of one unit; that of a
/// dynamic pixel moves toward the distance, up to nine steps at once upward, so that nine of ten distances
/// stay below it.
PF_HD int next_spread(int spread, int distance, bool dynamic, int least) {
  const int off = (dynamic ? 1 : 2) * spread_unit * distance - spread;
  const int up = smaller(off, dynamic ? 9 : 1);
  const int down = off < 0 ? -1 : 0, step = off > 0 ? up : down;
  return clamp(spread + step, least, spread_above(least, spread_range));
}

/// Frames for which a moving pixel must keep its luma until that becomes the background. An undecided vote may
/// still arrive from the border in the first frames. If most of the frame moves, votes say nothing.
PF_HD int needed_run(const Lesson& lesson, int support, int vote) {
  const int supported = smaller(support / 3 + support * support / 25, lesson.absorb);
  const int usual = support < most_support ? supported : lesson.absorb;
  int needed = smaller(larger(usual, undecided_run), lesson.absorb);
  needed = vote > 0 ? usual : needed;
  needed = vote <= object_vote ? lesson.absorb : needed;
  needed = vote >= ghost_vote ? smaller(usual, ghost_run) : needed;
  return lesson.crowded ? usual : needed;
}

/// Whether a pixel's mean follows the frame.
PF_HD int follows_mean(const Lesson& lesson, const Seen& seen) {
  return (seen.label ^ 1) & (lesson.young | (seen.apart ^ 1));
}
PF_HD int next_mean(int mean, int value, int rate) { return mean + ((value * 256 - mean) >> rate); }

/// Samples of a pixel that its luma replaces.
enum Replaced { none_replaced, half_replaced, all_replaced };

/// Learns from a pixel with a luma. A background that has been seen for long and is not a ghost is replaced
/// only in half of its samples, so that it is recognized when it returns.
PF_HD Replaced learn(const Lesson& lesson, const Seen& seen, PixelMemory& memory) {
  const int flicker = next_flicker(lesson, seen, memory);
  const bool dynamic = flicker >= dynamic_flicker;
  const int adapted = next_spread(memory.spread, seen.distance, dynamic, lesson.least_spread);
  const int spread = either(seen.label & int(!dynamic), memory.spread, adapted);
  const int support = lesson.crowded ? memory.support >> 1 : memory.support;
  const bool stays = keeps_luma(seen.luma, memory.candidate, spread);
  const int run = either(seen.label, stays ? smaller(memory.run + 1, 65535) : 1, 0);
  const int replaces = run > needed_run(lesson, support, memory.vote);
  const bool keeps_half = (support >= 32) & (lesson.crowded | int(memory.vote < ghost_vote));
  memory.candidate = either(seen.label & int(!stays), seen.luma, memory.candidate);
  const int grown = either(seen.label, support, smaller(support + 1, most_support));
  memory.support = either(replaces, smaller(run, most_support), grown);
  memory.run = either(replaces, 0, run);
  memory.vote = either(replaces, 0, memory.vote);
  const int followed =
      either(follows_mean(lesson, seen), next_mean(memory.mean, seen.luma, lesson.rate), memory.mean);
  memory.mean = either(replaces, seen.luma * 256, followed);
  memory.flicker = flicker;
  memory.spread = spread;
  memory.before = next_before(seen.bits) | seen.label * was_moving;
  return Replaced(either(replaces, keeps_half ? half_replaced : all_replaced, none_replaced));
}

/// Pixels of a row that renew the same samples in a frame.
constexpr int segment = 32;

/// What a segment renews in a frame. Sample `own` becomes the pixel's own luma, and then sample `other` the
/// luma of its neighbor `from`, in each case only where renews_own and gives_sample allow it; -1: nothing.
/// `half`: bits of half the samples.
struct SegmentLesson {
  int own, other, from, half;
};
PF_HD SegmentLesson segment_lesson(const Lesson& lesson, int number, int y) {
  static_assert(sample_count == 16);
  const std::uint32_t chances = random_bits(number, y, lesson.frame), bits = scrambled(chances ^ 0x9e3779b9U);
  const int wrapped = 255 << (bits >> 11 & 15);
  return {int(chances & 65535) < lesson.chance ? int(bits & 15) : -1,
          int(chances >> 16) < lesson.chance ? int(bits >> 4 & 15) : -1, int(bits >> 8 & 7),
          (wrapped | wrapped >> sample_count) & 65535};
}
/// Whether a pixel can give its luma to a neighbor: it is static and close to its samples. 0 or 1.
PF_HD int gives_sample(int label, int apart, int luma) {
  return (label ^ 1) & (apart ^ 1) & int(luma != no_luma);
}
/// Whether a pixel takes a neighbor's luma: it is static, or its background is young and its distance may be
/// noise. `spread`: after the frame.
PF_HD int takes_sample(int young, int label, int distance, int spread, int luma) {
  const int may_be_noise = young & int(spread_unit * distance <= 3 * spread);
  return ((label ^ 1) | may_be_noise) & int(luma != no_luma);
}
/// Whether it renews one of its own samples. `takes`: what takes_sample returns; `flicker`: after the frame.
PF_HD int renews_own(int takes, int young, int apart, int flicker) {
  return takes & (young | (apart ^ 1) | int(flicker >= dynamic_flicker));
}

}  // namespace parafield
