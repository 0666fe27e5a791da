// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "bodily/inputs.hpp"

namespace parafield::bench {
namespace {

Table padding_table(const Study& study) {
  Table table{
      "Section 3.2.2: padded rows",
      fmt::format(
          "The tiled form with the thesis's tiles, at Yosemite's size and with one more column; rows are "
          "padded to a multiple of some bytes. Milliseconds, medians of {} runs, as in section 3.2. "
          "In the thesis padding makes it nearly 1.5 times as fast.",
          runs(study)),
      {"width", "rows", "bytes a row", "ms launched", "ms as graph", "ms on device",
       "over touching rows, on device"}};
  const CudaStream stream;
  const Size even = study.size(yosemite);
  for (const Size size : {even, Size{even.width + 1, even.height}}) {
    double touching = 0;
    for (const int bytes : {4, 32, 64, 128, 256, 512}) {
      const int pitch = pitch_of(size.width, bytes);
      const Inputs inputs(size, pitch);
      const TiledTensor tiled(size, pitch);
      const WorkTimes times = times_of(
          stream, [&](cudaStream_t on, int turn) { tiled.run(on, inputs.floats(turn), thesis_tiles()); },
          Inputs::turns, runs(study));
      if (touching == 0) touching = times.device;
      table.add(size.width, bytes == 4 ? "touch" : fmt::format("padded to {}", bytes),
                pitch * int(sizeof(float)), Cell(times.launched, 4), Cell(times.graph, 4),
                Cell(times.device, 4), Cell(times.device / touching, 2));
    }
  }
  return table;
}

/// Median of the milliseconds until a frame has arrived on the device. The host's clock counts, because the
/// host copies pageable frames, too.
double upload_ms(const CudaStream& stream, Size size, bool pinned, int repeats) {
  const std::size_t bytes = std::size_t(size.width) * std::size_t(size.height);
  std::vector<FrameBuffer> frames;
  for (int i = 0; i < 4; ++i) {
    frames.emplace_back(size, PixelFormat::gray_u8, pinned ? Memory::pinned() : Memory::host());
    std::fill_n(static_cast<unsigned char*>(frames.back().row(0)), bytes,
                (unsigned char)(1));  // touches all pages
  }
  const DeviceArray<unsigned char> there(bytes);
  const Call upload = timed_on_host([&](std::size_t turn) {
    const void* const from = frames[turn % frames.size()].row(0);
    check(cudaMemcpyAsync(there.get(), from, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    stream.synchronize();
  });
  for (int warm_up = 0; warm_up < 10; ++warm_up) upload();
  return command::measure({.fixed = repeats}, [&](int) { return upload(); }).median;
}

Table transfer_table(const Study& study) {
  Table table{
      "Section 3.2.2: pinned memory",
      fmt::format("A frame goes from the host to the device: milliseconds until it is there, medians of "
                  "{} runs. The naive form takes bytes, the tiled form floats. In the thesis pinned "
                  "memory makes the whole 1.6 times as fast.",
                  runs(study)),
      {"size", "pixels", "KiB", "pageable ms", "pinned ms", "pageable / pinned", "GB/s pageable",
       "GB/s pinned"}};
  const CudaStream stream;
  std::vector<Size> sizes{study.size(qvga), study.size(vga)};
  for (const Size size : {Size{1920, 1080}, Size{3840, 2160}}) sizes.push_back(study.size(size));
  for (const Size size : sizes)
    for (const bool floats : {false, true}) {
      const Size of_bytes{size.width * int(floats ? sizeof(float) : 1), size.height};
      const double bytes = double(of_bytes.width) * of_bytes.height;
      const double pageable = upload_ms(stream, of_bytes, false, runs(study));
      const double pinned = upload_ms(stream, of_bytes, true, runs(study));
      table.add(size_text(size), floats ? "floats" : "bytes", Cell(bytes / 1024, 0), Cell(pageable, 4),
                Cell(pinned, 4), Cell(pageable / pinned, 2), Cell(bytes / pageable * 1e-6, 1),
                Cell(bytes / pinned * 1e-6, 1));
    }
  return table;
}

}  // namespace

std::vector<Table> memory_tables(const Study& study) {
  use(study);
  return {padding_table(study), transfer_table(study)};
}

}  // namespace parafield::bench
