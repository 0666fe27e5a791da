// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>

#include "bodily/inputs.hpp"
#include "bodily/kernels.hpp"

namespace parafield::bench {
namespace {

constexpr int border = 6;         // px at the border that are not compared, as windows cross it
constexpr float least_trust = 1;  // smaller eigenvalue of the spatial tensor that a compared pixel needs
constexpr double rounding = 5;    // px by which a pixel of the naive form may be off, as shorts round

/// Differences from the library's flow, px.
struct Difference {
  double largest = 0, sum = 0;
  std::int64_t pixels = 0;
  double mean() const { return pixels ? sum / double(pixels) : std::nan(""); }
};

/// Compares flow on the device with the library's. `pitch`: floats from one row to the next.
void compare(const float* u, const float* v, int pitch, const FlowField& library, Difference& difference) {
  const Size size = library.size();
  const std::size_t count = std::size_t(pitch) * std::size_t(size.height);
  const std::vector<float> own_u = to_host(u, count), own_v = to_host(v, count);
  for (int y = border; y < size.height - border; ++y)
    for (int x = border; x < size.width - border; ++x) {
      if (!(library.confidence(x, y) >= least_trust)) continue;
      const std::size_t i = std::size_t(y * pitch + x);
      const double length =
          std::hypot(double(own_u[i]) - library.u(x, y), double(own_v[i]) - library.v(x, y));
      // NaN counts as 1e9 px.
      difference.largest = length <= difference.largest ? difference.largest
                           : std::isnan(length)         ? 1e9
                                                        : length;
      difference.sum += length;
      ++difference.pixels;
    }
}

/// The library through its public interface, frames and flow on the device.
struct Library {
  FlowEstimator estimator;
  std::vector<FrameBuffer> buffers;
  std::vector<Frame> frames;
  std::size_t next = 0;

