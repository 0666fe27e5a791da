// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "core/backend.hpp"

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

TEST(Threads, DoEachRowOnceAtEveryHeight) {
  for (const int count : {1, 2, 5})
    with_backend(Device::cpu(count), [&]<class Backend>() {
      if constexpr (!Backend::is_gpu) {
        const Backend cpu(Device::cpu(count), {});
        for (const int height : {0, 1, 7, 480, 4095, 4096, 8191, 32767, 65535}) {
          std::vector<std::atomic<int>> times(height + 0u);
          std::atomic<int>* const all = times.data();
          cpu.rows(height, [=](int y) { ++all[y]; });
          cpu.few_rows(height, [=](RowRange rows, void*) {
            for (int y = rows.begin; y < rows.end; ++y) ++all[y];
          });
          for (const auto& each : times) ASSERT_EQ(each, 2) << count << " threads, " << height << " rows";
        }
      }
    });
}

TEST(Threads, EndWhileTheySleep) {
  for (int i = 0; i < 200; ++i) Threads threads(4);
}

}  // namespace
}  // namespace parafield
