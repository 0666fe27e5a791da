// SPDX-License-Identifier: MIT
#include "estimation.hpp"

#include <nanobind/stl/string.h>

#include <atomic>
#include <thread>

#include "found_disparities.hpp"
#include "interrupt.hpp"

namespace parafield::python {
namespace {

/// The frames that belong to each result of a call.
struct Items {
  const std::vector<FrameStack>& frames;
  int count;      ///< number of results
  int taken;      ///< number of frames per result
  bool in_a_row;  ///< result i takes frames i, i + 1 ... of the first stack

  std::vector<Frame> operator[](int i) const {
    std::vector<Frame> all;
    for (int k = 0; k < taken; ++k) all.push_back(in_a_row ? frames[0][i + k] : frames[std::size_t(k)][i]);
    return all;
  }
};

/// Whether each stack is the previous stack shifted by one frame, in the same memory, such as stack[:-1] and
/// stack[1:].
bool follow_each_other(const std::vector<FrameStack>& frames) {
  for (std::size_t k = 1; k < frames.size(); ++k) {
    const FrameStack &last = frames[k - 1], &next = frames[k];
    if (!next.stacked || next.step != last.step || next.first.data != last[1].data ||
        next.first.pitch != last.first.pitch || next.first.format != last.first.format)
      return false;
  }
  return frames[0].stacked;
}

template <class Task>
Items items_of(const Request<Task>& request, const std::vector<FrameStack>& frames) {
  const int taken = frames_taken(request.method);
  const FrameStack& first = frames[0];
  const std::string& name = first.array.name;
  const auto method = name_of(request.method);
  if (frames.size() == 1 && first.stacked) {
    if (first.count < taken)
      fail(name, " is a stack of ", first.count, first.count == 1 ? " frame; " : " frames; ", method,
           " takes ", taken);
    return {frames, first.count - taken + 1, taken, true};
  }
  if (int(frames.size()) != taken)
    fail(method, " takes ", taken, " frames, not ", frames.size(),
         taken > 2 ? "; give them as a list, or as a stack with axes=\"nhw\"" : "");
  for (const FrameStack& other : frames)
    if (other.count != first.count)
      fail(other.array.name, " is a stack of ", other.count, " frames, ", name, " one of ", first.count);
  return {frames, first.count, taken, follow_each_other(frames)};
}

/// From this number of results on, a stack is solved by estimators that are optimized for throughput.
constexpr int shared_from = 3;

/// Returns how many estimators work on a stack in parallel: at most `most`, one for each result, and as many
/// as fit into the cache's memory.
template <class Task>
int estimators_for(const typename EstimatorCache<Task>::Lease& first, int most, int count) {
  const std::size_t fit =
      EstimatorCache<Task>::most_bytes / std::max<std::size_t>(1, first->workspace_bytes());
  return int(std::clamp<std::size_t>(fit, 1, std::size_t(std::min(most, count))));
}

/// Whether frames can be pushed, which prepares each of them only once and gives the same results as calls.
template <class Task>
bool can_push(const Request<Task>& request, const Items& items, const Known<Task>& known) {
  if (!std::is_same_v<Task, Flow> || !items.in_a_row || known.start || known.tracks || known.rotation)
    return false;
  return std::visit(
      [](const auto& method) {
        if constexpr (requires { method.temporal; }) return !method.temporal;
        return true;
      },
      request.method);
}

/// Part `index` of `parts` of a batch, solved by one estimator, which must hold no previously pushed frames.
template <class Task>
class Part {
 public:
  Part(Estimator<Task>& estimator, const Request<Task>& request, const Items& items, const Field<Task>& field,
       const Known<Task>& known, std::vector<FramesState>& states, int index, int parts)
      : estimator_(estimator),
        items_(items),
        field_(field),
        known_(known),
        states_(states),
        begin_(edge(index, parts)),
        end_(edge(index + 1, parts)),
        pushes_(end_ - begin_ > 1 && can_push(request, items, known)),
        next_(pushes_ ? begin_ - items.taken + 1 : begin_) {}

  /// Processes the next frames. Returns whether there are more.
  bool step() {
    const int number = std::max(next_, begin_);
    typename Task::Result output = field_.result(number);
    if (!pushes_) {
      const std::vector<Frame> frames = items_[next_];
      with_input<Task>(frames, known_, next_,
                       [&](const typename Task::Input& input) { estimator_(input, output); });
    } else if constexpr (Task::streams) {
      estimator_.push(items_.frames[0][next_ + items_.taken - 1], output);
    }
    states_[std::size_t(number)] = estimator_.frames_state();
    return ++next_ < end_;
  }

 private:
  int edge(int index, int parts) const { return int(std::int64_t(items_.count) * index / parts); }