  Library(const Study& study, const CudaStream& stream, const Inputs& inputs)
      : estimator(GradientTensor{}, inputs.all().front().size(),
                  {.device = study.device, .stream = Stream{cudaStream_t(stream)}}) {
    for (const FrameBuffer& frame : inputs.all()) buffers.push_back(frame.to(memory_of(study.device)));
    for (const FrameBuffer& frame : buffers) frames.push_back(frame);
    call(0);
    for (int i = 0; i < 2 * GradientTensor::frames; ++i) push();  // records a graph for each slot
    estimator.synchronize();
  }
  void push() { estimator.push(frames[next++ % frames.size()]); }
  void call(int turn) {
    estimator({std::span(frames).subspan(std::size_t(turn % Inputs::turns), GradientTensor::frames)});
  }
};

/// A form of the thesis.
struct ThesisForm {
  const char* name;
  int launches;
  Work work;
  const float *u, *v;    ///< flow of the last turn
  int pitch;             ///< floats from one row to the next
  double largest, mean;  ///< accepted differences from the library's flow, px
};

/// Runs a form and compares it. Throws Error(device) if it differs too much from the library.
Difference checked(const ThesisForm& form, const CudaStream& stream, const std::vector<FlowField>& library) {
  Difference difference;
  for (int turn = 0; turn < Inputs::turns; ++turn) {
    form.work(stream, turn);
    stream.synchronize();
    compare(form.u, form.v, form.pitch, library[std::size_t(turn)], difference);
  }
  if (difference.pixels > 0 && difference.largest <= form.largest && difference.mean() <= form.mean)
    return difference;
  throw Error(ErrorCode::device,
              fmt::format("{}: off the library's flow by up to {} px, {} on average, at {} pixels of {}x{}",
                          form.name, difference.largest, difference.mean(), difference.pixels,
                          library[0].size().width, library[0].size().height));
}

/// Adds the rows of a size.
void add_rows(Table& table, const Study& study, Size size, const Tiles& best) {
  const CudaStream stream;
  const int pitch = pitch_of(size.width, 64);
  const Inputs inputs(size, pitch);
  std::vector<FlowField> flows;
  for (int turn = 0; turn < Inputs::turns; ++turn)
    flows.push_back(estimate_flow(inputs.frames(turn), GradientTensor{}, {.device = study.device}));
  Library library(study, stream, inputs);
  const Work push = [&](cudaStream_t, int) { library.push(); };
  const Work call = [&](cudaStream_t, int turn) { library.call(turn); };
  const double pushed = median_ms(stream, push, Start::queued, runs(study));

  const bool fits_naive = size.width <= NaiveTensor::longest_side && size.height <= NaiveTensor::longest_side;
  const NaiveTensor naive(fits_naive ? size : Size{1, 1});
  const TiledTensor tiled(size, pitch);
  const auto by_tiles = [&](const char* name, const Tiles& tiles) {
    const Work work = [&](cudaStream_t on, int turn) { tiled.run(on, inputs.floats(turn), tiles); };
    return ThesisForm{name, 21, work, tiled.u(), tiled.v(), pitch, 0.01, 1e-4};
  };
  const Tiles of_thesis = thesis_tiles();
  std::vector<ThesisForm> forms{by_tiles("tiled, tiles of the thesis", of_thesis),
                                by_tiles("tiled, best tiles", best)};
  if (fits_naive)
    forms.insert(forms.begin(), {"naive", NaiveTensor::kernels,
                                 [&](cudaStream_t on, int turn) { naive.run(on, inputs.bytes(turn)); },
                                 naive.u(), naive.v(), size.width, rounding, 0.1});
  for (const ThesisForm& form : forms) {
    const Difference difference = checked(form, stream, flows);
    const WorkTimes times = times_of(stream, form.work, Inputs::turns, runs(study));
    table.add(form.name, size_text(size), form.launches, Cell(times.launched, 4), Cell(times.graph, 4),
              Cell(times.device, 4), Cell(times.device / pushed, 1), Cell(difference.largest, 5),
              Cell(difference.mean(), 6));
  }
  for (const auto& [name, work] :
       {std::pair("library, five frames", call), std::pair("library, a frame pushed", push)}) {
    const double graph = median_ms(stream, work, Start::idle, runs(study));
    const double device = median_ms(stream, work, Start::queued, runs(study));
    table.add(name, size_text(size), "", "", Cell(graph, 4), Cell(device, 4), Cell(device / pushed, 1), "",
              "");
  }
}

}  // namespace

std::vector<Table> stage_tables(const Study& study) {
  use(study);
  Table table{
      "Section 3.2: naive, tiled, in one kernel",
      fmt::format(
          "Flow of the gradient tensor from five frames on the device. Naive (section 3.2.1): bytes and "
          "shorts, a block for each row or column, so at most 1024 pixels a side. Tiled (section 3.2.2): "
          "floats, rows padded to 64 bytes, with the tiles of table 3.1 and with the best ones on this "
          "device. The library runs through its public interface and launches a graph by itself: frames are "
          "converted from bytes, all five or the one that is pushed, and one kernel makes flow, validity and "
          "confidence. Milliseconds, medians of {} runs, each on other frames: launched one by one on an "
          "idle stream; as a graph on an idle stream; on the device alone, launched while it is held up. "
          "Differences from the library's flow in px, further than {} px from the border, where the smaller "
          "eigenvalue of the library's tensor is at least {}; those of the naive form come from its shorts. "
          "In the thesis the tiled form, with padding and pinned memory, is about 3 times as fast as the "
          "naive one at 320x240.",
          runs(study), border, least_trust),
      {"form", "size", "launches", "ms launched", "ms as graph", "ms on device",
       "over a pushed frame, on device", "largest difference", "mean difference"}};
  const Tiles best = tiles_of(best_tiles(study));
  for (const Size size : {qvga, yosemite, vga, Size{1024, 768}, Size{1920, 1080}})
    add_rows(table, study, study.size(size), best);
  return {std::move(table)};
}

}  // namespace parafield::bench
