// SPDX-License-Identifier: MIT
#pragma once

/// Instruction sets of the CPU. The row loops are compiled once for each, and a new backend uses the best one
/// that the processor supports. PARAFIELD_ISA=v2|v3|v4 in the environment forces one. Builds for 64-bit ARM
/// have only `neon`. Builds without PARAFIELD_DISPATCH or for other processors have only `baseline`, the
/// compiler's default.
namespace parafield {

enum class InstructionSet { baseline, v2, v3, v4, neon };

/// The sets that this build has, best first.
#if !defined(PARAFIELD_DISPATCH)
constexpr InstructionSet built_sets[] = {InstructionSet::baseline};
#elif defined(__aarch64__)
constexpr InstructionSet built_sets[] = {InstructionSet::neon};
#else
constexpr InstructionSet built_sets[] = {InstructionSet::v4, InstructionSet::v3, InstructionSet::v2};
#endif

const char* to_string(InstructionSet set);
/// Whether this build has the set and the processor supports it.
bool is_supported(InstructionSet set);

/// The set in use. Throws Error(invalid_argument) if PARAFIELD_ISA is not one of this build's sets,
/// Error(device) if the processor does not support the set.
InstructionSet instruction_set();

}  // namespace parafield
