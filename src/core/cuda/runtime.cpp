#include "core/cuda/runtime.hpp"

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

}  // namespace

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
  PF_CUDA(cudaSetDevice(device));
  void* data = nullptr;
  if (cudaMalloc(&data, bytes) != cudaSuccess) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    fail(ErrorCode::memory, "cannot allocate ", bytes, " bytes on cuda:", device, ": ", free, " of ", total,
         " are free");
  }
  PF_CUDA(cudaMemset(data, 0, bytes));
  PF_CUDA(cudaDeviceSynchronize());
  return data;
}

void release(void* data) { cudaFree(data); }

void* allocate_pinned(std::size_t bytes) {
  require(0);
  void* data = nullptr;
  PF_CUDA(cudaHostAlloc(&data, bytes, cudaHostAllocPortable));
  __builtin_memset(data, 0, bytes);
  return data;
}

void release_pinned(void* data) { cudaFreeHost(data); }

void copy(void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
          std::ptrdiff_t row_bytes, int height) {
  PF_CUDA(cudaMemcpy2D(to, to_pitch, from, from_pitch, row_bytes, height, cudaMemcpyDefault));
  PF_CUDA(cudaStreamSynchronize(cudaStreamLegacy));  // a copy to the device may still be on its way
}

EventTimer::EventTimer(int device, void* stream) : stream_(stream), device_(device) {
  require(device);
  PF_CUDA(cudaSetDevice(device));
  cudaEvent_t begin, end;
  PF_CUDA(cudaEventCreate(&begin));
  begin_ = begin;
  PF_CUDA(cudaEventCreate(&end));
  end_ = end;
}

EventTimer::~EventTimer() {
  if (begin_) cudaEventDestroy(static_cast<cudaEvent_t>(begin_));
  if (end_) cudaEventDestroy(static_cast<cudaEvent_t>(end_));
}

void EventTimer::start() {
  PF_CUDA(cudaSetDevice(device_));
  PF_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(begin_), static_cast<cudaStream_t>(stream_)));
}

double EventTimer::stop() {
  PF_CUDA(cudaSetDevice(device_));
  PF_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(end_), static_cast<cudaStream_t>(stream_)));
  PF_CUDA(cudaEventSynchronize(static_cast<cudaEvent_t>(end_)));
  float milliseconds = 0;
  PF_CUDA(
      cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(begin_), static_cast<cudaEvent_t>(end_)));
  return milliseconds;
}

}  // namespace parafield::cuda
