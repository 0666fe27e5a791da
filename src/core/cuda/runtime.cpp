// SPDX-License-Identifier: MIT
#include "core/cuda/runtime.hpp"

#include <bit>
#include <mutex>

#include "core/arithmetic.hpp"
#include "core/cuda/check.hpp"

namespace parafield::cuda {
namespace {

struct Count {
  int devices = 0;
  std::string why;
};

Count count_devices() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) return {count, ""};
  cudaGetLastError();
  if (result == cudaErrorInsufficientDriver)
    return {0, "no CUDA driver, or one older than the CUDA runtime that parafield was built with"};
  if (result == cudaErrorNoDevice || count == 0) return {0, "no CUDA device"};
  return {0, cudaGetErrorString(result)};
}

const Count& counted() {
  static const Count count = count_devices();
  return count;
}

/// A pool of CUDA objects. Returned objects are kept for reuse, not destroyed: the program may still be using
/// the device when they come back, and destroying some kinds waits for the whole device. Thread-safe.
template <class Thing>
class Pool {
 public:
  /// Returns an unused object of that kind, or else a new one from make().
  template <class Make>
  Thing take(std::size_t kind, Make make) {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_)
      if (!entry.taken && entry.kind == kind) {
        entry.taken = true;
        return entry.thing;
      }
    entries_.reserve(entries_.size() + 1);
    entries_.push_back({kind, make(), true});
    return entries_.back().thing;
  }
  void give_back(Thing thing) {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_)
      if (entry.thing == thing) entry.taken = false;
  }

 private:
  struct Entry {
    std::size_t kind;
    Thing thing;
    bool taken;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// The pool of streams or events, whose kind is the device, or of pinned blocks (void*), whose kind is the
/// size in bytes. It lives until the process ends, because images may be destroyed at exit.
template <class Thing>
Pool<Thing>& pool_of() {
  static auto& things = *new Pool<Thing>;
  return things;
}
std::mutex& recording_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}
thread_local int exclusions = 0;

/// A pooled stream for allocations and copies that belong to no estimator. Its device is the thread's current
/// one until the end of the scope.
class PooledStream {
 public:
  explicit PooledStream(int device) : current_(device) {
    stream_ = pool_of<cudaStream_t>().take(std::size_t(device), [] {
      cudaStream_t stream = nullptr;
      PF_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      return stream;
    });
  }
  ~PooledStream() { pool_of<cudaStream_t>().give_back(stream_); }
  PooledStream(const PooledStream&) = delete;
  PooledStream& operator=(const PooledStream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  CurrentDevice current_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

Exclusive::Exclusive() : lock_(recording_mutex(), std::defer_lock) {
  if (exclusions++ == 0) lock_.lock();
}

Exclusive::~Exclusive() { --exclusions; }

int device_count() { return counted().devices; }
std::string why_absent() { return counted().why; }

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> list;
  for (int i = 0; i < device_count(); ++i) {
    cudaDeviceProp properties{};
    PF_CUDA(cudaGetDeviceProperties(&properties, i));
    list.push_back({Device::cuda(i), properties.name, text("sm_", properties.major, properties.minor),
                    properties.multiProcessorCount, properties.totalGlobalMem});
  }
  return list;
}

void require(int device) {
  if (device_count() == 0) fail(ErrorCode::device, "cuda:", device, " cannot be used: ", why_absent());
  if (device < 0 || device >= device_count())
    fail(ErrorCode::device, "there is no cuda:", device,
         "; this machine has cuda:0 to cuda:", device_count() - 1);
}

void* allocate(std::size_t bytes, int device) {
  require(device);
  const PooledStream stream(device);
  const Exclusive exclusive;
  void* data = nullptr;
  if (cudaMallocAsync(&data, bytes, stream) != cudaSuccess) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    fail(ErrorCode::memory, "cannot allocate ", bytes, " bytes on cuda:", device, ": ", free, " of ", total,
         " are free");
  }
  try {
    PF_CUDA(cudaMemsetAsync(data, 0, bytes, stream));
    PF_CUDA(cudaStreamSynchronize(stream));
  } catch (...) {
    cudaFreeAsync(data, stream);
    throw;
  }
  return data;
}

void release(void* data, int device) {
  try {
    const PooledStream stream(device);
    const Exclusive exclusive;
    cudaFreeAsync(data, stream);
    cudaStreamSynchronize(stream);
  } catch (const std::exception&) {  // the device failed, which also ended its memory
  }
}

void* allocate_pinned(std::size_t bytes) {
  require(0);
  // Sizes are rounded up to 4 steps per power of two, so that a returned block fits many images.
  const std::size_t step = std::bit_ceil(larger(bytes, std::size_t(4096))) / 8;
  bytes = (bytes + step - 1) / step * step;
  void* const data = pool_of<void*>().take(bytes, [bytes] {
    const CurrentDevice current(0);
    const Exclusive exclusive;
    void* made = nullptr;
    PF_CUDA(cudaHostAlloc(&made, bytes, cudaHostAllocPortable));
    return made;
  });
  __builtin_memset(data, 0, bytes);
  return data;
}

void release_pinned(void* data) { pool_of<void*>().give_back(data); }

void copy(int device, void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
          std::ptrdiff_t row_bytes, int height) {
  require(device);
  const PooledStream stream(device);
  PF_CUDA(cudaMemcpy2DAsync(to, std::size_t(to_pitch), from, std::size_t(from_pitch), std::size_t(row_bytes),
                            std::size_t(height), cudaMemcpyDefault, stream));
  PF_CUDA(cudaStreamSynchronize(stream));
}

void wait_for(int device, void* waiting, void* awaited) {
  require(device);
  const CurrentDevice current(device);
  const cudaEvent_t event = pool_of<cudaEvent_t>().take(std::size_t(device), [] {
    cudaEvent_t made = nullptr;
    PF_CUDA(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
    return made;
  });
  // cudaStreamWaitEvent keeps the event's state at the time of the call, so the event can be recorded again
  // immediately.
  cudaError_t result = cudaEventRecord(event, static_cast<cudaStream_t>(awaited));
  if (result == cudaSuccess) result = cudaStreamWaitEvent(static_cast<cudaStream_t>(waiting), event, 0);
  pool_of<cudaEvent_t>().give_back(event);
  PF_CUDA(result);
}

EventTimer::EventTimer(int device, void* stream) : stream_(stream), device_(device) {
  require(device);
  const CurrentDevice current(device);
  for (void** event : {&begin_, &end_}) PF_CUDA(cudaEventCreate(reinterpret_cast<cudaEvent_t*>(event)));
}

EventTimer::~EventTimer() {
  for (void* event : {begin_, end_})
    if (event) cudaEventDestroy(static_cast<cudaEvent_t>(event));
}

void EventTimer::start() {
  const CurrentDevice current(device_);
  PF_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(begin_), static_cast<cudaStream_t>(stream_)));
}

double EventTimer::stop() {
  const CurrentDevice current(device_);
  PF_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(end_), static_cast<cudaStream_t>(stream_)));
  PF_CUDA(cudaEventSynchronize(static_cast<cudaEvent_t>(end_)));
  float milliseconds = 0;
  PF_CUDA(
      cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(begin_), static_cast<cudaEvent_t>(end_)));
  return milliseconds;
}

}  // namespace parafield::cuda
