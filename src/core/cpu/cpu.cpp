#include "core/cpu/backend.hpp"

namespace parafield {

template <>
InstructionSet compiled_for(const Cpu&) {
#ifndef PARAFIELD_DISPATCH
  return InstructionSet::baseline;
#elif defined(__AVX512F__) && defined(__AVX512VL__)
  return InstructionSet::v4;
#elif defined(__AVX2__) && defined(__FMA__)
  return InstructionSet::v3;
#else
  return InstructionSet::v2;
#endif
}

}  // namespace parafield
