#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/backend.hpp"
#include "core/workspace.hpp"
#include "parafield/estimator.hpp"

namespace parafield {

/// Throws Error(invalid_argument) with the numbers for a frame that an estimator of that size and device
/// cannot read. Returns the frame with its pitch filled in.
Frame checked(const Frame& frame, const char* name, Size size, const Device& device);

/// What an estimator does, whatever its method and backend.
template <class Task>
class Session {
 public:
  using Result = typename Task::Result;
  virtual ~Session() = default;
  virtual const Result& call(const typename Task::Input& input) = 0;
  virtual const Result* push(const Frame& frame) = 0;
  virtual void reset() = 0;
  virtual void synchronize() = 0;
  virtual std::vector<double> energies() = 0;
  virtual Stream stream() const = 0;
  virtual std::size_t workspace_bytes() const = 0;
};

/// Takes frames to a solver and its result back, on one backend. The solver keeps prepared frames in slots, one for
/// each frame that the method takes. One that has solve_with(newest, first, result), both steps of a push at once, takes no
/// start.
/// copy_planes(from, to, copy), copy_start(from, to, copy) and the solver are the task's own.
template <class Task, class Backend, template <class> class Solver>
class SolverSession final : public Session<Task> {
 public:
  using Result = typename Task::Result;
  using Start = typename decltype(Task::Input::start)::value_type;

  template <class Method>
  SolverSession(const Method& method, Size size, const Device& device, Stream stream,
                const typename Task::Options& options)
      : slots_(method.frames),
        size_(size),
        device_(device),
        backend_(device, stream),
        workspace_(backend_.memory()),
        solver_(backend_, workspace_, method, size, options),
        frames_(std::size_t(slots_)),
        staging_(std::size_t(slots_)) {
    if constexpr (on_gpu<Backend>) device_result_ = Result(size, backend_.memory());
  }

  const Result& call(const typename Task::Input& input) override {
    pushed_ = 0;
    if (int(input.frames.size()) != slots_)
      fail(ErrorCode::invalid_argument, "the method takes ", slots_, " frames, not ", input.frames.size());
    for (std::size_t i = 0; i < frames_.size(); ++i)
      frames_[i] = checked(input.frames[i], text("frame ", i).c_str(), size_, device_);
    const bool on_host = frames_[0].memory.on_host();
    for (const Frame& frame : frames_)
      if (frame.memory.on_host() != on_host)
        fail(ErrorCode::invalid_argument, "one frame is in host memory and one on a device");
    if (input.start && !solver_.takes_start())
      fail(ErrorCode::invalid_argument, "the method, with these parameters, has no use for a start");
    if (input.start && input.start->size() != size_)
      fail(ErrorCode::invalid_argument, "the start is ", input.start->size().width, "x",
           input.start->size().height, ", the frames are ", size_.width, "x", size_.height);
    activate();
    std::optional<Start> start = input.start;
    if (on_host) {
      for (int i = 0; i < slots_; ++i) frames_[std::size_t(i)] = on_backend(frames_[std::size_t(i)], i);
      if (start) start = on_backend(*start);
    }
    Result& result = target(on_host);
    backend_.replay(call_keys + 2 * guided(input, on_host) + start.has_value(), [&] {
      solver_.prepare(frames_.data(), 0, slots_);
      solver_.solve(0, start ? &*start : nullptr, result);
    });
    return delivered(on_host);
  }

  const Result* push(const Frame& user_frame) override {
    Frame frame = checked(user_frame, "the frame", size_, device_);
    const bool on_host = frame.memory.on_host();
    activate();
    const int slot = int(pushed_ % slots_);
    if (on_host) frame = on_backend(frame, slot);
    guided({}, on_host);
    Result& result = target(on_host);
    const bool complete = pushed_ + 1 >= slots_;
    const bool warm = pushed_ >= slots_ && solver_.starts_from_last();
    const Start last = result;
    backend_.replay(push_keys + 3 * slot + (complete ? 1 + warm : 0), [&] {
      if (complete)
        advance(frame, slot, warm ? &last : nullptr, result);
      else
        solver_.prepare(&frame, slot, 1);
    });
    ++pushed_;
    if (complete) return &delivered(on_host);
    if (on_host) backend_.synchronize();  // the user may now change the frame
    return nullptr;
  }

