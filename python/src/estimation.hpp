// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fields.hpp"
#include "forks.hpp"
#include "frames.hpp"
#include "methods.hpp"

/// Turns calls from Python into calls of estimators: single frames, stacks, known motion, devices.
namespace parafield::python {

/// The method, options and device that a call asks for.
template <class Task>
struct Request {
  typename Task::Method method;
  typename Task::Options options;
  std::optional<Device> device;  ///< if not given: the device of CUDA frames, or the best one for host frames
  int threads = 0;
  std::string key;  ///< bytes that identify the method and the options, for comparison
};

/// The planes that results have.
template <class Options>
FieldPlanes planes_of(const Options& options) {
  if constexpr (requires { options.planes(); }) return options.planes();
  return {};
}

/// The options that ask for error bars, by name.
template <class Options>
std::vector<std::pair<const char*, bool*>> bars_of(Options& options) {
  std::vector<std::pair<const char*, bool*>> flags;
  if constexpr (requires { options.covariance; }) flags.emplace_back("covariance", &options.covariance);
  if constexpr (requires { options.sigma; }) flags.emplace_back("sigma", &options.sigma);
  if constexpr (requires { options.cause; }) {
    flags.emplace_back("outlier", &options.outlier);
    flags.emplace_back("cause", &options.cause);
  }
  return flags;
}

/// Computes Request::key from the method and options.
template <class Task>
std::string key_of(const Request<Task>& request) {
  std::string key(1, char(request.method.index()));
  std::visit([&](const auto& chosen) { append_key(chosen, key); }, request.method);
  append_key(request.options, key);
  const FieldPlanes has = planes_of(request.options);
  for (const bool plane : {has.covariance, has.outlier, has.cause}) key.push_back(char(plane));
  if constexpr (Task::learns) {  // by identity: the cached estimator keeps them alive
    const void* const objects[] = {request.options.background.get(), request.options.region.get()};
    key.append(reinterpret_cast<const char*>(objects), sizeof objects);
  }
  return key;
}

/// Reads the argument `threads`. Throws Error(invalid_argument).
int read_threads(nb::handle threads);

/// Reads the argument `device`, and checks the number of threads. Throws Error(invalid_argument).
std::optional<Device> read_device(nb::handle device, int threads);

template <class Task>
Request<Task> read_request(nb::handle method, nb::handle preset, nb::handle device, nb::handle threads,
                           const nb::dict& given, const typename Task::Options& options = {}) {
  nb::dict parameters = nb::cast<nb::dict>(given.attr("copy")());
  Request<Task> request;
  request.options = options;
  request.options.examine_frames = true;
  for (const auto& [name, flag] : bars_of(request.options)) {
    if (!parameters.contains(name)) continue;
    const nb::object value = parameters.attr("pop")(name);
    if (!nb::try_cast(value, *flag)) fail(name, " cannot be ", repr_text(value), ": True or False");
  }
  request.threads = read_threads(threads);
  request.device = read_device(device, request.threads);
  request.method = read_method<Task>(method, preset, parameters, request.options);
  request.key = key_of(request);
  return request;
}

/// Returns the request of a call. The last request is cached, because most calls of a program have the same
/// arguments, and reading them takes longer than anything else in a call.
template <class Task>
std::shared_ptr<const Request<Task>> request_of_call(nb::handle method, nb::handle preset, nb::handle device,
                                                     nb::handle threads, const nb::dict& parameters) {
  struct Last {
    std::array<nb::object, 4> arguments;  // all immutable: None, strings, numbers and methods
    std::shared_ptr<const Request<Task>> request;
  };
  static auto& last = *new Last;  // never destroyed, because Python may shut down first
  const std::array<nb::handle, 4> arguments = {method, preset, device, threads};
  if (parameters.size() == 0 &&
      std::ranges::equal(arguments, last.arguments, [](nb::handle a, nb::handle b) { return a.is(b); }))
    return last.request;
  auto request =
      std::make_shared<const Request<Task>>(read_request<Task>(method, preset, device, threads, parameters));
  const auto is_fixed = [](nb::handle argument) {
    return argument.is_none() || PyUnicode_CheckExact(argument.ptr()) || PyLong_CheckExact(argument.ptr()) ||
           is_method<Task>(argument);
  };
  if (parameters.size() == 0 && std::ranges::all_of(arguments, is_fixed)) {
    Last next{{}, request};
    std::ranges::transform(arguments, next.arguments.begin(),
                           [](nb::handle argument) { return nb::borrow(argument); });
    std::swap(last, next);  // destroys the old arguments only after `last` is consistent
  }
  return request;
}

/// Name of a method.
template <class Methods>
std::string_view name_of(const Methods& method) {
  return std::visit([](const auto& chosen) { return chosen.name; }, method);
}

/// Number of frames that a method takes.
template <class Methods>
int frames_taken(const Methods& method) {
  return std::visit([](const auto& chosen) { return chosen.frames; }, method);
}

/// Returns the device that solves for `frames`. Throws Error(invalid_argument) if the frames are on another
/// device than `asked`.
Device device_for(const std::optional<Device>& asked, int threads, const FrameStack& frames);

/// Returns the stream on which an estimator of such frames works: their library's stream if it is never
/// destroyed, which holds for PyTorch's streams and CUDA's default streams. Otherwise null, so that the
/// estimator makes its own.
Stream lasting_stream(const Array& frames);

/// Whether a solve may take long enough that Ctrl-C should cancel it.
template <class Methods>
bool is_slow(const Methods& method, Size size, int count) {
  if (double(size.width) * size.height * count > 1 << 17) return true;
  return std::visit([]<class Method>(const Method&) { return LabelMethod<Method>; }, method);
}

/// Cache of idle estimators, because making an estimator takes longer than a solve. Keeps at most `most_kept`
/// estimators, and at most `most_bytes` of their memory unless there is only one.
template <class Task>
class EstimatorCache {
 public:
  static constexpr std::size_t most_kept = 32, most_bytes = std::size_t(4) << 30;

