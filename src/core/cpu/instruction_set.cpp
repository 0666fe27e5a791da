// SPDX-License-Identifier: MIT
#include "core/cpu/instruction_set.hpp"

#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "core/fail.hpp"

namespace parafield {

const char* to_string(InstructionSet set) {
  constexpr const char* names[] = {"baseline", "v2", "v3", "v4"};
  return names[int(set)];
}

#ifdef PARAFIELD_DISPATCH

bool is_supported(InstructionSet set) {
  switch (set) {
    case InstructionSet::v2:
      return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    case InstructionSet::v3:
      return is_supported(InstructionSet::v2) && __builtin_cpu_supports("avx2") &&
             __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    case InstructionSet::v4:
      return is_supported(InstructionSet::v3) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    default:
      return false;
  }
}

InstructionSet instruction_set() {
  using enum InstructionSet;
  if (const char* forced = std::getenv("PARAFIELD_ISA"); forced && *forced) {
    for (const InstructionSet set : {v2, v3, v4}) {
      if (std::string_view(forced) != to_string(set)) continue;
      if (!is_supported(set))
        fail(ErrorCode::device, "PARAFIELD_ISA=", forced,
             ": this processor lacks the instructions of x86-64-", forced);
      return set;
    }
    fail(ErrorCode::invalid_argument, "PARAFIELD_ISA=", forced, ": there is v2, v3 and v4");
  }
  for (const InstructionSet set : {v4, v3, v2})
    if (is_supported(set)) return set;
  fail(ErrorCode::device, "this processor lacks SSE4.2, which parafield needs (x86-64-v2)");
}

#else

bool is_supported(InstructionSet set) { return set == InstructionSet::baseline; }

InstructionSet instruction_set() {
  if (const char* forced = std::getenv("PARAFIELD_ISA");
      forced && *forced && std::string_view(forced) != "baseline")
    fail(ErrorCode::invalid_argument, "PARAFIELD_ISA=", forced,
         ": this build has one instruction set, baseline");
  return InstructionSet::baseline;
}

#endif

}  // namespace parafield
