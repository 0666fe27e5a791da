// SPDX-License-Identifier: MIT
#include "core/cpu/parallel.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

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
