// SPDX-License-Identifier: MIT
#include "markov/match/match.hpp"

#include <cmath>

namespace parafield {

Window aggregation_window(const MatchingCost& cost) {
  Window window{.side = cost.aggregation};
  const int radius = window.side / 2;
  double sum = 0, weights[Window::max_side];
  for (int i = 0; i < window.side; ++i) {
    const double sigma = cost.aggregation_sigma, at = i - radius;
    weights[i] = sigma > 0 ? std::exp(-0.5 * at * at / (sigma * sigma)) : 1;
    sum += weights[i];
  }
  for (int i = 0; i < window.side; ++i) window.weight[i] = float(weights[i] / sum);
  return window;
}

}  // namespace parafield
