// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/shift.hpp"
#include "markov/binary/binary.hpp"

/// Ghosts: where an object has left that was in the background, the place counts as moving, but nothing is
/// there. The border of a moving region tells both apart. At an object's border, the frame has an edge and
/// the background has none; at a ghost's border it is the other way around. Pixels at the border measure by
/// how much, and vote. Moving pixels pass the vote on to others of a similar luma at random distances, so
/// that it reaches the region's inside within a few frames. A vote of 0 is none. A pixel loses its vote when
/// its luma changes, because the vote was about what it showed before: without this, a passing object would
/// vote for the ghost behind it. See learn.hpp for what follows from the vote.
///
/// A background that has been seen for a short time may be an object of the first frame. There, a moving pixel
/// also votes by static pixels at random distances that have its luma and have been background for longer: if
/// their backgrounds differ, the pixel is a ghost. This tells the place behind an object in few frames.
namespace parafield {

/// Updates the votes of all pixels after a frame.
template <class Backend>
void vote_on_ghosts(Backend& backend, const Background& background, const BinaryLabels& labels);

// Shared by both backends.

constexpr int ghost_reach = 2;     // px to the static pixel of a border
constexpr int most_vote = 20;      // lumas
constexpr int most_apart = 16;     // lumas between pixels of the same thing
constexpr int known_support = 32;  // from this support on, static pixels elsewhere have no vote
constexpr int partners = 4;        // pixels at random distances
constexpr int vote_frames = 16;    // time constant of a pixel's vote
constexpr int ghost_vote = 32;     // 2 lumas: the background is an object that has left
constexpr int object_vote = -8;    // half a luma: the pixel is an object
constexpr int ghost_run = 8;       // frames after which a ghost becomes background
constexpr int undecided_run = 8;   // frames after which a pixel without a vote may

/// Whether a moving pixel still has its candidate's luma.
PF_HD bool keeps_luma(int luma, int candidate, int spread) {
  const int apart = luma - candidate;
  return spread_unit * (apart < 0 ? -apart : apart) <= 2 * spread;
}
/// A moving pixel's vote in the last frame, if it was about the same luma.
PF_HD int kept_vote(const BackgroundRow& row, int x) {
  return keeps_luma(row.luma()[x], row.candidate()[x], row.spread()[x]) ? row.vote()[x] : 0;
}

/// The next vote of a moving pixel. is_moving(x, y) returns the label of a pixel of the image. For places
/// outside the image it loads pixels at the border, whose values do not count: all loads of a step can then
/// start at once, without branches between them.
template <class IsMoving>
PF_HD int next_vote(const Background& background, int x, int y, IsMoving is_moving) {
  const int width = background.size.width, height = background.size.height;
  const auto inside = [=](int x, int y) { return (x >= 0) & (y >= 0) & (x < width) & (y < height); };
  const auto apart = [](int a, int b) { return larger(a - b, b - a); };
  const BackgroundRow row = background.row(y);
  const int luma = row.luma()[x], mean = row.mean()[x] >> 8, support = row.support()[x];
  int vote = kept_vote(row, x);
  bool is_border[4];
  PF_UNROLL
  for (int i = 0; i < 4; ++i) {
    const Offset to = neighbor_offset(i);
    const int out_x = x + ghost_reach * to.x, out_y = y + ghost_reach * to.y;
    is_border[i] = inside(out_x, out_y) & !is_moving(clamp(out_x, 0, width - 1), clamp(out_y, 0, height - 1));
  }
  if (is_border[0] | is_border[1] | is_border[2] | is_border[3]) {
    int sum = 0, count = 0;
    PF_UNROLL
    for (int i = 0; i < 4; ++i) {
      const Offset to = neighbor_offset(i);
      const int out_x = clamp(x + ghost_reach * to.x, 0, width - 1),
                out_y = clamp(y + ghost_reach * to.y, 0, height - 1);
      // One pixel further inside: the pixel itself if that one is static or outside.
      const int in_x = clamp(x - to.x, 0, width - 1), in_y = clamp(y - to.y, 0, height - 1);
      const BackgroundRow out = background.row(out_y), in = background.row(in_y);
      const int out_luma = out.luma()[out_x], out_mean = out.mean()[out_x] >> 8, in_luma = in.luma()[in_x],
                in_mean = in.mean()[in_x] >> 8;
      const bool has_in = is_moving(in_x, in_y);
      const int before = apart(has_in ? in_mean : mean, out_mean),
                now = apart(has_in ? in_luma : luma, out_luma);
      sum += is_border[i] ? clamp(before - now, -most_vote, most_vote) : 0;
      count += is_border[i];
    }
    vote += (vote_unit * sum / count - vote) / vote_frames;
  }
  const bool is_new = support < known_support;
  std::uint32_t bits = random_bits(x, y, background.number(frame_number) + 7777);
  for (int i = 0; i < (is_new ? partners : 1); ++i, bits = scrambled(bits ^ 0x9e3779b9U)) {
    const int scale = 1 << bits % 5;
    const int from_x = x + (int((bits >> 8) % 5) - 2) * scale,
              from_y = y + (int((bits >> 16) % 5) - 2) * scale;
    if (!inside(from_x, from_y)) continue;
    const BackgroundRow from = background.row(from_y);
    const int from_luma = from.luma()[from_x], now = apart(luma, from_luma);
    const bool moves = is_moving(from_x, from_y);
    if ((now > most_apart) | (from_luma == no_luma) | !(moves ? i == 0 : is_new)) continue;
    if (moves) {
      const int other = kept_vote(from, from_x);
      const int passed = vote == 0 ? other : vote + (other - vote) / 2;
      vote = other == 0 ? vote : passed;
    } else {
      const int off = smaller(apart(mean, from.mean()[from_x] >> 8) - now, most_vote);
      const bool is_ghost = (from.support()[from_x] > support) & (off > 0);
      vote = is_ghost ? vote + (vote_unit * off - vote) / vote_frames : vote;
    }
  }
  return vote;
}

}  // namespace parafield
