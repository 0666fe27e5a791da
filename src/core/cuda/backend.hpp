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
#include <type_traits>
#include <vector>

#include "core/backend_interface.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/recorded_launch.hpp"
#include "core/cuda/runtime.hpp"
#include "core/step.hpp"
#include "parafield/image.hpp"

namespace parafield {

/// The CUDA backend: a device, a stream and the recorded graphs of its solves. Each cuda.cu defines its steps
/// for this backend; steps must launch every kernel through `launch` or `launch_input`.
class Cuda {
 public:
  static constexpr bool is_gpu = true;
  /// Whether replays check that they launch what was recorded.
#ifdef PARAFIELD_CHECK_REPLAYS
  static constexpr bool checks_replays = true;
#else
  static constexpr bool checks_replays = false;
#endif

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
  std::size_t free_memory() const;      // currently unused memory of the device, bytes
  /// Largest amount of memory that a solve may plan with. Here it is free_memory(), because a device has no
  /// swap.
  std::size_t usable_memory() const { return free_memory(); }
  /// Number of SMs that the kernels of a solve should fill: a quarter of the device for throughput, because
  /// kernels with larger tiles do less work in total, and the other estimators' kernels fill the rest.
  int multiprocessors() const { return throughput_ ? (multiprocessors_ + 3) / 4 : multiprocessors_; }
  /// Largest dynamic shared memory of a block, bytes.
  std::size_t shared_memory() const { return std::size_t(shared_memory_); }
  /// From now on, recorded kernels request `percent` of an SM's on-chip memory as shared memory; the rest is
  /// L1 cache. An SM changes this share only when no block runs on it, so kernels that should run
  /// concurrently need the same share.
  void prefer_shared_memory(int percent) { shared_percent_ = percent; }
  /// Makes the device the thread's current one while the result lives.
  cuda::CurrentDevice activate() const { return cuda::CurrentDevice(device_); }
  void cancelled_by(const std::atomic<bool>&) {}  // work that the device has begun runs to its end

  /// Runs the steps of a solve. The first call with a key records them into a graph and launches it. Later
  /// calls with the key are replays: they run the steps on the host only to give the kernels of
  /// `launch_input` new arguments, and launch the graph as soon as the last of these kernels has them.
  ///
  /// For one key, the steps must always launch the same kernels, with the same arguments except in
  /// `launch_input`. Steps after the last `launch_input` must not write anything that the graph reads,
  /// because a replay has launched the graph by then. A build with PARAFIELD_CHECK_REPLAYS throws
  /// Error(device) if a replay would launch other kernels or arguments.
  template <class Steps>
  void replay(const ReplayKey& key, Steps steps) {
    const auto graph = graphs_.find(key);
    if (graph == graphs_.end()) return launch_graph(record(key, steps));
    begin_replay(graph->second);
    steps();
    end_replay();
  }

