// SPDX-License-Identifier: MIT
#pragma once
// The same bits from a task's methods on every device, instruction set, number of threads, size, pitch, pixel
// format and range of values.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "noise.hpp"
#include "on.hpp"
#include "parafield/parafield.hpp"
#include "random_method.hpp"
#include "same.hpp"
#include "targets.hpp"

namespace parafield {

constexpr PixelFormat every_format[] = {PixelFormat::gray_u8, PixelFormat::gray_u16, PixelFormat::gray_f32,
                                        PixelFormat::rgb_u8,  PixelFormat::rgb_u16,  PixelFormat::rgb_f32,
                                        PixelFormat::bgr_u8,  PixelFormat::rgba_u8,  PixelFormat::bgra_u8};

template <class Task>
struct ParityCase {
  typename Task::Method method;
  Size size;
  PixelFormat format;
  unsigned seed;
  typename Task::Options options;
};

/// Whether a method can start from an earlier result.
template <class Method>
bool takes_start(const Method&) {
  return true;
}
template <class Energy>
bool takes_start(const WinnerTakesAll<Energy>&) {
  return false;
}
template <class Energy>
bool takes_start(const BeliefPropagation<Energy>&) {
  return false;
}
inline bool takes_start(const GradientTensor&) { return false; }
inline bool takes_start(const RidgeRegression&) { return false; }
inline bool takes_start(const DirectInterpolation&) { return false; }
inline bool takes_start(const MultiHypothesis&) { return false; }

template <class Method>
bool takes_tracks(const Method&) {
  return true;
}
inline bool takes_tracks(const DirectInterpolation& method) { return method.model == MotionModel::constant; }

/// Guides of a flow in addition to its frames: for methods that take tracks, some tracks, a camera's
/// rotation, or both.
struct Guiding {
  Image<float> values;  // of the tracks, where the frames are
  FlowInput input;

  Guiding(Size size, unsigned seed, int count, Memory memory) : values({4 * count, 1}) {
    std::mt19937 random(seed);
    const auto uniform = [&] { return float(random() % 1000) / 1000; };
    float* to = values.view().data;
    for (int i = 0; i < count; ++i) {  // some begin outside
      *to++ = (1.1f * uniform() - 0.05f) * float(size.width - 1);
      *to++ = (1.1f * uniform() - 0.05f) * float(size.height - 1);
      *to++ = i % 9 == 5 ? std::numeric_limits<float>::quiet_NaN() : 4 * uniform() - 0.3f;
      *to++ = 3 * uniform() - 2;
    }
    values = values.to(memory);
    if (seed % 3 != 0)
      input.tracks = {reinterpret_cast<const Track*>(values.view().data), std::size_t(count)};
    if (seed % 3 != 1)
      input.rotation = {0.01f, 0.02f, 0.1f * uniform(), float(size.width), float(size.width), 2.5f, 1.5f};
  }
};

template <class Energy>
requires is_mask_energy<Energy>
bool takes_start(const Icm<Energy>& method) { return method.energy.temporal > 0; }
template <class Energy>
requires is_mask_energy<Energy>
bool takes_start(const Annealing<Energy>& method) { return method.energy.temporal > 0; }

template <class Task>
std::string described(const ParityCase<Task>& c) {
  return std::visit([](const auto& m) { return described(m); }, c.method) + ", " + described(c.options) +
         ", " + std::to_string(c.size.width) + "x" + std::to_string(c.size.height) + " " +
         to_string(c.format) + ", seed " + std::to_string(c.seed);
}

/// The list, or as many of its cases as PARAFIELD_TEST_CASES asks for, spread over it.
template <class Case>
std::vector<Case> as_many_as_asked(std::vector<Case> list) {
  const char* count = std::getenv("PARAFIELD_TEST_CASES");
  if (!count) return list;
  std::vector<Case> some;
  for (std::size_t i = 0, n = std::strtoul(count, nullptr, 10); i < n; ++i)
    some.push_back(list[i * list.size() / n]);
  return some;
}

/// Results from the method's number of frames: of a call with the first frames; guided, if the method can be;
/// of a call from the second frame on that starts from the first result, if the method takes a start; and the
/// last one of pushed frames, if the task streams or takes pairs.
template <class Task>
struct ParityResults {
  std::optional<typename Task::Result> first, guided, from_start, pushed;
  std::vector<double> energies;  ///< of the last one
};

template <class Task>
ParityResults<Task> results_of(const Target& target, const ParityCase<Task>& c, int threads, int padding,
                               unsigned char guard, const std::function<Frame(const Frame&)>& place,
                               Memory memory) {
  using Result = typename Task::Result;
  const Forced forced(target);
  const auto count = std::size_t(std::visit([](const auto& method) { return method.frames; }, c.method));
  std::vector<GuardedFrame> frames;
  for (int i = 0; i <= int(count); ++i) {
    frames.emplace_back(c.size, c.format, c.seed, 1.7f * float(i), padding, guard);
    if (c.format == PixelFormat::gray_f32) frames.back().set_nan(c.size.width / 2, c.size.height / 3);
  }
  Estimator<Task> estimator(c.method, c.size, on(target.device(threads), c.options));
  const auto taken = [&](const Result& result) {
    estimator.synchronize();
    return result.to(Memory::host());
  };
  ParityResults<Task> results;
  const auto placed_one = [&](const GuardedFrame& frame) {
    Frame there = place(frame);
    if (c.seed % 4 == 1) there.range = some_range(c.format);
    return there;
  };
  const auto window = [&](std::size_t first) {
    std::vector<Frame> placed;
    for (std::size_t i = first; i < first + count; ++i) placed.push_back(placed_one(frames[i]));
    return placed;
  };
  results.first = taken(estimator({window(0)}));
  if (std::visit([](const auto& method) { return takes_start(method); }, c.method)) {
    const Result start = results.first->to(memory);
    results.from_start = taken(estimator({window(1), start}));
  }
  if constexpr (requires(typename Task::Input input) { input.tracks; })
    std::visit(
        [&](const auto& method) {
          if constexpr (requires { method.tracking; }) {
            const Guiding guide(c.size, c.seed, std::min(method.tracking.max_features, 50), memory);
            FlowInput input = guide.input;
            if (!takes_tracks(method)) input.tracks.reset();
            const std::vector<Frame> placed = window(0);
            input.frames = placed;
            results.guided = taken(estimator(input));
          }
        },
        c.method);
  if constexpr (Task::streams)
    for (const GuardedFrame& frame : frames)
      if (const Result* result = estimator.push(placed_one(frame))) results.pushed = taken(*result);
  if constexpr (Task::pairs)
    for (std::size_t i = 0; i < 3; ++i)  // a pair twice, and then another
      results.pushed = taken(estimator.push(placed_one(frames[i / 2]), placed_one(frames[1 + i / 2])));
  results.energies = estimator.energies();
  return results;
}

/// A fixture for a task's parity test. `cases()` is the test's own.
template <class Task>
class Parity : public OnTarget {
 protected:
  using Cases = std::vector<ParityCase<Task>>;

