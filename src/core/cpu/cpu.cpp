// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"

namespace parafield {

template <class Backend>
InstructionSet compiled_for(const Backend&) {
#ifndef PARAFIELD_DISPATCH
  return InstructionSet::baseline;
#elif defined(__aarch64__)
  return InstructionSet::neon;
#elif defined(__AVX512F__) && defined(__AVX512VL__)
  return InstructionSet::v4;
#elif defined(__AVX2__) && defined(__FMA__)
  return InstructionSet::v3;
#else
  return InstructionSet::v2;
#endif
}

PF_STEP(compiled_for<Cpu>);

}  // namespace parafield
