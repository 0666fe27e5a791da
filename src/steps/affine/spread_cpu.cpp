// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/affine/spread.hpp"

// Sweeps go down and up alternately. Each row first takes nearer matches from the previous row, then along
// the row from the left and from the right. After a few sweeps nothing changes. This runs on one thread,
// because the chains along rows cannot be split and there are few seeds.
namespace parafield {
namespace {

/// Lengths of the steps from a row's seeds to their right and lower neighbors.
void measure_row(const AffineModels& models, const SpreadScratch& scratch, int row) {
  const int columns = models.grid.columns, below = smaller(row + 1, models.grid.rows - 1);
  const float *const red = models.color[0].row(row), *const green = models.color[1].row(row),
                     *const blue = models.color[2].row(row), *const red_below = models.color[0].row(below),
                     *const green_below = models.color[1].row(below),
                     *const blue_below = models.color[2].row(below);
  int *const right = scratch.right.row(row), *const down = scratch.down.row(row);
#pragma GCC ivdep
  for (int x = 0; x < columns; ++x) {
    right[x] =
        step_between(color_distance(red[x + 1] - red[x], green[x + 1] - green[x], blue[x + 1] - blue[x]));
    down[x] = step_between(
        color_distance(red_below[x] - red[x], green_below[x] - green[x], blue_below[x] - blue[x]));
  }
}

/// Takes matches that are nearer by way of the previous row. Returns whether anything changed.
bool take_from_row(const Nearest* before, const int* length, int columns, Nearest* nearest) {
  Nearest changed = 0;
#pragma GCC ivdep
  for (int x = 0; x < columns; ++x) {
    const Nearest old = nearest[x], found = smaller(old, behind_step(before[x], length[x]));
    changed |= old ^ found;
    nearest[x] = found;
  }
  return changed != 0;
}

/// Takes matches that are nearer along the row, first to the right, then to the left. Returns whether
/// anything changed.
bool take_along_row(const int* length, int columns, Nearest* nearest) {
  Nearest changed = 0, before = nearest[0];
  for (int x = 1; x < columns; ++x) {
    const Nearest old = nearest[x];
    before = smaller(old, behind_step(before, length[x - 1]));
    changed |= old ^ before;
    nearest[x] = before;
  }
  for (int x = columns - 2; x >= 0; --x) {
    const Nearest old = nearest[x];
    before = smaller(old, behind_step(before, length[x]));
    changed |= old ^ before;
    nearest[x] = before;
  }
  return changed != 0;
}

}  // namespace

template <class Backend>
void spread_models(Backend& cpu, const AffineModels& models, const SpreadScratch& scratch) {
  const int columns = models.grid.columns, rows = models.grid.rows;
  const View<Nearest> nearest = models.nearest;
  const View<std::int32_t> right = scratch.right, down = scratch.down;
  cpu.rows(rows, [=](int row) { measure_row(models, scratch, row); });
  for (bool changed = true; changed;) {
    changed = false;
    for (int row = 0; row < rows; ++row) {
      if (row > 0)
        changed |= take_from_row(nearest.row(row - 1), down.row(row - 1), columns, nearest.row(row));
      changed |= take_along_row(right.row(row), columns, nearest.row(row));
    }
    for (int row = rows - 2; row >= 0; --row) {
      changed |= take_from_row(nearest.row(row + 1), down.row(row), columns, nearest.row(row));
      changed |= take_along_row(right.row(row), columns, nearest.row(row));
    }
  }
  cpu.pixels(models.grid.seeds(), [=](int column, int row) { take_nearest(models, column, row); });
}

PF_STEP(spread_models<Cpu>);

}  // namespace parafield
