// SPDX-License-Identifier: MIT
#include "kim/guided.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "common/study.hpp"

namespace parafield::bench {

FlowField estimated(const FlowMethod& method, const Device& device, const Frame& frame0, const Frame& frame1,
                    const Tracks& tracks) {
  FlowEstimator estimator(method, frame0.size(), {.device = device});
  const Frame frames[] = {frame0, frame1};
  FlowInput input{frames};
  input.tracks = tracks;
  return estimator(input).to(Memory::host());
}

int label_count(const MultiHypothesis& method, const Tracks& tracks) {
  std::set<std::pair<int, int>> nodes;
  std::set<int> columns, rows;
  for (const Track& track : tracks) {
    const int column = int(std::nearbyint(track.u / method.label_step)),
              row = int(std::nearbyint(track.v / method.label_step));
    nodes.insert({column, row});
    columns.insert(column), rows.insert(row);
  }
  if (method.labels == FlowLabels::distinct || nodes.empty()) return int(nodes.size());
  return (*columns.rbegin() - *columns.begin() + 1) * (*rows.rbegin() - *rows.begin() + 1);
}

DirectInterpolation paper_interpolation(int tracks) {
  DirectInterpolation method = preset<DirectInterpolation>("paper");
  method.tracking.max_features = tracks;
  return method;
}

DirectInterpolation plain_interpolation() {
  return {.tracking = {}, .sigma_position = 10, .resampled = 0, .median = 0};
}

MultiHypothesis plain_hypotheses() { return {.tracking = {}, .sigma_position = 16}; }

MultiHypothesis paper_hypotheses(int tracks) {
  MultiHypothesis method = preset<MultiHypothesis>("paper");
  method.tracking.max_features = tracks;
  return method;
}

namespace {

/// Position in frame 0 of the pixel `at` of frame 1, px, along a side of `length` px that grows by `growth`
/// px.
double before(int at, int length, int growth) { return at / (1 + double(growth) / length); }

}  // namespace

Guided stretched(Size size, Size labels, int tracks, std::uint64_t seed) {
  const int right = labels.width - 1, down = labels.height - 1;
  Guided result;
  result.frame0 = std::move(
      render_scene("translation", {.size = size, .frames = 1, .seed = seed, .color = true}).frames[0]);
  result.frame1 = FrameBuffer(size, PixelFormat::rgb_u8);
  for (int y = 0; y < size.height; ++y) {
    auto* const to = static_cast<std::uint8_t*>(result.frame1.row(y));
    const double from_y = before(y, size.height, down);
    const int y0 = int(from_y), y1 = std::min(y0 + 1, size.height - 1);
    const auto *const upper = static_cast<const std::uint8_t*>(result.frame0.row(y0)),
                      *const lower = static_cast<const std::uint8_t*>(result.frame0.row(y1));
    for (int x = 0; x < size.width; ++x) {
      const double from_x = before(x, size.width, right);
      const int x0 = int(from_x), x1 = std::min(x0 + 1, size.width - 1);
      for (int c = 0; c < 3; ++c) {
        const double above = std::lerp(double(upper[3 * x0 + c]), double(upper[3 * x1 + c]), from_x - x0),
                     below = std::lerp(double(lower[3 * x0 + c]), double(lower[3 * x1 + c]), from_x - x0);
        to[3 * x + c] = std::uint8_t(std::lround(std::lerp(above, below, from_y - y0)));
      }
    }
  }
  // Multiples of two irrational steps fill the frame evenly and never repeat.
  const auto share = [](double turns) { return turns - std::floor(turns); };
  for (int i = 1; i <= tracks; ++i) {
    const double x = std::floor(share(i * 0.7548776662466927) * size.width),
                 y = std::floor(share(i * 0.5698402909980532) * size.height);
    result.tracks.push_back(
        {float(x), float(y), float(x / size.width * right), float(y / size.height * down)});
  }
  return result;
}

std::vector<Guided> rotating_inputs(const Study& study, Size labels, int tracks) {
  std::vector<Guided> inputs;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    inputs.push_back(stretched(study.size(qvga), labels, tracks, seed));
  return inputs;
}

Call guided_call(const FlowMethod& method, const Device& device, std::span<const Guided> inputs,
                 Memory memory, int batch) {
  struct Held {
    FrameBuffer frame0, frame1;
    Image<Track> tracks;
    std::size_t count;
  };
  std::vector<Held> held;
  for (const Guided& input : inputs) {
    Image<Track> tracks({int(input.tracks.size()), 1});
    std::ranges::copy(input.tracks, tracks.view().data);
    held.push_back(
        {input.frame0.to(memory), input.frame1.to(memory), tracks.to(memory), input.tracks.size()});
  }
  return estimator_call<Flow>(
      method, device, inputs.front().frame0.size(), std::move(held), 2 * int(inputs.size()),
      [](FlowEstimator& estimator, const std::vector<Held>& all, std::size_t turn) {
        const auto& [frame0, frame1, tracks, count] = all[turn % all.size()];
        const Frame frames[] = {frame0, frame1};
        FlowInput input{frames};
        input.tracks = std::span(tracks.view().data, count);
        estimator(input);
      },
      batch);
}

double guided_ms(const FlowMethod& method, const Study& study, std::span<const Guided> inputs,
                 const Effort& effort) {
  return time_in_turn({guided_call(method, study.device, inputs, memory_of(study.device))}, effort)[0].median;
}

Effort slow_effort(const Study& study) { return study.quick ? study.effort : Effort{3, 100, 1}; }

FrameBuffer classified(const FlowField& flow, float longest) {
  FlowField shown = flow.to(Memory::host());
  for (int y = 0; y < shown.size().height; ++y)
    for (int x = 0; x < shown.size().width; ++x)
      if (!shown.valid(x, y)) shown.u(x, y) = 1e10f;
  return color_flow(shown, {.max_motion = longest});
}

}  // namespace parafield::bench
