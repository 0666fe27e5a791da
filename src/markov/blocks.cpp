// SPDX-License-Identifier: MIT
#include "markov/blocks.hpp"

#include "core/arithmetic.hpp"
#include "core/fail.hpp"
#include "parafield/methods/label_solvers.hpp"

namespace parafield {
namespace {

/// Columns and rows of the squarest blocks; 0 x 0 if the image cannot be divided into so many.
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

/// Size of each of columns x rows blocks, with its overlaps.
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
