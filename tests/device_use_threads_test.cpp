// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "core/device_use.hpp"

namespace parafield {
namespace {

constexpr int a_device = 1000;  // that no estimator of the process uses

bool solve(std::deque<DeviceUse>& uses, int times = 1) {
  bool shares = false;
  for (int i = 0; i < times; ++i)
    for (DeviceUse& use : uses) shares = use.begin_solve();
  return shares;
}

TEST(DeviceUse, IsSharedBySeveralThatSolveInTurn) {
  for (int count = 1; count <= 8; ++count) {
    std::deque<DeviceUse> uses;
    for (int i = 0; i < count; ++i) uses.emplace_back(a_device);
    EXPECT_EQ(solve(uses), count >= DeviceUse::several) << count;
    EXPECT_EQ(solve(uses, 50), count >= DeviceUse::several) << count;
  }
}

TEST(DeviceUse, IsSharedByThoseThatPushEightFramesBeforeTheyWait) {
  std::deque<DeviceUse> uses;
  for (int i = 0; i < 8; ++i) uses.emplace_back(a_device);
  solve(uses, 3);
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(uses[std::size_t(i / 8 % 8)].begin_solve()) << i;
}

TEST(DeviceUse, IsNotSharedWithThoseThatRestOrAreGone) {
  std::optional<std::deque<DeviceUse>> others(std::in_place);
  for (int i = 0; i < 5; ++i) others->emplace_back(a_device);
  DeviceUse one(a_device);
  EXPECT_FALSE(one.begin_solve()) << "the others have not solved anything";
  solve(*others);
  EXPECT_TRUE(one.begin_solve());
  for (int i = 0; i < DeviceUse::recent; ++i) one.begin_solve();
  EXPECT_FALSE(one.begin_solve()) << "the others rest";
  solve(*others);
  EXPECT_TRUE(one.begin_solve());
  others.reset();
  EXPECT_FALSE(one.begin_solve()) << "the others are gone";
}

TEST(DeviceUse, IsNotSharedWithThoseWhoseSolvesHaveEnded) {
  std::deque<DeviceUse> uses;
  for (int i = 0; i < 5; ++i) uses.emplace_back(a_device);
  for (int i = 0; i < 50; ++i) {
    DeviceUse& use = uses[std::size_t(i % 5)];
    EXPECT_FALSE(use.begin_solve()) << "one thread waits for each solve";
    use.end_solves();
  }
  solve(uses);
  for (int i = 0; i < 3; ++i) uses[std::size_t(i)].end_solves();
  EXPECT_TRUE(uses[0].begin_solve()) << "two others have solves";
  uses[3].end_solves();
  EXPECT_FALSE(uses[0].begin_solve()) << "one other has solves";
}

/// Each pushes eight frames, waits for all of them, and begins again. The device ends the frames in the order
/// in which they were begun.
TEST(DeviceUse, IsSharedByThoseThatWaitForEightFramesAtATime) {
  constexpr std::size_t count = 8;
  std::deque<DeviceUse> uses;
  for (std::size_t i = 0; i < count; ++i) uses.emplace_back(a_device);
  int shared = 0;
  for (int turn = 0; turn < 400; ++turn) {
    DeviceUse& use = uses[std::size_t(turn) % count];
    use.end_solves();
    for (int i = 0; i < 8; ++i) shared += use.begin_solve();
  }
  EXPECT_GE(shared, 400 * 8 - 16) << "all but the first of the first turns";
}

TEST(DeviceUse, IsNotSharedWithOtherDevices) {
  std::deque<DeviceUse> uses;
  for (int i = 0; i < 5; ++i) uses.emplace_back(a_device + i);
  EXPECT_FALSE(solve(uses, 3));
}

TEST(DeviceUse, BeginsAndEndsOnManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 100; ++k) {
        DeviceUse use(a_device);
        for (int solves = 0; solves < 20; ++solves) use.begin_solve();
      }
    });
  for (std::thread& thread : threads) thread.join();
  DeviceUse last(a_device);
  EXPECT_FALSE(last.begin_solve());
}

}  // namespace
}  // namespace parafield
