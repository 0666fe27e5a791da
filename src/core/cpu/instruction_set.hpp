#pragma once

/// The row loops are compiled once for each instruction set; the best one that the processor has is chosen
/// when a backend is made. PARAFIELD_ISA=v2|v3|v4 in the environment forces one. Builds without PARAFIELD_DISPATCH, and
/// those for other processors, have one only, `baseline`: what the compiler takes by itself.
namespace parafield {

enum class InstructionSet { baseline, v2, v3, v4 };

const char* to_string(InstructionSet set);
bool is_supported(InstructionSet set);

/// Throws Error(invalid_argument) where PARAFIELD_ISA names none of this build's, Error(device) where the
/// processor lacks it.
InstructionSet instruction_set();

}  // namespace parafield
