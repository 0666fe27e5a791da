// SPDX-License-Identifier: MIT
#pragma once
// The cases of soak.cpp: how a seed determines a case, and the ways to use it.
#include <atomic>
#include <bit>
#include <chrono>
#include <future>
#include <thread>

#include "parity.hpp"
#include "tasks/any_case.hpp"

namespace parafield {
namespace {

constexpr unsigned case_count = 720;  // 40 of each method, and of find_tracks
constexpr Size largest{320, 240};     // largest frames

/// Events in the life of an estimator during a run; use_names names them.
enum class Use { plain, output, moved, cancelled, bad_input };
constexpr const char* use_names[] = {"plain", "into the user's output", "moved to another thread",
                                     "cancelled by another thread", "with bad input in between"};

/// How a case is used. Results must not depend on it, except on `pushes`.
struct Way {
  Device device;
  bool on_device, pushes;  ///< frames lie in CUDA memory; frames are pushed, not given to calls
  Use use;
  unsigned seed;

  std::string name() const {
    return text(to_string(device), ", ", device.threads, " threads, ", on_device ? "device" : "host",
                " frames, ", pushes ? "pushes, " : "calls, ", use_names[int(use)], ", drawn by ", seed);
  }
};

struct Case {
  std::string name;
  bool streams = false;                          ///< whether frames can be pushed
  std::function<std::uint64_t(const Way&)> run;  ///< returns a hash of the results
  std::atomic<std::uint64_t> hashes[2] = {};     ///< of the first run by calls, by pushes; 0 = none so far
};

/// Adds a number to a hash.
template <class T>
void add(std::uint64_t& hash, T value) {
  hash = (hash ^ std::bit_cast<std::conditional_t<sizeof value == 8, std::uint64_t, std::uint32_t>>(value)) *
         1099511628211ull;
}

/// Throws unless f() throws an Error of that code.
template <class F>
void expect_error(ErrorCode code, const char* what, F f) {
  std::string said = "none";
  try {
    f();
  } catch (const Error& error) {
    if (error.code() == code) return;
    said = error.what();
  }
  throw std::runtime_error(text("wrong error for ", what, ": ", said));
}

/// Visitor of a method's parameters. It gives one number, chosen at random, a value that is not allowed. A
/// pass over the parameters may end without one: see `done`.
struct Breaks {
  std::mt19937& random;
  bool done = false;

