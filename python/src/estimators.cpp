// SPDX-License-Identifier: MIT
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "estimation.hpp"
#include "interrupt.hpp"

namespace parafield::python {
namespace {

/// The estimator whose `progress` this thread calls.
thread_local const void* reporting = nullptr;

/// Calls the function `progress`. An exception of it cannot reach the caller: Python reports it.
void report(const nb::object& function, double share) {
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
      : request_(std::move(request)), layout_(std::move(layout)), size_(size), progress_(std::move(progress)) {
    if (layout_.axes.starts_with('n')) fail("axes cannot be '", layout_.axes, "': estimators take single frames");
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
    prepare(frames);
    Field<Task> field = output_for(frames[0]);
    std::vector<Frame> all;
    for (const FrameStack& frame : frames) all.push_back(frame.first);
    run(frames[0], [&] {
      typename Task::Result output = field.result(0);
      with_input<Task>(all, known, 0,
                       [&](const typename Task::Input& input) { (*estimator_)(input, output); });
    });
    return field;
  }

  /// Nothing until the method has as many frames as it takes.
  std::optional<Field<Task>> push(FrameStack frame) requires Task::streams {
    prepare({&frame, 1});
    Field<Task> field = output_for(frame);
    bool complete = false;
    run(frame, [&] {
      typename Task::Result output = field.result(0);
      complete = estimator_->push(frame.first, output);
    });
    if (!complete) return {};
    return field;
  }

  FrameStack read(nb::handle frame, const std::string& name) const {
    FrameStack read = read_frames(frame, name, layout_);
    if (read.stacked) fail(name, " is a stack; estimators take single frames");
    return read;
  }

  void reset() {
    check_not_reporting();
    range_.reset();
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
  std::optional<Size> size() const { return size_; }
  std::optional<Device> device() const { return estimator_ ? estimator_->device() : request_.device; }
  std::size_t workspace_bytes() const { return estimator_ ? estimator_->workspace_bytes() : 0; }

  ~PythonEstimator() {
    if (estimator_ && forks_ != forks()) estimator_.release();  // its threads live in the other process
    const nb::gil_scoped_release released;
    estimator_.reset();
  }

 private:
  /// Checks the frames and makes the estimator if there is none yet.
  void prepare(std::span<FrameStack> frames) {
    if (forks_ != forks())
      fail("the estimator belongs to the process that forked this one; make one in this process");
    check_not_reporting();
    FrameLayout layout = layout_;
    if (!layout.range && range_) layout.range = range_;
    match(frames, layout);
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
      fail(frame.array.name, " has ", frame.first.height, " x ", frame.first.width, " pixels, the estimator is for ",
           size_->height, " x ", size_->width);
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
    return new_field<Task>(frame.array, *size_, 1, false,
                           on_host && estimator_->device().kind == Device::Kind::cuda);
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
  std::optional<ValueRange> range_;  ///< that of the first frames, if none is given
  std::unique_ptr<Estimator<Task>> estimator_;
  std::mutex mutex_;
  std::atomic<bool> cancelled_ = false;
  std::shared_ptr<nb::object> progress_;  ///< null without one
  const int forks_ = forks();
};

EnergyReport read_energies(nb::handle energies) {
  const auto text = name_text(energies);
  constexpr std::array<std::string_view, 3> names = {"none", "result", "sweeps"};
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) fail("energies cannot be '", text, "': none, result or sweeps");
  return EnergyReport(found - names.begin());
}

std::shared_ptr<nb::object> read_progress(nb::handle progress) {
  if (progress.is_none()) return {};
  if (!PyCallable_Check(progress.ptr()))
    fail("progress is of type ", type_text(progress), "; it has to be a function of one number");
  return {new nb::object(nb::borrow(progress)), [](nb::object* object) {
            const nb::gil_scoped_acquire gil;
            delete object;
          }};
}

std::optional<Size> read_shape(nb::handle shape) {
  if (shape.is_none()) return {};
  Size size;
  if (!PySequence_Check(shape.ptr()) || nb::len(shape) != 2 || !nb::try_cast(shape[0], size.height) ||
      !nb::try_cast(shape[1], size.width) || size.width < 1 || size.height < 1)
    fail("shape cannot be ", repr_text(shape), ": height and width, such as (480, 640)");
  return size;
}

template <class Task>
nb::class_<PythonEstimator<Task>> bind_estimator(nb::module_& module, const char* name, const char* names[2],
                                                 const char* doc) {
  using Self = PythonEstimator<Task>;
  const std::string result = TaskPlanes<Task>::result;
  const std::string name0 = names[0], name1 = names[1];
  const nb::none none;
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&Self::traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(&Self::clear)},
                                {0, nullptr}};
  auto type = nb::class_<Self>(module, name, nb::type_slots(slots), doc);
  type.def(
      "__init__",
      [](Self* self, nb::handle method, nb::handle preset, nb::handle device, nb::handle shape, nb::handle axes,
         nb::handle range, nb::handle channels, nb::handle threads, nb::handle energies, nb::handle progress,
         const nb::kwargs& parameters) {
        Request<Task> request = read_request<Task>(method, preset, device, threads, parameters);
        request.options.energies = read_energies(energies);
        new (self) Self(std::move(request), read_layout(axes, range, channels), read_shape(shape),
                        read_progress(progress));
      },
      nb::arg("method") = none, nb::arg("preset") = none, nb::arg("device") = none, nb::kw_only(),
      nb::arg("shape") = none, nb::arg("axes") = none, nb::arg("range") = none, nb::arg("channels") = none,
      nb::arg("threads") = none, nb::arg("energies") = "none", nb::arg("progress") = none,
      nb::arg("parameters"), nb::sig("def __init__(self, method: str | object | None = None, preset: str | None = None, "
              "device: str | None = None, *, shape: tuple[int, int] | None = None, axes: "
              "typing.Literal[\"hw\", \"hwc\", \"chw\"] | None = None, range: tuple[float, float] | None "
              "= None, channels: typing.Literal[\"rgb\", \"bgr\"] | None = None, threads: int | None = "
              "None, energies: typing.Literal[\"none\", \"result\", \"sweeps\"] = \"none\", progress: "
              "collections.abc.Callable[[float], object] | None = None, **parameters: bool | int | float | str) -> "
              "None"));
  const std::string extra = std::is_same_v<Task, Flow> ? ", tracks: typing.Any = None, rotation: CameraRotation | None = None" : "";
  const std::string signature = "def __call__(self, " + name0 + ": typing.Any, " + name1 +
                                ": typing.Any = None, *, start: typing.Any = None" + extra + ") -> " + result;
  type.def(
      "__call__",
      [name0, name1](Self& self, nb::handle frame0, nb::handle frame1, nb::handle start, nb::handle tracks,
                     nb::handle rotation) {
        std::vector<FrameStack> frames;
        if (frame1.is_none()) {
          if (!nb::isinstance<nb::list>(frame0) && !nb::isinstance<nb::tuple>(frame0)) fail(name1, " is missing");
          int i = 0;
          for (const nb::handle frame : frame0)
            frames.push_back(self.read(frame, name0 + "[" + std::to_string(i++) + "]"));
        } else {
          frames.push_back(self.read(frame0, name0));
          frames.push_back(self.read(frame1, name1));
        }
        const int taken = frames_taken(self.request().method);
        if (int(frames.size()) != taken)
          fail(std::visit([](const auto& method) { return method.name; }, self.request().method), " takes ",
               taken, " frames, not ", frames.size());
        const Known<Task> known = read_known<Task>(start, tracks, rotation, frames[0]);
        return self.call(std::move(frames), known);
      },
      nb::arg(names[0]).none(), nb::arg(names[1]) = none, nb::kw_only(), nb::arg("start") = none,
      nb::arg("tracks") = none, nb::arg("rotation") = none, nb::sig(signature.c_str()),
      "The result of the frames: two, or as the first argument a list of as many as the method takes.");
  if constexpr (Task::streams)
    type.def(
        "push", [](Self& self, nb::handle frame) { return self.push(self.read(frame, "frame")); },
        nb::arg("frame").none(), nb::sig(("def push(self, frame: typing.Any) -> " + result + " | None").c_str()),
        "Takes the next frame of a sequence. Gives None until the method has as many frames as it takes, then the "
        "result of the newest ones. Each frame is converted once.");
  type.def("reset", &Self::reset, "Forgets the frames that were pushed, and a cancellation.")
      .def("cancel", &Self::cancel,
           "Makes the running call of another thread and all later calls raise Error, until reset().")
      .def("energies", &Self::energies,
           "The energies of the last result, as `energies` asked for them. Empty for methods without an energy.")
      .def_prop_ro("method", [](const Self& self) { return method_object(self.request().method); },
                   nb::sig("def method(self) -> typing.Any"), "The method, a value of its class.")
      .def_prop_ro("shape",
                   [](const Self& self) -> nb::object {
                     if (!self.size()) return nb::none();
                     return nb::make_tuple(self.size()->height, self.size()->width);
                   },
                   nb::sig("def shape(self) -> tuple[int, int] | None"),
                   "Height and width of the frames; None before the first ones.")
      .def_prop_ro("device",
                   [](const Self& self) -> nb::object {
                     if (!self.device()) return nb::none();
                     return nb::cast(to_string(*self.device()));
                   },
                   nb::sig("def device(self) -> str | None"),
                   "The device, such as \"cpu\" or \"cuda:0\"; None before the first frames if none was given.")
      .def_prop_ro("workspace_bytes", &Self::workspace_bytes, "Memory of the device that the estimator holds.");
  return type;
}

}  // namespace

void bind_estimators(nb::module_& module) {
  const char* frames[] = {"frame0", "frame1"};
  const char* sides[] = {"left", "right"};
  bind_estimator<Flow>(module, "FlowEstimator", frames,
                       "Flow of many frames of one size.\n\n"
                       "It keeps its memory from call to call. Arguments are those of estimate_flow. `shape` is "
                       "(height, width); if it is not given, the first frames say it. `range`, if it is not "
                       "given, is found in the first frames and kept. `energies` asks methods that minimize an "
                       "energy for it. `progress` is called with the share of a long solve that is done.\n\n"
                       "Any number of estimators may work at once, in any threads. Calls of one estimator take "
                       "turns. Each result owns its memory.");
  bind_estimator<Stereo>(module, "StereoEstimator", sides,
                         "Disparities of many pairs of one size. See FlowEstimator.");
  bind_estimator<Detection>(module, "MotionDetector", frames,
                            "Motion masks of many frames of one size. See FlowEstimator. Pushed frames use the last "
                            "pair's mask.");
}

}  // namespace parafield::python