  Estimator<Task>& estimator_;
  const Items& items_;
  const Field<Task>& field_;
  const Known<Task>& known_;
  std::vector<FramesState>& states_;  ///< one for each result
  int begin_, end_;
  bool pushes_;
  int next_;  ///< next result; below begin_ while the first result still lacks frames
};

/// Solves for frames on a device. Enqueues the work on streams, and waits for it only if the frames' library
/// is `other` or there are tracks, whose copy on the device is freed after the call.
template <class Task>
void solve_on_device(const Request<Task>& request, const Items& items, const Device& device, Stream stream,
                     const Field<Task>& field, const Known<Task>& known, std::vector<FramesState>& states) {
  using Cache = EstimatorCache<Task>;
  const bool waits = items.frames[0].array.library == Library::other || known.tracks;
  if (items.count == 1) {
    auto lease = Cache::take(request, field.size, device, lasting_stream(items.frames[0].array));
    wait_for(device, lease->stream(), stream);
    Part<Task>(*lease, request, items, field, known, states, 0, 1).step();
    wait_for(device, stream, lease->stream());
    if (waits) lease->synchronize();
    return;
  }
  const auto take = [&] { return Cache::take(request, field.size, device, {}, items.count >= shared_from); };
  std::vector<typename Cache::Lease> leases;
  leases.push_back(take());
  const int streams = estimators_for<Task>(leases[0], 8, items.count);
  while (int(leases.size()) < streams) leases.push_back(take());
  try {
    // Enqueue a stream's whole part before the next stream's part. Streams that all start at once would
    // process the same levels at the same time, which takes longer.
    for (int i = 0; i < streams; ++i) {
      auto& lease = leases[std::size_t(i)];
      lease->reset();
      wait_for(device, lease->stream(), stream);
      Part<Task> part(*lease, request, items, field, known, states, i, streams);
      while (part.step()) {
      }
    }
    for (auto& lease : leases) wait_for(device, stream, lease->stream());
    if (waits)
      for (auto& lease : leases) lease->synchronize();
  } catch (...) {
    for (auto& lease : leases) lease.drop();  // waits for work that uses the frames and results
    throw;
  }
}

/// Solves for frames in host memory, with several estimators in threads of their own, or with one estimator
/// that uses all threads.
template <class Task>
void solve_on_host(const Request<Task>& request, const Items& items, const Device& device,
                   const Field<Task>& field, const Known<Task>& known, std::vector<FramesState>& states) {
  using Cache = EstimatorCache<Task>;
  const bool on_cpu = device.kind == Device::Kind::cpu;
  const int cores =
      std::max(1, on_cpu && device.threads > 0 ? device.threads : int(std::thread::hardware_concurrency()));
  std::mutex mutex;
  std::vector<Estimator<Task>*> working;
  std::atomic<bool> cancelled = false;
  std::exception_ptr error;
  std::atomic<int> next = 0;
  int parts = 1;
  const auto work_through = [&](typename Cache::Lease& lease) {
    try {
      {
        const std::lock_guard lock(mutex);
        working.push_back(&*lease);
      }
      for (int i; (i = next++) < parts;) {
        {
          const std::lock_guard lock(mutex);
          if (cancelled) break;
          lease->reset();
        }
        Part<Task> part(*lease, request, items, field, known, states, i, parts);
        while (!cancelled && part.step()) {
        }
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      cancelled = true;
    }
    const std::lock_guard lock(mutex);
    std::erase(working, &*lease);
    if (cancelled) lease.drop();
  };
  const auto work = [&] {
    Device each = device;
    if (on_cpu && items.count > 1) each.threads = std::max(1, cores / items.count);
    const auto take = [&] {
      return Cache::take(request, field.size, each, {}, !on_cpu && items.count >= shared_from);
    };
    auto first = take();
    const int workers = items.count == 1 ? 1 : estimators_for<Task>(first, on_cpu ? cores : 4, items.count);
    parts = std::min(items.count, workers == 1 ? 1 : 4 * workers);  // all workers end at about the same time
    std::vector<std::jthread> threads;
    for (int i = 1; i < workers; ++i)
      threads.emplace_back([&] {
        try {
          auto lease = take();
          work_through(lease);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!error) error = std::current_exception();
          cancelled = true;
        }
      });
    work_through(first);
    threads.clear();
    if (error) std::rethrow_exception(error);
  };
  run_without_lock(is_slow(request.method, field.size, items.count), work, [&] {
    const std::lock_guard lock(mutex);
    cancelled = true;
    for (Estimator<Task>* const estimator : working) estimator->cancel();
  });
}

/// Returns the request with the parameters found in its frames, or nothing if none are missing: see
/// with_disparities.
template <class Task>
std::optional<Request<Task>> completed(const Request<Task>& request, const Items& items,
                                       const Device& device) {
  if constexpr (std::is_same_v<Task, Stereo>)
    return with_disparities(request, items.frames[0].array, device, items.count,
                            [&](int i) { return items[i]; });
  return {};
}

}  // namespace

Stream lasting_stream(const Array& frames) {
  const auto handle = reinterpret_cast<std::uintptr_t>(frames.stream);
  return frames.library == Library::torch || handle <= 2 ? Stream{frames.stream} : Stream{};
}

void warn_of_states(std::span<const FramesState> states) {
  if (states.size() == 1) {
    if (const std::string text = text_of(states[0]); !text.empty()) warn_of_frames(text);
    return;
  }
  FramesFindings findings;
  std::int64_t number = 0;  // an index, as in Python
  for (const FramesState state : states) findings.add(state, number++);
  if (!findings.cuts.empty()) {
    std::string numbers;
    for (const std::int64_t each : findings.cuts)
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(each);
    warn_of_frames("the frames of result" + std::string(findings.cuts.size() > 1 ? "s " : " ") + numbers +
                   " show different scenes (a cut); not reliable");
  }
  if (findings.without_texture > 0)
    warn_of_frames(std::to_string(findings.without_texture) + " of " + std::to_string(states.size()) +
                   " results have frames without texture, only noise or nothing at all; not reliable");
}

int read_threads(nb::handle threads) {
  int count = 0;
  if (!threads.is_none() && !nb::try_cast(threads, count))
    fail("threads cannot be ", repr_text(threads), ": a number, 0 = one for each core");
  return count;
}

std::optional<Device> read_device(nb::handle device, int threads) {
  if (device.is_none()) {
    parse_device("cpu", threads);  // checks the number of threads
    return {};
  }
  return parse_device(name_text(device), threads);
}

Device device_for(const std::optional<Device>& asked, int threads, const FrameStack& frames) {
  const Memory memory = frames.array.memory;
  if (memory.on_host()) {
    Device device = asked ? *asked : Device::best();
    if (device.kind == Device::Kind::cpu) device.threads = threads;
    return device;
  }
  const Device own = Device::cuda(memory.device);
  if (asked && *asked != own)
    fail("device cannot be ", to_string(*asked), ": ", frames.array.name, " is on ", to_string(own));
  return own;
}

template <class Task>
std::optional<Field<Task>> read_start(nb::handle start, const FrameStack& frames) {
  if (start.is_none()) return {};
  std::optional<Field<Task>> field;
  if (nb::isinstance<Field<Task>>(start))
    field = nb::cast<const Field<Task>&>(start);
  else if (frames.array.memory.on_host() && !frames.stacked)
    field = field_of<Task>(start, "start");
  else
    fail("start is of type ", type_text(start), "; for frames on a device and for stacks it must be a ",
         TaskPlanes<Task>::result);
  if (field->storage->memory != frames.array.memory &&
      !(field->storage->memory.on_host() && frames.array.memory.on_host()))
    fail("start is not where the frames are");
  if (field->size != frames.first.size())
    fail("start has ", size_text(field->size), " pixels, the frames have ", size_text(frames.first.size()));
  return field;
}

template <class Task>
Field<Task> solve(const Request<Task>& asked, const std::vector<FrameStack>& frames,
                  const Known<Task>& known) {
  const FrameStack& first = frames[0];
  const Items items = items_of(asked, frames);
  if (known.start && known.start->count != items.count)
    fail("start holds ", known.start->count, " results, but the frames give ", items.count);
  const Device device = device_for(asked.device, asked.threads, first);
  const std::optional<Request<Task>> found = completed(asked, items, device);
  const Request<Task>& request = found ? *found : asked;
  const bool on_host = first.array.memory.on_host();
  const bool pinned = on_host && device.kind == Device::Kind::cuda;
  Field<Task> field = new_field<Task>(first.array, first.first.size(), items.count, first.stacked, pinned,
                                      planes_of(request.options));
  std::vector<FramesState> states(std::size_t(items.count));
  if (on_host) {
    solve_on_host(request, items, device, field, known, states);
  } else {
    const nb::gil_scoped_release released;
    solve_on_device(request, items, device, Stream{first.array.stream}, field, known, states);
  }
  if (!found) warn_of_states(states);  // the search for disparities has warned of missing texture
  return field;
}

template std::optional<Field<Flow>> read_start(nb::handle, const FrameStack&);
template std::optional<Field<Stereo>> read_start(nb::handle, const FrameStack&);
template std::optional<Field<Detection>> read_start(nb::handle, const FrameStack&);
template Field<Flow> solve(const Request<Flow>&, const std::vector<FrameStack>&, const Known<Flow>&);
template Field<Stereo> solve(const Request<Stereo>&, const std::vector<FrameStack>&, const Known<Stereo>&);
template Field<Detection> solve(const Request<Detection>&, const std::vector<FrameStack>&,
                                const Known<Detection>&);

}  // namespace parafield::python