  void reset() override { pushed_ = 0; }
  void synchronize() override {
    backend_.synchronize();
    check();
  }
  std::vector<double> energies() override {
    const View<double> all = solver_.energies();
    if (!all) return {};
    std::vector<double> values(std::size_t(all.width));
    activate();
    copy_to_host(backend_, values.data(), all.data, sizeof(double) * values.size());
    return values;
  }
  Stream stream() const override { return backend_.stream(); }
  std::size_t workspace_bytes() const override { return workspace_.bytes() + backend_.scratch_bytes(); }

 private:
  static constexpr int call_keys = 0,
                       push_keys = 2 * 8;  // calls: with a start or not, of each kind of guidance

  void activate() {
    if constexpr (on_gpu<Backend>) backend_.activate();
  }

  /// Throws where the last solve failed, which only the device knows, and the solver says.
  void check() {
    if constexpr (requires { solver_.check(); }) solver_.check();
  }

  /// Gives the solver what the input has beside frames and start. Returns which kind it is, 0 to 7.
  int guided(const typename Task::Input& input, bool on_host) {
    if constexpr (requires { solver_.take(input, on_host); }) return solver_.take(input, on_host);
    return 0;
  }

  /// The newest frame into its slot, and the solve, which a solver may take as one step.
  void advance(const Frame& newest, int slot, const Start* start, Result& result) {
    const int first = (slot + 1) % slots_;
    if constexpr (requires { solver_.solve_with(newest, first, result); }) {
      solver_.solve_with(newest, first, result);
    } else {
      solver_.prepare(&newest, slot, 1);
      solver_.solve(first, start, result);
    }
  }

  /// Where the solver writes: always the backend's memory.
  Result& target(bool on_host) {
    if (on_host && host_result_.size() != size_)
      host_result_ = Result(size_, on_gpu<Backend> ? Memory::pinned() : Memory::host());
    return on_gpu<Backend> ? device_result_ : host_result_;
  }

  const Result& delivered(bool on_host) {
    if constexpr (on_gpu<Backend>) {
      if (!on_host) return device_result_;
      copy_planes(device_result_, host_result_,
                  [&](const auto& from, auto& to) { copy(from.view(), to.view()); });
      backend_.synchronize();
    }
    check();
    return host_result_;
  }

  /// A host frame, copied to where the backend reads it.
  Frame on_backend(const Frame& frame, int slot) {
    if constexpr (on_gpu<Backend>) {
      FrameBuffer& staging = staging_[std::size_t(slot)];
      if (staging.size() != frame.size() || staging.format() != frame.format)
        staging = FrameBuffer(frame.size(), frame.format, backend_.memory());
      const Frame there = staging;
      backend_.copy(const_cast<void*>(there.data), there.pitch, frame.data, frame.pitch,
                    std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format), frame.height);
      return there;
    }
    return frame;
  }

  Start on_backend(const Start& start) {
    if constexpr (on_gpu<Backend>) {
      if (staged_start_.size() != size_) staged_start_ = Result(size_, backend_.memory());
      copy_start(start, staged_start_, [&](const auto& from, auto& to) { copy(from, to.view()); });
      return staged_start_;
    }
    return start;
  }

  template <class T>
  void copy(View<const T> from, View<T> to) {
    backend_.copy(to.data, to.pitch, from.data, from.pitch, from.width * std::ptrdiff_t(sizeof(T)),
                  from.height);
  }
  template <class T>
  void copy(View<T> from, View<T> to) {
    copy(View<const T>(from), to);
  }

  const int slots_;
  const Size size_;
  const Device device_;
  Backend backend_;
  Workspace workspace_;
  Solver<Backend> solver_;
  std::vector<Frame> frames_;  // of a call, one for each slot
  std::vector<FrameBuffer> staging_;
  Result staged_start_;
  Result device_result_, host_result_;
  std::int64_t pushed_ = 0;
};

}  // namespace parafield
