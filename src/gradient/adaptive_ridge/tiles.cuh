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

/// Pixels that a multiprocessor works on if it gets its share of the tiles, as a measure of time. Two tiles at once
/// take hardly longer than one. Without room for a tile, more than any level has.
template <class Tile>
double pixels_in_turn(Cuda& cuda, Size level) {
  constexpr double beginning = 100;  // a tile's latency, in pixels
  const dim3 tiles = tiles_over<Tile>(level);
  const double each = blocks_for(int(tiles.x * tiles.y), cuda.multiprocessors());
  if (sizeof(Tile) > cuda.shared_memory()) return 1e30;
  return std::max(each, 1.75) * (Tile::columns * Tile::rows + beginning);
}

/// Calls launch(tile) with a null pointer to the type of tile that is ready first, of those the first of `Tiles`.
template <class... Tiles, class Launch>
void with_fastest_tile(Cuda& cuda, Size level, Launch launch) {
  double least = 1e31;
  (..., (least = std::min(least, pixels_in_turn<Tiles>(cuda, level))));
  (... || (pixels_in_turn<Tiles>(cuda, level) == least && (launch(static_cast<Tiles*>(nullptr)), true)));
}

}  // namespace parafield
