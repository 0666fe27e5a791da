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
namespace parafield {

/// Updates the votes of all pixels after a frame.
template <class Backend>
void vote_on_ghosts(Backend& backend, const Background& background, const BinaryLabels& labels);

// Shared by both backends.

constexpr int ghost_reach = 2;    // px to the static pixel of a border
constexpr int most_vote = 20;     // lumas
constexpr int most_apart = 16;    // lumas between pixels of the same thing
constexpr int vote_frames = 16;   // time constant of a pixel's vote
constexpr int ghost_vote = 32;    // 2 lumas: the background is an object that has left
constexpr int object_vote = -8;   // half a luma: the pixel is an object
constexpr int ghost_run = 8;      // frames after which a ghost becomes background
constexpr int undecided_run = 3;  // frames after which a pixel without a vote may

/// Whether a moving pixel still has its candidate's luma.
PF_HD bool keeps_luma(int luma, int candidate, int spread) {
  const int apart = luma - candidate;
  return spread_unit * (apart < 0 ? -apart : apart) <= 2 * spread;
}
/// A moving pixel's vote in the last frame, if it was about the same luma.
PF_HD int kept_vote(const BackgroundRow& row, int x) {
  return keeps_luma(row.luma()[x], row.candidate()[x], row.spread()[x]) ? row.vote()[x] : 0;
}

/// The next vote of a moving pixel. is_moving(x, y) returns the label of a pixel of the image.
template <class IsMoving>
PF_HD int next_vote(const Background& background, int x, int y, IsMoving is_moving) {
  const int width = background.size.width, height = background.size.height;
  const auto inside = [=](int x, int y) { return x >= 0 && y >= 0 && x < width && y < height; };
  const BackgroundRow row = background.row(y);
  int sum = 0, count = 0;
  for (int i = 0; i < 4; ++i) {
    const Offset to = neighbor_offset(i);
    const int out_x = x + ghost_reach * to.x, out_y = y + ghost_reach * to.y;
    if (!inside(out_x, out_y) || is_moving(out_x, out_y)) continue;
    int in_x = x - to.x, in_y = y - to.y;
    if (!inside(in_x, in_y) || !is_moving(in_x, in_y)) in_x = x, in_y = y;
    const BackgroundRow out = background.row(out_y), in = background.row(in_y);
    const int now = int(in.luma()[in_x]) - int(out.luma()[out_x]),
              before = (in.mean()[in_x] >> 8) - (out.mean()[out_x] >> 8);
    sum += clamp((before < 0 ? -before : before) - (now < 0 ? -now : now), -most_vote, most_vote);
    ++count;
  }
  int vote = kept_vote(row, x);
  if (count > 0) vote += (vote_unit * sum / count - vote) / vote_frames;
  const std::uint32_t bits = random_bits(x, y, background.number(frame_number) + 7777);
  const int scale = 1 << bits % 5;
  const int from_x = x + (int((bits >> 8) % 5) - 2) * scale, from_y = y + (int((bits >> 16) % 5) - 2) * scale;
  if (!inside(from_x, from_y) || !is_moving(from_x, from_y)) return vote;
  const BackgroundRow from = background.row(from_y);
  const int apart = int(row.luma()[x]) - int(from.luma()[from_x]);
  if (apart > most_apart || -apart > most_apart) return vote;
  const int other = kept_vote(from, from_x);
  return other == 0 ? vote : vote == 0 ? other : vote + (other - vote) / 2;
}

}  // namespace parafield
