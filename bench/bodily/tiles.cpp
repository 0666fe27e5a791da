// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <optional>

#include "bodily/inputs.hpp"

namespace parafield::bench {
namespace {

std::array<BestTile, tiled_kernels> searched(const Study& study) {
  const Size size = study.size(vga);
  const int pitch = pitch_of(size.width, 64), batch = study.quick ? 2 : 15, repeats = study.quick ? 3 : 50;
  const CudaStream stream;
  const Inputs inputs(size, pitch);
  const TiledTensor tiled(size, pitch);
  tiled.run(stream, inputs.floats(0), thesis_tiles());  // each kernel's input is made
  stream.synchronize();

  using Sides = std::vector<int>;
  const Sides widths =
      study.quick ? Sides{16, 32} : Sides{8, 16, 32, 48, 64, 96, 128, 160, 192, 256, 320, 512, 640};
  const Sides heights =
      study.quick ? Sides{1, 8} : Sides{1, 2, 3, 4, 6, 8, 10, 12, 16, 18, 20, 24, 32, 48, 64};
  std::array<BestTile, tiled_kernels> best;
  for (std::size_t i = 0; i < tiled_kernels; ++i) {
    const auto kernel = TiledKernel(i);
    const auto timed = [&](Tile tile) {
      const Work work = [&, tile](cudaStream_t on, int turn) {
        tiled.launch_one(on, kernel, tile, inputs.floats(turn), turn % tiled_kernel_facts[i].planes);
      };
      return median_ms(stream, work, Start::queued, repeats, batch);
    };
    const Tile thesis = tiled_kernel_facts[i].best;
    const double thesis_ms = timed(thesis);
    best[i] = {thesis, thesis_ms, thesis_ms, 1};
    for (const int width : widths)
      for (const int height : heights) {
        const Tile tile{width, height};
        if (width > size.width || height > size.height || width * height < 32 || !fits(kernel, tile))
          continue;
        const double ms = timed(tile);
        ++best[i].tried;
        if (ms < best[i].ms) best[i].tile = tile, best[i].ms = ms;
      }
  }
  return best;
}

std::string text(Tile tile) { return fmt::format("{} x {}", tile.width, tile.height); }

}  // namespace

const std::array<BestTile, tiled_kernels>& best_tiles(const Study& study) {
  static std::optional<std::array<BestTile, tiled_kernels>> found;
  if (!found) found = searched(study);
  return *found;
}

Tiles tiles_of(const std::array<BestTile, tiled_kernels>& best) {
  Tiles tiles;
  for (std::size_t i = 0; i < tiles.size(); ++i) tiles[i] = best[i].tile;
  return tiles;
}

std::vector<Table> tile_tables(const Study& study) {
  use(study);
  Table table{
      fmt::format("Table 3.1: the best tile of each kernel, {}", size_text(study.size(vga))),
      "Width x height of the tiles of the tiled form's kernels; the thesis's were found on an 8800 GTX. "
      "A thread makes one pixel; in kernels along x or y further threads read the apron, and all are "
      "at most 1024. Microseconds of one launch on the device alone, medians of 50 runs of 15 "
      "launches one after the other.",
      {"kernel", "thesis's best", "us", "best here", "us of it", "tiles tried"},
      {},
      {"thesis's best"}};
  const auto& best = best_tiles(study);
  for (std::size_t i = 0; i < tiled_kernels; ++i)
    table.add(tiled_kernel_facts[i].name, text(tiled_kernel_facts[i].best), Cell(best[i].thesis_ms * 1000, 2),
              text(best[i].tile), Cell(best[i].ms * 1000, 2), best[i].tried);
  return {std::move(table)};
}

}  // namespace parafield::bench
