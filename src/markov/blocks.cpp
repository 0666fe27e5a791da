// SPDX-License-Identifier: MIT
#include "markov/blocks.hpp"

#include "core/arithmetic.hpp"
#include "core/fail.hpp"
#include "markov/slopes/slopes.hpp"
#include "parafield/methods/label_solvers.hpp"

namespace parafield {
namespace {

/// Columns and rows of the squarest blocks; 0 x 0 if the image cannot be divided into `count` blocks.
Size counts_of(Size image, int count) {
  Size best;
  double squarest = 0;  // shorter side / longer side
  for (int rows = 1; rows <= count; ++rows) {
    if (count % rows != 0) continue;
    const int columns = count / rows;
    if (columns > image.width || rows > image.height) continue;
    const double width = double(image.width) / columns, height = double(image.height) / rows;
    const double square = width < height ? width / height : height / width;
    if (square > squarest) squarest = square, best = {columns, rows};
  }
  return best;
}

int divided(int length, int count) { return (length + count - 1) / count; }

/// Size of each block, including its overlaps.
Size size_of(Size image, Size counts, int overlap) {
  return {smaller(image.width, divided(image.width, counts.width) + 2 * overlap),
          smaller(image.height, divided(image.height, counts.height) + 2 * overlap)};
}

/// Pixels of all blocks / pixels of the image.
double work_of(Size image, Size counts, Size block) {
  return double(counts.width) * counts.height * block.width * block.height /
         (double(image.width) * image.height);
}

}  // namespace

bool BlockGrid::fits(Size image, int count, int overlap) {
  const Size counts = counts_of(image, count);
  return counts.width > 0 && work_of(image, counts, size_of(image, counts, overlap)) <= most_work;
}

BlockGrid::BlockGrid(Size image, int count, int overlap) {
  const Size counts = counts_of(image, count);
  if (counts.width == 0)
    fail(ErrorCode::invalid_argument, "blocks cannot be ", count, ": an image of ", image.width, "x",
         image.height, " px has columns x rows of blocks, at most ", image.width, " x ", image.height);
  size = size_of(image, counts, overlap);
  margin = count > 1 ? overlap : 0;
  if (const double work = work_of(image, counts, size); work > most_work)
    fail(ErrorCode::invalid_argument, "block_overlap cannot be ", overlap, " px: ", count, " blocks of ",
         size.width, "x", size.height, " px have ", std::int64_t(work), " times the pixels of the image of ",
         image.width, "x", image.height, " px; allowed: ", most_work, " times");
  const int width = divided(image.width, counts.width), height = divided(image.height, counts.height);
  for (int y = 0; y < image.height; y += height)
    for (int x = 0; x < image.width; x += width) {
      const int left = clamp(x - overlap, 0, image.width - size.width),
                top = clamp(y - overlap, 0, image.height - size.height);
      blocks.push_back({left, top, x - left, y - top, smaller(x + width, image.width) - left,
                        smaller(y + height, image.height) - top});
    }
}

namespace {

/// Blocks along one side of an image, all of the same length.
struct Cuts {
  int side = 0, count = 1, length = 0, step = 0, margin = 0;

  int begin(int i) const { return smaller(i * step, side - length); }
  /// Part of block i that is kept, relative to its begin. Each block leaves its first `margin` pixels to the
  /// block before it.
  int kept_from(int i) const { return i > 0 ? margin : 0; }
  int kept_to(int i) const { return i + 1 < count ? begin(i + 1) + margin - begin(i) : length; }
};

/// Cuts a side into blocks that begin at multiples of `unit`. Returns nullopt if the margins leave no room
/// for `count` blocks.
std::optional<Cuts> cuts_of(int side, int count, int margin, int unit) {
  if (count == 1) return Cuts{.side = side, .length = side, .margin = margin};
  // The last block must begin at a multiple of `unit`, too, so possible lengths are `unit` apart.
  const std::int64_t all = side + std::int64_t(2) * margin * (count - 1);
  std::int64_t length = (all + count - 1) / count;
  length += ((side - length) % unit + unit) % unit;
  const auto step = [&] { return (length - 2 * margin) / unit * unit; };
  while (length < side && step() * (count - 1) < side - length) length += unit;
  if (length >= side || step() < unit || step() * (count - 2) >= side - length) return {};
  return Cuts{side, count, int(length), int(step()), margin};
}

}  // namespace

std::optional<BlockGrid> BlockGrid::fewest(Size image, int margin, int unit, double work,
                                           const std::function<bool(Size)>& fits) {
  constexpr int most_blocks = 4096;
  for (int count = 1; count <= most_blocks; ++count) {
    double least = work * image.width * image.height;
    std::optional<Cuts> across, down;
    for (int rows = 1; rows <= count; ++rows) {
      if (count % rows != 0) continue;
      const auto columns_cut = cuts_of(image.width, count / rows, margin, unit),
                 rows_cut = cuts_of(image.height, rows, margin, unit);
      if (!columns_cut || !rows_cut) continue;
      const double pixels = double(count) * columns_cut->length * rows_cut->length;
      if (pixels > least || !fits({columns_cut->length, rows_cut->length})) continue;
      least = pixels;
      across = columns_cut;
      down = rows_cut;
    }
    if (!across) continue;
    BlockGrid grid;
    grid.size = {across->length, down->length};
    grid.margin = count > 1 ? margin : 0;
    for (int j = 0; j < down->count; ++j)
      for (int i = 0; i < across->count; ++i)
        grid.blocks.push_back({across->begin(i), down->begin(j), across->kept_from(i), down->kept_from(j),
                               across->kept_to(i), down->kept_to(j)});
    return grid;
  }
  return {};
}

int LevelIterations::reach() const {
  // Each iteration reaches one pixel of its level farther. A data cost of the coarsest level is a sum over a
  // square with 2^(levels - 1) px on each side.
  std::int64_t px = finest + (std::int64_t(1) << (levels - 1));
  for (int k = 1; k < levels; ++k) {
    const bool fits = finest_fitted > 0 && k >= finest_fitted && k <= coarsest_sloped;
    const std::int64_t solves = fits && k >= last_solved_twice ? 2 : 1;
    px += solves * (coarse + (fits ? slope_radius_x + 1 : 0)) << k;
  }
  return int(px);
}

std::optional<BlockGrid> chosen_blocks(Size image, const LevelIterations& iterations, int least_margin,
                                       const std::function<bool(Size)>& fits) {
  // On every level, the pixels of a block must have the same color of the checkerboard as in the image.
  const int unit = 1 << iterations.levels;
  for (int share = 1; share <= 8; share *= 2) {
    const int margin = larger(iterations.reach() / share, least_margin);
    const double work = share < 8 ? 4 : BlockGrid::most_work;  // prefer narrower margins to more work
    if (auto grid = BlockGrid::fewest(image, margin, unit, work, fits)) return grid;
  }
  return {};
}

int levels_of(int levels, Size size) {
  int count = 1;
  for (int side = larger(size.width, size.height); count < levels && side > 2; side = (side + 1) / 2) ++count;
  return count;
}

Size block_size(Size image, int blocks, int overlap) {
  if (overlap < 0)
    fail(ErrorCode::invalid_argument, "block_overlap cannot be ", overlap, " px; allowed: 0 or more");
  return BlockGrid(image, blocks, smaller(overlap, larger(image.width, image.height))).size;
}

}  // namespace parafield