  /// Runs decide(condition), and then the steps if a kernel of `decide` has decided so (see kernel.cuh).
  /// `value` is the condition's value, in the device's memory. Drivers before 12.4 cannot skip steps:
  /// therefore only the last of the steps may write what code outside them reads, and it must check *value
  /// itself. The steps must not call `launch_input`.
  template <class Decide, class Steps>
  void only_if(int* value, Decide decide, Steps steps) {
    if (skips_launches()) return;
    if (!has_conditions_ || mode_ == Mode::replaying) {
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

  /// Runs two groups of steps concurrently. Neither may read what the other writes, nor call `launch_input`.
  /// The second group may call it again.
  template <class Aside, class Steps>
  void beside(Aside aside, Steps steps) {
    if (skips_launches()) return;
    if (mode_ == Mode::replaying) {
      aside();
      return steps();
    }
    begin_aside();
    aside();
    end_aside();
    steps();
    join_aside();
  }

  /// For throughput, makes the next kernel launch only when all preceding kernels have ended. Launched early,
  /// its blocks would occupy the SMs while they wait for a long kernel, and keep other estimators off them.
  void hold_next_for_throughput() { waits_ = waits_ || throughput_; }

  /// Launches a kernel that uses only the workspace and the estimator's own results. Its arguments are
  /// recorded once; a replay reuses them.
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
              const Arguments&... arguments) {
    if (skips_launches()) return;
    std::tuple<Parameters...> values{Parameters(arguments)...};
    const auto* const address = reinterpret_cast<const void*>(kernel);
    if constexpr (checks_replays)
      check_launch(address, std::tuple_cat(std::tuple(grid, block, shared_bytes), values));
    if (mode_ == Mode::replaying) return;
    std::apply(
        [&](auto&... value) {
          void* pointers[] = {&value...};
          launch_with(address, grid, block, shared_bytes, pointers, false);
        },
        values);
  }

  /// Launches a kernel that reads or writes the user's memory. Each replay sets its arguments again.
  template <class... Parameters, class... Arguments>
  void launch_input(void (*kernel)(Parameters...), dim3 grid, dim3 block, const Arguments&... arguments) {
    std::tuple<Parameters...> values{Parameters(arguments)...};
    const auto* const address = reinterpret_cast<const void*>(kernel);
    if constexpr (checks_replays) check_launch(address, std::tuple<>());
    std::apply(
        [&](auto&... value) {
          void* pointers[] = {&value...};
          launch_with(address, grid, block, 0, pointers, true);
        },
        values);
  }

  /// Calls (*callback)(share) each time the solve has run all preceding kernels. The call is a node of the
  /// graph, and a thread of the driver makes it. Steps of `only_if` must not call it: CUDA allows no such
  /// node under a condition.
  void notify(const std::shared_ptr<const std::function<void(double)>>& callback, double share);

  /// Copies rows of bytes between host and device, in the order of the queue and outside any recorded graph.
  /// Asynchronous unless the host memory is pageable.
  void copy(void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
            std::ptrdiff_t row_bytes, int height, Queue queue = Queue::solves);
  /// Marks all work that the queue has so far. `mark` is a number from 0; marking again replaces what it
  /// marked.
  void mark(int mark, Queue queue);
  /// Work added to the queue from now on starts only after the marked work has ended. Does nothing for an
  /// unused mark.
  void begin_after(int mark, Queue queue);
  /// Blocks until the marked work has ended. The mark must have been set.
  void await(int mark) const;

  /// Ensures that a kernel can be launched with `bytes` of dynamic shared memory: raises the kernel's limit,
  /// or throws Error(unsupported) if the device has less.
  void allow_shared_memory(const void* kernel, std::size_t bytes) const;
  /// Requests `percent` of an SM's on-chip memory as shared memory while the kernel runs; the rest is L1
  /// cache. Without this, the driver decides.
  void share_memory(const void* kernel, int percent) const;

 private:
  enum class Mode { recording, replaying };
  /// A part of a recorded solve: one CUDA graph.
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
  /// A node that `launch_input` recorded.
  struct Input {
    cudaGraphExec_t executable = nullptr;
    cudaGraphNode_t node = nullptr;
  };
  /// A recorded solve. Steps under a condition are in a part of their own, without inputs, which a replay
  /// never changes.
  struct Graph {
    std::deque<Part> parts;                // launched in order
    std::vector<Input> inputs;             // in the order of launch
    std::vector<RecordedLaunch> launches;  // in the order of launch; only if checks_replays
  };
  struct Destroy {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  using OwnStream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy>;
  using OwnEvent = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy>;

  /// A call that `notify` recorded.
  struct Notice {
    std::shared_ptr<const std::function<void(double)>> callback;
    double share = 0;
  };

  /// The stream of a queue, created on first use.
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
  /// Begins a part that will end with a condition. Returns the condition's handle.
  unsigned long long make_condition();
  void begin_condition(unsigned long long handle);
  void end_condition();
  void abandon_condition();
  /// Whether this is a replay that does not check its launches against the recorded ones.
  bool skips_launches() const { return mode_ == Mode::replaying && !checks_replays; }
  /// Keeps the values of a recorded launch. In a replay, throws Error(device) if they differ from the
  /// recorded ones.
  template <class Values>
  void check_launch(const void* kernel, const Values& values) {
    if (mode_ == Mode::recording) {
      recorded_.launches.push_back({kernel, std::make_shared<const Values>(values)});
      return;
    }
    const auto& recorded = *static_cast<const Values*>(recorded_values(kernel));
    const std::size_t difference = first_difference(recorded, values);
    if (difference != std::tuple_size_v<Values>) fail_launch(kernel, difference);
  }
  /// The values of the launch that a replay checks next. Throws Error(device) unless the kernel is the same.
  const void* recorded_values(const void* kernel);
  [[noreturn]] static void fail_launch(const void* kernel, std::size_t difference);
  void begin_replay(Graph& graph);
  /// Launches the graph if it has no inputs. A graph with inputs was launched with its last input.
  void end_replay();
  void launch_graph(const Graph& graph);
  void launch_with(const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes, void** arguments,
                   bool is_input);

  int device_;
  const bool throughput_;
  int multiprocessors_ = 0;
  int shared_memory_ = 0;
  int shared_percent_ = -1;      // -1: each kernel keeps its own setting
  bool has_conditions_ = false;  // whether graphs can skip a part
  bool overlaps_ = false;        // kernels may begin before the preceding kernel has ended: see kernel.cuh
  OwnStream own_stream_;
  OwnStream uploads_, downloads_;
  std::vector<OwnEvent> marks_;
  OwnStream recorder_;                // kernels are captured on it; it never runs any
  OwnStream part_recorder_;           // the same, for the steps under a condition
  OwnStream side_recorders_[2];       // the same, for the first group of steps of `beside`
  int asides_ = 0;                    // side recorders in use
  cudaStream_t recording_ = nullptr;  // whichever of them is capturing now
  bool waits_ = false;                // the next kernel begins only when all preceding kernels have ended
  cudaStream_t stream_ = nullptr;     // runs the graphs: own_stream_, or the user's stream
  Mode mode_ = Mode::recording;
  Graph* replayed_ = nullptr;
  std::size_t next_input_ = 0, next_launch_ = 0;
  Graph recorded_;                            // the solve that is being recorded
  std::vector<cudaGraphNode_t> part_inputs_;  // nodes of `launch_input` in the part being recorded
  std::map<ReplayKey, Graph> graphs_;
  std::deque<Notice> notices_;  // of all graphs; their nodes point into it
};

/// Number of blocks of `size` that cover `count`.
inline unsigned blocks_for(int count, int size) { return unsigned((count + size - 1) / size); }

}  // namespace parafield
