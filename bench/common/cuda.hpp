// SPDX-License-Identifier: MIT
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "parafield/error.hpp"

/// Owners of CUDA's objects, and the time that work takes on a stream.
namespace parafield::bench {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw Error(ErrorCode::device,
              std::string(what) + ": " + cudaGetErrorName(status) + ", " + cudaGetErrorString(status));
}

/// Zero-filled memory of the device.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)), "cudaMalloc");
    check(cudaMemset(data_, 0, count * sizeof(T)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // a non-blocking stream would not wait
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&&) = delete;
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// Copies values to the host, after waiting for everything on the device.
template <class T>
std::vector<T> to_host(const T* data, std::size_t count) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::vector<T> values(count);
  check(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

class CudaStream {
 public:
  CudaStream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~CudaStream() { cudaStreamDestroy(stream_); }
  CudaStream(const CudaStream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void synchronize() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Work on a stream. `turn` counts up, so that it can take another input each time.
using Work = std::function<void(cudaStream_t stream, int turn)>;

/// The same work as graphs, one for each of the turns 0 to `turns` - 1.
Work as_graphs(const Work& work, int turns);

enum class Start {
  idle,   ///< on an idle stream: launching counts
  queued  ///< behind a kernel that waits until all is launched: only the device's time counts
};

/// Milliseconds of one turn, by events: the median of `runs` runs of `batch` turns each.
double median_ms(const CudaStream& stream, const Work& work, Start start, int runs, int batch = 1);

/// Milliseconds of one turn.
struct WorkTimes {
  double launched;  ///< kernels launched one by one on an idle stream
  double graph;     ///< one graph launched on an idle stream
  double device;    ///< kernels launched one by one into a queue that is held up
};
WorkTimes times_of(const CudaStream& stream, const Work& work, int turns, int runs);

/// Launches a kernel that lasts `microseconds`.
void hold(cudaStream_t stream, double microseconds);

}  // namespace parafield::bench