  static void expect_parity_of_host_frames(const Cases& cases) {
    for (std::size_t i = 0; i < cases.size() && !HasFatalFailure(); ++i)
      if (is_tested(i))
        compare(results_of<Task>(GetParam(), cases[i], 1 + int(i % 3), int(i % 5) * 12, 0xff, in_place,
                                 Memory::host()),
                i, cases);
  }

  static void expect_parity_of_device_frames(const Cases& cases) {
    if (GetParam().instruction_set) GTEST_SKIP() << "host memory is the CPU's own";
    for (std::size_t i = 0; i < cases.size() && !HasFatalFailure(); ++i) {
      std::vector<FrameBuffer> held;
      const auto to_device = [&](const Frame& frame) {
        FrameBuffer host(frame.size(), frame.format);
        for (int y = 0; y < frame.height; ++y)
          std::memcpy(host.row(y), static_cast<const char*>(frame.data) + y * frame.pitch,
                      std::size_t(frame.width) * std::size_t(bytes_per_pixel(frame.format)));
        held.push_back(host.to(Memory::cuda()));
        return held.back().frame();
      };
      compare(results_of<Task>(GetParam(), cases[i], 0, 0, 0, to_device, Memory::cuda()), i, cases);
    }
  }

 private:
  static const Frame& in_place(const Frame& frame) { return frame; }

  /// Whether the target takes a case. v3 takes all of them. v2 takes one in six, because it calls a function
  /// for each fused multiply-add and is several times slower. v4 takes one in three: where the processor has
  /// it, v4 computes the reference, so that v3's cases compare all of v4's results, too.
  static bool is_tested(std::size_t i) {
    const std::string_view name = GetParam().name;
    const std::size_t of = name == "v2" ? 6 : name == "v4" ? 3 : 1;
    return std::mt19937(unsigned(i / of))() % of == i % of;
  }

  static const ParityResults<Task>& expected(std::size_t i, const Cases& cases) {
    static std::vector<std::optional<ParityResults<Task>>> results(cases.size());
    if (!results[i])
      results[i] = results_of<Task>(reference_target(), cases[i], 1, 0, 0, in_place, Memory::host());
    return *results[i];
  }

  static void compare(const ParityResults<Task>& results, std::size_t i, const Cases& cases) {
    if (sanitized) return;  // the other target is the same build
    const ParityResults<Task>& reference = expected(i, cases);
    const auto compare_one = [&](const auto& a, const auto& b, const std::string& what) {
      ASSERT_EQ(a.has_value(), b.has_value()) << what;
      if (a) expect_same(*b, *a, what);
    };
    compare_one(reference.first, results.first, "pair: " + described(cases[i]));
    compare_one(reference.guided, results.guided, "guided: " + described(cases[i]));
    compare_one(reference.from_start, results.from_start, "from a start: " + described(cases[i]));
    compare_one(reference.pushed, results.pushed, "pushed: " + described(cases[i]));
    EXPECT_EQ(reference.energies, results.energies) << described(cases[i]);
  }
};

}  // namespace parafield
