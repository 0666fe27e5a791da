// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/features/matched.hpp"

namespace parafield {

template <class Backend>
void take_matches(Backend& cpu, const Matches& matches, const FeatureGrid& grid, Track* tracks) {
  cpu.rows(grid.rows, [=](int row) {
    for (int column = 0; column < grid.columns; ++column)
      tracks[row * grid.columns + column] = matched_track(matches, grid, column, row);
  });
}

PF_STEP(take_matches<Cpu>);

}  // namespace parafield
