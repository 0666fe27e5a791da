// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"

#include <mutex>

namespace parafield {

Cuda::Graph::~Graph() {
  if (executable) cudaGraphExecDestroy(executable);
  if (graph) cudaGraphDestroy(graph);
}

Cuda::OwnStream::~OwnStream() {
  if (handle) cudaStreamDestroy(handle);
}

void Cuda::OwnStream::create() { PF_CUDA(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }

Cuda::Cuda(const Device& device, Stream stream) : device_(device.index) {
  cuda::require(device_);
  const auto current = activate();
  const cuda::Exclusive exclusive;
  if (!stream.handle) own_stream_.create();
  stream_ = stream.handle ? static_cast<cudaStream_t>(stream.handle) : own_stream_.handle;
  recorder_.create();
  int major = 0;
  PF_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device_));
  PF_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device_));
  PF_CUDA(cudaDeviceGetAttribute(&shared_memory_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_));
  overlaps_ = major >= 9;
}

Cuda::~Cuda() {
  try {
    const auto current = activate();
    cudaStreamSynchronize(stream_);
    const cuda::Exclusive exclusive;
    graphs_.clear();
  } catch (const std::exception&) {  // the device failed: its streams and graphs are gone with it
  }
}

void Cuda::synchronize() const {
  const auto current = activate();
  PF_CUDA(cudaStreamSynchronize(stream_));
}

std::size_t Cuda::available_memory() const {
  std::size_t free = 0, total = 0;
  const auto current = activate();
  const cuda::Exclusive exclusive;
  PF_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

void Cuda::begin_recording() {
  mode_ = Mode::recording;
  recorded_inputs_.clear();
  PF_CUDA(cudaStreamBeginCapture(recorder_.handle, cudaStreamCaptureModeRelaxed));
}

void Cuda::end_recording(int key) {
  Graph recorded;
  PF_CUDA(cudaStreamEndCapture(recorder_.handle, &recorded.graph));
  PF_CUDA(cudaGraphInstantiate(&recorded.executable, recorded.graph, 0));
  Graph& graph = graphs_[key];
  std::swap(graph.graph, recorded.graph);
  std::swap(graph.executable, recorded.executable);
  graph.inputs = recorded_inputs_;
}

void Cuda::abandon_recording() {
  cudaGraph_t partial = nullptr;
  cudaStreamEndCapture(recorder_.handle, &partial);
  if (partial) cudaGraphDestroy(partial);
  cudaGetLastError();
}

void Cuda::begin_replay(Graph& graph) {
  mode_ = Mode::replaying;
  replayed_ = &graph;
  next_input_ = 0;
}

void Cuda::launch_graph(Graph& graph) { PF_CUDA(cudaGraphLaunch(graph.executable, stream_)); }

void Cuda::launch_with(const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes, void** arguments,
                       bool is_input) {
  if (mode_ == Mode::replaying) {
    cudaKernelNodeParams parameters{};
    parameters.func = const_cast<void*>(kernel);
    parameters.gridDim = grid;
    parameters.blockDim = block;
    parameters.sharedMemBytes = unsigned(shared_bytes);
    parameters.kernelParams = arguments;
    PF_CUDA(cudaGraphExecKernelNodeSetParams(replayed_->executable, replayed_->inputs.at(next_input_++),
                                             &parameters));
    return;
  }
  cudaLaunchAttribute overlap{};  // see begin_kernel
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = recorder_.handle;
  config.attrs = &overlap;
  config.numAttrs = overlaps_ ? 1 : 0;
  PF_CUDA(cudaLaunchKernelExC(&config, kernel, arguments));
  if (!is_input) return;
  // The node just captured is the one that the next launch would wait for.
  cudaStreamCaptureStatus status{};
  const cudaGraphNode_t* last = nullptr;
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  const cudaGraphEdgeData* edges = nullptr;
  PF_CUDA(cudaStreamGetCaptureInfo(recorder_.handle, &status, nullptr, nullptr, &last, &edges, &count));
#else
  PF_CUDA(cudaStreamGetCaptureInfo_v2(recorder_.handle, &status, nullptr, nullptr, &last, &count));
#endif
  if (count != 1) fail(ErrorCode::device, "a recorded input kernel has ", count, " graph nodes instead of 1");
  recorded_inputs_.push_back(last[0]);
}

void Cuda::notify(const std::shared_ptr<const std::function<void(double)>>& callback, double share) {
  if (mode_ == Mode::replaying) return;
  notices_.push_back({callback, share});
  const auto call = [](void* data) {
    const Notice& notice = *static_cast<const Notice*>(data);
    (*notice.callback)(notice.share);
  };
  PF_CUDA(cudaLaunchHostFunc(recorder_.handle, call, &notices_.back()));
}

void Cuda::copy(void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
                std::ptrdiff_t row_bytes, int height) {
  PF_CUDA(cudaMemcpy2DAsync(to, std::size_t(to_pitch), from, std::size_t(from_pitch), std::size_t(row_bytes),
                            std::size_t(height), cudaMemcpyDefault, stream_));
}

void Cuda::allow_shared_memory(const void* kernel, std::size_t bytes) const {
  if (mode_ == Mode::replaying) return;
  if (bytes > std::size_t(shared_memory_))
    fail(ErrorCode::unsupported, "a kernel needs ", bytes, " bytes of shared memory, cuda:", device_,
         " gives ", shared_memory_);
  // The limit is the kernel's for the whole process: it only rises.
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, std::size_t> limits;
  const std::lock_guard lock(mutex);
  std::size_t& limit = limits[{kernel, device_}];
  if (bytes <= limit) return;
  PF_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
  limit = bytes;
}

}  // namespace parafield
