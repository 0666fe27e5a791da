// SPDX-License-Identifier: MIT
#include "common/cuda.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "measure.hpp"

namespace parafield::bench {
namespace {

class Graph {
 public:
  Graph(const Work& work, int turn) {
    const CudaStream stream;
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    work(stream, turn);
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
  ~Graph() { cudaGraphExecDestroy(executable_); }
  Graph(const Graph&) = delete;
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

Work as_graphs(const Work& work, int turns) {
  auto graphs = std::make_shared<std::vector<std::unique_ptr<Graph>>>();
  for (int turn = 0; turn < turns; ++turn) graphs->push_back(std::make_unique<Graph>(work, turn));
  return [graphs](cudaStream_t stream, int turn) {
    (*graphs)[std::size_t(turn) % graphs->size()]->launch(stream);
  };
}

double median_ms(const CudaStream& stream, const Work& work, Start start, int runs, int batch) {
  using Clock = std::chrono::steady_clock;
  int turn = 0;
  const auto all_turns = [&] {
    for (int i = 0; i < batch; ++i) work(stream, turn++);
  };
  double launching = 0;  // longest time that the host took, microseconds
  const int warm_up = std::max(1, std::min(10, runs / 5));
  for (int i = 0; i < warm_up; ++i) {
    const auto begin = Clock::now();
    all_turns();
    const double took = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    if (i > 0 || warm_up == 1) launching = std::max(launching, took);  // the first one loads kernels
    stream.synchronize();
  }
  const double held = std::min(1.5 * launching + 50, 20000.0);

  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  Timer timer(Device::cuda(device), Stream{cudaStream_t(stream)});
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    if (start == Start::queued) hold(stream, held);
    timer.start();
    all_turns();
    times.push_back(timer.stop() / batch);
  }
  return command::times_of(std::move(times)).median;
}

WorkTimes times_of(const CudaStream& stream, const Work& work, int turns, int runs) {
  const double launched = median_ms(stream, work, Start::idle, runs);
  const double device = median_ms(stream, work, Start::queued, runs);
  return {launched, median_ms(stream, as_graphs(work, turns), Start::idle, runs), device};
}

}  // namespace parafield::bench
