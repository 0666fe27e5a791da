// SPDX-License-Identifier: MIT
// The CUDA kernels of guided flow, run by emulated warps on random cases: they give the bits of the CPU's
// steps, whatever the order of the threads.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "core/backend.hpp"
#include "core/workspace.hpp"
#include "emulated/emulated_cuda.hpp"
#include "guided/candidates/labels.hpp"
#include "guided/candidates/scores.hpp"
#include "guided/interpolation/interpolation.hpp"
#include "guided/support/tile.hpp"
#include "noise.hpp"
#include "parity.hpp"
#include "steps/colors/colors.hpp"

namespace parafield {
namespace {

/// Random numbers of one case, and its images, in host memory.
class Case {
  std::mt19937 random_;

 public:
  Workspace workspace{Memory::host()};
  const Size size;
  const ThreadOrder order;

  explicit Case(unsigned seed)
      : random_(seed),
        size{int(uniform(1, 44)), int(uniform(1, 22))},
        order(ThreadOrder(one_of({0, 1, 2}))),
        tracks_(std::size_t(one_of({0, 1, 2, 7, 31, 32, 33, 100, 200, 256, 257, 420, 513, 600, 1100}))) {
    const double span = one_of({1, 2, 3, 6, 12, 30}), step = one_of({1, 2}) == 1 ? 1 : 0.37;
    const float unknown = std::numeric_limits<float>::quiet_NaN();
    for (Track& track : tracks_) {
      track = {float(uniform(0, size.width - 1)), float(uniform(0, size.height - 1)),
               float(std::floor(uniform(0, span)) * step - 1), float(std::floor(uniform(0, span)) * step)};
      if (one_in(2)) track.x = std::floor(track.x), track.y = std::floor(track.y);
      if (one_in(40)) track.u = unknown;
      if (one_in(40)) track.x = -5;
    }
    if (one_in(4)) {
      rotation_ = workspace.array<Homography>(1);
      *rotation_ = {{1, 0.01f, 1, -0.01f, 1, 0.5f, 0.0005f, 0, 1}};
    }
    const int texture = one_of({0, 1, 2});
    for (Colors& colors : frames_) colors = frame(texture);
    if (one_in(2)) frames_[2] = frames_[1];  // tests pass
  }

  double uniform(double low, double high) { return low + (high - low) * double(random_()) / 4294967296.0; }
  double logarithmic(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  int one_of(std::initializer_list<int> values) { return values.begin()[random_() % values.size()]; }
  bool one_in(unsigned count) { return random_() % count == 0; }

  TrackList tracks() { return {tracks_.data(), int(tracks_.size()), one_in(3)}; }
  int room() { return std::max(int(tracks_.size()), one_of({1, 64, 300, 1000, 1100})); }
  const Homography* rotation() const { return rotation_; }
  /// Colors that likelihoods compare.
  const Colors& smoothed() const { return frames_[0]; }
  ColorTest color_test() {
    return {frames_[1], frames_[2], float(uniform(2, 40)), one_of({1, 3, 5}), rotation_, {}};
  }

 private:
  Colors frame(int texture) {
    Colors colors;
    for (View<float>& plane : colors.plane) plane = workspace.image<float>(size);
    colors.pixels = workspace.image<Color>(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        float values[3];
        for (int channel = 0; channel < 3; ++channel)
          colors.plane[channel](x, y) = values[channel] =
              texture == 0   ? float(random_() % 256)
              : texture == 1 ? float(20 * (x / 9) + 10 * (y / 5))
                             : float(int(128 + 60 * std::sin(x * 0.3 + y * 0.2)));
        colors.pixels(x, y) = {values[0], values[1], values[2], 0};
      }
    return colors;
  }

  std::vector<Track> tracks_;
  Homography* rotation_ = nullptr;
  Colors frames_[3];
};

template <class T>
void expect_same_bits(View<T> expected, View<T> actual, const char* what) {
  for (int y = 0; y < expected.height; ++y)
    for (int x = 0; x < expected.width; ++x)
      ASSERT_EQ(std::memcmp(&expected(x, y), &actual(x, y), sizeof(T)), 0)
          << what << " at " << x << ", " << y << ": " << double(expected(x, y)) << " and "
          << double(actual(x, y));
}

/// Flow and its reliability.
struct Solved {
  FlowPlanes flow;
  View<float> confidence;
  View<std::uint8_t> valid;

  Solved(Workspace& workspace, Size size)
      : flow(workspace.flow(size)),
        confidence(workspace.image<float>(size)),
        valid(workspace.image<std::uint8_t>(size)) {}

