// SPDX-License-Identifier: MIT
#include "kim/inputs.hpp"

#include <chrono>

namespace parafield::bench {

std::vector<Guided> rotating_inputs(const Study& study, Size labels, int tracks) {
  std::vector<Guided> inputs;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    inputs.push_back(stretched(study.size(qvga), labels, tracks, seed));
  return inputs;
}

std::vector<Problem> problems_of(const std::vector<Guided>& inputs, const MultiHypothesis& method) {
  std::vector<Problem> problems;
  for (const Guided& input : inputs) problems.emplace_back(input, method);
  return problems;
}

Call timed_on_host(const std::function<void(std::size_t turn)>& work) {
  return [work, turn = std::size_t(0)]() mutable {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    work(turn++);
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
}

}  // namespace parafield::bench
