// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/ndarray.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "estimation.hpp"
#include "interrupt.hpp"

namespace parafield::python {

/// An array of the caller for flow: 2 x H x W, float32, in host memory.
using OutArray = nb::ndarray<nb::c_contig, nb::device::cpu>;

/// Reads the argument `out`. Throws Error(invalid_argument).
OutArray read_out(nb::handle out, Size size);

/// The estimator whose `progress` this thread calls.
inline thread_local const void* reporting = nullptr;

/// Calls the function `progress`. An exception of it cannot reach the caller: Python reports it.
inline void report(const nb::object& function, double share) {
  const nb::gil_scoped_acquire gil;
  if (!function.is_valid()) return;
  try {
    function(share);
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_WriteUnraisable(function.ptr());
  }
}

/// An estimator as Python sees it. The library's one is made when the size of the frames is known. Calls of
/// several threads take turns.
template <class Task>
class PythonEstimator {
 public:
  PythonEstimator(Request<Task> request, FrameLayout layout, std::optional<Size> size,
                  std::shared_ptr<nb::object> progress)
      : request_(std::move(request)),
        layout_(std::move(layout)),
        size_(size),
        progress_(std::move(progress)) {
    if (layout_.axes.starts_with('n'))
      fail("axes cannot be '", layout_.axes, "': estimators take single frames");
    if (!progress_) return;
    request_.options.progress = [this, function = progress_](double share) {
      const void* const outer = std::exchange(reporting, this);
      report(*function, share);
      reporting = outer;
    };
  }

  /// Shows Python's garbage collector the function `progress`, which may refer to the estimator.
  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    const auto& function = nb::inst_ptr<PythonEstimator>(self)->progress_;
    if (function) Py_VISIT(function->ptr());
    return 0;
  }
  static int clear(PyObject* self) {
    if (!nb::inst_ready(self)) return 0;
    if (const auto& function = nb::inst_ptr<PythonEstimator>(self)->progress_) function->reset();
    return 0;
  }

  Field<Task> call(std::vector<FrameStack> frames, const Known<Task>& known) {
    if (known.start && known.start->count != 1)
      fail("start is a stack of ", known.start->count, " results; give one of them");
    return solve(std::move(frames), [&](const std::vector<Frame>& all, typename Task::Result& output) {
      with_input<Task>(all, known, 0,
                       [&](const typename Task::Input& input) { (*estimator_)(input, output); });
    });
  }

  /// The result of the next pair.
  Field<Task> push(FrameStack left, FrameStack right) requires Task::pairs {
    return solve({std::move(left), std::move(right)},
                 [&](const std::vector<Frame>& all, typename Task::Result& output) {
                   estimator_->push(all[0], all[1], output);
                 });
  }

  /// The result of the newest frames, or, if the estimator is pipelined, that of the previous call. Empty where
  /// there is none.
  std::optional<Field<Task>> push(FrameStack frame) requires Task::streams {
    prepare({&frame, 1});
    auto next = std::make_unique<Pending>();
    next->field = output_for(frame);
    next->output = next->field->result(0);
    const auto complete = push(frame, std::move(next));
    return complete ? complete->field : std::nullopt;
  }
  /// The same for flow that goes into an array of the caller, 2 x H x W. Returns whether a result is complete.
  bool push(FrameStack frame, const OutArray& out) requires std::is_same_v<Task, Flow> {
    prepare({&frame, 1});
    auto next = std::make_unique<Pending>();
    next->array = out;
    const auto plane = [&](Image<float>& image, int i) {
      float* const data = static_cast<float*>(out.data()) + std::ptrdiff_t(i) * size_->width * size_->height;
      image = Image<float>(
          View<float>{data, size_->width, size_->height, std::ptrdiff_t(sizeof(float)) * size_->width}, {});
    };
    plane(next->output.u, 0);
    plane(next->output.v, 1);
    return push(frame, std::move(next)) != nullptr;
  }

  /// The result that a pipelined estimator has not returned yet.
  std::optional<Field<Task>> finish() requires Task::streams {
    if (!estimator_) return {};
    check_not_reporting();
    std::unique_ptr<Pending> last;
    bool complete = false;
    {
      const nb::gil_scoped_release released;
      const std::lock_guard lock(mutex_);
      complete = estimator_->finish() != nullptr;
      last = std::move(pending_);
    }
    return complete && last ? last->field : std::nullopt;
  }

  FrameStack read(nb::handle frame, const std::string& name) const {
    FrameStack read = read_frames(frame, name, layout_);
    if (read.stacked) fail(name, " is a stack; estimators take single frames");
    return read;
  }

  void reset() {
    check_not_reporting();
    range_.reset();
    method_.reset();
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    cancelled_ = false;
    if (estimator_) estimator_->reset();
  }
  void cancel() {
    cancelled_ = true;
    if (estimator_) estimator_->cancel();
  }
  std::vector<double> energies() {
    if (!estimator_) return {};
    check_not_reporting();
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return estimator_->energies();
  }

  const Request<Task>& request() const { return request_; }
  /// The method, with what the first frames have shown.
  const typename Task::Method& method() const { return method_ ? *method_ : request_.method; }
  std::optional<Size> size() const { return size_; }
  std::optional<Device> device() const { return estimator_ ? estimator_->device() : request_.device; }
  int blocks() const { return estimator_ ? estimator_->blocks().count : 1; }
  std::size_t workspace_bytes() const { return estimator_ ? estimator_->workspace_bytes() : 0; }

