// SPDX-License-Identifier: MIT
// Estimators on many threads: made, used, moved and destroyed at once, with the results of one alone.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>

#include "targets.hpp"
#include "tasks/any_case.hpp"
#include "tasks/on_device.hpp"
#ifdef PARAFIELD_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace parafield {
namespace {

constexpr int thread_count = 16;

/// Number of estimators that each thread makes. With sanitizers, each case occurs once or twice.
/// PARAFIELD_TEST_ROUNDS sets another number.
int rounds() {
  const char* asked = std::getenv("PARAFIELD_TEST_ROUNDS");
  return asked ? std::atoi(asked) : sanitized ? 6 : 50;
}

/// f(thread) on many threads at once. The first failure is thrown.
template <class F>
void on_threads(int count, F f) {
  std::vector<std::future<void>> threads;
  for (int i = 0; i < count; ++i) threads.push_back(std::async(std::launch::async, [=] { f(i); }));
  for (std::future<void>& thread : threads) thread.get();
}

class ManyThreadsOn : public OnDevice {
 protected:
  bool cuda() const { return device().kind == Device::Kind::cuda; }
};

TEST_P(ManyThreadsOn, GiveTheResultsOfOneAlone) {
  const Size large = sanitized ? Size{70, 20} : Size{90, 50};
  const std::vector<AnyCase> cases = every_case({{17, 9}, {40, 31}, large});
  const Device one_thread = cuda() ? device() : Device::cpu(1);
  std::vector<std::uint64_t> expected;  // sanitizers look for races: other builds compare results
  if (!sanitized)
    for (const AnyCase& each : cases) expected.push_back(each.run(one_thread, false));
  std::atomic<int> wrong = 0;
  on_threads(thread_count, [&](int thread) {
    for (int i = 0; i < rounds(); ++i) {
      const std::size_t which = std::size_t(thread * rounds() + i) % cases.size();
      const Device here = cuda() ? device() : Device::cpu(1 + (thread + i) % 3);
      const std::uint64_t hash = cases[which].run(here, cuda() && (thread + i) % 2 == 1);
      if (sanitized || hash == expected[which]) continue;
      ++wrong;
      ADD_FAILURE() << "thread " << thread << ", round " << i << ": " << cases[which].name;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(ManyThreadsOn, AnEstimatorGoesFromThreadToThread) {
  const Scene scene = render_scene("translation", {.size = {64, 48}, .frames = 3});
  std::uint64_t expected = 0;
  for (int i = 0; i < 3; ++i) {
    FlowEstimator made = std::async(std::launch::async, [&] {
                           return FlowEstimator(AdaptiveRidge{}, {64, 48}, {.device = device()});
                         }).get();
    std::uint64_t hash = 0;
    std::thread([&] {
      for (const FrameBuffer& frame : scene.frames)
        if (const FlowField* flow = made.push(frame)) hash = hash_of(*flow, hash);
    }).join();
    std::thread([moved = std::move(made)] {}).join();
    if (i == 0) expected = hash;
    EXPECT_EQ(hash, expected);
  }
}

TEST_P(ManyThreadsOn, OneCallEndsWhenAnotherThreadCancels) {
  const Size size{100, 75};
  const Scene scene = render_scene("layers", {.size = size});
  std::promise<void> begun;
  std::atomic<bool> told = false;
  FlowEstimator estimator(Annealing<DisplacementEnergy>{.energy = {.max_displacement = 3}, .sweeps = 100},
                          size, {.device = device(), .progress = [&](double) {
                                   if (!told.exchange(true)) begun.set_value();
                                 }});
  std::thread other([&] {
    begun.get_future().wait();
    estimator.cancel();
  });
  const auto code_of_call = [&] {
    try {
      estimator(scene.frames[0], scene.frames[1]);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::format;  // none
  };
  const ErrorCode first = code_of_call();
  other.join();
  EXPECT_TRUE(cuda() || first == ErrorCode::cancelled) << "on CUDA a solve that has begun ends";
  EXPECT_EQ(code_of_call(), ErrorCode::cancelled) << "until reset";
  estimator.reset();
  const std::uint64_t after = hash_of(estimator(scene.frames[0], scene.frames[1]));
  FlowEstimator fresh(estimator.method(), size, {.device = device()});
  EXPECT_EQ(after, hash_of(fresh(scene.frames[0], scene.frames[1])));
}

INSTANTIATE_TEST_SUITE_P(Devices, ManyThreadsOn, every_device(), device_name);

#ifdef PARAFIELD_HAS_CUDA

class ManyThreadsCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  }
};

TEST_F(ManyThreadsCuda, TheProgramsOwnCapturesGoOn) {
  const std::vector<AnyCase> cases = every_case({{40, 31}});
  std::atomic<bool> ended = false;
  std::atomic<int> captures = 0, failures = 0;
  std::future<void> user = std::async(std::launch::async, [&] {  // in CUDA's strictest mode
    cudaStream_t stream = nullptr;
    void* memory = nullptr;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) || cudaMalloc(&memory, 4096)) ++failures;
    while (!ended) {
      cudaGraph_t graph = nullptr;
      failures += cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) != cudaSuccess;
      for (int i = 0; i < 20; ++i) failures += cudaMemsetAsync(memory, i, 4096, stream) != cudaSuccess;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      failures += cudaStreamEndCapture(stream, &graph) != cudaSuccess;
      if (graph) cudaGraphDestroy(graph);
      ++captures;
    }
    cudaFree(memory);
    cudaStreamDestroy(stream);
  });
  EXPECT_EQ(message_of([&] {
              on_threads(8, [&](int thread) {
                for (std::size_t i = 0; i < cases.size(); ++i)
                  cases[(i + std::size_t(thread)) % cases.size()].run(Device::cuda(), thread % 2 == 1);
              });
            }),
            "no error");
  ended = true;
  user.get();
  EXPECT_GT(captures, 10);
  EXPECT_EQ(failures, 0);
}

TEST_F(ManyThreadsCuda, NothingWaitsForTheWholeDevice) {
  std::vector<AnyCase> cases = every_case({{40, 31}});
  for (const UseOfMatches matches : {UseOfMatches::automatic, UseOfMatches::always, UseOfMatches::never})
    cases.push_back(case_of<Flow>(AdaptiveRidge{.matches = matches}, {40, 31}));
  for (const AnyCase& each : cases)
    for (const bool device_frames : {false, true})
      each.run(Device::cuda(), device_frames);  // CUDA loads their kernels, which may wait for the device
  // A stream that stands still until it is told to go on, and a legacy stream behind it.
  static std::atomic<bool> go_on;
  go_on = false;
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 4096), cudaSuccess);
  const auto wait = [](void*) {
    while (!go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  ASSERT_EQ(cudaLaunchHostFunc(blocking, wait, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(memory, 0, 4096, blocking), cudaSuccess);
  std::atomic<std::size_t> which = 0;
  std::future<void> work = std::async(std::launch::async, [&] {
    for (; which < cases.size(); ++which) {
      cases[which].run(Device::cuda(), false);
      cases[which].run(Device::cuda(), true);
    }
  });
  const bool done = work.wait_for(std::chrono::seconds(120)) == std::future_status::ready;
  const std::size_t reached = which;
  go_on = true;
  EXPECT_TRUE(done) << "waited for another stream: " << cases[reached].name;
  work.get();
  cudaStreamSynchronize(blocking);
  cudaFree(memory);
  cudaStreamDestroy(blocking);
}

TEST_F(ManyThreadsCuda, AStreamWaitsForAnotherAndNoThreadDoes) {
  on_threads(4, [](int) {
    cudaStream_t first = nullptr, second = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), cudaSuccess);
    for (int i = 0; i < 20; ++i) {
      std::atomic<bool> go_on = false;
      int order = 0, first_at = 0, second_at = 0;
      struct Note {
        std::atomic<bool>* go_on;
        int &order, &at;
      } at_first{&go_on, order, first_at}, at_second{nullptr, order, second_at};
      const auto note = [](void* data) {
        const Note& self = *static_cast<Note*>(data);
        while (self.go_on && !*self.go_on) std::this_thread::sleep_for(std::chrono::microseconds(100));
        self.at = ++self.order;
      };
      ASSERT_EQ(cudaLaunchHostFunc(first, note, &at_first), cudaSuccess);
      wait_for(Device::cuda(), {second}, {first});
      ASSERT_EQ(cudaLaunchHostFunc(second, note, &at_second), cudaSuccess);
      EXPECT_EQ(cudaStreamQuery(second), cudaErrorNotReady);
      go_on = true;
      ASSERT_EQ(cudaStreamSynchronize(second), cudaSuccess);
      EXPECT_EQ(first_at, 1);
      EXPECT_EQ(second_at, 2);
    }
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
  });
}