  template <class T>
  void operator()(T& field, const Parameter<T>& parameter) {
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, float>) {
      if (done || random() % 4 != 0) return;
      field = std::is_same_v<T, int> ? parameter.min - 1 : std::numeric_limits<T>::quiet_NaN();
      done = true;
    }
  }
};
/// The method with one parameter that is not allowed.
template <class Method>
Method broken(Method method, std::mt19937& random) {
  for (Breaks breaks{random}; !breaks.done;) describe(method, breaks);
  return method;
}

/// The frames of a case, in a memory. `held` keeps those in CUDA memory alive. Each format has one picture of
/// noise; a frame is a part of it, and from frame to frame the part moves by whole pixels.
template <class Task>
std::vector<Frame> frames_of(const ParityCase<Task>& c, std::size_t count, Memory memory,
                             std::vector<FrameBuffer>& held) {
  constexpr int margin = 16;
  static const std::vector<GuardedFrame> pictures = [] {
    std::vector<GuardedFrame> made;
    const Size size{largest.width + 2 * margin, largest.height + 2 * margin};
    for (const PixelFormat each : every_format) made.emplace_back(size, each, 1, 0.0f, 12, 0xff);
    made[std::size_t(PixelFormat::gray_f32)].set_nan(margin + 2, margin + 1);
    return made;
  }();
  std::vector<Frame> frames;
  for (int i = 0; i < int(count); ++i) {
    Frame frame = pictures[std::size_t(c.format)];
    const int x = margin + i * (int(c.seed % 5) - 2), y = margin + i * (int(c.seed % 3) - 1);
    const int bytes = bytes_per_pixel(c.format);
    frame.data = static_cast<const char*>(frame.data) + y * frame.pitch + x * bytes;
    frame.width = c.size.width;
    frame.height = c.size.height;
    frames.push_back(frame);
    if (memory.on_host()) continue;
    frames.back() = held.emplace_back(c.size, c.format, memory);
    detail::copy(const_cast<void*>(frames.back().data), frames.back().pitch, memory, frame.data, frame.pitch,
                 frame.memory, std::ptrdiff_t(frame.width) * bytes, frame.height);
  }
  return frames;
}

/// Checks that estimators with bad arguments cannot be made.
template <class Task>
void refuse_to_make(const ParityCase<Task>& c, std::mt19937& random) {
  const auto refuse = [&](ErrorCode code, const char* what, const auto& method, Size size,
                          const Device& device) {
    expect_error(code, what, [&] { Estimator<Task>(method, size, on(device, c.options)); });
  };
  refuse(ErrorCode::device, "a missing device", c.method, c.size, Device::cuda(99));
  refuse(ErrorCode::invalid_argument, "-1 threads", c.method, c.size, Device::cpu(-1));
  refuse(ErrorCode::invalid_argument, "no rows", c.method, Size{c.size.width, 0}, Device::cpu(1));
  std::visit(
      [&](const auto& method) {
        refuse(ErrorCode::invalid_argument, "a parameter", broken(method, random), c.size, Device::best());
      },
      c.method);
}

/// Corrupts an estimator's input in one of several ways. Checks that the estimator refuses it.
template <class Task>
void refuse_input(Estimator<Task>& estimator, bool pushes, typename Task::Input input, std::mt19937& random) {
  constexpr const char* names[] = {"a wrong size",           "no data",      "a short pitch",
                                   "another device's frame", "wrong planes", "too few frames",
                                   "a wrong start"};
  const unsigned bad = random() % (pushes ? 5 : 7);
  const Size size = estimator.size(), wider{size.width + 1, size.height};
  std::vector<Frame> frames(input.frames.begin(), input.frames.end());
  typename Task::Result output(bad == 4 ? wider : size, frames[0].memory), start(wider, frames[0].memory);
  Frame& last = frames.back();
  if (bad == 0) last.width = wider.width;
  if (bad == 1) last.data = nullptr;
  if (bad == 2) last.pitch = -1;
  if (bad == 3) last.memory = Memory::cuda(99);
  if (bad == 5) frames.pop_back();
  if (bad == 6) input.start = start;
  input.frames = frames;
  expect_error(ErrorCode::invalid_argument, names[bad], [&] {
    if constexpr (Task::streams)
      if (pushes) return void(estimator.push(last, output));
    estimator(input, output);
  });
}

/// Runs a case: the life of one estimator, in two parts. With calls, the second part is a call with frames
/// one later. With pushes, the first part ends at a random frame, and the second pushes the rest. Returns a
/// hash of all results.
template <class Task>
std::uint64_t run_estimator(const ParityCase<Task>& c, const Way& way) {
  using Result = typename Task::Result;
  std::mt19937 random(way.seed);
  const Memory memory = way.on_device ? Memory::cuda() : Memory::host();
  const auto count = std::visit([](const auto& method) { return std::size_t(method.frames); }, c.method);
  std::vector<FrameBuffer> held;
  const std::vector<Frame> frames = frames_of(c, count + 2, memory, held);
  const std::size_t middle = 1 + random() % (count + 1);
  typename Task::Input input{.frames = std::span(frames).first(count)};
  Result start(c.size), own(c.size, memory);
  std::apply([](auto&... plane) { ((plane(0, 0) = 1), ...); }, start.planes());
  start = start.to(memory);
  const bool starts = std::visit([](const auto& method) { return takes_start(method); }, c.method);
  if (starts && c.seed % 3 == 0) input.start = start;
  std::optional<Guiding> guide;
  if constexpr (std::is_same_v<Task, Flow>)
    std::visit(
        [&](const auto& method) {
          if constexpr (requires { method.tracking; })
            if (c.seed % 2) guide.emplace(c.size, c.seed, std::min(method.tracking.max_features, 20), memory);
          if (!guide) return;
          if (takes_tracks(method)) input.tracks = guide->input.tracks;
          input.rotation = guide->input.rotation;
        },
        c.method);

  const auto after_part = [&](Estimator<Task>& estimator, std::size_t part, std::uint64_t hash) {
    const auto take = [&](const Result* result) {
      if (!result) return;
      estimator.synchronize();
      hash = hash_of(result->to(Memory::host()), hash);
      for (const double energy : estimator.energies()) add(hash, energy);
    };
    const bool to_own = way.use == Use::output;
    if constexpr (Task::streams)
      if (way.pushes) {
        for (std::size_t i = part ? middle : 0; i < (part ? frames.size() : middle); ++i)
          take(!to_own ? estimator.push(frames[i]) : estimator.push(frames[i], own) ? &own : nullptr);
        return hash;
      }
    if constexpr (Task::pairs)
      if (way.pushes) {
        const std::size_t pairs = frames.size() - 1;
        for (std::size_t i = part ? middle : 0; i < (part ? pairs : middle); ++i)
          if (to_own)
            estimator.push(frames[i], frames[i + 1], own), take(&own);
          else
            take(&estimator.push(frames[i], frames[i + 1]));
        return hash;
      }
    auto here = input;
    here.frames = std::span(frames).subspan(part, count);
    take(!to_own ? &estimator(here) : (estimator(here, own), &own));
    return hash;
  };

  const bool bad = way.use == Use::bad_input;
  if (bad) refuse_to_make(c, random);
  Estimator<Task> estimator(c.method, c.size, on(way.device, c.options));
  if (bad) refuse_input(estimator, way.pushes, input, random);
  std::uint64_t hash = 1, too_late = 0;
  if (way.use == Use::cancelled) {
    const auto other = std::async(std::launch::async, [&estimator, wait = random() % 3000] {
      std::this_thread::sleep_for(std::chrono::microseconds(wait));
      estimator.cancel();
    });
    try {
      too_late = after_part(estimator, 0, hash);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::cancelled) throw;
    }
    other.wait();
    expect_error(ErrorCode::cancelled, "a call after cancel()", [&] { after_part(estimator, 0, hash); });
    estimator.reset();
  }
  hash = after_part(estimator, 0, hash);
  if (too_late && too_late != hash)
    throw std::runtime_error("a call that cancel() came too late for differs");
  if (bad) refuse_input(estimator, way.pushes, input, random);
  if (way.use != Use::moved) return after_part(estimator, 1, hash);
  auto go_on = [&, there = std::move(estimator)]() mutable { return after_part(there, 1, hash); };
  return std::async(std::launch::async, std::move(go_on)).get();
}

