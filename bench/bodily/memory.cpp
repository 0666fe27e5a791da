// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

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
       "over touching rows, on device"},
      {}};
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
      table.rows.push_back({size.width,
                            bytes == 4 ? "touch" : fmt::format("padded to {}", bytes),
                            pitch * int(sizeof(float)),
                            {times.launched, 4},
                            {times.graph, 4},
                            {times.device, 4},
                            {times.device / touching, 2}});
    }
  }
  return table;
}

/// Host memory, pageable or pinned.
class HostFrame {
 public:
  HostFrame(std::size_t bytes, bool pinned) : pinned_(pinned) {
    if (pinned_)
      check(cudaMallocHost(&data_, bytes), "cudaMallocHost");
    else
      pageable_.resize(bytes), data_ = pageable_.data();
    std::fill_n(static_cast<unsigned char*>(data_), bytes, (unsigned char)(1));  // touches all pages
  }
  ~HostFrame() {
    if (pinned_) cudaFreeHost(data_);
  }
  HostFrame(const HostFrame&) = delete;
  const void* data() const { return data_; }

 private:
  bool pinned_;
  std::vector<unsigned char> pageable_;
  void* data_ = nullptr;
};

/// Milliseconds until a frame has arrived on the device. The host's clock counts, as the host copies pageable
/// frames, too.
double upload_ms(const CudaStream& stream, std::size_t bytes, bool pinned, int repeats) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::unique_ptr<HostFrame>> frames;
  for (int i = 0; i < 4; ++i) frames.push_back(std::make_unique<HostFrame>(bytes, pinned));
  const DeviceArray<unsigned char> there(bytes);
  std::vector<double> times;
  const int warm_up = 10;
  for (int run = 0; run < warm_up + repeats; ++run) {
    const void* const from = frames[std::size_t(run) % frames.size()]->data();
    const auto begin = Clock::now();
    check(cudaMemcpyAsync(there.get(), from, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    stream.synchronize();
    if (run >= warm_up)
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::ranges::nth_element(times, times.begin() + std::ptrdiff_t(times.size() / 2));
  return times[times.size() / 2];
}

Table transfer_table(const Study& study) {
  Table table{
      "Section 3.2.2: pinned memory",
      fmt::format("A frame goes from the host to the device: milliseconds until it is there, medians of "
                  "{} runs. The naive form takes bytes, the tiled form floats. In the thesis pinned "
                  "memory makes the whole 1.6 times as fast.",
                  runs(study)),
      {"size", "pixels", "KiB", "pageable ms", "pinned ms", "pageable / pinned", "GB/s pageable",
       "GB/s pinned"},
      {}};
  const CudaStream stream;
  std::vector<Size> sizes{study.size(qvga), study.size(vga)};
  for (const Size size : {Size{1920, 1080}, Size{3840, 2160}}) sizes.push_back(study.size(size));
  for (const Size size : sizes)
    for (const bool floats : {false, true}) {
      const std::size_t bytes =
          std::size_t(size.width) * std::size_t(size.height) * (floats ? sizeof(float) : 1);
      const double pageable = upload_ms(stream, bytes, false, runs(study));
      const double pinned = upload_ms(stream, bytes, true, runs(study));
      table.rows.push_back({size_text(size),
                            floats ? "floats" : "bytes",
                            {double(bytes) / 1024, 0},
                            {pageable, 4},
                            {pinned, 4},
                            {pageable / pinned, 2},
                            {double(bytes) / pageable * 1e-6, 1},
                            {double(bytes) / pinned * 1e-6, 1}});
    }
  return table;
}

}  // namespace

std::vector<Table> memory_tables(const Study& study) {
  use(study);
  return {padding_table(study), transfer_table(study)};
}

}  // namespace parafield::bench
