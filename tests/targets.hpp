// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "core/cpu/instruction_set.hpp"
#include "parafield/device.hpp"

/// A target on which every result is compared: a build of the CPU loops, or CUDA.
namespace parafield {

#ifdef PARAFIELD_SANITIZED
constexpr bool sanitized = true;  // calls take many times as long
#else
constexpr bool sanitized = false;
#endif

struct Target {
  const char* name;
  const char* instruction_set;  // of the CPU; null for CUDA

  Device device(int threads = 1) const { return instruction_set ? Device::cpu(threads) : Device::cuda(0); }
};

inline void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

inline std::vector<Target> targets() {
  std::vector<Target> all = {{"cuda", nullptr}};
  for (const InstructionSet set : built_sets) all.insert(all.begin(), {to_string(set), to_string(set)});
  return all;
}

/// Why a target cannot be used here; empty where it can.
inline std::string why_not(const Target& target) {
  if (!target.instruction_set) return why_no_cuda();
  for (const InstructionSet set : built_sets)
    if (std::string(target.instruction_set) == to_string(set) && !is_supported(set))
      return std::string("this processor lacks x86-64-") + target.instruction_set;
  return "";
}

/// The target that the others are compared with. All give the same bits, so it is the CPU's fastest (v2 lacks
/// a fused multiply-add).
inline Target reference_target() {
  Target best = targets().front();
  for (const Target& target : targets())
    if (target.instruction_set && why_not(target).empty()) best = target;
  return best;
}

/// Forces the target's instruction set on backends made while it lives.
class Forced {
 public:
  explicit Forced(const Target& target) {
    if (const char* old = std::getenv("PARAFIELD_ISA")) old_ = old;
    if (target.instruction_set) setenv("PARAFIELD_ISA", target.instruction_set, 1);
  }
  ~Forced() { old_.empty() ? unsetenv("PARAFIELD_ISA") : setenv("PARAFIELD_ISA", old_.c_str(), 1); }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

 private:
  std::string old_;
};

/// A fixture for tests with every target as parameter; skips, saying why, those that cannot be used here.
class OnTarget : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    if (const std::string why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
};

inline auto every_target() { return testing::ValuesIn(targets()); }
inline std::string target_name(const testing::TestParamInfo<Target>& info) { return info.param.name; }

}  // namespace parafield
