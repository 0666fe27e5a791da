// SPDX-License-Identifier: MIT
// Uses the library at random on several threads, for as long as asked:
//   soak MINUTES [--seed N]
// A case is a task, a method with parameters, a size, a pixel format and frames. Its seed draws all of them.
// The cases have the seeds N (1 if not given), N + 1 and so on. Each case is used many times: on any device,
// with any number of threads, in any Use. It has to give the same bits each time. First comes a warm-up, in
// which every case runs in every place: on the CPU, on CUDA with host frames, on CUDA with device frames.
// Work is done in rounds. When a round ends, its threads end and no estimator lives. The process may then
// hold little more memory, files and threads than it did after the warm-up.
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "core/backend.hpp"
#include "parity.hpp"
#include "tasks/any_case.hpp"

namespace parafield {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned case_count = 720;  // 40 of each method, and of find_tracks
constexpr Size largest{320, 240};     // largest frames

/// A resource that the process holds. Its value may grow by at most `may_grow` after the warm-up.
///
/// The limits have reasons. The allocator has at most 8 arenas for each processor; it keeps 128 KB at the end
/// of each, and parts of pages. On CUDA, pinned blocks are kept for reuse: at most 7 MB for each thread,
/// reached once every thread needs the largest block of each size at the same time. The device gives memory
/// in blocks of 2 MB, and it loads a kernel when it is first used.
struct Held {
  const char* name;
  double value, may_grow;
};

/// What happens to an estimator during a run; use_names says it in words.
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

/// Spoils an estimator's input in one of several ways. Checks that the estimator refuses it.
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
          if (guide) input.tracks = guide->input.tracks, input.rotation = guide->input.rotation;
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
      if constexpr (requires { options.lr_check; }) options.lr_check = rarely(0.5f);
      if constexpr (requires { options.fb_check; }) options.fb_check = method.frames == 2 ? rarely(0.7f) : 0;
      const ParityCase<Task> c{method, {width, height}, format, seed, options};
      drawn.name = described(c);
      drawn.run = [c](const Way& way) { return run_estimator(c, way); };
      drawn.streams = Task::streams;
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

/// The resources that the process holds now.
std::array<Held, 4> held_now(unsigned threads) {
  const auto entries = [](const char* folder) {
    return double(std::distance(std::filesystem::directory_iterator(folder), {}));
  };
  double pages = 0, device = 0, pinned = 0;
#ifdef PARAFIELD_HAS_CUDA
  if (why_no_cuda().empty()) {
    pinned = 8.0 * threads;
    device = double(describe_device(Device::cuda()).memory - Cuda(Device::cuda(), {}).available_memory());
  }
#endif
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // threads that have ended are still listed
  malloc_trim(0);
  std::ifstream("/proc/self/statm") >> pages >> pages;
  constexpr double mb = 1 << 20;
  return {{{"MB resident", pages * double(sysconf(_SC_PAGESIZE)) / mb, 8 + 2.0 * threads + pinned},
           {"MB of the device", device / mb, 64},
           {"open files", entries("/proc/self/fd"), 0},
           {"threads", entries("/proc/self/task"), 0}}};
}

/// The cases, and the threads that run them.
class Soak {
 public:
  explicit Soak(unsigned seed) : seed_(seed), cases_(case_count) {
    for (unsigned i = 0; i < case_count; ++i) draw(cases_[i], seed + i);
  }

