// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"

#include <deque>
#include <iterator>
#include <mutex>
#include <utility>

namespace parafield {

namespace {

/// Executables of graphs with a condition that no estimator has now. The driver waits until the whole device
/// has nothing to do when it destroys one, and when many of them make it take more memory. So they are used
/// again for graphs of the same form: a new estimator of a size that was there before makes none.
class SpareExecutables {
 public:
  /// One that was made for the same device and has the form of the graph: it runs the graph from now on.
  /// None: null.
  cudaGraphExec_t take(int device, cudaGraph_t graph) {
    const std::lock_guard lock(mutex_);
    for (auto spare = spares_.rbegin(); spare != spares_.rend(); ++spare) {
      if (spare->device != device) continue;
      cudaGraphExecUpdateResultInfo result{};
      if (cudaGraphExecUpdate(spare->executable, graph, &result) == cudaSuccess) {
        const cudaGraphExec_t executable = spare->executable;
        spares_.erase(std::next(spare).base());
        return executable;
      }
      cudaGetLastError();
    }
    return nullptr;
  }

  /// Keeps it. Beyond the most that are kept the oldest is destroyed.
  void give_back(int device, cudaGraphExec_t executable) {
    cudaGraphExec_t oldest = nullptr;
    {
      const std::lock_guard lock(mutex_);
      spares_.push_back({device, executable});
      if (spares_.size() > most) {
        oldest = spares_.front().executable;
        spares_.pop_front();
      }
    }
    if (oldest) cudaGraphExecDestroy(oldest);
  }

 private:
  static constexpr std::size_t most = 64;
  struct Spare {
    int device;
    cudaGraphExec_t executable;
  };
  std::mutex mutex_;
  std::deque<Spare> spares_;
};

SpareExecutables& spare_executables() {  // to the end of the process: estimators may be destroyed at exit
  static auto& spares = *new SpareExecutables;
  return spares;
}

}  // namespace

Cuda::Part::~Part() {
  if (executable && has_condition)
    spare_executables().give_back(device, executable);
  else if (executable)
    cudaGraphExecDestroy(executable);
  if (graph) cudaGraphDestroy(graph);
}

Cuda::OwnStream::~OwnStream() {
  if (handle) cudaStreamDestroy(handle);
}

Cuda::OwnEvent::~OwnEvent() {
  if (handle) cudaEventDestroy(handle);
}

void Cuda::OwnStream::create() { PF_CUDA(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }

Cuda::Cuda(const Device& device, Stream stream) : device_(device.index) {
  cuda::require(device_);
  const auto current = activate();
  const cuda::Exclusive exclusive;
  if (!stream.handle) own_stream_.create();
  stream_ = stream.handle ? static_cast<cudaStream_t>(stream.handle) : own_stream_.handle;
  recorder_.create();
  part_recorder_.create();
  side_recorder_.create();
  recording_ = recorder_.handle;
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
  } catch (const std::exception&) {  // the device failed: its streams and graphs are gone with it
  }
}

void Cuda::synchronize() const {
  const auto current = activate();
  for (const cudaStream_t stream : {uploads_.handle, stream_, downloads_.handle})
    if (stream) PF_CUDA(cudaStreamSynchronize(stream));
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
  recorded_ = {};
  recording_ = recorder_.handle;
  begin_part();
}

void Cuda::begin_part() {
  part_inputs_.clear();
  waits_ = false;
  PF_CUDA(cudaStreamBeginCapture(recorder_.handle, cudaStreamCaptureModeRelaxed));
}

void Cuda::end_part(bool has_condition) {
  Part& part = recorded_.parts.emplace_back();
  PF_CUDA(cudaStreamEndCapture(recorder_.handle, &part.graph));
  std::size_t nodes = 0;
  PF_CUDA(cudaGraphGetNodes(part.graph, nullptr, &nodes));
  if (nodes == 0) return recorded_.parts.pop_back();
  part.device = device_;
  part.has_condition = has_condition;
  if (has_condition) part.executable = spare_executables().take(device_, part.graph);
  if (!part.executable) PF_CUDA(cudaGraphInstantiate(&part.executable, part.graph, 0));
  for (const cudaGraphNode_t node : part_inputs_) recorded_.inputs.push_back({part.executable, node});
}

void Cuda::end_recording(int key) {
  end_part(false);
  std::swap(graphs_[key], recorded_);
}

void Cuda::abandon_recording() {
  cudaGraph_t partial = nullptr;
  cudaStreamEndCapture(recorder_.handle, &partial);
  if (partial) cudaGraphDestroy(partial);
  cudaGetLastError();
  recorded_ = {};
}

namespace {

/// Lets what a stream captures from now on follow what another one has captured so far.
void follow(cudaStream_t stream, cudaStream_t other) {
  cudaEvent_t event = nullptr;
  PF_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const cudaError_t recorded = cudaEventRecord(event, other);
  const cudaError_t waited = recorded ? recorded : cudaStreamWaitEvent(stream, event, 0);
  cudaEventDestroy(event);
  PF_CUDA(waited);
}

}  // namespace

void Cuda::begin_aside() {
  follow(side_recorder_.handle, recorder_.handle);
  recording_ = side_recorder_.handle;
  waits_ = true;
}

void Cuda::end_aside() {
  recording_ = recorder_.handle;
  waits_ = false;
}

void Cuda::join_aside() {
  follow(recorder_.handle, side_recorder_.handle);
  waits_ = true;
}

#if CUDART_VERSION >= 12040

namespace {

/// The graph that a stream captures into, and the nodes that the next one would wait for.
struct Capture {
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* last = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;

