// SPDX-License-Identifier: MIT
#include "core/cpu/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <fstream>
#include <stdexcept>
#include <vector>

#include "parafield/error.hpp"
#include "targets.hpp"

namespace parafield {
namespace {

TEST(ParallelRows, RunsEveryRowOnce) {
  for (const int height : {-1, 0, 1, 3, 4, 5, 100, 1001}) {
    std::vector<int> runs(std::size_t(std::max(height, 0)));
    parallel_rows(height, [&](int y) { ++runs[std::size_t(y)]; });
    EXPECT_EQ(runs, std::vector<int>(runs.size(), 1)) << height;
  }
}

TEST(ParallelRows, ThrowsAnExceptionOfARow) {
  const auto one = [](int y) {
    if (y == 37) throw std::out_of_range("row 37");
  };
  const auto all = [](int) { throw std::out_of_range("every row"); };
  EXPECT_THROW(parallel_rows(100, one), std::out_of_range);
  EXPECT_THROW(parallel_rows(100, all), std::out_of_range);
}

TEST(ParallelRows, ThreadsThatCannotStartAreAnError) {
  if (sanitized) GTEST_SKIP() << "sanitizers take more address space than a limit can leave";
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;  // of the whole address space
  if (pages == 0) GTEST_SKIP() << "the system has no /proc";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = pages * std::size_t(sysconf(_SC_PAGESIZE)) + (std::size_t(64) << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  void* const beyond =
      mmap(nullptr, std::size_t(256) << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (beyond != MAP_FAILED) {
    munmap(beyond, std::size_t(256) << 20);
    setrlimit(RLIMIT_AS, &before);
    GTEST_SKIP() << "the system does not limit the address space, as QEMU does not";
  }
  std::string message = "no error";
  try {
    const Threads threads(1000);
  } catch (const Error& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_AS, &before);
  EXPECT_TRUE(message.starts_with("cannot start a thread: ")) << message;
}

TEST(ParallelRows, MayBeCalledFromSeveralThreads) {
  std::vector<std::vector<int>> runs(4, std::vector<int>(500));
  std::vector<std::thread> callers;
  for (auto& each : runs)
    callers.emplace_back([&each] {
      for (int i = 0; i < 20; ++i) parallel_rows(500, [&](int y) { ++each[std::size_t(y)]; });
    });
  for (std::thread& caller : callers) caller.join();
  for (const auto& each : runs) EXPECT_EQ(each, std::vector<int>(500, 20));
}

}  // namespace
}  // namespace parafield
