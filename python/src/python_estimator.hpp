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

/// The caller's array for flow: 2 x H x W, float32, in host memory.
using OutArray = nb::ndarray<nb::c_contig, nb::device::cpu>;

/// Reads the argument `out`. Throws Error(invalid_argument).
OutArray read_out(nb::handle out, Size size);

/// The estimator whose `progress` callback this thread is running, or null.
inline thread_local const void* reporting = nullptr;

/// Calls the Python function `progress`. Its exceptions cannot reach the caller, so Python reports them as
/// unraisable.
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

/// An estimator as Python sees it. The library's estimator is made when the first frames arrive, because it
/// needs their size. Calls from several threads are serialized.
template <class Task>
class PythonEstimator {
 public:
  /// `size` is 0x0 if the first frames determine it. `progress` may be null.
  PythonEstimator(Request<Task> request, FrameLayout layout, Size size, std::shared_ptr<nb::object> progress)
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

  /// Shows Python's garbage collector the function `progress`, which may refer back to the estimator.
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

  /// Returns the result of the next pair.
  Field<Task> push(FrameStack left, FrameStack right) requires Task::pairs {
    return solve({std::move(left), std::move(right)},
                 [&](const std::vector<Frame>& all, typename Task::Result& output) {
                   estimator_->push(all[0], all[1], output);
                 });
  }

  /// Adds the next frame. Returns its result or, if the estimator is pipelined, the previous frame's result.
  /// Empty if there is none.
  std::optional<Field<Task>> push(FrameStack frame) requires Task::streams {
    prepare({&frame, 1});
    auto next = std::make_unique<Pending>();
    next->field = output_for(frame);
    next->output = next->field->result(0);
    const auto complete = push(frame, std::move(next));
    if (complete) warn_of_states({&state_, 1});
    return complete ? complete->field : std::nullopt;
  }
  /// Like push(frame), but writes the flow into the caller's array. Returns whether a result is complete.
  bool push(FrameStack frame, const OutArray& out) requires std::is_same_v<Task, Flow> {
    prepare({&frame, 1});
    auto next = std::make_unique<Pending>();
    next->array = out;
    const auto plane = [&](Image<float>& image, int i) {
      float* const data = static_cast<float*>(out.data()) + std::ptrdiff_t(i) * size_.width * size_.height;
      image = Image<float>(
          View<float>{data, size_.width, size_.height, std::ptrdiff_t(sizeof(float)) * size_.width}, {});
    };
    plane(next->output.u, 0);
    plane(next->output.v, 1);
    const bool complete = push(frame, std::move(next)) != nullptr;
    if (complete) warn_of_states({&state_, 1});
    return complete;
  }

  /// Returns the pending result of a pipelined estimator. Empty if there is none, or if it goes into an array
  /// of the caller.
  std::optional<Field<Task>> finish() requires Task::streams {
    if (!estimator_) return {};
    std::unique_ptr<Pending> last;
    const bool complete = alone([&] {
      const bool any = estimator_->finish() != nullptr;
      state_ = estimator_->frames_state();
      last = std::move(pending_);
      return any;
    });
    if (complete) warn_of_states({&state_, 1});
    return complete && last ? last->field : std::nullopt;
  }

  FrameStack read(nb::handle frame, const std::string& name) const {
    return read_frames(frame, name, layout_);
  }
  std::vector<FrameStack> read(nb::handle frame0, nb::handle frame1, const std::string& name0,
                               const std::string& name1) const {
    return read_call_frames(frame0, frame1, name0, name1, layout_);
  }

  void reset() {
    check_not_reporting();
    range_.reset();
    depth_.clear();
    method_.reset();
    alone([&] {
      cancelled_ = false;
      if (estimator_) estimator_->reset();
    });
  }
  void cancel() {
    cancelled_ = true;
    if (estimator_) estimator_->cancel();
  }
  std::vector<double> energies() {
    if (!estimator_) return {};
    return alone([&] { return estimator_->energies(); });
  }

  /// The state of the last returned result's frames.
  std::string_view frames_state() const { return names_of(state_)[std::size_t(state_)]; }

  LearnedBackground background() requires Task::learns {
    if (!estimator_) fail("no background has been learned yet");
    return alone([&] { return estimator_->background(); });
  }

  const Request<Task>& request() const { return request_; }
  /// Returns the method, including parameters found in the frames of the last call.
  const typename Task::Method& method() const { return method_ ? *method_ : request_.method; }
  Size size() const { return size_; }
  std::optional<ValueRange> range() const { return layout_.range ? layout_.range : range_; }
  std::optional<Device> device() const { return estimator_ ? estimator_->device() : request_.device; }
  int blocks() const { return estimator_ ? estimator_->blocks().count : 1; }
  std::size_t workspace_bytes() const { return estimator_ ? estimator_->workspace_bytes() : 0; }