  /// Runs cases for so long. Returns whether all went well.
  bool run(double minutes) {
    using Seconds = std::chrono::duration<double>;
    const auto begin = Clock::now();
    const auto elapsed = [&] { return Seconds(Clock::now() - begin).count(); };
    const double end = 60 * minutes, interval = std::clamp(end / 30, 2.0, 60.0);
    std::optional<std::array<Held, 4>> warm;
    int rounds = 0;  // after the warm-up
    while (elapsed() < end && !failed_) {
      const double round = elapsed();
      const unsigned before = runs_;
      run_round(begin +
                std::chrono::duration_cast<Clock::duration>(Seconds(std::min(end, round + interval))));
      const double rate = (runs_ - before) / (elapsed() - round);
      const auto now = held_now(thread_count_);
      std::printf("%.0f s, %u runs of %u cases, %.0f runs a second", elapsed(), +runs_,
                  std::min(case_count, +runs_), rate);
      for (const Held& held : now) std::printf(", %.*f %s", held.may_grow > 0, held.value, held.name);
      std::printf("%s\n", warm ? "" : " (warm-up)");
      std::fflush(stdout);
      for (std::size_t i = 0; warm && i < now.size(); ++i)
        if (now[i].value > (*warm)[i].value + now[i].may_grow)
          fail(text((*warm)[i].value, " ", now[i].name, " after the warm-up, now ", now[i].value,
                    "; allowed: ", now[i].may_grow, " more"));
      rounds += warm.has_value();
      if (!warm && runs_ >= warm_up_) warm = now;
    }
    if (rounds == 0) fail(text("too short: the warm-up takes ", warm_up_, " runs, and there were ", runs_));
    std::printf("soak: %u runs in %.0f s on %u threads, %s: %s\n", +runs_, elapsed(), thread_count_,
                places_ > 1 ? "CPU and CUDA" : "CPU", failed_ ? "failed" : "the same bits, nothing grew");
    return !failed_;
  }

 private:
  /// Prints the first failure and makes all threads end.
  void fail(const std::string& why) {
    if (!failed_.exchange(true)) std::printf("soak: FAILED: %s\n", why.c_str());
  }

  /// Runs cases on all threads until `end`. Ends the program if a run still goes on 5 minutes later.
  void run_round(Clock::time_point end) {
    std::vector<std::future<void>> threads;
    for (std::string& doing : doing_)
      threads.push_back(std::async(std::launch::async, [this, end, &doing] {
        while (!failed_ && Clock::now() < end) run_next(doing);
      }));
    for (const auto& thread : threads) {
      if (thread.wait_until(end + std::chrono::minutes(5)) == std::future_status::ready) continue;
      const std::lock_guard lock(mutex_);
      std::string all = "a run hangs; the threads' last runs:";
      for (const std::string& doing : doing_) all += "\n" + doing;
      fail(all);
      std::fflush(stdout);
      std::_Exit(1);
    }
  }

  /// Runs one case. `doing` then says which, and how.
  void run_next(std::string& doing) {
    const unsigned number = runs_++, round = number / case_count;
    std::mt19937 random(seed_ + 2654435761u * number);
    const bool warms = number < warm_up_;  // runs each case in each place, by calls and by pushes
    const unsigned which = (warms ? number : unsigned(random())) % case_count;
    const unsigned place = (warms ? round : unsigned(random())) % places_;
    Case& c = cases_[which];
    const bool pushes = c.streams && (warms ? round >= places_ : random() % 2);
    const Device device = place > 0 ? Device::cuda() : Device::cpu(1 + int(random() % 4));
    const Way way{device, place == 2, pushes, Use(random() % std::size(use_names)), unsigned(random())};
    const std::string what = text("  --seed ", seed_ + which, ": ", c.name, "\n  ", way.name());
    {
      const std::lock_guard lock(mutex_);
      doing = what;
    }
    try {
      const std::uint64_t hash = c.run(way);
      std::uint64_t first = 0;
      if (c.hashes[pushes].compare_exchange_strong(first, hash) || first == hash) return;
      fail("other results than the first time\n" + what);
    } catch (const std::exception& error) {
      fail(text(error.what(), "\n", what));
    }
  }

  const unsigned seed_, thread_count_ = std::max(4u, std::thread::hardware_concurrency());
  const unsigned places_ = why_no_cuda().empty() ? 3 : 1;  // CPU; CUDA with host frames, with device frames
  const unsigned warm_up_ = 2 * places_ * case_count;      // number of runs in the warm-up
  std::vector<Case> cases_;
  std::atomic<unsigned> runs_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::vector<std::string> doing_ = std::vector<std::string>(thread_count_);
};

}  // namespace
}  // namespace parafield

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool is_seeded = arguments.size() == 3 && arguments[1] == "--seed";
  const double minutes = arguments.size() == 1 || is_seeded ? std::atof(argv[1]) : 0;
  if (!(minutes > 0)) {
    std::fprintf(stderr, "usage: soak MINUTES [--seed N]\n");
    return 2;
  }
  // Sets the allocator's threshold to its default: a threshold that is set does not adapt any more. So the
  // memory of images goes back to the system when they are gone.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  return parafield::Soak(is_seeded ? unsigned(std::atol(argv[3])) : 1).run(minutes) ? 0 : 1;
}
