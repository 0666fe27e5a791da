// SPDX-License-Identifier: MIT
#include <cmath>

#include "steps/smooth/smooth.hpp"

namespace parafield {

Taps gaussian_taps(float sigma) {
  Taps taps;
  if (!(sigma > 0)) return taps;
  taps.radius = int(std::ceil(2.5f * sigma));
  double sum = 0;
  for (int i = -taps.radius; i <= taps.radius; ++i) sum += std::exp(-0.5 * i * i / (double(sigma) * sigma));
  for (int i = 0; i <= taps.radius; ++i)
    taps.weight[i] = float(std::exp(-0.5 * i * i / (double(sigma) * sigma)) / sum);
  return taps;
}

}  // namespace parafield
