// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "parafield/image.hpp"

namespace parafield {

/// Block of an image that belief propagation solves on its own.
struct Block {
  int x = 0, y = 0;                    ///< first pixel in the image
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;  ///< part to keep, [x0, x1) x [y0, y1), relative to (x, y)
};

/// Image divided into blocks of the same size (Grauer-Gray section 6).
struct BlockGrid {
  Size size;       ///< of a block with its margins
  int margin = 0;  ///< px
  std::vector<Block> blocks;

  BlockGrid() = default;
  /// Divides the image into columns x rows = `count` blocks, as square as possible. Throws
  /// Error(invalid_argument) if that is impossible, or if the blocks together have more than most_work times
  /// the image's pixels.
  BlockGrid(Size image, int count, int overlap);
  static bool fits(Size image, int count, int overlap);

  /// The fewest blocks, in columns x rows, whose size `fits` and which together have at most `work` times the
  /// image's pixels. Of equally many blocks, the smallest are chosen. Blocks begin at multiples of `unit`.
  /// Returns nullopt if there are none.
  static std::optional<BlockGrid> fewest(Size image, int margin, int unit, double work,
                                         const std::function<bool(Size)>& fits);

  static constexpr int most_work = 32;
};

/// Iterations of belief propagation on the levels of an image.
struct LevelIterations {
  int levels = 1, coarse = 0, finest = 0;
  int finest_fitted = 0;  // finest level that planes are fitted to (slopes.hpp); 0 = none

  /// Distance up to which a pixel's data cost can change the result, px: how far the messages of all levels
  /// travel, and the windows of planes reach.
  int reach() const;
};

/// Chooses the fewest blocks whose size `fits`. Their coarser levels are parts of the image's coarser levels,
/// so margins of reach() give the same bits as a single block. If no such blocks fit, or if they have more
/// than four times the image's pixels, the margins are a half, a quarter or an eighth of that, but at least
/// `least_margin`. Returns nullopt if no blocks fit.
std::optional<BlockGrid> chosen_blocks(Size image, const LevelIterations& iterations, int least_margin,
                                       const std::function<bool(Size)>& fits);

}  // namespace parafield
