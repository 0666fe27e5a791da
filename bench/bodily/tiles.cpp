// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

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

namespace {

using Form = ComponentSmoothing::Form;
constexpr int sets = 3;  // of inputs, taken in turn

/// A form with its tiles.
struct Variant {
  const char* name;
  Form form;
  int launches;
  Tile tile = {32, 8}, along = {320, 1}, down = {16, 20};
};

/// Random values of the magnitude of products of derivatives.
std::vector<float> random_components(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = float(random() >> 8) * (4000.0f / float(1 << 24)) - 2000.0f;
  return values;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b, Size size, int pitch) {
  double largest = 0;
  for (std::size_t row = 0; row < a.size() / std::size_t(pitch); ++row)
    for (std::size_t x = 0; x < std::size_t(size.width); ++x) {
      const double difference =
          std::abs(double(a[row * std::size_t(pitch) + x]) - b[row * std::size_t(pitch) + x]);
      largest = difference <= largest ? largest : std::isnan(difference) ? 1e9 : difference;
    }
  return largest;
}

}  // namespace

std::vector<Table> separable_tables(const Study& study) {
  use(study);
  Table table{
      "Section 4.2.2: separable and non-separable convolution",
      fmt::format(
          "One stage of ridge regression, the smoothing of its six components by (5 6 5) / 16 along rows and "
          "columns; rows are padded to 64 bytes. Separable: two kernels by tiles for each plane. Row-based: "
          "a 3x3 operator, a block of 320 threads for each row. Tile-based: a 3x3 operator on tiles with an "
          "apron on all sides. Tiles are those of the thesis's other kernels, and the best ones found here. "
          "Milliseconds, medians of {} runs, each on other planes, as in section 3.2. Differences are from "
          "the separable result, of values up to 2000. In the thesis the whole method is faster with the "
          "separable form: at 320x240 by 4 % than row-based and by 19 % than tile-based, on Yosemite by 21 % "
          "than row-based.",
          runs(study)),
      {"form", "tiles", "size", "launches", "ms launched", "ms as graph", "ms on device",
       "over separable, on device", "largest difference"}};
  const CudaStream stream;
  for (const Size size : {study.size(qvga), study.size(vga), study.size(yosemite)}) {
    const int pitch = pitch_of(size.width, 64);
    const ComponentSmoothing smoothing(size, pitch);
    const std::size_t count = smoothing.plane_floats() * ComponentSmoothing::planes;
    std::vector<DeviceArray<float>> inputs;
    for (unsigned i = 0; i < sets; ++i) inputs.emplace_back(random_components(count, i + 1));

    const auto work_of = [&](const Variant& variant) {
      return Work([&, variant](cudaStream_t on, int turn) {
        smoothing.run(on, variant.form, inputs[std::size_t(turn % sets)].get(), variant.tile, variant.along,
                      variant.down);
      });
    };
    const auto quick_ms = [&](const Variant& variant) {
      return median_ms(stream, work_of(variant), Start::queued, study.quick ? 2 : 30);
    };
    const Variant separable{"separable", Form::separable, 12}, tile_based{"tile-based", Form::tile_based, 6};
    const auto searched = [&](Variant best, const char* name, Tile Variant::*tile) {
      double least = quick_ms(best);
      using Sides = std::vector<int>;
      for (const int width : study.quick ? Sides{32} : Sides{16, 32, 64, 128, 256})
        for (const int height : study.quick ? Sides{2, 8} : Sides{1, 2, 4, 8, 16}) {
          Variant tried = best;
          tried.*tile = {width, height};
          if (!smoothing.fits(tried.form, tried.tile, tried.along, tried.down)) continue;
          if (const double ms = quick_ms(tried); ms < least) best = tried, least = ms;
        }
      best.name = name;
      return best;
    };
    const char* const best_separable = "separable, best tiles";
    const std::vector<Variant> variants{
        separable,
        {"row-based", Form::row_based, 6},
        tile_based,
        searched(searched(separable, best_separable, &Variant::along), best_separable, &Variant::down),
        searched(tile_based, "tile-based, best tile", &Variant::tile)};

    std::vector<std::vector<float>> expected;  // result of the first form, for each input
    double separable_ms = 0;
    for (const Variant& variant : variants) {
      const Work work = work_of(variant);
      double difference = 0;
      for (std::size_t set = 0; set < sets; ++set) {
        work(stream, int(set));
        stream.synchronize();
        const std::vector<float> result = to_host(smoothing.result(), count);
        if (expected.size() == set) expected.push_back(result);
        difference = std::max(difference, largest_difference(result, expected[set], size, pitch));
      }
      if (!(difference <= 0.002))
        throw Error(ErrorCode::device,
                    fmt::format("{}: differs by {} from the separable form, more than 0.002", variant.name,
                                difference));
      const WorkTimes times = times_of(stream, work, sets, runs(study));
      if (separable_ms == 0) separable_ms = times.device;
      const auto text = [](Tile tile) { return fmt::format("{} x {}", tile.width, tile.height); };
      const std::string tile_text = variant.form == Form::separable
                                        ? text(variant.along) + ", " + text(variant.down)
                                    : variant.form == Form::tile_based ? text(variant.tile)
                                                                       : "";
      table.add(variant.name, tile_text, size_text(size), variant.launches, Cell(times.launched, 4),
                Cell(times.graph, 4), Cell(times.device, 4), Cell(times.device / separable_ms, 2),
                Cell(difference, 5));
    }
  }
  return {std::move(table)};
}

}  // namespace parafield::bench