  void expect_same(const Solved& actual) const {
    expect_same_bits(flow.u, actual.flow.u, "u");
    expect_same_bits(flow.v, actual.flow.v, "v");
    expect_same_bits(confidence, actual.confidence, "confidence");
    expect_same_bits(valid, actual.valid, "valid");
  }
};

class EmulatedGuidedKernels : public testing::TestWithParam<int> {
 protected:
  /// Calls f(case, the CPU's backend, the emulated one) for some cases.
  template <class F>
  static void for_some_cases(F f) {
    const Device device = Device::cpu(1);
    with_backend(device, [&]<class Backend>() {
      if constexpr (!Backend::is_gpu)
        for (unsigned i = 0; i < 8; ++i) {
          const unsigned seed = 1000 * unsigned(GetParam()) + i;
          SCOPED_TRACE("case " + std::to_string(seed));
          Case one(seed);
          Backend cpu(device, {});
          EmulatedCuda emulated(one.order);
          f(one, cpu, emulated);
          if (HasFatalFailure()) return;
        }
    });
  }
};

TEST_P(EmulatedGuidedKernels, InterpolateFlow) {
  for_some_cases([]<class Backend>(Case& one, Backend& cpu, EmulatedCuda& emulated) {
    const int room = one.room();
    const LikelihoodScale scale =
        likelihood_scale(float(one.logarithmic(1, 60)), float(one.logarithmic(2, 80)));
    const TrackList tracks = one.tracks();
    const ColorTest color_test = one.color_test();
    cpu.reserve_scratch(tile_scratch(room, interpolation_planes));
    const auto solve = [&](auto& backend) {
      Solved solved(one.workspace, one.size);
      ColorTest test = color_test;
      test.valid = solved.valid;
      interpolate_flow(backend, tracks, make_feature_memory(one.workspace, room), one.smoothed(), scale,
                       false, solved.flow, solved.confidence, test);
      return solved;
    };
    solve(cpu).expect_same(solve(emulated));
  });
}

TEST_P(EmulatedGuidedKernels, MakeAndChooseLabels) {
  for_some_cases([]<class Backend>(Case& one, Backend& cpu, EmulatedCuda& emulated) {
    const int room = one.room(), capacity = one.one_of({4, 30, 200, 1024});
    const LikelihoodScale scale =
        likelihood_scale(float(one.logarithmic(1, 60)), float(one.logarithmic(2, 80)));
    const FlowSpace space =
        flow_space(one.one_in(2), float(one.uniform(0.3, 1.5)), float(one.uniform(0.3, 2)));
    const TrackList tracks = one.tracks();
    const ColorTest color_test = one.color_test();
    ChoiceParameters parameters{one.one_in(3) ? float(one.uniform(0.5, 5)) : 0.0f,
                                0,
                                one.one_in(2),
                                one.one_in(2),
                                false,
                                space.vote_scale};
    if (parameters.softness == 0 && one.one_in(3)) parameters.ranked = int(one.uniform(1, 6));
    cpu.reserve_scratch(tile_scratch(room, choice_planes(capacity)));
    struct Solution {
      Labels labels;
      Solved solved;
    };
    const auto solve = [&](auto& backend) {
      const FlowFeatures features = make_feature_memory(one.workspace, room);
      Solution solution{make_label_memory(one.workspace, room, capacity), {one.workspace, one.size}};
      make_labels(backend, tracks, one.smoothed(), scale, space, one.rotation(), features, solution.labels);
      const Solved& to = solution.solved;
      ColorTest test = color_test;
      test.valid = to.valid;
      choose_labels(backend, LabelChoice{features, solution.labels, one.smoothed(), scale, test, parameters,
                                         to.flow, to.confidence});
      return solution;
    };
    const Solution expected = solve(cpu), actual = solve(emulated);
    const LabelCount count = *expected.labels.count;
    ASSERT_EQ(count.labels, actual.labels.count->labels);
    ASSERT_EQ(count.needed, actual.labels.count->needed);
    const auto row = [&](float* values, int length) { return View<float>{values, length, 1, 0}; };
    expect_same_bits(row(expected.labels.u, count.labels), row(actual.labels.u, count.labels), "label u");
    expect_same_bits(row(expected.labels.v, count.labels), row(actual.labels.v, count.labels), "label v");
    const int all = count.labels > 0 && one.rotation() ? count.labels + 1 : count.labels;
    const auto votes = [&](const Labels& labels) {
      return View<float>{labels.votes, (all + 31) / 32 * 32, tracks.count,
                         labels.stride * std::ptrdiff_t(sizeof(float))};
    };
    expect_same_bits(votes(expected.labels), votes(actual.labels), "votes");
    expected.solved.expect_same(actual.solved);
  });
}

TEST_P(EmulatedGuidedKernels, MakeColors) {
  for_some_cases([]<class Backend>(Case& one, Backend& cpu, EmulatedCuda& emulated) {
    const Taps taps = gaussian_taps(one.one_of({0, 1, 2}) * 0.9f);
    const PixelFormat format = every_format[std::size_t(one.uniform(0, double(std::size(every_format))))];
    const GuardedFrame images[] = {{one.size, format, 3, 0, 20, 0xff}, {one.size, format, 3, 2, 8, 0xff}};
    const Frame frames[] = {images[0].frame(), images[1].frame()};
    const int smooth_count = one.one_of({1, 2});
    const auto make = [&](auto& backend) {
      std::vector<Colors> all(4);
      for (Colors& colors : all) {
        for (View<float>& plane : colors.plane) plane = one.workspace.template image<float>(one.size);
        colors.pixels = one.workspace.template image<Color>(one.size);
      }
      make_colors(backend, frames, 2, taps, &all[0], &all[2], smooth_count);
      return all;
    };
    const std::vector<Colors> expected = make(cpu), actual = make(emulated);
    for (std::size_t i = 0; i < (taps.radius > 0 ? 2 + std::size_t(smooth_count) : 2); ++i)
      for (int y = 0; y < one.size.height; ++y)
        for (int x = 0; x < one.size.width; ++x) {
          const Color packed = actual[i].pixels(x, y);
          const float channels[] = {packed.red, packed.green, packed.blue};
          for (int channel = 0; channel < 3; ++channel)
            ASSERT_EQ(std::memcmp(&expected[i].plane[channel](x, y), &channels[channel], sizeof(float)), 0)
                << to_string(format) << " at " << x << ", " << y << ", channel " << channel;
        }
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, EmulatedGuidedKernels, testing::Range(0, 4));

}  // namespace
}  // namespace parafield
