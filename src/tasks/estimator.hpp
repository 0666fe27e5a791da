// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <new>

#include "tasks/examined_session.hpp"
#include "tasks/frame_session.hpp"
#include "tasks/pair_session.hpp"

namespace parafield {

/// Runs f and turns std::bad_alloc into Error(memory).
template <class F>
decltype(auto) with_errors(F f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::memory, "cannot allocate host memory");
  }
}

/// Throws Error(invalid_argument) for sizes that no estimator supports.
void check_size(Size size);

template <class Task>
struct Estimator<Task>::Impl {
  Method method;
  Size size;
  Device device;
  Options options;
  std::unique_ptr<Session<Task>> session;
};

/// Makes the session of a method on a device. `TaskSolver<Backend, Solver>` extends the method's solver with
/// the task's options.
template <class Task, template <class, class> class TaskSolver>
std::unique_ptr<Session<Task>> make_session(const typename Task::Method& method, Size size,
                                            const Device& device, const typename Task::Options& options) {
  return std::visit(
      [&]<class Method>(const Method& chosen) {
        return with_backend(device, [&]<class Backend>() -> std::unique_ptr<Session<Task>> {
          using Solver = TaskSolver<Backend, typename SolverOf<Method, Backend>::type>;
          if constexpr (Task::streams)
            return std::make_unique<FrameSession<Task, Backend, Solver>>(chosen, size, device, options);
          else
            return std::make_unique<PairSession<Task, Backend, Solver>>(chosen, size, device, options);
        });
      },
      method);
}

/// The session of an estimator of the task. The task's own file specializes it.
template <class Task>
std::unique_ptr<Session<Task>> task_session(const typename Task::Method& method, Size size,
                                            const Device& device, const typename Task::Options& options);

template <class Task>
Estimator<Task>::Estimator(Method method, Size size, Options options) {
  with_errors([&] {
    check_size(size);
    std::visit([](const auto& value) { check(value); }, method);
    check(options);
    const Device device = options.device ? *options.device : Device::best();
    impl_ = std::make_unique<Impl>(
        Impl{method, size, device, options,
             examined<Task>(task_session<Task>(method, size, device, options), method, options)});
  });
}
template <class Task>
Estimator<Task>::~Estimator() = default;
template <class Task>
Estimator<Task>::Estimator(Estimator&&) noexcept = default;
template <class Task>
Estimator<Task>& Estimator<Task>::operator=(Estimator&&) noexcept = default;

template <class Task>
auto Estimator<Task>::operator()(const Input& input) -> const Result& {
  return with_errors([&]() -> const Result& { return impl_->session->call(input, nullptr); });
}
template <class Task>
auto Estimator<Task>::operator()(const In<Frame>& frame0, const In<Frame>& frame1) -> const Result& {
  return (*this)({std::array<Frame, 2>{frame0, frame1}});
}
template <class Task>
void Estimator<Task>::operator()(const Input& input, Result& output) {
  with_errors([&] { impl_->session->call(input, &output); });
}
// clang 14 instantiates all members of an explicit instantiation, even if their constraints do not hold.

template <class Task>
auto Estimator<Task>::push(const In<Frame>& frame) -> const Result* requires Task::streams {
  if constexpr (Task::streams) return with_errors([&] { return impl_->session->push(frame, nullptr); });
  __builtin_unreachable();
}
template <class Task>
bool Estimator<Task>::push(const In<Frame>& frame, Result& output) requires Task::streams {
  if constexpr (Task::streams)
    return with_errors([&] { return impl_->session->push(frame, &output) != nullptr; });
  __builtin_unreachable();
}
template <class Task>
auto Estimator<Task>::finish() -> const Result* requires Task::streams {
  if constexpr (Task::streams) return with_errors([&] { return impl_->session->finish(); });
  __builtin_unreachable();
}
template <class Task>
auto Estimator<Task>::push(const In<Frame>& left, const In<Frame>& right)
    -> const Result& requires Task::pairs {
  if constexpr (Task::pairs)
    return with_errors([&]() -> const Result& { return impl_->session->push(left, right, nullptr); });
  __builtin_unreachable();
}
template <class Task>
void Estimator<Task>::push(const In<Frame>& left, const In<Frame>& right,
                           Result& output) requires Task::pairs {
  if constexpr (Task::pairs) with_errors([&] { impl_->session->push(left, right, &output); });
}
template <class Task>
auto Estimator<Task>::examine(const In<Frame>& left, const In<Frame>& right)
    -> const PairFindings& requires Task::pairs {
  if constexpr (Task::pairs)
    return with_errors([&]() -> const PairFindings& { return impl_->session->examine(left, right); });
  __builtin_unreachable();
}
template <class Task>
void Estimator<Task>::reset() {
  impl_->session->reset();
}
template <class Task>
void Estimator<Task>::synchronize() {
  impl_->session->synchronize();
}
template <class Task>
void Estimator<Task>::cancel() noexcept {
  impl_->session->cancel();
}
template <class Task>
std::vector<double> Estimator<Task>::energies() {
  return with_errors([&] { return impl_->session->energies(); });
}
template <class Task>
FramesState Estimator<Task>::frames_state() const {
  return impl_->session->frames_state();
}
template <class Task>
auto Estimator<Task>::background() -> LearnedBackground requires Task::learns {
  return with_errors([&] { return impl_->session->background(); });
}
template <class Task>
auto Estimator<Task>::new_result(Memory memory) const -> Result {
  return Result(impl_->size, memory, planes_of(impl_->options));
}
template <class Task>
auto Estimator<Task>::method() const -> const Method& {
  const Method* const found = impl_->session->found();
  return found ? *found : impl_->method;
}
template <class Task>
auto Estimator<Task>::options() const -> const Options& {
  return impl_->options;
}
template <class Task>
Size Estimator<Task>::size() const {
  return impl_->size;
}
template <class Task>
Device Estimator<Task>::device() const {
  return impl_->device;
}
template <class Task>
SolvedBlocks Estimator<Task>::blocks() const {
  return impl_->session->blocks();
}
template <class Task>
Stream Estimator<Task>::stream() const {
  return impl_->session->stream();
}
template <class Task>
ValueRange Estimator<Task>::range() const {
  return impl_->session->range();
}
template <class Task>
std::size_t Estimator<Task>::workspace_bytes() const {
  return impl_->session->workspace_bytes();
}

/// Solves with a new estimator, whose device is options.device if that is set, otherwise the device of the
/// frames' memory, or Device::best() for host frames. The result is complete and in the frames' memory.
/// Unlike an estimator, it stretches low contrast of 8-bit frames that name no range, except for detection.
template <class Task>
typename Task::Result estimate(std::span<const Frame> frames, const typename Task::Method& method,
                               typename Task::Options options) {
  if (frames.empty()) fail(ErrorCode::invalid_argument, "there are no frames");
  const Memory memory = frames[0].memory;
  if (!options.device && !memory.on_host()) options.device = Device::cuda(memory.device);
  Estimator<Task> estimator(method, frames[0].size(), options);
  return with_errors([&] {
    std::vector<Frame> ranged;
    for (std::size_t i = 0; i < frames.size(); ++i)
      ranged.push_back(
          checked(frames[i], ("frame " + std::to_string(i)).c_str(), estimator.size(), estimator.device()));
    estimator.synchronize();  // frames on the device may still be pending on the stream
    give_range(ranged, range_use<Task>, range_use<Task> == RangeUse::matching);
    typename Task::Result result = estimator.new_result(memory);
    estimator({ranged}, result);
    estimator.synchronize();
    return result;
  });
}

}  // namespace parafield