  /// Exclusive use of an estimator, which returns to the cache when the lease is destroyed.
  class Lease {
   public:
    Lease(Lease&&) = default;
    ~Lease() {
      if (estimator_) cache.put(std::move(key_), std::move(estimator_));
    }
    Estimator<Task>& operator*() const { return *estimator_; }
    Estimator<Task>* operator->() const { return estimator_.get(); }
    void drop() { estimator_.reset(); }  ///< destroys the estimator, which does not return to the cache

   private:
    friend class EstimatorCache;
    Lease(std::string key, std::unique_ptr<Estimator<Task>> estimator)
        : key_(std::move(key)), estimator_(std::move(estimator)) {}
    std::string key_;
    std::unique_ptr<Estimator<Task>> estimator_;
  };

  /// Takes an estimator from the cache, or makes one. Set `throughput` if several estimators share the
  /// device. Does not need the GIL.
  static Lease take(const Request<Task>& request, Size size, const Device& device, Stream stream,
                    bool throughput = false) {
    std::string key = key_of(request, size, device, stream, throughput);
    if (auto found = cache.find(key)) return {std::move(key), std::move(found)};
    typename Task::Options options = request.options;
    options.device = device;
    options.stream = stream;
    options.throughput = throughput;
    return {std::move(key), std::make_unique<Estimator<Task>>(request.method, size, options)};
  }

  static void clear() {
    std::list<Entry> unused;
    const std::lock_guard lock(cache.mutex_);
    cache.forget_after_fork();
    unused.swap(cache.entries_);
  }

 private:
  struct Entry {
    std::string key;
    std::unique_ptr<Estimator<Task>> estimator;
    std::size_t bytes = 0;
  };

  /// Never destroyed, because CUDA may shut down before static objects are destroyed.
  inline static EstimatorCache& cache = *new EstimatorCache;

