// SPDX-License-Identifier: MIT
#pragma once
#include "steps/colors/color.hpp"
#include "steps/matches/patch_match.hpp"

/// Affine models of the motion around seeds.
namespace parafield {

/// Flow around a seed: u + ux * dx + uy * dy, and likewise v. (dx, dy) is the offset from the seed in seeds,
/// so slopes are in px per seed.
struct AffineModel {
  float u, v, ux, uy, vx, vy;

  /// The model at a seed (dx, dy) seeds away that gives the same flow everywhere.
  PF_HD AffineModel moved(float dx, float dy) const {
    return {fma(uy, dy, fma(ux, dx, u)), fma(vy, dy, fma(vx, dx, v)), ux, uy, vx, vy};
  }
};

/// A model and a color for each seed of a frame. On the CPU, rows have room for `margin` seeds before the
/// first seed and after the last.
struct AffineModels {
  static constexpr int margin = 4;
  static constexpr float spread_weight = 0.3f;  ///< weight of a seed with another seed's model

  SeedGrid grid;
  View<float> u, v, ux, uy, vx, vy;
  /// 1 for a seed with a match, spread_weight for a seed with another seed's model, 0 for a seed without a
  /// model.
  View<float> weight;
  View<float> color[3];          ///< 0 if not finite
  View<float> match_u, match_v;  ///< flows of the matches; used on the CPU only
  /// Distance to the nearest match along the grid, and the number of the match's seed: see nearest.hpp.
  View<std::uint64_t> nearest;

  PF_HD AffineModel at(int column, int row) const {
    return {u(column, row),  v(column, row),  ux(column, row),
            uy(column, row), vx(column, row), vy(column, row)};
  }
  PF_HD void set(int column, int row, const AffineModel& model) const {
    u(column, row) = model.u, v(column, row) = model.v;
    ux(column, row) = model.ux, uy(column, row) = model.uy;
    vx(column, row) = model.vx, vy(column, row) = model.vy;
  }
  PF_HD Color color_of(int column, int row) const {
    return {color[0](column, row), color[1](column, row), color[2](column, row), 0};
  }
};

/// Models for a grid of seeds.
inline AffineModels make_affine_models(Workspace& workspace, const SeedGrid& grid) {
  constexpr int margin = AffineModels::margin;
  AffineModels models;
  models.grid = grid;
  for (View<float>* const plane :
       {&models.u, &models.v, &models.ux, &models.uy, &models.vx, &models.vy, &models.weight, models.color,
        models.color + 1, models.color + 2, &models.match_u, &models.match_v}) {
    const View<float> all = workspace.image<float>({grid.columns + 2 * margin, grid.rows});
    *plane = {all.data + margin, grid.columns, grid.rows, all.pitch};
  }
  models.nearest = workspace.image<std::uint64_t>({grid.columns, grid.rows});
  return models;
}

/// Sum of the channels' absolute differences.
PF_HD float color_distance(float red, float green, float blue) {
  return (magnitude(red) + magnitude(green)) + magnitude(blue);
}

}  // namespace parafield
