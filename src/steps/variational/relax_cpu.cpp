// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/variational/red_black.hpp"

// Each thread relaxes bands of rows. For a few sweeps at a time, it copies a band and the rows around it that
// these sweeps depend on, and lets the sweeps follow each other down the band, each one row behind, so only a
// few rows are in use at any time and stay in the L2 cache. The rows around a band are also relaxed by the
// bands that they belong to. The even and the odd columns of a row are kept apart, and a pixel's equations
// are gathered in blocks, so that half a sweep reads and writes consecutive values through few pointers.
namespace parafield {
namespace {

/// The equations of 16 pixels that lie two columns apart. Beyond the row, everything is 0.
struct EquationBlock {
  static constexpr int size = relaxed_block;
  float xx[size], xy[size], yy[size];                         ///< inverse of the matrix
  float side_u[size], side_v[size];                           ///< right-hand side
  float before[size], after[size], above[size], below[size];  ///< weights of the four edges
};
static_assert(sizeof(EquationBlock) == sizeof(float) * relaxed_block * relaxed_fields);

/// Copies every other value of a row, from value `first` on, into the same array of each block.
void gather(const float* row, int first, int width, float* to) {
  constexpr int size = EquationBlock::size, next = relaxed_fields * size;
  int x = first;
  for (; x + 2 * size <= width; x += 2 * size, to += next)
    for (int i = 0; i < size; ++i) to[i] = row[x + 2 * i];
  for (int i = 0; i < size; ++i) to[i] = x + 2 * i < width ? row[x + 2 * i] : 0;
}

/// A band of rows with the rows around it, which one thread relaxes.
struct RelaxBand {
  RefinementPlanes planes;
  FlowPlanes from;
  int top;  ///< first row that is copied
  float* scratch;

  int width() const { return from.u.width; }
  int height() const { return from.u.height; }
  /// Number of blocks for the even or odd columns of a row.
  int blocks() const { return relaxed_blocks(width()); }
  /// The even (`odd` 0) or odd columns of row i. There is a 0 before and after them.
  float* columns(int i, int odd) const {
    constexpr int gap = 16;
    return scratch + i * relaxed_pitch(width()) + gap + odd * (blocks() * EquationBlock::size + gap);
  }
  float* none() const { return columns(0, 0); }  // zeros
  float* u(int y, int odd) const { return columns(2 * (y - top) + 1, odd); }
  float* v(int y, int odd) const { return columns(2 * (y - top) + 2, odd); }
  EquationBlock* equations(int y, int odd) const {
    float* const first = scratch + (2 * relaxed_rows_around + 1) * relaxed_pitch(width());
    return reinterpret_cast<EquationBlock*>(first) + (2 * (y % equation_rows) + odd) * blocks();
  }

  void copy(int y) const {
    const int width = this->width(), odds = width / 2, pitch = relaxed_pitch(width);
    for (const bool is_u : {true, false}) {
      const float* const row = (is_u ? from.u : from.v).row(y);
      float *const even = is_u ? u(y, 0) : v(y, 0), *const odd = is_u ? u(y, 1) : v(y, 1);
      for (int k = odds; k < pitch - 16; ++k) even[k] = 0;
#pragma GCC ivdep
      for (int k = 0; k < odds; ++k) even[k] = row[2 * k], odd[k] = row[2 * k + 1];
      if (width % 2 != 0) even[odds] = row[width - 1];
    }
  }

  /// Gathers the equations of row y.
  void gather_equations(int y) const {
    const int width = this->width();
    const float *const weight_x = planes.weight_x.row(y), *const weight_y = planes.weight_y.row(y);
    for (int odd = 0; odd < 2; ++odd) {
      EquationBlock* const to = equations(y, odd);
      gather(planes.equations.xx.row(y), odd, width, to->xx);
      gather(planes.equations.xy.row(y), odd, width, to->xy);
      gather(planes.equations.yy.row(y), odd, width, to->yy);
      gather(planes.equations.side_u.row(y), odd, width, to->side_u);
      gather(planes.equations.side_v.row(y), odd, width, to->side_v);
      gather(weight_x, odd, width, to->after);
      gather(weight_y, odd, width, to->below);
      if (odd == 1)
        gather(weight_x, 0, width - 1, to->before);
      else
        gather_before(weight_x, width, to);
      if (y > 0) {
        gather(planes.weight_y.row(y - 1), odd, width, to->above);
      } else {
        for (int b = 0; b < blocks(); ++b)
          for (float& weight : to[b].above) weight = 0;
      }
    }
  }
  /// Gathers the weights of the edges before even columns. The first has none.
  static void gather_before(const float* weight_x, int width, EquationBlock* to) {
    constexpr int size = EquationBlock::size;
    to->before[0] = 0;
    for (int i = 1; i < size; ++i) to->before[i] = 2 * i < width ? weight_x[2 * i - 1] : 0;
    if (width > 2 * size) gather(weight_x + 2 * size - 1, 0, width - 2 * size, to[1].before);
  }

