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
  PF_HD FitSums operator[](int x) const {
    return {row[0][x], row[1][x], row[2][x], row[3][x], row[4][x],  row[5][x],
            row[6][x], row[7][x], row[8][x], row[9][x], row[10][x], row[11][x]};
  }
  PF_HD void set(int x, const FitSums& sum) const {
    row[0][x] = sum.one, row[1][x] = sum.x, row[2][x] = sum.y;
    row[3][x] = sum.xx, row[4][x] = sum.xy, row[5][x] = sum.yy;
    row[6][x] = sum.u, row[7][x] = sum.ux, row[8][x] = sum.uy;
    row[9][x] = sum.v, row[10][x] = sum.vx, row[11][x] = sum.vy;
  }
};

/// Adds the neighbors `dy` rows below to the sums of a row of seeds.
void add_neighbors(const AffineModels& models, int row, int dy, const SumRows& sums) {
  const int columns = models.grid.columns, other = row + dy;
  const FlowRow own = models.match_row(row), others = models.match_row(other);
  const float *const red = models.color[0].row(row), *const green = models.color[1].row(row),
                     *const blue = models.color[2].row(row), *const weight = models.weight.row(other),
                     *const other_red = models.color[0].row(other),
                     *const other_green = models.color[1].row(other),
                     *const other_blue = models.color[2].row(other);
  const ModelRow fitted = models.model_row(row);
  const SumRows to = sums;
  const float down = float(dy), gaussian = fit_gaussian(dy);
#pragma GCC ivdep
  for (int x = 0; x < columns; ++x) {
    const AffineModel model = fitted[x];
    const float row_u = fma(model.uy, down, model.u), row_v = fma(model.vy, down, model.v);
    FitRow all;
    PF_UNROLL
    for (int dx = -fit_reach; dx <= fit_reach; ++dx) {
      const int i = x + dx;
      const float distance =
          color_distance(other_red[i] - red[x], other_green[i] - green[x], other_blue[i] - blue[x]);
      const float error2 = fit_error2(others.u[i], others.v[i], row_u, row_v, model.ux, model.vx, float(dx));
      all.add(fit_weight(weight[i] * (gaussian * fit_gaussian(dx)), distance, error2), float(dx),
              others.u[i] - own.u[x], others.v[i] - own.v[x]);
    }
    FitSums sum = to[x];
    sum.add(all, down);
    to.set(x, sum);
  }
}

/// Fits the models of a row of seeds. Models of seeds without a match are meaningless.
void fit_row(const AffineModels& models, int row, const SumRows& sums) {
  const int columns = models.grid.columns;
  const FlowRow own = models.match_row(row);
  const ModelRow fitted = models.model_row(row);
  const SumRows of = sums;
#pragma GCC ivdep
  for (int x = 0; x < columns; ++x) fitted.set(x, {own.u[x], own.v[x], 0, 0, 0, 0});
  for (int round = 0; round < fit_rounds; ++round) {
    for (float* const each : sums.row)
      for (int x = 0; x < columns; ++x) each[x] = 0;
    const int first = larger(-fit_reach, -row), last = smaller(fit_reach, models.grid.rows - 1 - row);
    for (int dy = first; dy <= last; ++dy) add_neighbors(models, row, dy, sums);
#pragma GCC ivdep
    for (int x = 0; x < columns; ++x) fitted.set(x, of[x].fitted(own.u[x], own.v[x]));
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