TEST_F(ManyThreadsCuda, AnEstimatorGoesWhenItsWorkIsDone) {
  const Size size{640, 480};
  const Scene scene = render_scene("rotation", {.size = size});
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  FrameBuffer frames[2];
  for (int i = 0; i < 2; ++i) {
    frames[i] = FrameBuffer(size, PixelFormat::gray_u8, Memory::cuda());
    const Frame from = scene.frames[std::size_t(i)], to = frames[i];
    detail::copy(const_cast<void*>(to.data), to.pitch, to.memory, from.data, from.pitch, from.memory,
                 size.width, size.height);
  }
  for (int i = 0; i < 5; ++i) {
    FlowField flow(size, Memory::cuda());
    auto estimator = std::make_unique<FlowEstimator>(
        AdaptiveRidge{}, size, FlowOptions{.device = Device::cuda(), .stream = {stream}});
    const std::array<Frame, 2> input = {frames[0], frames[1]};
    (*estimator)({.frames = input}, flow);  // loads the kernels: that may wait for every stream
    std::atomic<bool> go_on = false;
    const auto wait = [](void* data) {
      while (!*static_cast<std::atomic<bool>*>(data))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    ASSERT_EQ(cudaLaunchHostFunc(stream, wait, &go_on), cudaSuccess);
    (*estimator)({.frames = input}, flow);
    std::future<void> gone = std::async(std::launch::async, [&] { estimator.reset(); });
    EXPECT_EQ(gone.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    go_on = true;
    gone.get();
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    const FlowField expected =
        estimate_flow(scene.frames[0], scene.frames[1], AdaptiveRidge{}, {.device = Device::cuda()});
    expect_same(flow.to(Memory::host()), expected);
  }
  cudaStreamDestroy(stream);
}

#endif

}  // namespace
}  // namespace parafield
