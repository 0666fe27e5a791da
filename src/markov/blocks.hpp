// SPDX-License-Identifier: MIT
#pragma once
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
  Size size;  ///< of a block with its overlaps
  std::vector<Block> blocks;

  /// Divides into columns x rows = `count` blocks, as square as possible. Throws Error(invalid_argument) if
  /// the image cannot be divided so, or if the blocks have more than most_work times its pixels together.
  BlockGrid(Size image, int count, int overlap);
  static bool fits(Size image, int count, int overlap);

  static constexpr int most_work = 32;
};

}  // namespace parafield