/// Runs a case of find_tracks. Returns a hash of the tracks.
std::uint64_t run_tracks(const ParityCase<Flow>& c, const FeatureTracking& tracking, const Way& way) {
  std::mt19937 random(way.seed);
  std::vector<FrameBuffer> held;
  const auto frames = frames_of(c, 2, way.on_device ? Memory::cuda() : Memory::host(), held);
  if (way.use == Use::bad_input)
    expect_error(ErrorCode::invalid_argument, "a parameter of find_tracks",
                 [&] { find_tracks(frames[0], frames[1], broken(tracking, random), way.device); });
  std::uint64_t hash = 1;
  for (const Track& track : find_tracks(frames[0], frames[1], tracking, way.device))
    for (const float value : {track.x, track.y, track.u, track.v}) add(hash, value);
  return hash;
}

/// Draws a case by its seed. Seeds that follow each other draw different methods, find_tracks among them.
void draw(Case& drawn, unsigned seed) {
  std::mt19937 random(seed);
  const auto side = [&](int most) { return 1 + int(random() % unsigned(random() % 3 ? most : 12)); };
  const int width = side(largest.width), height = side(largest.height);
  const PixelFormat format = every_format[random() % std::size(every_format)];
  const auto rarely = [&](auto value) { return random() % 4 ? decltype(value){} : value; };
  unsigned turn = seed % 18;
  const auto draw_method = [&]<class Task>(Task) {
    for_each_method<typename Task::Method>([&]<class Method>(const Method&) {
      if (turn-- != 0) return;
      const Method method = fitted(random_method<Method>(random), {width, height});
      typename Task::Options options{.energies = EnergyReport(random() % 3)};
      if constexpr (requires { options.fill; }) {
        options.speckle = rarely(6);
        options.fill = rarely(true);
        options.final_median = rarely(random() % 2 ? 3 : 5);
      }
      if constexpr (requires { options.fb_check; }) options.fb_check = method.frames == 2 ? rarely(0.7f) : 0;
      const ParityCase<Task> c{method, {width, height}, format, seed, options};
      drawn.name = described(c);
      drawn.run = [c](const Way& way) { return run_estimator(c, way); };
      drawn.streams = Task::streams || Task::pairs;
    });
  };
  draw_method(Flow{});
  draw_method(Stereo{});
  draw_method(Detection{});
  if (turn != 0) return;
  const ParityCase<Flow> c{{}, {width, height}, format, seed, {}};
  const FeatureTracking tracking = random_method<DirectInterpolation>(random).tracking;
  drawn.name = text("find_tracks, ", described(tracking), ", ", described(c));
  drawn.run = [=](const Way& way) { return run_tracks(c, tracking, way); };
}

}  // namespace
}  // namespace parafield
