// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "core/cuda/backend.hpp"

/// Tiles of levels. A tile is a struct in a block's shared memory that makes `width` x `height` pixels. For
/// these it works on `rows` rows of `columns`.
namespace parafield {

template <class Tile>
dim3 tiles_over(Size level) {
  return {blocks_for(level.width, Tile::width), blocks_for(level.height, Tile::height)};
}

/// Pixels that a multiprocessor works on if it gets its share of the tiles. Without room for a tile, more
/// than any level has.
template <class Tile>
double pixels_in_turn(const Cuda& cuda, Size level) {
  const dim3 tiles = tiles_over<Tile>(level);
  const double each = blocks_for(int(tiles.x * tiles.y), cuda.multiprocessors());
  return sizeof(Tile) > cuda.shared_memory() ? 1e30 : each * Tile::columns * Tile::rows;
}

/// Calls launch(tile) with a null pointer to the type of tile that a level should have. A level of few pixels
/// takes as long as a tile does: it gets the small one. Others get the one of `Tiles` that is ready first, of
/// those the first. (H100: `Small` is faster at 320x240 and 621x188, slower at 640x480.)
template <class Small, class... Tiles, class Launch>
void with_fastest_tile(const Cuda& cuda, Size level, Launch launch) {
  constexpr double few = 1000;  // pixels for each multiprocessor
  if (double(level.width) * level.height <= few * cuda.multiprocessors())
    return launch(static_cast<Small*>(nullptr));
  double least = 1e31;
  (..., (least = std::min(least, pixels_in_turn<Tiles>(cuda, level))));
  (... || (pixels_in_turn<Tiles>(cuda, level) == least && (launch(static_cast<Tiles*>(nullptr)), true)));
}

}  // namespace parafield
