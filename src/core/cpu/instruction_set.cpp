// SPDX-License-Identifier: MIT
#include "core/cpu/instruction_set.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "core/fail.hpp"

namespace parafield {

const char* to_string(InstructionSet set) {
  constexpr const char* names[] = {"baseline", "v2", "v3", "v4", "neon"};
  return names[int(set)];
}

bool is_supported(InstructionSet set) {
  switch (set) {
#if !defined(PARAFIELD_DISPATCH)
    case InstructionSet::baseline:
      return true;
#elif defined(__aarch64__)
    case InstructionSet::neon:
      return true;
#else
    case InstructionSet::v2:
      return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    case InstructionSet::v3:
      return is_supported(InstructionSet::v2) && __builtin_cpu_supports("avx2") &&
             __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    case InstructionSet::v4:
      return is_supported(InstructionSet::v3) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    default:
      return false;
  }
}

InstructionSet instruction_set() {
  if (const char* forced = std::getenv("PARAFIELD_ISA"); forced && *forced) {
    std::string all;
    for (const InstructionSet set : built_sets) {
      if (std::string_view(forced) == to_string(set)) {
        if (is_supported(set)) return set;
        fail(ErrorCode::device, "PARAFIELD_ISA=", forced,
             ": this processor lacks the instructions of x86-64-", forced);
      }
      all += std::string(all.empty() ? "" : ", ") + to_string(set);
    }
    fail(ErrorCode::invalid_argument, "PARAFIELD_ISA=", forced, ": the instruction sets of this build are ",
         all);
  }
  for (const InstructionSet set : built_sets)
    if (is_supported(set)) return set;
  fail(ErrorCode::device, "this processor lacks SSE4.2, which parafield needs (x86-64-v2)");
}

}  // namespace parafield
