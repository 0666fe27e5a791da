#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "bodily/inputs.hpp"
#include "bodily/naive.hpp"

namespace parafield::bench {
namespace {

constexpr int border = 6;  // px that see the image's border
constexpr float least_trust =
    1;  // the smaller eigenvalue of the spatial tensor, from which on flows are compared

/// How far flows are from the library's.
struct Difference {
  double largest = 0, sum = 0;
  std::int64_t pixels = 0;
  double mean() const { return pixels ? sum / double(pixels) : std::nan(""); }
};

/// Flow on the device, `pitch` floats from one row to the next.
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
      // A flow that is not a number is as far as can be.
      difference.largest = length <= difference.largest ? difference.largest
                           : std::isnan(length)         ? 1e9
                                                        : length;
      difference.sum += length;
      ++difference.pixels;
    }
}

/// A frame pushed: it is converted, and one kernel makes the flow.
Work pushes(const Study& study, const CudaStream& stream, const Inputs& inputs) {
  struct State {
    FlowEstimator estimator;
    std::vector<FrameBuffer> frames;
    std::size_t next = 0;
  };
  const auto state =
      std::make_shared<State>(State{FlowEstimator(GradientTensor{}, inputs.all().front().size(), study.device,
                                                  Stream{cudaStream_t(stream)}),
                                    {}});
  for (const FrameBuffer& frame : inputs.all()) state->frames.push_back(frame.to(memory_of(study.device)));
  Work push = [state](cudaStream_t, int) {
    state->estimator.push(state->frames[state->next++ % state->frames.size()]);
  };
  for (int i = 0; i < 2 * GradientTensor::frames; ++i) push(stream, i);  // records a graph for each slot
  stream.synchronize();
  return push;
}

/// Throws where a form computes something else than the library.
void expect(const char* form, const Difference& difference, double largest, double mean) {
  if (difference.pixels > 0 && difference.largest <= largest && difference.mean() <= mean) return;
  throw Error(
      ErrorCode::device,
      fmt::format("the {} form's flow is not the library's: off by up to {} px, {} on average, at {} pixels",
                  form, difference.largest, difference.mean(), difference.pixels));
}

}  // namespace

std::vector<Table> stage_tables(const Study& study) {
  use(study);
  const Tiles best = tiles_of(best_tiles(study));
  Table table{"Section 3.2: naive, tiled, in one kernel",
              fmt::format("The gradient tensor's flow of five frames that lie on the device. Naive: section "
                          "3.2.1, bytes and shorts, a "
                          "block a row or column; up to 1024 pixels a side, since a row is a block. Tiled: "
                          "section 3.2.2, floats, rows "
                          "padded to 64 bytes, with the tiles of table 3.1 and with the best of this device. "
                          "The library: a frame is "
                          "pushed, converted from bytes, and one kernel makes the flow; validity and "
                          "confidence are written too, and "
                          "it launches a graph by itself. Milliseconds, medians of {} runs on other frames "
                          "each: launched one by one "
                          "on an idle stream; as a graph on an idle stream; on the device alone, launched "
                          "one by one while it is held "
                          "up. Differences from the library's flow in px, {} px from the border, where the "
                          "smaller eigenvalue of the "
                          "library's tensor is at least {}; the naive form's are those of its shorts. In the "
                          "thesis the tiled form is "
                          "about 3 times as fast as the naive one at 320x240, transfers and all.",
                          runs(study), border, least_trust),
              {"form", "size", "launches", "ms launched", "ms as graph", "ms on device",
               "over the library, on device", "largest difference", "mean difference"},
              {}};
  const CudaStream stream;
  std::vector<Size> sizes{study.size(qvga), study.size(yosemite), study.size(vga)};
  for (const Size size : {Size{1024, 768}, Size{1920, 1080}}) sizes.push_back(study.size(size));
  for (const Size size : sizes) {
    const int pitch = pitch_of(size.width, 64);
    const Inputs inputs(size, pitch);
    std::vector<FlowField> library;
    for (int turn = 0; turn < Inputs::turns; ++turn)
      library.push_back(estimate_flow(inputs.frames(turn), GradientTensor{}, study.device));

    const Work push = pushes(study, stream, inputs);
    const double launched = median_ms(stream, push, Start::idle, runs(study));
    const double device = median_ms(stream, push, Start::queued, runs(study));
    const auto add = [&](const char* name, int launches, const Work& work, const float* u, const float* v,
                         int row_floats, double largest, double mean) {
      Difference difference;
      for (int turn = 0; turn < Inputs::turns; ++turn) {
        work(stream, turn);
        stream.synchronize();
        compare(u, v, row_floats, library[std::size_t(turn)], difference);
      }
      expect(name, difference, largest, mean);
      const WorkTimes times = times_of(stream, work, Inputs::turns, runs(study));
      table.rows.push_back({name,
                            size_text(size),
                            launches,
                            {times.launched, 4},
                            {times.graph, 4},
                            {times.device, 4},
                            {times.device / device, 1},
                            {difference.largest, 5},
                            {difference.mean(), 6}});
    };
    if (size.width <= NaiveTensor::longest_side && size.height <= NaiveTensor::longest_side) {
      const NaiveTensor naive(size);
      add(
          "naive", NaiveTensor::kernels,
          [&](cudaStream_t on, int turn) { naive.run(on, inputs.bytes(turn)); }, naive.u(), naive.v(),
          size.width, 1, 0.1);
    }
    const TiledTensor tiled(size, pitch);
    const auto with = [&](const Tiles& tiles) {
      return [&](cudaStream_t on, int turn) { tiled.run(on, inputs.floats(turn), tiles); };
    };
    const Tiles of_thesis = thesis_tiles();
    add("tiled, tiles of the thesis", 21, with(of_thesis), tiled.u(), tiled.v(), pitch, 0.005, 1e-4);
    add("tiled, best tiles", 21, with(best), tiled.u(), tiled.v(), pitch, 0.005, 1e-4);
    table.rows.push_back({"the library, a frame pushed",
                          size_text(size),
                          2,
                          {launched, 4},
                          {launched, 4},
                          {device, 4},
                          {1, 1},
                          "",
                          ""});
  }
  return {std::move(table)};
}

}  // namespace parafield::bench
