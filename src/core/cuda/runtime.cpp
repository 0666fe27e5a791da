#include "core/cuda/runtime.hpp"

#include <mutex>

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

/// Streams for allocations and copies of images, which belong to no estimator. Kept for the next use.
struct IdleStreams {
  std::mutex mutex;
  std::vector<std::pair<int, cudaStream_t>> streams;  // device, stream
};
IdleStreams& idle_streams() {
  static IdleStreams* const idle = new IdleStreams;  // lives on: images may be destroyed at exit
  return *idle;
}

/// A stream of the current thread's own, until the end of the scope.
class LentStream {
 public:
  explicit LentStream(int device) : device_(device), current_(device) {
    IdleStreams& idle = idle_streams();
    {
      const std::lock_guard lock(idle.mutex);
      for (auto& entry : idle.streams)
        if (entry.first == device) {
          stream_ = entry.second;
          std::swap(entry, idle.streams.back());
          idle.streams.pop_back();
          return;
        }
    }
    PF_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~LentStream() {
    IdleStreams& idle = idle_streams();
    const std::lock_guard lock(idle.mutex);
    idle.streams.emplace_back(device_, stream_);
  }
  LentStream(const LentStream&) = delete;
  LentStream& operator=(const LentStream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  int device_;
  CurrentDevice current_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

static std::mutex& recording_mutex() {
  static std::mutex mutex;
  return mutex;
}
static thread_local int exclusions = 0;

Exclusive::Exclusive() : lock_(recording_mutex(), std::defer_lock) {
  if (exclusions++ == 0) lock_.lock();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  mode_ = int(mode);
}

Exclusive::~Exclusive() {
  auto mode = cudaStreamCaptureMode(mode_);
  cudaThreadExchangeStreamCaptureMode(&mode);
  --exclusions;
}

int device_count() { return counted().devices; }
std::string why_absent() { return counted().why; }

std::vector<DeviceInfo> devices() {
  const Exclusive exclusive;
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
  const Exclusive exclusive;
  const LentStream stream(device);
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
    const Exclusive exclusive;
    const LentStream stream(device);
    cudaFreeAsync(data, stream);
    cudaStreamSynchronize(stream);
  } catch (const std::exception&) {  // the device failed: its memory is gone with it
  }
}

void* allocate_pinned(std::size_t bytes) {
  require(0);
  const Exclusive exclusive;
  void* data = nullptr;
  PF_CUDA(cudaHostAlloc(&data, bytes, cudaHostAllocPortable));
  __builtin_memset(data, 0, bytes);
  return data;
}

void release_pinned(void* data) {
  const Exclusive exclusive;
  cudaFreeHost(data);
}

void copy(int device, void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
          std::ptrdiff_t row_bytes, int height) {
  require(device);
  const LentStream stream(device);
  PF_CUDA(cudaMemcpy2DAsync(to, std::size_t(to_pitch), from, std::size_t(from_pitch), std::size_t(row_bytes),
                            std::size_t(height), cudaMemcpyDefault, stream));
  PF_CUDA(cudaStreamSynchronize(stream));
}

EventTimer::EventTimer(int device, void* stream) : stream_(stream), device_(device) {
  require(device);
  const Exclusive exclusive;
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
