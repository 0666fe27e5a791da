// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"

#include <mutex>
#include <utility>

namespace parafield {

/// A new stream, which does not synchronize with the legacy stream.
static cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  PF_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

Cuda::Cuda(const Device& device, Stream stream, bool throughput)
    : device_(device.index), throughput_(throughput) {
  cuda::require(device_);
  const auto current = activate();
  const cuda::Exclusive exclusive;
  if (!stream.handle) own_stream_.reset(new_stream());
  stream_ = stream.handle ? static_cast<cudaStream_t>(stream.handle) : own_stream_.get();
  for (OwnStream* recorder : {&recorder_, &part_recorder_, &side_recorders_[0], &side_recorders_[1]})
    recorder->reset(new_stream());
  recording_ = recorder_.get();
  int major = 0;
  PF_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device_));
  PF_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device_));
  PF_CUDA(cudaDeviceGetAttribute(&shared_memory_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_));
  overlaps_ = major >= 9;
  int driver = 0;
  PF_CUDA(cudaDriverGetVersion(&driver));
  has_conditions_ = CUDART_VERSION >= 12040 && driver >= 12040;
}

Cuda::~Cuda() {
  try {
    const auto current = activate();
    synchronize();
    const cuda::Exclusive exclusive;
    graphs_.clear();
  } catch (const std::exception&) {  // the device failed, which also ended its streams and graphs
  }
}

void Cuda::synchronize() {
  const auto current = activate();
  for (const cudaStream_t stream : {uploads_.get(), stream_, downloads_.get()})
    if (stream) PF_CUDA(cudaStreamSynchronize(stream));
}

std::size_t Cuda::free_memory() const {
  std::size_t free = 0, total = 0;
  const auto current = activate();
  const cuda::Exclusive exclusive;
  PF_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

void Cuda::launch_with(const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes, void** arguments,
                       bool is_input) {
  if (mode_ == Mode::replaying) {
    cudaKernelNodeParams parameters{};
    parameters.func = const_cast<void*>(kernel);
    parameters.gridDim = grid;
    parameters.blockDim = block;
    parameters.sharedMemBytes = unsigned(shared_bytes);
    parameters.kernelParams = arguments;
    const Input& input = replayed_->inputs.at(next_input_++);
    PF_CUDA(cudaGraphExecKernelNodeSetParams(input.executable, input.node, &parameters));
    if (next_input_ == replayed_->inputs.size()) launch_graph(*replayed_);
    return;
  }
  if (shared_percent_ >= 0) share_memory(kernel, shared_percent_);
  cudaLaunchAttribute overlap{};  // see begin_kernel
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = recording_;
  config.attrs = &overlap;
  config.numAttrs = overlaps_ && !waits_ ? 1 : 0;
  waits_ = false;
  PF_CUDA(cudaLaunchKernelExC(&config, kernel, arguments));
  if (!is_input) return;
  // The node just captured is the only one that the next launch would depend on.
  cudaStreamCaptureStatus status{};
  const cudaGraphNode_t* last = nullptr;
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  const cudaGraphEdgeData* edges = nullptr;
  PF_CUDA(cudaStreamGetCaptureInfo(recorder_.get(), &status, nullptr, nullptr, &last, &edges, &count));
#else
  PF_CUDA(cudaStreamGetCaptureInfo_v2(recorder_.get(), &status, nullptr, nullptr, &last, &count));
#endif
  if (count != 1) fail(ErrorCode::device, "a recorded input kernel has ", count, " graph nodes instead of 1");
  part_inputs_.push_back(last[0]);
}

void Cuda::notify(const std::shared_ptr<const std::function<void(double)>>& callback, double share) {
  if (mode_ == Mode::replaying) return;
  if (recording_ == part_recorder_.get())
    fail(ErrorCode::device, "a step under a condition reports progress");
  notices_.push_back({callback, share});
  const auto call = [](void* data) {
    const Notice& notice = *static_cast<const Notice*>(data);
    (*notice.callback)(notice.share);
  };
  PF_CUDA(cudaLaunchHostFunc(recording_, call, &notices_.back()));
}

void Cuda::copy(void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
                std::ptrdiff_t row_bytes, int height, Queue queue) {
  PF_CUDA(cudaMemcpy2DAsync(to, std::size_t(to_pitch), from, std::size_t(from_pitch), std::size_t(row_bytes),
                            std::size_t(height), cudaMemcpyDefault, stream_of(queue)));
}

cudaStream_t Cuda::stream_of(Queue queue) {
  if (queue == Queue::solves) return stream_;
  OwnStream& stream = queue == Queue::uploads ? uploads_ : downloads_;
  if (!stream) {
    const cuda::Exclusive exclusive;
    stream.reset(new_stream());
  }
  return stream.get();
}

void Cuda::mark(int mark, Queue queue) {
  if (marks_.size() <= std::size_t(mark)) marks_.resize(std::size_t(mark) + 1);
  OwnEvent& event = marks_[std::size_t(mark)];
  if (!event) {
    cudaEvent_t made = nullptr;
    PF_CUDA(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
    event.reset(made);
  }
  PF_CUDA(cudaEventRecord(event.get(), stream_of(queue)));
}

void Cuda::begin_after(int mark, Queue queue) {
  if (marks_.size() <= std::size_t(mark) || !marks_[std::size_t(mark)]) return;
  PF_CUDA(cudaStreamWaitEvent(stream_of(queue), marks_[std::size_t(mark)].get(), 0));
}

void Cuda::await(int mark) const {
  if (marks_.size() <= std::size_t(mark) || !marks_[std::size_t(mark)])
    fail(ErrorCode::device, "the internal mark ", mark, " is awaited, but was never set");
  PF_CUDA(cudaEventSynchronize(marks_[std::size_t(mark)].get()));
}

void Cuda::allow_shared_memory(const void* kernel, std::size_t bytes) const {
  if (mode_ == Mode::replaying) return;
  if (bytes > std::size_t(shared_memory_))
    fail(ErrorCode::unsupported, "a kernel needs ", bytes, " bytes of shared memory, cuda:", device_,
         " gives ", shared_memory_);
  // The limit belongs to the kernel in the whole process, so it must only rise.
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, std::size_t> limits;
  const std::lock_guard lock(mutex);
  std::size_t& limit = limits[{kernel, device_}];
  if (bytes <= limit) return;
  PF_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
  limit = bytes;
}

void Cuda::share_memory(const void* kernel, int percent) const {
  if (mode_ == Mode::replaying) return;
  PF_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
}

}  // namespace parafield
