// SPDX-License-Identifier: MIT
// Calls of the progress callback.
#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "markov/random_frames.hpp"
#include "on.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

constexpr Size size{24, 16};

/// Shares that a callback received, and the threads that called it.
struct Received {
  std::mutex mutex;
  std::vector<double> shares;
  std::vector<std::thread::id> threads;

  auto callback() {
    return [this](double share) {
      const std::lock_guard lock(mutex);
      shares.push_back(share);
      threads.push_back(std::this_thread::get_id());
    };
  }
  std::vector<double> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(shares, {});
  }
};

/// Expects `count` shares that rise to 1.
void expect_whole(const std::vector<double>& shares, std::size_t count) {
  ASSERT_EQ(shares.size(), count);
  EXPECT_GT(shares.front(), 0);
  for (std::size_t i = 1; i < shares.size(); ++i) EXPECT_GT(shares[i], shares[i - 1]) << i;
  EXPECT_EQ(shares.back(), 1);
}

class ProgressTest : public OnDevice {
 protected:
  ProgressTest() : images_(size, 1) {}

  /// Shares that a call reports. Expects a second call to report the same.
  template <class Task, class Method>
  std::vector<double> shares(const Method& method, typename Task::Options options = {}) {
    Received received;
    options.progress = received.callback();
    Estimator<Task> estimator(method, size, on(device(), options));
    options.progress = {};  // the estimator has a copy
    const auto once = [&] {
      estimator(images_.frame0, images_.frame1);
      estimator.synchronize();
      return received.take();
    };
    const std::vector<double> first = once();
    EXPECT_EQ(once(), first) << "second call, which replays a graph on CUDA";
    for (const auto& thread : received.threads)
      EXPECT_EQ(thread == std::this_thread::get_id(), device().kind == Device::Kind::cpu);
    expect_same_without<Task>(method, options, estimator(images_.frame0, images_.frame1));
    estimator.synchronize();
    return first;
  }

  /// Expects the same result without a callback.
  template <class Task, class Method>
  void expect_same_without(const Method& method, const typename Task::Options& options,
                           const typename Task::Result& result) {
    Estimator<Task> estimator(method, size, on(device(), options));
    const auto& expected = estimator(images_.frame0, images_.frame1);
    estimator.synchronize();
    const auto confidence = result.confidence.to(Memory::host()),
               without = expected.confidence.to(Memory::host());
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        ASSERT_EQ(confidence(x, y), without(x, y)) << "at " << x << ", " << y;
  }

  RandomPair images_;
};

TEST_P(ProgressTest, CountsSweeps) {
  Icm<StereoEnergy> icm;
  icm.energy.disparities = 5;
  icm.energy.checks.lr_check = 0;  // one solve
  for (const SiteOrder order : {SiteOrder::all_at_once, SiteOrder::colored}) {
    icm.order = order;
    icm.sweeps = 4;
    EXPECT_EQ(shares<Stereo>(icm), (std::vector<double>{0.25, 0.5, 0.75, 1}));
    icm.sweeps = 130;
    expect_whole(shares<Stereo>(icm), 50);
    icm.sweeps = 0;
    EXPECT_TRUE(shares<Stereo>(icm).empty());
  }
  Annealing<ChangeEnergy> annealing;
  annealing.sweeps = 200;
  expect_whole(shares<Detection>(annealing), 50);
  expect_whole(shares<Detection>(annealing, {.energies = EnergyReport::sweeps}), 50);
  annealing.sweeps = 7;
  expect_whole(shares<Detection>(annealing), 7);
}

TEST_P(ProgressTest, CountsIterationsByTheirPixels) {
  BeliefPropagation<StereoEnergy> method;
  method.energy.disparities = 5;
  method.energy.checks.lr_check = 0;  // one solve
  method.levels = 2;
  method.iterations = 1;
  method.finest_iterations = -1;
  EXPECT_EQ(shares<Stereo>(method), (std::vector<double>{0.2, 1})) << "12x8 of 12x8 + 24x16 pixels";
  method.iterations = 200;
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    method.precision = precision;
    expect_whole(shares<Stereo>(method), 50);
    expect_whole(shares<Stereo>(method, {.energies = EnergyReport::sweeps}), 50);
  }
}

TEST_P(ProgressTest, CountsAllBlocks) {
  auto method = preset<BeliefPropagation<DisplacementEnergy>>("paper");
  method.energy.max_displacement = 1;
  method.levels = 1;
  method.iterations = 2;
  method.blocks = 4;
  EXPECT_EQ(shares<Flow>(method), (std::vector<double>{0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1}));
  method.levels = 5;
  method.iterations = 40;
  method.block_overlap = 2;
  expect_whole(shares<Flow>(method), 50);
}

TEST_P(ProgressTest, CountsTheSecondSolveOfACheck) {
  Icm<StereoEnergy> icm;
  icm.energy.disparities = 5;
  icm.sweeps = 2;
  const std::vector<double> quarters{0.25, 0.5, 0.75, 1};
  icm.energy.checks.lr_check = 1;
  EXPECT_EQ(shares<Stereo>(icm), quarters);
  auto method = preset<BeliefPropagation<DisplacementEnergy>>("paper");
  method.energy.max_displacement = 1;
  method.levels = 1;
  method.iterations = 2;
  // A CPU runs both iterations of a solve together.
  const bool cpu = device().kind == Device::Kind::cpu;
  EXPECT_EQ(shares<Flow>(method, {.fb_check = 1}), cpu ? std::vector<double>({0.5, 1}) : quarters);
  method.iterations = 300;
  expect_whole(shares<Flow>(method, {.fb_check = 1}), 50);
}

TEST_P(ProgressTest, IsSilentForMethodsWithoutSweeps) {
  WinnerTakesAll<StereoEnergy> winner;
  winner.energy.disparities = 5;
  winner.energy.checks.lr_check = 1;
  EXPECT_TRUE(shares<Stereo>(winner, {.energies = EnergyReport::result}).empty());
  EXPECT_TRUE(shares<Flow>(LucasKanade{}, {.fb_check = 1}).empty());
}

TEST_P(ProgressTest, CountsEachPairOfAStream) {
  Received received;
  Icm<ChangeEnergy> icm;
  icm.sweeps = 2;
  MotionDetector detector(icm, size, {.device = device(), .progress = received.callback()});
  detector.push(images_.frame0);
  detector.synchronize();
  EXPECT_TRUE(received.take().empty());
  for (int i = 0; i < 5; ++i) {
    detector.push(i % 2 == 0 ? images_.frame1 : images_.frame0);
    detector.synchronize();
    EXPECT_EQ(received.take(), (std::vector<double>{0.5, 1})) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, ProgressTest, every_device(), device_name);

}  // namespace
}  // namespace parafield
