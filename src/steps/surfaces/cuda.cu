// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/surfaces/surfaces.hpp"

namespace parafield {

template <class Backend>
void sample_disparities(Backend& cuda, View<const float> whole, View<const std::uint8_t> valid,
                        View<const std::uint32_t> colors, const DisparitySamples& samples) {
  for_pixels(cuda, samples.d.size(), [=] __device__(int i, int j) {
    const bool is_valid = valid(2 * i, 2 * j) != 0;
    samples.d(i, j) = sampled_disparity(whole(2 * i, 2 * j), samples.d(i, j), is_valid);
    samples.trust(i, j) = sample_trust(is_valid, samples.certainty(i, j));
    samples.luma(i, j) = luma_of(colors(2 * i, 2 * j));
  });
}

template <class Backend>
void fit_surfaces(Backend& cuda, const DisparitySamples& samples, const Surfaces& surfaces) {
  // Small blocks, because of a small image's samples there are few, and each takes long.
  for_pixels<32, 2>(cuda, surfaces.d.size(), [=] __device__(int i, int j) {
    const int width = samples.d.width, height = samples.d.height;
    const float center = samples.d(i, j), luma = samples.luma(i, j);
    WindowSums sums;
    MiddleSums middle;
    for (int dy = -fit_radius; dy <= fit_radius; ++dy) {
      const int y = j + fit_stride * dy;
      if (y < 0 || y >= height) continue;
      RowSums row, middle_row;
      PF_UNROLL
      for (int dx = -fit_radius; dx <= fit_radius; ++dx) {
        const int x = i + fit_stride * dx;
        if (x < 0 || x >= width) continue;
        const float difference = samples.d(x, y) - center;
        const float weight = sample_weight(difference, samples.luma(x, y) - luma, samples.trust(x, y),
                                           surface_step(window_distance(dx, dy)));
        row.add(float(dx), difference, weight);
        if (MiddleSums::contains(dx, dy)) middle_row.add(float(dx), difference, weight);
      }
      sums.add(row, float(dy));
      middle.add(middle_row, float(dy));
    }
    const Surface fitted = fitted_surface(sums, middle, center, samples.certainty(i, j));
    surfaces.d(i, j) = fitted.d;
    surfaces.slope_x(i, j) = fitted.slope_x;
    surfaces.slope_y(i, j) = fitted.slope_y;
  });
}

template <class Backend>
void take_surfaces(Backend& cuda, View<const float> whole, View<const std::uint8_t> valid,
                   const Surfaces& surfaces, float least, float most, View<float> out) {
  for_pixels(cuda, out.size(), [=] __device__(int x, int y) {
    const float d = whole(x, y);
    if (valid(x, y) == 0) {
      out(x, y) = d;
      return;
    }
    const int i = x / 2, j = y / 2, next_i = next_sample(x, surfaces.d.width),
              next_j = next_sample(y, surfaces.d.height);
    const auto at = [&](int column, int row) {
      return Surface{surfaces.d(column, row), surfaces.slope_x(column, row), surfaces.slope_y(column, row)};
    };
    const float refined =
        surface_disparity(d, at(i, j), at(next_i, j), at(i, next_j), at(next_i, next_j), float(x - 2 * i),
                          float(x - 2 * next_i), float(y - 2 * j), float(y - 2 * next_j));
    out(x, y) = clamp(refined, least, most);
  });
}

PF_STEP(sample_disparities<Cuda>);
PF_STEP(fit_surfaces<Cuda>);
PF_STEP(take_surfaces<Cuda>);

}  // namespace parafield
