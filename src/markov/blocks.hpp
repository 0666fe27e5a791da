// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "parafield/image.hpp"

namespace parafield {

/// Block of an image, which belief propagation solves by itself.
struct Block {
  int x = 0, y = 0;                    ///< first pixel in the image
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;  ///< [x0, x1) x [y0, y1), counted from (x, y): the result is kept there
};

/// Image divided into blocks of one size (Grauer-Gray section 6).
struct BlockGrid {
  Size size;       ///< of a block with its margins
  int margin = 0;  ///< px
  std::vector<Block> blocks;

  BlockGrid() = default;
  /// Divides into columns x rows = `count` blocks, as square as possible. Throws Error(invalid_argument) if
  /// the image cannot be divided so, or if the blocks have more than most_work times its pixels together.
  BlockGrid(Size image, int count, int overlap);
  static bool fits(Size image, int count, int overlap);

  /// The fewest blocks, in columns x rows, whose size `fits` and that have at most `work` times the image's
  /// pixels together; among as many blocks, the smallest ones. They begin at multiples of `unit`. Nothing if
  /// there are none.
  static std::optional<BlockGrid> fewest(Size image, int margin, int unit, double work,
                                         const std::function<bool(Size)>& fits);

  static constexpr int most_work = 32;
};

/// Iterations of belief propagation on the levels of an image.
struct LevelIterations {
  int levels = 1, coarse = 0, finest = 0;

  /// How far a pixel's data cost can change the result, px: as far as the messages of all levels travel.
  int reach() const;
};

/// Chooses the fewest blocks whose size `fits`. Their coarser levels are parts of the image's. So with margins of
/// reach() their result has the bits of one block. If no such blocks fit, or if they have four times the image's
/// pixels, margins are a half, a quarter or an eighth of that, but not below `least_margin`. Nothing if none fit.
std::optional<BlockGrid> chosen_blocks(Size image, const LevelIterations& iterations, int least_margin,
                                       const std::function<bool(Size)>& fits);

}  // namespace parafield
