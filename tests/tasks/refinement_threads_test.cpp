// SPDX-License-Identifier: MIT
// Estimators with variational refinement on several threads at once have the results of one alone.
#include <atomic>
#include <future>

#include "targets.hpp"
#include "tasks/any_case.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

class RefinementThreads : public OnDevice {};

TEST_P(RefinementThreads, GiveTheResultsOfOneAlone) {
  const bool cuda = device().kind == Device::Kind::cuda;
  std::vector<AnyCase> cases;
  const auto add = [&](auto method, Size size) { cases.push_back(case_of<Flow>(restrained(method), size)); };
  const VariationalRefinement luma{.refine = 2, .refine_sweeps = 7},
      color{.refine = 2, .refine_data = RefineData::color, .refine_back = true, .refine_median = 1};
  for (const VariationalRefinement& refinement : {luma, color})
    for (const Size size : {Size{40, 31}, sanitized ? Size{70, 20} : Size{150, 90}}) {
      add(AdaptiveRidge{.refinement = refinement}, size);
      add(AdaptiveRidge{.frames = 5, .refinement = refinement}, size);
      add(LucasKanade{.levels = 2, .refinement = refinement}, size);
      add(RidgeRegression{.refinement = refinement}, size);
    }
  std::vector<std::uint64_t> expected;
  for (const AnyCase& each : cases) expected.push_back(each.run(cuda ? device() : Device::cpu(1), false));
  std::atomic<int> wrong = 0;
  std::vector<std::future<void>> threads;
  for (std::size_t thread = 0; thread < 8; ++thread)
    threads.push_back(std::async(std::launch::async, [&, thread] {
      for (std::size_t i = 0; i < (sanitized ? 4 : 2 * cases.size()); ++i) {
        const std::size_t which = (3 * thread + i) % cases.size();
        const Device here = cuda ? device() : Device::cpu(1 + int((thread + i) % 3));
        if (cases[which].run(here, cuda && (thread + i) % 2 == 1) == expected[which]) continue;
        ++wrong;
        ADD_FAILURE() << "thread " << thread << ": " << cases[which].name;
      }
    }));
  for (std::future<void>& thread : threads) thread.get();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, RefinementThreads, every_device(), device_name);

}  // namespace
}  // namespace parafield
