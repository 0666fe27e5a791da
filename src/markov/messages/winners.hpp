// SPDX-License-Identifier: MIT
#pragma once
#include "core/cpu/lanes.hpp"
#include "markov/levels/pack_row.hpp"
#include "markov/messages/messages.hpp"

/// Labels of least belief of a chunk's pixels, on the CPU. In an unnamed namespace, because each instruction
/// set has its own copy.
namespace parafield {
namespace {

/// Labels of least belief of a chunk's pixels.
template <class Value>
struct LeastBeliefs {
  using Index = std::conditional_t<sizeof(Value) == 2, std::uint16_t, int>;
  Value least[chunk<Value>];
  Index best[chunk<Value>];
  Value rest[chunk<Value>];  // least beliefs of the labels that are not adjacent to the best ones

  void clear() {
    for (int i = 0; i < chunk<Value>; ++i) best[i] = 0, least[i] = farthest<Value>;
  }
  void update(const Value* sum, int label) {
    for (int i = 0; i < chunk<Value>; ++i) {
      const bool better = sum[i] < least[i];
      least[i] = better ? sum[i] : least[i];
      best[i] = better ? Index(label) : best[i];
    }
  }
};

template <class Value>
void find_rest(LabelGrid grid, LeastBeliefs<Value>& winners, Labeled<Value> belief) {
  constexpr int n = chunk<Value>;
  Value* const rest = winners.rest;
  using Index = std::conditional_t<sizeof(Value) == 2, std::int16_t, std::int32_t>;
  Index best_x[n], best_y[n];
  for (int i = 0; i < n; ++i) {
    const int ly = grid.ny == 1 ? 0 : winners.best[i] / grid.nx;
    best_x[i] = Index(winners.best[i] - ly * grid.nx), best_y[i] = Index(ly), rest[i] = farthest<Value>;
  }
  for (int ly = 0; ly < grid.ny; ++ly)
    for (int lx = 0; lx < grid.nx; ++lx) {
      const Value* const sum = belief[ly * grid.nx + lx];
      const Index x = Index(lx), y = Index(ly);
#pragma GCC ivdep  // scratch memory does not overlap
      for (int i = 0; i < n; ++i) {
        const Index dx = Index(best_x[i] - x), dy = Index(best_y[i] - y);
        const bool beside = bool((dx >= -1) & (dx <= 1) & (dy >= -1) & (dy <= 1));
        const Value least = smaller(rest[i], sum[i]);
        rest[i] = beside ? rest[i] : least;
      }
    }
}

/// Finds the labels of least belief of `Vectors` vectors of a chunk's pixels, from index i on.
/// find_sums(label, sums) computes their beliefs, which are stored in `belief`. `rest_of`: see
/// LeastBeliefs::rest; null = not wanted.
template <int Vectors, class FindSums>
PF_INLINE void find_winners(int labels, FindSums find_sums, Labeled<std::uint16_t> belief, int i,
                            std::uint16_t* least_of, std::uint16_t* best_of, std::uint16_t* rest_of) {
  const Lanes all_ones = Lanes{} + std::uint16_t(0xffff);
  Lanes least[Vectors], best[Vectors], rest[Vectors];
  for (int v = 0; v < Vectors; ++v) least[v] = rest[v] = all_ones, best[v] = Lanes{};
  for (int label = 0; label < labels; ++label) {
    Lanes sums[Vectors];
    find_sums(label, sums);
    PF_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      store(belief[label] + i + v * lanes, sums[v]);
      best[v] = sums[v] < least[v] ? Lanes{} + std::uint16_t(label) : best[v];
      lower_to(least[v], sums[v]);
    }
  }
  for (int v = 0; v < Vectors; ++v)
    store(least_of + i + v * lanes, least[v]), store(best_of + i + v * lanes, best[v]);
  if (!rest_of) return;
  for (int label = 0; label < labels; ++label) {
    PF_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      Lanes sum;
      load(sum, belief[label] + i + v * lanes);
      const Lanes apart = best[v] - std::uint16_t(label - 1);  // 0 to 2 for the best label and adjacent ones
      lower_to(rest[v], apart > 2 ? sum : all_ones);
    }
  }
  for (int v = 0; v < Vectors; ++v) store(rest_of + i + v * lanes, rest[v]);
}

