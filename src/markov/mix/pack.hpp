// SPDX-License-Identifier: MIT
#pragma once
#include "markov/levels/levels.hpp"

namespace parafield {

/// Stores the data costs of DataTerm::mix in the finest level of 16-bit values on CUDA, with integers only.
/// PairUnits::per_mix must not be 0. On the CPU, pack_mix_row does the same.
template <class Backend>
void pack_mix(Backend& backend, const Energy<MixedCosts>& energy, const PairUnits& units,
              const PropagationLevel<std::uint16_t>& level);

}  // namespace parafield
