// SPDX-License-Identifier: MIT
#pragma once
#include "steps/affine/models.hpp"

namespace parafield {

/// Intermediate memory of `spread_models`.
struct SpreadScratch {
  View<std::int32_t> right, down;  ///< on the CPU: lengths of the steps to the next seeds
  int* changed;                    ///< on CUDA: whether each launch found nearer matches
};

constexpr int most_spreads = 8;  ///< largest number of launches

template <class Backend>
SpreadScratch make_spread_scratch(Workspace& workspace, const SeedGrid& grid) {
  if constexpr (Backend::is_gpu) return {{}, {}, workspace.array<int>(most_spreads)};
  return {workspace.image<std::int32_t>(grid.seeds()), workspace.image<std::int32_t>(grid.seeds()), nullptr};
}

/// Gives each seed without a match the model of its nearest match, extrapolated to the seed. Distances are
/// shortest paths between 4-neighbors, where a step is longer if the neighbors' colors differ. Without any
/// match, all models and their weights are 0.
template <class Backend>
void spread_models(Backend& backend, const AffineModels& models, const SpreadScratch& scratch);

/// Finishes seed (column, row) once its nearest match is known.
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
