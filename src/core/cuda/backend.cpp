#include "core/cuda/backend.hpp"

#include "core/cuda/runtime.hpp"

namespace parafield {

Cuda::Cuda(const Device& device, Stream stream) : device_(device.index), owns_stream_(!stream.handle) {
  cuda::require(device_);
  activate();
  if (owns_stream_)
    PF_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  else
    stream_ = static_cast<cudaStream_t>(stream.handle);
  PF_CUDA(cudaStreamCreateWithFlags(&recorder_, cudaStreamNonBlocking));
  int major = 0;
  PF_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device_));
  PF_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device_));
  PF_CUDA(cudaDeviceGetAttribute(&shared_memory_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_));
  overlaps_ = major >= 9;
}

Cuda::~Cuda() {
  cudaSetDevice(device_);
  cudaStreamSynchronize(stream_);
  for (auto& [key, graph] : graphs_) {
    if (graph.executable) cudaGraphExecDestroy(graph.executable);
    if (graph.graph) cudaGraphDestroy(graph.graph);
  }
  if (recorder_) cudaStreamDestroy(recorder_);
  if (owns_stream_) cudaStreamDestroy(stream_);
}

void Cuda::synchronize() const {
  activate();
  PF_CUDA(cudaStreamSynchronize(stream_));
}

std::size_t Cuda::available_memory() const {
  std::size_t free = 0, total = 0;
  activate();
  PF_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

void Cuda::begin_recording() {
  mode_ = Mode::recording;
  recorded_inputs_.clear();
  PF_CUDA(cudaStreamBeginCapture(recorder_, cudaStreamCaptureModeThreadLocal));
}

void Cuda::end_recording(Graph& graph) {
  PF_CUDA(cudaStreamEndCapture(recorder_, &graph.graph));
  PF_CUDA(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
  graph.inputs = recorded_inputs_;
}

void Cuda::abandon_recording() {
  cudaGraph_t partial = nullptr;
  cudaStreamEndCapture(recorder_, &partial);
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
  config.stream = recorder_;
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
  PF_CUDA(cudaStreamGetCaptureInfo(recorder_, &status, nullptr, nullptr, &last, &edges, &count));
#else
  PF_CUDA(cudaStreamGetCaptureInfo_v2(recorder_, &status, nullptr, nullptr, &last, &count));
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
  PF_CUDA(cudaLaunchHostFunc(recorder_, call, &notices_.back()));
}

void Cuda::copy(void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
                std::ptrdiff_t row_bytes, int height) {
  PF_CUDA(cudaMemcpy2DAsync(to, std::size_t(to_pitch), from, std::size_t(from_pitch), std::size_t(row_bytes),
                            std::size_t(height), cudaMemcpyDefault, stream_));
}

void Cuda::allow_shared_memory(const void* kernel, std::size_t bytes) const {
  if (bytes > std::size_t(shared_memory_))
    fail(ErrorCode::unsupported, "a kernel needs ", bytes, " bytes of shared memory, cuda:", device_,
         " gives ", shared_memory_);
  PF_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
}

}  // namespace parafield
