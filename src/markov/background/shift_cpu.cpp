// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/background/shift.hpp"

namespace parafield {
namespace {

/// Adds terms of all points to `Count` sums: add(point, sums).
template <int Count, class Add>
void sum_points(const Cpu& cpu, View<const std::uint8_t> luma, const Background& background, Shift shift,
                long long* sums, Add add) {
  const ShiftPoints points = shift_points(background.size);
  cpu.rows(points.rows, [=](int row) {
    long long own[Count] = {};
    const int y = shift_margin + row * points.spacing;
    for (int i = 0; i < points.columns; ++i)
      add(shift_point(luma, background, shift_margin + i * points.spacing, y, shift), own);
    for (int i = 0; i < Count; ++i) __atomic_fetch_add(sums + i, own[i], __ATOMIC_RELAXED);
  });
}

}  // namespace

template <class Backend>
void find_shift(Backend& cpu, View<const std::uint8_t> luma, const Background& background) {
  for (int step = 0; step < shift_steps; ++step) {
    const ShiftGuess guess = guess_before(background, step);
    if (guess.final) break;
    sum_points<shift_sums>(cpu, luma, background, guess.rounded(), background.sums.data + step * shift_sums,
                           [](const ShiftPoint& point, long long* sums) { add_to_step(point, sums); });
  }
  const ProposedShift proposed = proposed_shift(background);
  if (!proposed.shift.is_none())
    sum_points<2>(cpu, luma, background, proposed.shift, background.sums.data + sums_of_errors,
                  [=](const ShiftPoint& point, long long* sums) { add_errors(point, proposed, sums); });
  store_shift(background);
}

PF_STEP(find_shift<Cpu>);

}  // namespace parafield
