// SPDX-License-Identifier: MIT
#pragma once
#include <cuda_runtime_api.h>

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "core/condition.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/runtime.hpp"
#include "core/queue.hpp"
#include "core/replay_key.hpp"
#include "core/step.hpp"
#include "parafield/image.hpp"

namespace parafield {

/// The CUDA backend: a device, a stream and the recorded graphs of its solves. Each cuda.cu defines its steps
/// for this backend. They launch every kernel through `launch` or `launch_input`.
class Cuda {
 public:
  static constexpr bool is_gpu = true;

  /// `throughput`: the device is shared with other estimators (see FlowOptions::throughput).
  Cuda(const Device& device, Stream stream, bool throughput = false);
  ~Cuda();
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;

  Memory memory() const { return Memory::cuda(device_); }
  Stream stream() const { return {stream_}; }
  void synchronize();
  std::size_t scratch_bytes() const { return 0; }
  void reserve_scratch(std::size_t) {}  // kernels use shared memory instead
  std::size_t free_memory() const { return available_memory(); }
  std::size_t available_memory() const;  // free memory of the device, bytes
  /// Multiprocessors that the kernels of a solve should fill: a quarter of the device for throughput, because
  /// kernels with large tiles do less work in all, and kernels of other estimators fill the rest.
  int multiprocessors() const { return throughput_ ? (multiprocessors_ + 3) / 4 : multiprocessors_; }
  /// Bytes of shared memory that a block can have.
  std::size_t shared_memory() const { return std::size_t(shared_memory_); }
  /// From now on recorded kernels ask for `percent` of a multiprocessor's memory as shared memory; the rest
  /// is cache. A multiprocessor changes its share only when no block is on it: so kernels that run beside
  /// each other need one.
  void prefer_shared_memory(int percent) { shared_percent_ = percent; }
  /// Makes the device the thread's current one as long as the result lives.
  cuda::CurrentDevice activate() const { return cuda::CurrentDevice(device_); }
  void cancelled_by(const std::atomic<bool>&) {}  // work that the device has begun runs to its end

  /// Runs the steps of a solve. The first time for a key, it records them into a graph and launches the
  /// graph. Later it runs the steps on the host only to give the kernels of `launch_input` their new
  /// arguments, and launches the graph as soon as the last one has them. So for one key the steps must launch
  /// the same kernels. Their arguments must be the same, too, except those of `launch_input`. Steps after the
  /// last of those write nothing that the graph reads.
  template <class Steps>
  void replay(const ReplayKey& key, Steps steps) {
    const auto graph = graphs_.find(key);
    if (graph == graphs_.end()) return launch_graph(record(key, steps));
    begin_replay(graph->second);
    steps();
    end_replay();
  }

  /// Runs decide(condition), and then steps if a kernel of it has decided so (see kernel.cuh). `value`, in
  /// the device's memory, is the condition's. Drivers before 12.4 cannot leave steps out: so nothing but the
  /// last step may write what others read, and it has to look at *value itself. The steps launch no inputs.
  template <class Decide, class Steps>
  void only_if(int* value, Decide decide, Steps steps) {
    if (mode_ == Mode::replaying) return;
    if (!has_conditions_) {
      decide(Condition{value});
      return steps();
    }
    const unsigned long long handle = make_condition();
    decide(Condition{value, handle});
    begin_condition(handle);
    try {
      steps();
    } catch (...) {
      abandon_condition();
      throw;
    }
    end_condition();
  }

  /// Runs two groups of steps, of which neither reads what the other writes, at the same time. They launch no
  /// inputs.
  template <class Aside, class Steps>
  void beside(Aside aside, Steps steps) {
    if (mode_ == Mode::replaying) return;
    begin_aside();
    aside();
    end_aside();
    steps();
    join_aside();
  }

  /// For throughput, launches the next kernel only when the kernels before it have ended. Launched early, its
  /// blocks would occupy multiprocessors while they wait for a long kernel, and keep other estimators off them.
  void hold_next_for_throughput() { waits_ = waits_ || throughput_; }

  /// Launches a kernel that uses only the workspace and the estimator's own results. Its arguments are
  /// recorded.
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
              const Arguments&... arguments) {
    if (mode_ == Mode::replaying) return;
    std::tuple<Parameters...> values{Parameters(arguments)...};
    std::apply(
        [&](auto&... value) {
          void* pointers[] = {&value...};
          launch_with(reinterpret_cast<const void*>(kernel), grid, block, shared_bytes, pointers, false);
        },
        values);
  }

  /// Launches a kernel that reads the user's memory. Each replay gives it its arguments anew.
  template <class... Parameters, class... Arguments>
  void launch_input(void (*kernel)(Parameters...), dim3 grid, dim3 block, const Arguments&... arguments) {
    std::tuple<Parameters...> values{Parameters(arguments)...};
    std::apply(
        [&](auto&... value) {
          void* pointers[] = {&value...};
          launch_with(reinterpret_cast<const void*>(kernel), grid, block, 0, pointers, true);
        },
        values);
  }