  ~PythonEstimator() {
    if (estimator_ && forks_ != forks()) estimator_.release();  // its threads are in the parent process
    const nb::gil_scoped_release released;
    estimator_.reset();
  }

 private:
  /// A result and its destination: a field, or an array of the caller.
  struct Pending {
    std::optional<Field<Task>> field;
    typename Task::Result output;
    OutArray array;
  };
  /// Pushes the frame, whose result goes into next->output. Returns the completed result: this frame's, or
  /// the previous frame's if the estimator is pipelined. Null if there is none.
  std::unique_ptr<Pending> push(const FrameStack& frame, std::unique_ptr<Pending> next) {
    bool complete = false;
    run(frame, [&] {
      complete = estimator_->push(frame.first, next->output);
      state_ = estimator_->frames_state();
      if (request_.options.pipelined) next = std::exchange(pending_, std::move(next));
    });
    if (!complete) return {};
    return next;
  }

  /// Calls f() while no other thread uses the estimator, with the GIL released.
  template <class F>
  auto alone(F f) {
    check_not_reporting();
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return f();
  }

  /// Runs work(frames, output) and returns the result that it writes.
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
      state_ = estimator_->frames_state();
    });
    method_ = used;
    warn_of_states({&state_, 1});
    return field;
  }

  /// Checks the frames, and makes the estimator if there is none yet.
  void prepare(std::span<FrameStack> frames) {
    if (forks_ != forks())
      fail("the estimator belongs to the process that forked this one; make one in this process");
    check_not_reporting();
    for (const FrameStack& frame : frames)
      if (frame.stacked) fail(frame.array.name, " is a stack; estimators take single frames");
    FrameLayout layout = layout_;
    if (std::is_same_v<Task, Detection>) layout.use = RangeUse::detection;
    if (!layout.range && range_) layout.range = range_;
    match(frames, layout);
    if (!layout.range && range_) {  // another thread has found it while this one issued a warning
      layout.range = range_;
      match(frames, layout);
    }
    const FrameStack& first = frames[0];
    check_size(first);
    const std::string depth = depth_text(first.array);
    if (depth_.empty()) depth_ = depth;
    if (depth_ != depth)
      fail(first.array.name, " has values of type ", depth, ", the frames before had ", depth_,
           "; convert them to one type, or call reset() first");
    range_ = first.first.range;
    if (!estimator_) make(first);
    check_size(first);  // another thread may have made the estimator for another size
    const Device own = estimator_->device();
    if (!first.array.memory.on_host() && own != Device::cuda(first.array.memory.device))
      fail(first.array.name, " is on cuda:", first.array.memory.device, ", the estimator works on ",
           to_string(own));
  }

  void check_size(const FrameStack& frame) const {
    if (size_ != Size{} && size_ != frame.first.size())
      fail(frame.array.name, " has ", size_text(frame.first.size()), " pixels, the estimator is for ",
           size_text(size_));
  }

  /// Throws Error(invalid_argument) inside the callback `progress`, where a call would wait for itself.
  void check_not_reporting() const {
    if (reporting == this) fail("an estimator cannot be called from its own progress; only cancel() can");
  }

  /// Makes the estimator. estimator_ is set only while this thread holds the GIL.
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
    return new_field<Task>(frame.array, size_, 1, false, pinned, planes_of(request_.options));
  }

  /// Runs a call with the GIL released, in order with the stream of the frames' library.
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
      run_without_lock(on_host && is_slow(request_.method, size_, 1), locked, [&] {
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
  Size size_;                                    ///< 0x0 until it is known
  std::optional<typename Task::Method> method_;  ///< method of the last call; guarded by the GIL
  FramesState state_ = FramesState::unknown;     ///< of the last result's frames
  std::optional<ValueRange> range_;              ///< range of the first frames
  std::string depth_;                            ///< type of their values; guarded by the GIL
  std::unique_ptr<Pending> pending_;             ///< pending result if pipelined; guarded by mutex_
  std::unique_ptr<Estimator<Task>> estimator_;   ///< destroyed before pending_, which it writes to
  std::mutex mutex_;
  std::atomic<bool> cancelled_ = false;
  std::shared_ptr<nb::object> progress_;  ///< null if there is no callback
  const int forks_ = forks();
};

}  // namespace parafield::python