/// Computes the beliefs of a chunk's pixels, the sums of the values sources[i][label], and finds the labels
/// of least belief. With `margins`, also finds LeastBeliefs::rest.
template <int Sources, class Value>
void find_least(LabelGrid grid, const Labeled<Value> (&sources)[Sources], Labeled<Value> belief, bool margins,
                LeastBeliefs<Value>& winners) {
  constexpr int n = chunk<Value>;
  if constexpr (sizeof(Value) == 2) {
    if (grid.ny == 1) {
      for (int i = 0; i < n; i += lanes)
        find_winners<1>(
            grid.nx,
            [&](int label, Lanes(&sums)[1]) {
              Lanes source;
              load(sums[0], sources[0][label] + i);
              PF_UNROLL
              for (int k = 1; k < Sources; ++k) load(source, sources[k][label] + i), sums[0] += source;
            },
            belief, i, winners.least, winners.best, margins ? winners.rest : nullptr);
      return;
    }
  }
  winners.clear();
  for (int label = 0; label < grid.count(); ++label) {
    const Value* of[Sources];
    for (int k = 0; k < Sources; ++k) of[k] = sources[k][label];
    Value* const sum = belief[label];
#pragma GCC ivdep  // scratch memory does not overlap with levels
    for (int i = 0; i < n; ++i) {
      if constexpr (Sources == 5)
        sum[i] = Value((of[0][i] + (of[1][i] + of[3][i])) + (of[2][i] + of[4][i]));
      else
        sum[i] = Value(of[0][i] + of[1][i]);
    }
    winners.update(sum, label);
  }
  if (margins) find_rest(grid, winners, belief);
}

/// The same for the data costs of a mix: pixels 2 i + parity of a row, from i0 on. All values are in halved
/// order.
template <int Channels>
void find_least(const MixRow<Channels>& row, int parity, int i0, int labels, Labeled<std::uint16_t> received,
                Labeled<std::uint16_t> belief, bool margins, LeastBeliefs<std::uint16_t>& winners) {
  for (int i = 0; i < chunk<std::uint16_t> && i0 + i < row.columns(parity); i += byte_lanes) {
    const typename MixRow<Channels>::Pixels pixels = row.pixels(parity, i0 + i);
    find_winners<2>(
        labels,
        [&](int label, Lanes(&sums)[2]) {
          Lanes message;
          row.find_units(pixels, label, sums);
          PF_UNROLL
          for (int v = 0; v < 2; ++v) load(message, received[label] + i + v * lanes), sums[v] += message;
        },
        belief, i, winners.least, winners.best, margins ? winners.rest : nullptr);
  }
}

/// Stores the labels of least belief of a chunk's pixels, and the beliefs or data costs around them.
/// place(i): index of the values of pixel i. data(label, index): data cost.
template <class Value, class Place, class Data>
void store_beliefs(const PairUnits& units, const LeastBeliefs<Value>& winners, Labeled<Value> belief,
                   int first, int i0, int y, const Beliefs& beliefs, Place place, Data data) {
  const LabelGrid grid = units.grid;
  if (y < beliefs.y0 || y >= beliefs.y1) return;
  const float cost = 1 / units.per_cost;
  const CostsAround& costs = beliefs.costs;
  const int begin = clamp((beliefs.x0 - first + 1) / 2 - i0, 0, chunk<Value>),
            end = clamp((beliefs.x1 - first + 1) / 2 - i0, 0, chunk<Value>);
  for (int i = begin; i < end; ++i) {
    const int x = 2 * (i0 + i) + first;
    const int at = place(i), best = winners.best[at];
    const int ly = grid.ny == 1 ? 0 : best / grid.nx, lx = best - ly * grid.nx;
    beliefs.labels(x, y) = grid.label(lx, ly);
    store_costs_around(costs, grid, lx, ly, x, y, [&](int at_x, int at_y) {
      const int label = at_y * grid.nx + at_x;
      return float(beliefs.data_costs ? data(label, at) : belief[label][at]) * cost;
    });
    if (costs.margin)
      costs.margin(x, y) = winners.rest[at] < farthest<Value>
                               ? float(winners.rest[at] - winners.least[at]) * cost
                               : most_margin;
  }
}

}  // namespace
}  // namespace parafield
