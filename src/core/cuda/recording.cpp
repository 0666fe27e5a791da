// SPDX-License-Identifier: MIT
// The CUDA backend's graphs: how a solve is recorded and launched.
#include <cxxabi.h>

#include <cstdlib>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>

#include "core/cuda/backend.hpp"

namespace parafield {

namespace {

/// Unused executables of graphs with a condition, kept for reuse. The driver waits until the whole device is
/// idle when it destroys such an executable, and when many of them make it allocate more memory. Therefore a
/// graph with the same structure takes over a spare executable: a new estimator like an earlier one
/// instantiates none.
class SpareExecutables {
 public:
  /// Returns an executable of the same device whose structure matches the graph, updated to run the graph;
  /// null if there is none.
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

  /// Keeps the executable. Beyond `most`, destroys the oldest.
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
  static constexpr std::size_t most = 128;  // "many" in docs/guides/threads.md
  struct Spare {
    int device;
    cudaGraphExec_t executable;
  };
  std::mutex mutex_;
  std::deque<Spare> spares_;
};

SpareExecutables& spare_executables() {  // live until the process ends: estimators may be destroyed at exit
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

void Cuda::begin_recording() {
  mode_ = Mode::recording;
  asides_ = 0;
  recorded_ = {};
  recording_ = recorder_.get();
  begin_part();
}

void Cuda::begin_part() {
  part_inputs_.clear();
  waits_ = false;
  PF_CUDA(cudaStreamBeginCapture(recorder_.get(), cudaStreamCaptureModeRelaxed));
}

void Cuda::end_part(bool has_condition) {
  Part& part = recorded_.parts.emplace_back();
  PF_CUDA(cudaStreamEndCapture(recorder_.get(), &part.graph));
  std::size_t nodes = 0;
  PF_CUDA(cudaGraphGetNodes(part.graph, nullptr, &nodes));
  if (nodes == 0) return recorded_.parts.pop_back();
  part.device = device_;
  part.has_condition = has_condition;
  if (has_condition) part.executable = spare_executables().take(device_, part.graph);
  if (!part.executable) PF_CUDA(cudaGraphInstantiate(&part.executable, part.graph, 0));
  for (const cudaGraphNode_t node : part_inputs_) recorded_.inputs.push_back({part.executable, node});
}

const Cuda::Graph& Cuda::end_recording(const ReplayKey& key) {
  end_part(false);
  return graphs_.insert_or_assign(key, std::exchange(recorded_, {})).first->second;
}

void Cuda::abandon_recording() {
  cudaGraph_t partial = nullptr;
  cudaStreamEndCapture(recorder_.get(), &partial);
  if (partial) cudaGraphDestroy(partial);
  cudaGetLastError();
  recorded_ = {};
}

namespace {

/// Makes whatever `stream` captures from now on depend on everything that `other` has captured so far.
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
  if (asides_ == std::ssize(side_recorders_)) fail(ErrorCode::device, "too many groups of steps run at once");
  const cudaStream_t side = side_recorders_[asides_++].get();
  follow(side, recorder_.get());
  recording_ = side;
  waits_ = true;
}

void Cuda::end_aside() {
  recording_ = recorder_.get();
  waits_ = false;
}

void Cuda::join_aside() {
  follow(recorder_.get(), side_recorders_[--asides_].get());
  waits_ = true;
}

#if CUDART_VERSION >= 12040

namespace {

/// The graph that a stream is capturing into, and the nodes that the next node would depend on.
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
  PF_CUDA(cudaStreamBeginCaptureToGraph(part_recorder_.get(), parameters.conditional.phGraph_out[0], nullptr,
                                        nullptr, 0, cudaStreamCaptureModeRelaxed));
  recording_ = part_recorder_.get();
}

void Cuda::end_condition() {
  recording_ = recorder_.get();
  cudaGraph_t part = nullptr;  // owned by the enclosing graph
  PF_CUDA(cudaStreamEndCapture(part_recorder_.get(), &part));
  end_part(true);
  begin_part();
}

void Cuda::abandon_condition() {
  recording_ = recorder_.get();
  cudaGraph_t part = nullptr;
  cudaStreamEndCapture(part_recorder_.get(), &part);
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
  next_launch_ = 0;
}

void Cuda::end_replay() {
  const std::size_t count = replayed_->inputs.size();
  if (next_input_ != count)
    fail(ErrorCode::device, "a replay gave ", next_input_, " of ", count, " kernels their arguments");
  if (next_launch_ != replayed_->launches.size())
    fail(ErrorCode::device, "a replay launched ", next_launch_, " of ", replayed_->launches.size(),
         " kernels");
  if (count == 0) launch_graph(*replayed_);
}

/// The name of a kernel, with its types where the runtime knows it.
static std::string name_of(const void* kernel) {
#if CUDART_VERSION >= 12030
  if (const char* mangled = nullptr; cudaFuncGetName(&mangled, kernel) == cudaSuccess) {
    char* const name = abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
    const std::string text = name ? name : mangled;
    std::free(name);
    return text;
  }
  cudaGetLastError();
#endif
  return text("kernel ", kernel);
}

const void* Cuda::recorded_values(const void* kernel) {
  const auto& launches = replayed_->launches;
  if (next_launch_ == launches.size())
    fail(ErrorCode::device, "a replay launches ", name_of(kernel), " after all ", launches.size(),
         " recorded kernels");
  const RecordedLaunch& recorded = launches[next_launch_++];
  if (recorded.kernel != kernel)
    fail(ErrorCode::device, "a replay launches ", name_of(kernel), ", recorded was ",
         name_of(recorded.kernel));
  return recorded.values.get();
}

void Cuda::fail_launch(const void* kernel, std::size_t difference) {
  constexpr const char* shape[] = {"grid", "block", "shared memory"};
  fail(ErrorCode::device, "a replay launches ", name_of(kernel), " with another ",
       difference < std::size(shape) ? shape[difference] : text("argument ", difference - std::size(shape)),
       " than was recorded");
}

void Cuda::launch_graph(const Graph& graph) {
  for (const Part& part : graph.parts) PF_CUDA(cudaGraphLaunch(part.executable, stream_));
}

}  // namespace parafield
