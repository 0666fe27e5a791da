// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/affine/fit.hpp"

// Each row of seeds adds up one row of neighbors after the other; its sums are rows in scratch memory. A
// neighbor takes about 35 operations in each round, and a seed has 81 neighbors.
namespace parafield {
namespace {

constexpr int margin = AffineModels::margin;

/// Stores the matches and colors of a row of seeds, and clears the row's margins.
void take_row(const Matches& matches, const Colors& colors, const AffineModels& models, int row) {
  const SeedGrid grid = models.grid;
  const int y = grid.y(row);
  float* const planes[] = {models.weight.row(row),   models.match_u.row(row),  models.match_v.row(row),
                           models.color[0].row(row), models.color[1].row(row), models.color[2].row(row)};
  for (float* const plane : planes)
    for (int i = 1; i <= margin; ++i) plane[-i] = plane[grid.columns - 1 + i] = 0;
  const float *const red = colors.plane[0].row(y), *const green = colors.plane[1].row(y),
                     *const blue = colors.plane[2].row(y);
  for (int column = 0; column < grid.columns; ++column) {
    const int x = grid.x(column);
    const FitSeed seed = fit_seed(matches.valid(column, row), matches.u(column, row), matches.v(column, row),
                                  {red[x], green[x], blue[x], 0});
    const float values[] = {seed.weight, seed.u, seed.v, seed.color.red, seed.color.green, seed.color.blue};
    for (int k = 0; k < 6; ++k) planes[k][column] = values[k];
    models.nearest(column, row) = seed.weight > 0 ? Nearest(row * grid.columns + column) : no_match;
  }
}

/// One row for each of the sums.
struct SumRows {
  float* row[FitSums::count];

  SumRows(void* scratch, int columns) {
    for (int k = 0; k < FitSums::count; ++k)
      row[k] = static_cast<float*>(scratch) + std::ptrdiff_t(k) * ((columns + 15) / 16 * 16);
  }
};

/// Adds the neighbors `dy` rows below to the sums of a row of seeds.
void add_neighbors(const AffineModels& models, int row, int dy, const SumRows& sums) {
  const int columns = models.grid.columns, other = row + dy;
  const float *const
      u = models.match_u.row(row),
      *const v = models.match_v.row(row), *const red = models.color[0].row(row),
      *const green = models.color[1].row(row), *const blue = models.color[2].row(row),
      *const weight = models.weight.row(other), *const other_u = models.match_u.row(other),
      *const other_v = models.match_v.row(other), *const other_red = models.color[0].row(other),
      *const other_green = models.color[1].row(other), *const other_blue = models.color[2].row(other),
      *const model_u = models.u.row(row), *const model_v = models.v.row(row), *const ux = models.ux.row(row),
      *const uy = models.uy.row(row), *const vx = models.vx.row(row), *const vy = models.vy.row(row);
  float *const s0 = sums.row[0], *const s1 = sums.row[1], *const s2 = sums.row[2], *const s3 = sums.row[3],
               *const s4 = sums.row[4], *const s5 = sums.row[5], *const s6 = sums.row[6],
               *const s7 = sums.row[7], *const s8 = sums.row[8], *const s9 = sums.row[9],
               *const s10 = sums.row[10], *const s11 = sums.row[11];
  const float down = float(dy), gaussian = fit_gaussian(dy);
#pragma GCC ivdep
  for (int x = 0; x < columns; ++x) {
    const float row_u = fma(uy[x], down, model_u[x]), row_v = fma(vy[x], down, model_v[x]);
    FitRow all;
    PF_UNROLL
    for (int dx = -fit_reach; dx <= fit_reach; ++dx) {
      const int i = x + dx;
      const float distance =
          color_distance(other_red[i] - red[x], other_green[i] - green[x], other_blue[i] - blue[x]);
      const float error2 = fit_error2(other_u[i], other_v[i], row_u, row_v, ux[x], vx[x], float(dx));
      all.add(fit_weight(weight[i] * (gaussian * fit_gaussian(dx)), distance, error2), float(dx),
              other_u[i] - u[x], other_v[i] - v[x]);
    }
    FitSums sum{s0[x], s1[x], s2[x], s3[x], s4[x], s5[x], s6[x], s7[x], s8[x], s9[x], s10[x], s11[x]};
    sum.add(all, down);
    s0[x] = sum.one, s1[x] = sum.x, s2[x] = sum.y, s3[x] = sum.xx, s4[x] = sum.xy, s5[x] = sum.yy;
    s6[x] = sum.u, s7[x] = sum.ux, s8[x] = sum.uy, s9[x] = sum.v, s10[x] = sum.vx, s11[x] = sum.vy;
  }
}

/// Fits the models of a row of seeds. Models of seeds without a match are meaningless.
void fit_row(const AffineModels& models, int row, const SumRows& sums) {
  const int columns = models.grid.columns;
  const float *const u = models.match_u.row(row), *const v = models.match_v.row(row);
  float *const model_u = models.u.row(row), *const model_v = models.v.row(row),
               *const ux = models.ux.row(row), *const uy = models.uy.row(row), *const vx = models.vx.row(row),
               *const vy = models.vy.row(row);
  for (int x = 0; x < columns; ++x) {
    model_u[x] = u[x], model_v[x] = v[x];
    ux[x] = uy[x] = vx[x] = vy[x] = 0;
  }
  for (int round = 0; round < fit_rounds; ++round) {
    for (float* const each : sums.row)
      for (int x = 0; x < columns; ++x) each[x] = 0;
    const int first = larger(-fit_reach, -row), last = smaller(fit_reach, models.grid.rows - 1 - row);
    for (int dy = first; dy <= last; ++dy) add_neighbors(models, row, dy, sums);
    const float *const s0 = sums.row[0], *const s1 = sums.row[1], *const s2 = sums.row[2],
                       *const s3 = sums.row[3], *const s4 = sums.row[4], *const s5 = sums.row[5],
                       *const s6 = sums.row[6], *const s7 = sums.row[7], *const s8 = sums.row[8],
                       *const s9 = sums.row[9], *const s10 = sums.row[10], *const s11 = sums.row[11];
#pragma GCC ivdep
    for (int x = 0; x < columns; ++x) {
      const FitSums sum{s0[x], s1[x], s2[x], s3[x], s4[x], s5[x], s6[x], s7[x], s8[x], s9[x], s10[x], s11[x]};
      const AffineModel model = sum.fitted(u[x], v[x]);
      model_u[x] = model.u, model_v[x] = model.v;
      ux[x] = model.ux, uy[x] = model.uy, vx[x] = model.vx, vy[x] = model.vy;
    }
  }
}

}  // namespace

template <class Backend>
void fit_models(Backend& cpu, const Matches& matches, const Colors& colors, const AffineModels& models) {
  cpu.rows(models.grid.rows, [=](int row) { take_row(matches, colors, models, row); });
  cpu.few_rows(models.grid.rows, [=](RowRange rows, void* scratch) {
    const SumRows sums(scratch, models.grid.columns);
    for (int row = rows.begin; row < rows.end; ++row) fit_row(models, row, sums);
  });
}

PF_STEP(fit_models<Cpu>);

}  // namespace parafield