  /// Calls (*callback)(share) each time that the kernels before it have run. A thread of the driver makes the
  /// call. It is a node of the graph, so a replay has nothing to set.
  void notify(const std::shared_ptr<const std::function<void(double)>>& callback, double share);

  /// Copies rows of bytes between host and device, in the order of a queue.
  void copy(void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
            std::ptrdiff_t row_bytes, int height, Queue queue = Queue::solves);
  /// Marks what the queue has so far. A mark is a number from 0 on, and stands for what it marked last.
  void mark(int mark, Queue queue);
  /// What the queue gets from now on begins when what is marked has ended; at once, if nothing is.
  void begin_after(int mark, Queue queue);
  /// Waits until what is marked has ended.
  void await(int mark) const;

  /// Allows a kernel so many bytes of dynamic shared memory: raises the kernel's limit, or throws
  /// Error(unsupported).
  void allow_shared_memory(const void* kernel, std::size_t bytes) const;
  /// Asks that so many percent of a multiprocessor's memory are shared memory while the kernel runs, and the rest
  /// is L1 cache. Otherwise the driver decides.
  void share_memory(const void* kernel, int percent) const;

 private:
  enum class Mode { recording, replaying };
  /// A part of a recorded solve.
  struct Part {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    int device = 0;
    bool has_condition = false;

    Part() = default;
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
  };
  /// A node of launch_input.
  struct Input {
    cudaGraphExec_t executable = nullptr;
    cudaGraphNode_t node = nullptr;
  };
  /// A recorded solve. What is under a condition is a part by itself, without inputs: a replay leaves it as it
  /// is.
  struct Graph {
    std::deque<Part> parts;     // launched one after the other
    std::vector<Input> inputs;  // in order
  };
  /// A stream that does not wait for the legacy stream. It is destroyed with the backend.
  struct OwnStream {
    cudaStream_t handle = nullptr;  // null until create()

    OwnStream() = default;
    ~OwnStream();
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;
    void create();
  };

  /// An event that is destroyed with the backend.
  struct OwnEvent {
    cudaEvent_t handle = nullptr;

    OwnEvent() = default;
    ~OwnEvent();
    OwnEvent(const OwnEvent&) = delete;
    OwnEvent& operator=(const OwnEvent&) = delete;
  };

  /// A call that `notify` has recorded.
  struct Notice {
    std::shared_ptr<const std::function<void(double)>> callback;
    double share = 0;
  };

  /// The stream of a queue, made when it is first used.
  cudaStream_t stream_of(Queue queue);
  /// Records the steps of a solve.
  template <class Steps>
  const Graph& record(const ReplayKey& key, Steps& steps) {
    const cuda::Exclusive exclusive;
    begin_recording();
    try {
      steps();
    } catch (...) {
      abandon_recording();
      throw;
    }
    return end_recording(key);
  }
  void begin_recording();
  const Graph& end_recording(const ReplayKey& key);
  void abandon_recording();
  void begin_part();
  void end_part(bool has_condition);
  void begin_aside();
  void end_aside();
  void join_aside();
  /// Begins a part that ends with a condition. Returns the condition's handle.
  unsigned long long make_condition();
  void begin_condition(unsigned long long handle);
  void end_condition();
  void abandon_condition();
  void begin_replay(Graph& graph);
  /// Launches a graph without inputs. Others are launched with their last input.
  void end_replay();
  void launch_graph(const Graph& graph);
  void launch_with(const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes, void** arguments,
                   bool is_input);

  int device_;
  const bool throughput_;
  int multiprocessors_ = 0;
  int shared_memory_ = 0;
  int shared_percent_ = -1;      // -1: each kernel has its own share
  bool has_conditions_ = false;  // whether graphs can leave out a part
  bool overlaps_ = false;        // kernels may begin before the one before has ended: see begin_kernel
  OwnStream own_stream_;
  OwnStream uploads_, downloads_;
  std::deque<OwnEvent> marks_;
  OwnStream recorder_;                // kernels are only captured on it; it runs none
  OwnStream part_recorder_;           // the same, for the part of a graph under a condition
  OwnStream side_recorder_;           // the same, for steps beside others
  cudaStream_t recording_ = nullptr;  // the one of the three that captures now
  bool waits_ = false;                // the next kernel begins only when those before it have ended
  cudaStream_t stream_ = nullptr;     // the graphs run on it: own_stream_, or the user's
  Mode mode_ = Mode::recording;
  Graph* replayed_ = nullptr;
  std::size_t next_input_ = 0;
  Graph recorded_;                            // what has been recorded so far
  std::vector<cudaGraphNode_t> part_inputs_;  // of the part that is being recorded
  std::map<ReplayKey, Graph> graphs_;
  std::deque<Notice> notices_;  // of all graphs; their nodes point here
};

/// Number of blocks of `size` that cover `count`.
inline unsigned blocks_for(int count, int size) { return unsigned((count + size - 1) / size); }

}  // namespace parafield