  ~PythonEstimator() {
    if (estimator_ && forks_ != forks()) estimator_.release();  // its threads live in the other process
    const nb::gil_scoped_release released;
    estimator_.reset();
  }

 private:
  /// A result and where it goes: into a field, or into an array of the caller.
  struct Pending {
    std::optional<Field<Task>> field;
    typename Task::Result output;
    OutArray array;
  };
  /// Pushes the frame, whose result goes into next->output. Returns what is complete now: the frame's result, or
  /// the previous one if the estimator is pipelined. Null if there is none.
  std::unique_ptr<Pending> push(const FrameStack& frame, std::unique_ptr<Pending> next) {
    bool complete = false;
    run(frame, [&] {
      complete = estimator_->push(frame.first, next->output);
      if (request_.options.pipelined) next = std::exchange(pending_, std::move(next));
    });
    if (!complete) return {};
    return next;
  }

  /// The result that work(frames, output) writes.
  template <class Work>
  Field<Task> solve(std::vector<FrameStack> frames, Work work) {
    prepare(frames);
    Field<Task> field = output_for(frames[0]);
    std::vector<Frame> all;
    for (const FrameStack& frame : frames) all.push_back(frame.first);
    typename Task::Method used;
    run(frames[0], [&] {
      typename Task::Result output = field.result(0);
      work(all, output);
      used = estimator_->method();
    });
    method_ = used;
    return field;
  }

  /// Checks the frames and makes the estimator if there is none yet.
  void prepare(std::span<FrameStack> frames) {
    if (forks_ != forks())
      fail("the estimator belongs to the process that forked this one; make one in this process");
    check_not_reporting();
    FrameLayout layout = layout_;
    if (!layout.range && range_) layout.range = range_;
    match(frames, layout);
    if (!layout.range && range_) {  // found by another thread, while this one gave a warning
      layout.range = range_;
      match(frames, layout);
    }
    const FrameStack& first = frames[0];
    check_size(first);
    for (const FrameStack& frame : frames)
      if (!frame.array.from_u8) range_ = frame.first.range;
    if (!estimator_) make(first);
    check_size(first);  // another thread may have made it
    const Device own = estimator_->device();
    if (!first.array.memory.on_host() && own != Device::cuda(first.array.memory.device))
      fail(first.array.name, " is on cuda:", first.array.memory.device, ", the estimator works on ",
           to_string(own));
  }

  void check_size(const FrameStack& frame) const {
    if (size_ && *size_ != frame.first.size())
      fail(frame.array.name, " has ", frame.first.height, " x ", frame.first.width,
           " pixels, the estimator is for ", size_->height, " x ", size_->width);
  }

  /// Inside `progress` a call would wait for itself.
  void check_not_reporting() const {
    if (reporting == this) fail("an estimator cannot be called from its own progress; only cancel() can");
  }

  /// Makes the estimator. Its pointer changes only under Python's lock.
  void make(const FrameStack& first) {
    typename Task::Options options = request_.options;
    options.device = device_for(request_.device, request_.threads, first);
    options.stream = lasting_stream(first.array);
    std::unique_ptr<Estimator<Task>> made;
    {
      const nb::gil_scoped_release released;
      made = std::make_unique<Estimator<Task>>(request_.method, first.first.size(), options);
    }
    if (estimator_) return;
    estimator_ = std::move(made);
    size_ = first.first.size();
    if (cancelled_) estimator_->cancel();
  }

  Field<Task> output_for(const FrameStack& frame) const {
    const bool on_host = frame.array.memory.on_host();
    const bool pinned = on_host && estimator_->device().kind == Device::Kind::cuda;
    if constexpr (requires { request_.options.confidence; })
      return new_field<Task>(frame.array, *size_, 1, false, pinned, request_.options.confidence,
                             request_.options.valid);
    return new_field<Task>(frame.array, *size_, 1, false, pinned);
  }

  /// Runs a call without Python's lock, on the stream of the frames' library.
  void run(const FrameStack& frame, const std::function<void()>& work) {
    const Device device = estimator_->device();
    const Stream theirs{frame.array.stream};
    const bool on_host = frame.array.memory.on_host();
    const auto locked = [&] {
      const std::lock_guard lock(mutex_);
      if (!on_host) wait_for(device, estimator_->stream(), theirs);
      work();
      if (!on_host) wait_for(device, theirs, estimator_->stream());
      if (!on_host && frame.array.library == Library::other) estimator_->synchronize();
    };
    bool interrupted = false;
    try {
      run_without_lock(on_host && is_slow(request_.method, *size_, 1), locked, [&] {
        interrupted = true;
        estimator_->cancel();
      });
    } catch (...) {
      if (interrupted && !cancelled_) estimator_->reset();
      throw;
    }
  }

  Request<Task> request_;
  FrameLayout layout_;
  std::optional<Size> size_;
  std::optional<typename Task::Method> method_;  ///< that of the last call; under Python's lock
  std::optional<ValueRange> range_;              ///< that of the first frames, if none is given
  std::unique_ptr<Pending> pending_;             ///< of a pipelined estimator; under the mutex
  std::unique_ptr<Estimator<Task>> estimator_;   ///< goes before what it writes
  std::mutex mutex_;
  std::atomic<bool> cancelled_ = false;
  std::shared_ptr<nb::object> progress_;  ///< null without one
  const int forks_ = forks();
};

}  // namespace parafield::python
