// SPDX-License-Identifier: MIT
#include "core/cpu/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace parafield {
namespace {

TEST(Threads, RunEachPartOnceInEveryLoop) {
  for (const int count : {1, 2, 3, 8}) {
    Threads threads(count);
    EXPECT_EQ(threads.count(), count);
    for (int loop = 0; loop < 3000; ++loop) {
      struct Loop {
        std::vector<std::atomic<int>> runs;
        std::atomic<int> wrong_thread = 0;
        int count;
      } data{std::vector<std::atomic<int>>(std::size_t(loop % 13)), 0, count};
      threads.run(
          loop % 13,
          [](const void* argument, int part, int thread) {
            auto& mine = *static_cast<Loop*>(const_cast<void*>(argument));
            ++mine.runs[std::size_t(part)];
            if (thread < 0 || thread >= mine.count) ++mine.wrong_thread;
          },
          &data);
      for (const auto& runs : data.runs) ASSERT_EQ(runs, 1) << count << " threads, loop " << loop;
      ASSERT_EQ(data.wrong_thread, 0);
    }
  }
}

TEST(Threads, EndWhileTheySleep) {
  for (int i = 0; i < 200; ++i) Threads threads(4);
}

}  // namespace
}  // namespace parafield
