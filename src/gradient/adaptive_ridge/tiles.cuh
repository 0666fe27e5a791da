// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "core/cuda/backend.hpp"

/// Tiles of levels. A tile is a struct in a block's shared memory that produces `width` x `height` pixels. To
/// do so, it processes `rows` rows of `columns` pixels.
namespace parafield {

template <class Tile>
dim3 tiles_over(Size level) {
  return {blocks_for(level.width, Tile::width), blocks_for(level.height, Tile::height)};
}

/// Estimated time of one multiprocessor for its share of the tiles, measured in processed pixels. Two tiles
/// at once take hardly longer than one. If a tile does not fit into shared memory, the result is larger than
/// for any level.
template <class Tile>
double pixels_in_turn(Cuda& cuda, Size level) {
  constexpr double beginning = 100;  // latency of a tile, in pixels
  const dim3 tiles = tiles_over<Tile>(level);
  const double each = blocks_for(int(tiles.x * tiles.y), cuda.multiprocessors());
  if (sizeof(Tile) > cuda.shared_memory()) return 1e30;
  return std::max(each, 1.75) * (Tile::columns * Tile::rows + beginning);
}

/// Calls launch(tile) with a null pointer whose type is the fastest of `Tiles`, or the first of them in a
/// tie.
template <class... Tiles, class Launch>
void with_fastest_tile(Cuda& cuda, Size level, Launch launch) {
  double least = 1e31;
  (..., (least = std::min(least, pixels_in_turn<Tiles>(cuda, level))));
  (... || (pixels_in_turn<Tiles>(cuda, level) == least && (launch(static_cast<Tiles*>(nullptr)), true)));
}

}  // namespace parafield
