#include "core/cpu/backend.hpp"

namespace parafield {

template <>
InstructionSet compiled_for(const Cpu&) {
#if defined(__AVX512F__) && defined(__AVX512VL__)
  return InstructionSet::v4;
#elif defined(__AVX2__) && defined(__FMA__)
  return InstructionSet::v3;
#elif defined(__x86_64__)
  return InstructionSet::v2;
#else
  return InstructionSet::baseline;
#endif
}

}  // namespace parafield