  explicit Capture(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
#if CUDART_VERSION >= 13000
    PF_CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, &edges, &count));
#else
    PF_CUDA(cudaStreamGetCaptureInfo_v3(stream, &status, nullptr, &graph, &last, &edges, &count));
#endif
  }
};

}  // namespace

unsigned long long Cuda::make_condition() {
  end_part(false);
  begin_part();
  cudaGraphConditionalHandle handle = 0;
  PF_CUDA(cudaGraphConditionalHandleCreate(&handle, Capture(recording_).graph));
  return handle;
}

void Cuda::begin_condition(unsigned long long handle) {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeIf;
  parameters.conditional.size = 1;
  const Capture before(recording_);
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  PF_CUDA(cudaGraphAddNode(&node, before.graph, before.last, before.edges, before.count, &parameters));
  PF_CUDA(
      cudaStreamUpdateCaptureDependencies(recording_, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
#else
  PF_CUDA(cudaGraphAddNode_v2(&node, before.graph, before.last, before.edges, before.count, &parameters));
  PF_CUDA(cudaStreamUpdateCaptureDependencies(recording_, &node, 1, cudaStreamSetCaptureDependencies));
#endif
  PF_CUDA(cudaStreamBeginCaptureToGraph(part_recorder_.handle, parameters.conditional.phGraph_out[0], nullptr,
                                        nullptr, 0, cudaStreamCaptureModeRelaxed));
  recording_ = part_recorder_.handle;
}

void Cuda::end_condition() {
  recording_ = recorder_.handle;
  cudaGraph_t part = nullptr;  // it belongs to the graph around it
  PF_CUDA(cudaStreamEndCapture(part_recorder_.handle, &part));
  end_part(true);
  begin_part();
}

void Cuda::abandon_condition() {
  recording_ = recorder_.handle;
  cudaGraph_t part = nullptr;
  cudaStreamEndCapture(part_recorder_.handle, &part);
}

#else

unsigned long long Cuda::make_condition() { return 0; }
void Cuda::begin_condition(unsigned long long) {}
void Cuda::end_condition() {}
void Cuda::abandon_condition() {}

#endif

void Cuda::begin_replay(Graph& graph) {
  mode_ = Mode::replaying;
  replayed_ = &graph;
  next_input_ = 0;
}

void Cuda::launch_graph(const Graph& graph) {
  for (const Part& part : graph.parts) PF_CUDA(cudaGraphLaunch(part.executable, stream_));
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
  part_inputs_.push_back(last[0]);
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
                std::ptrdiff_t row_bytes, int height, Queue queue) {
  PF_CUDA(cudaMemcpy2DAsync(to, std::size_t(to_pitch), from, std::size_t(from_pitch), std::size_t(row_bytes),
                            std::size_t(height), cudaMemcpyDefault, stream_of(queue)));
}

cudaStream_t Cuda::stream_of(Queue queue) {
  if (queue == Queue::solves) return stream_;
  OwnStream& stream = queue == Queue::uploads ? uploads_ : downloads_;
  if (!stream.handle) {
    const cuda::Exclusive exclusive;
    stream.create();
  }
  return stream.handle;
}

void Cuda::mark(int mark, Queue queue) {
  while (marks_.size() <= std::size_t(mark)) marks_.emplace_back();
  cudaEvent_t& event = marks_[std::size_t(mark)].handle;
  if (!event) PF_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  PF_CUDA(cudaEventRecord(event, stream_of(queue)));
}

void Cuda::begin_after(int mark, Queue queue) {
  if (marks_.size() <= std::size_t(mark) || !marks_[std::size_t(mark)].handle) return;
  PF_CUDA(cudaStreamWaitEvent(stream_of(queue), marks_[std::size_t(mark)].handle, 0));
}

void Cuda::await(int mark) const { PF_CUDA(cudaEventSynchronize(marks_.at(std::size_t(mark)).handle)); }

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

void Cuda::share_memory(const void* kernel, int percent) const {
  if (mode_ == Mode::replaying) return;
  PF_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
}

}  // namespace parafield