  static std::string key_of(const Request<Task>& request, Size size, const Device& device, Stream stream,
                            bool throughput) {
    std::string key = request.key;
    const auto add = [&](const auto& value) {
      key.append(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    add(size);
    add(device.kind);
    add(device.index);
    add(device.threads);
    add(stream.handle);
    add(throughput);
    return key;
  }

  std::unique_ptr<Estimator<Task>> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    forget_after_fork();
    const auto entry = std::ranges::find(entries_, key, &Entry::key);
    if (entry == entries_.end()) return nullptr;
    auto estimator = std::move(entry->estimator);
    entries_.erase(entry);
    return estimator;
  }

  void put(std::string key, std::unique_ptr<Estimator<Task>> estimator) {
    std::list<Entry> unused;  // destroyed after the lock is released
    const std::size_t bytes = estimator->workspace_bytes();
    const std::lock_guard lock(mutex_);
    forget_after_fork();
    entries_.push_front({std::move(key), std::move(estimator), bytes});
    std::size_t kept = 0, all = 0;
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto next = std::next(entry);
      all += entry->bytes;
      if (++kept > 1 && (kept > most_kept || all > most_bytes)) unused.splice(unused.end(), entries_, entry);
      entry = next;
    }
  }

  /// Empties the cache after a fork: the threads of the parent's estimators do not exist in the child.
  void forget_after_fork() {
    if (forks_ == forks()) return;
    forks_ = forks();
    new std::list<Entry>(std::move(entries_));  // never destroyed, because that would wait for the threads
    entries_.clear();
  }

  ForkMutex mutex_;
  std::list<Entry> entries_;
  int forks_ = forks();
};

/// The known motion among the arguments of a call.
template <class Task>
struct Known {
  std::optional<Field<Task>> start = {};
  std::optional<std::vector<Track>> tracks = {};
  std::optional<CameraRotation> rotation = {};
  Image<float> tracks_on_device = {};  ///< copy of the tracks, for frames on a device
};

/// Reads `start`. For frames on a device it must be a result on the same device. Throws
/// Error(invalid_argument).
template <class Task>
std::optional<Field<Task>> read_start(nb::handle start, const FrameStack& frames);

/// Copies tracks into a NumPy array: N x 4 (x, y, u, v), px, float32.
nb::object track_array(const std::vector<Track>& tracks);
/// Reads an argument that is an array of tracks, as track_array() returns it.
std::vector<Track> read_track_array(nb::handle object, const std::string& name);

/// Reads `tracks` and `rotation`.
void read_motion(nb::handle tracks, nb::handle rotation, const FrameStack& frames, Known<Flow>& known);

/// Reads the arguments about the motion.
template <class Task>
Known<Task> read_known(nb::handle start, [[maybe_unused]] nb::handle tracks,
                       [[maybe_unused]] nb::handle rotation, const FrameStack& frames) {
  Known<Task> known;
  known.start = read_start<Task>(start, frames);
  if constexpr (std::is_same_v<Task, Flow>) read_motion(tracks, rotation, frames, known);
  return known;
}

/// Calls f with the estimator's input for result i.
template <class Task, class F>
void with_input(const std::vector<Frame>& frames, const Known<Task>& known, int i, F f) {
  using View = typename decltype(Task::Input::start)::value_type;
  typename Task::Input input{.frames = frames};
  typename Task::Result start;
  if (known.start) {
    start = known.start->result(i);
    input.start = static_cast<View>(start);
  }
  if constexpr (requires { input.tracks; }) {
    input.rotation = known.rotation;
    if (known.tracks) {
      const auto* data = known.tracks->data();
      if (known.tracks_on_device) data = reinterpret_cast<const Track*>(known.tracks_on_device.view().data);
      input.tracks = std::span(data, known.tracks->size());
    }
  }
  f(input);
}

/// Reads the frames of a call: `frame0` and `frame1`, or without `frame1` the frames of a list `frame0`, or a
/// single array `frame0`. The names are for error messages. Throws Error(invalid_argument).
std::vector<FrameStack> read_call_frames(nb::handle frame0, nb::handle frame1, const std::string& name0,
                                         const std::string& name1, const FrameLayout& layout);

/// Issues a FramesWarning if results have frames that are not usable. `states`: the state of each result.
void warn_of_states(std::span<const FramesState> states);

/// Solves for frames that match() has checked: for each pair of two stacks, for each window of one stack, or
/// for single frames. The caller must hold the GIL.
template <class Task>
Field<Task> solve(const Request<Task>& request, const std::vector<FrameStack>& frames,
                  const Known<Task>& known);

}  // namespace parafield::python