  /// Relaxes the pixels of row y whose column and row add up to an even (`odd` 0) or odd number.
  void relax(int y, int odd, float factor) const {
    const int own = (y + odd) & 1, other = 1 - own, last = height() - 1, count = blocks();
    const EquationBlock* block = equations(y, own);
    float *u = this->u(y, own), *v = this->v(y, own);
    const float *u_after = this->u(y, other) + own, *v_after = this->v(y, other) + own;
    const float *u_above = y > 0 ? this->u(y - 1, own) : none(),
                *v_above = y > 0 ? this->v(y - 1, own) : none(),
                *u_below = y < last ? this->u(y + 1, own) : none(),
                *v_below = y < last ? this->v(y + 1, own) : none();
    for (int b = 0; b < count; ++b, ++block) {
#pragma GCC ivdep
      for (int i = 0; i < EquationBlock::size; ++i) {
        const float sum_u = sum_of_neighbors(block->side_u[i], block->before[i], u_after[i - 1],
                                             block->after[i], u_after[i], block->above[i], u_above[i],
                                             block->below[i], u_below[i]),
                    sum_v = sum_of_neighbors(block->side_v[i], block->before[i], v_after[i - 1],
                                             block->after[i], v_after[i], block->above[i], v_above[i],
                                             block->below[i], v_below[i]);
        const Motion flow =
            relaxed(block->xx[i], block->xy[i], block->yy[i], {sum_u, sum_v}, {u[i], v[i]}, factor);
        u[i] = flow.u, v[i] = flow.v;
      }
      constexpr int size = EquationBlock::size;
      u += size, v += size, u_after += size, v_after += size, u_above += size, v_above += size,
          u_below += size, v_below += size;
    }
  }

  /// Writes a row of u or v from its even and odd columns, close to `start` unless that is null.
  void write(const float* even, const float* odd, const float* start, float* to) const {
    const int width = this->width(), odds = width / 2;
    if (start) {
#pragma GCC ivdep  // `to` may be `start`
      for (int k = 0; k < odds; ++k) {
        const float before = start[2 * k], after = start[2 * k + 1];
        to[2 * k] = limited(even[k], before), to[2 * k + 1] = limited(odd[k], after);
      }
      if (width % 2 != 0) to[width - 1] = limited(even[odds], start[width - 1]);
    } else {
#pragma GCC ivdep
      for (int k = 0; k < odds; ++k) to[2 * k] = even[k], to[2 * k + 1] = odd[k];
      if (width % 2 != 0) to[width - 1] = even[odds];
    }
  }
};

/// Sweeps `first` to `first` + count - 1 of a band of rows. `start`: flow to stay close to, or empty.
void relax_band(const RefinementPlanes& planes, FlowPlanes from, FlowPlanes start, int first, int count,
                RowRange rows, float* scratch, FlowPlanes to) {
  const int height = from.u.height, steps = 2 * count;
  const RelaxBand band{planes, from, larger(rows.begin - steps, 0), scratch};
  const int bottom = smaller(rows.end + steps, height);
  for (int i = 0; i < relaxed_pitch(from.u.width); ++i) scratch[i] = 0;
  for (int y = band.top; y < bottom; ++y) band.copy(y);
  for (int front = band.top; front < bottom + steps; ++front) {
    if (front < bottom) band.gather_equations(front);
    for (int step = 0; step < steps; ++step) {
      const int y = front - step, reach = steps - 1 - step;
      if (y < larger(rows.begin - reach, 0) || y >= smaller(rows.end + reach, height)) continue;
      band.relax(y, step & 1, relaxation(first + step / 2));
    }
  }
  for (int y = rows.begin; y < rows.end; ++y) {
    band.write(band.u(y, 0), band.u(y, 1), start.u ? start.u.row(y) : nullptr, to.u.row(y));
    band.write(band.v(y, 0), band.v(y, 1), start.u ? start.v.row(y) : nullptr, to.v.row(y));
  }
}

}  // namespace

template <class Backend>
void relax(Backend& cpu, const RefinementPlanes& planes, FlowPlanes flow, int sweeps, FlowPlanes result) {
  each_pass(planes, flow, sweeps, sweeps_at_once, result,
            [&](FlowPlanes from, FlowPlanes start, int first, int count, FlowPlanes to) {
              cpu.bands(to.u.height, relaxed_rows, [=](RowRange rows, void* scratch) {
                relax_band(planes, from, start, first, count, rows, static_cast<float*>(scratch), to);
              });
            });
}

PF_STEP(relax<Cpu>);

}  // namespace parafield
