// SPDX-License-Identifier: MIT
#include <cmath>

#include "core/step.hpp"
#include "markov/levels/levels.hpp"

namespace parafield {

template <class Value>
PairUnits pair_units(const PairCost& pair, LabelGrid grid, const UnitDemands& demands) {
  PairUnits units{.grid = grid,
                  .quadratic = pair.model == PairModel::quadratic,
                  .slope = pair.slope,
                  .limit = pair.limit};
  const int most = larger(grid.nx, grid.ny) - 1;
  while (units.reach < most && pair.slope * float(units.reach + 1) * float(units.reach + 1) < pair.limit)
    ++units.reach;
  if constexpr (std::is_integral_v<Value>) {
    const double dx = grid.nx - 1, dy = grid.ny - 1;
    const double farthest = pair.slope * (units.quadratic ? dx * dx + dy * dy : dx + dy);
    const double most_pair = std::fmax(std::fmin(double(pair.limit), farthest), 1e-20);
    const double most_weighted = most_pair * demands.most_weight, step = demands.cost_step;
    // If possible, a step of the data costs, or else the slope, is a whole number of units, which avoids
    // rounding.
    const double steps = std::floor(most_units * pair.slope / most_weighted);
    const double whole_steps = step > 0 ? std::fmin(std::floor(most_units * step / most_weighted),
                                                    std::floor(low_units * step / demands.most_cost))
                                        : 0;
    const double per_cost = whole_steps >= 1               ? whole_steps / step
                            : steps >= 1 && pair.slope > 0 ? steps / pair.slope
                                                           : most_units / most_weighted;
    units.per_mix = int(whole_steps);
    units.per_cost = float(per_cost);
    units.slope = float(pair.slope * per_cost);
    units.limit = float(std::round(most_pair * per_cost));
    if (!units.quadratic) units.slope = smaller(std::round(units.slope), units.limit);
    units.most_data = float(data_units);
    units.relative = double(demands.most_cost) * per_cost + 1 > low_units;
    units.most_finest = units.relative ? units.most_data : float(double(demands.most_cost) * per_cost + 1);
  }
  return units;
}

PF_STEP(pair_units<float>);
PF_STEP(pair_units<std::uint16_t>);

}  // namespace parafield
