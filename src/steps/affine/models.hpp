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

/// A seed's nearest match as one number: the distance to it in the high bits, and the number of its seed in
/// the low bits. The smallest number therefore is the nearest match, and among equally near ones the first.
/// Because every step costs more than 0, exactly one assignment of numbers is stable, whatever the order in
/// which seeds ask their neighbors.
using Nearest = std::uint64_t;

constexpr int nearest_bits = 29;  ///< for the seed's number: there are at most 2^29 pixels
/// No match reaches the seed. A path of 2^34 units or more counts as none; that is over 5 million steps.
constexpr Nearest no_match = Nearest(1) << 63;

PF_HD int seed_of(Nearest nearest) { return int(nearest & ((Nearest(1) << nearest_bits) - 1)); }
PF_HD bool is_match(Nearest nearest) { return nearest >> nearest_bits == 0; }

constexpr int step_length = 60;  ///< units of a step between neighbors of the same color
constexpr float most_distance = 765;

/// Length of a step between neighbors: 1 + (color difference) / 15, in units. `distance`: color_distance.
PF_HD int step_between(float distance) {
  return step_length + int(fma(smaller_number(distance, most_distance), step_length / 15, 0.5f));
}

/// A neighbor's nearest match, at its distance from this seed. The result may exceed no_match.
PF_HD Nearest behind_step(Nearest neighbor, int length) {
  return neighbor + (Nearest(unsigned(length)) << nearest_bits);
}

/// A row of models, for loops that vectorize.
struct ModelRow {
  float *u, *v, *ux, *uy, *vx, *vy;

  PF_HD AffineModel operator[](int x) const { return {u[x], v[x], ux[x], uy[x], vx[x], vy[x]}; }
  PF_HD void set(int x, const AffineModel& model) const {
    u[x] = model.u, v[x] = model.v;
    ux[x] = model.ux, uy[x] = model.uy, vx[x] = model.vx, vy[x] = model.vy;
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
  View<Nearest> nearest;         ///< along the grid

  PF_HD ModelRow model_row(int row) const {
    return {u.row(row), v.row(row), ux.row(row), uy.row(row), vx.row(row), vy.row(row)};
  }
  PF_HD FlowRow match_row(int row) const { return {match_u.row(row), match_v.row(row)}; }
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
  models.nearest = workspace.image<Nearest>(grid.seeds());
  return models;
}

/// Sum of the channels' absolute differences.
PF_HD float color_distance(float red, float green, float blue) {
  return (magnitude(red) + magnitude(green)) + magnitude(blue);
}

}  // namespace parafield
