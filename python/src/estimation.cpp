// SPDX-License-Identifier: MIT
#include "estimation.hpp"

#include <nanobind/stl/string.h>

#include <atomic>
#include <thread>

#include "interrupt.hpp"

namespace parafield::python {
namespace {

/// The frames of each result that a call asks for.
struct Items {
  const std::vector<FrameStack>& frames;
  int count;   ///< results
  int taken;   ///< frames of each
  bool windows;  ///< of one stack

  std::vector<Frame> operator[](int i) const {
    std::vector<Frame> all;
    for (int k = 0; k < taken; ++k) all.push_back(windows ? frames[0][i + k] : frames[std::size_t(k)][i]);
    return all;
  }
};

template <class Task>
Items items_of(const Request<Task>& request, const std::vector<FrameStack>& frames) {
  const int taken = frames_taken(request.method);
  const FrameStack& first = frames[0];
  const std::string& name = first.array.name;
  const auto method = std::visit([](const auto& chosen) { return chosen.name; }, request.method);
  if (frames.size() == 1 && first.stacked) {
    if (first.count < taken)
      fail(name, " is a stack of ", first.count, first.count == 1 ? " frame; " : " frames; ", method, " takes ",
           taken);
    return {frames, first.count - taken + 1, taken, true};
  }
  if (int(frames.size()) != taken)
    fail(method, " takes ", taken, " frames, not ", frames.size(),
         taken > 2 ? "; give them as a list, or as a stack with axes=\"nhw\"" : "");
  for (const FrameStack& other : frames)
    if (other.count != first.count)
      fail(other.array.name, " is a stack of ", other.count, " frames, ", name, " one of ", first.count);
  return {frames, first.count, taken, false};
}

/// Estimators that work at the same time on a stack.
template <class Task>
int estimators_for(const typename EstimatorCache<Task>::Lease& first, int most, int count) {
  constexpr std::size_t most_bytes = std::size_t(4) << 30;
  const std::size_t fit = most_bytes / std::max<std::size_t>(1, first->workspace_bytes());
  return int(std::clamp<std::size_t>(fit, 1, std::size_t(std::min(most, count))));
}

template <class Task>
void solve_one(Estimator<Task>& estimator, const Items& items, int i, const Field<Task>& field,
               const Known<Task>& known) {
  const std::vector<Frame> frames = items[i];
  typename Task::Result output = field.result(i);
  with_input<Task>(frames, known, i, [&](const typename Task::Input& input) { estimator(input, output); });
}

/// Frames on a device: the work is put on streams, and nobody waits for it.
template <class Task>
void solve_on_device(const Request<Task>& request, const Items& items, const Device& device, Stream stream,
                     const Field<Task>& field, const Known<Task>& known) {
  using Cache = EstimatorCache<Task>;
  const Size size = field.size;
  const bool waits = items.frames[0].array.library == Library::other || known.tracks;
  if (items.count == 1) {
    auto lease = Cache::take(request, size, device, stream);
    solve_one(*lease, items, 0, field, known);
    if (waits) lease->synchronize();
    return;
  }
  std::vector<typename Cache::Lease> leases;
  leases.push_back(Cache::take(request, size, device, {}));
  const int streams = estimators_for<Task>(leases[0], 8, items.count);
  while (int(leases.size()) < streams) leases.push_back(Cache::take(request, size, device, {}));
  for (auto& lease : leases) wait_for(device, lease->stream(), stream);
  for (int i = 0; i < items.count; ++i)
    solve_one(*leases[std::size_t(i % streams)], items, i, field, known);
  for (auto& lease : leases) {
    wait_for(device, stream, lease->stream());
    if (waits) lease->synchronize();
  }
}

/// Frames in host memory: several threads with an estimator each, or one estimator with all threads.
template <class Task>
void solve_on_host(const Request<Task>& request, const Items& items, const Device& device,
                   const Field<Task>& field, const Known<Task>& known) {
  using Cache = EstimatorCache<Task>;
  const bool on_cpu = device.kind == Device::Kind::cpu;
  const int cores = std::max(1, on_cpu && device.threads > 0 ? device.threads
                                                             : int(std::thread::hardware_concurrency()));
  std::mutex mutex;
  std::vector<Estimator<Task>*> working;
  std::atomic<bool> cancelled = false;
  std::exception_ptr error;
  std::atomic<int> next = 0;
  const auto work_through = [&](typename Cache::Lease& lease) {
    try {
      {
        const std::lock_guard lock(mutex);
        working.push_back(&*lease);
      }
      for (int i; (i = next++) < items.count && !cancelled;) solve_one(*lease, items, i, field, known);
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
    auto first = Cache::take(request, field.size, each, {});
    const int workers = items.count == 1 ? 1 : estimators_for<Task>(first, on_cpu ? cores : 4, items.count);
    std::vector<std::jthread> threads;
    for (int i = 1; i < workers; ++i)
      threads.emplace_back([&] {
        try {
          auto lease = Cache::take(request, field.size, each, {});
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

}  // namespace

std::optional<Device> read_device(nb::handle device, int threads) {
  if (device.is_none()) {
    parse_device("cpu", threads);  // checks the number
    return {};
  }
  return parse_device(str_text(device), threads);
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
    fail("start is of type ", type_text(start), "; for frames on a device and for stacks it has to be a ",
         TaskPlanes<Task>::result);
  if (field->storage->memory != frames.array.memory && !(field->storage->memory.on_host() && frames.array.memory.on_host()))
    fail("start is not where the frames are");
  if (field->size != frames.first.size())
    fail("start has ", field->size.height, " x ", field->size.width, " pixels, the frames have ",
         frames.first.height, " x ", frames.first.width);
  return field;
}

template <class Task>
Field<Task> solve(const Request<Task>& request, const std::vector<FrameStack>& frames, const Known<Task>& known) {
  const FrameStack& first = frames[0];
  const Items items = items_of(request, frames);
  if (known.start && known.start->count != items.count)
    fail("start holds ", known.start->count, " results, the frames ask for ", items.count);
  const Device device = device_for(request.device, request.threads, first);
  const bool on_host = first.array.memory.on_host();
  const bool pinned = on_host && device.kind == Device::Kind::cuda;
  Field<Task> field = new_field<Task>(first.array, first.first.size(), items.count, first.stacked, pinned);
  if (on_host) {
    solve_on_host(request, items, device, field, known);
  } else {
    const nb::gil_scoped_release released;
    solve_on_device(request, items, device, Stream{first.array.stream}, field, known);
  }
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
