// SPDX-License-Identifier: MIT
#pragma once
#include "steps/affine/models.hpp"
#include "steps/affine/nearest.hpp"

namespace parafield {

/// What `spread_models` writes on the way.
struct SpreadScratch {
  View<std::int32_t> right, down;  ///< on the CPU: lengths of the steps to the next seeds
  int* changed;                    ///< on CUDA: for each launch whether it found nearer matches
};

constexpr int most_spreads = 8;  ///< launches, at most

template <class Backend>
SpreadScratch make_spread_scratch(Workspace& workspace, const SeedGrid& grid) {
  if constexpr (Backend::is_gpu) return {{}, {}, workspace.array<int>(most_spreads)};
  const Size size{grid.columns, grid.rows};
  return {workspace.image<std::int32_t>(size), workspace.image<std::int32_t>(size), nullptr};
}

/// Gives each seed without a match the model of the nearest match, continued to its place. The way to it goes
/// from neighbor to neighbor (4), and a step is longer where their colors differ. Without any match, the
/// models are 0 and their weights, too.
template <class Backend>
void spread_models(Backend& backend, const AffineModels& models, const SpreadScratch& scratch);

/// Finishes seed (column, row), whose nearest match is known.
PF_HD void take_nearest(const AffineModels& models, int column, int row) {
  const Nearest nearest = models.nearest(column, row);
  if (is_match(nearest)) return;
  const bool none = nearest == no_match;
  const int seed = none ? 0 : seed_of(nearest), from_row = seed / models.grid.columns,
            from_column = seed - from_row * models.grid.columns;
  models.set(
      column, row,
      none ? AffineModel{}
           : models.at(from_column, from_row).moved(float(column - from_column), float(row - from_row)));
  models.weight(column, row) = none ? 0 : AffineModels::spread_weight;
}

}  // namespace parafield
