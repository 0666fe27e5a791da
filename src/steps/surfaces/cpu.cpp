// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/surfaces/surfaces.hpp"

namespace parafield {
namespace {

constexpr int surface_chunk = 128;  // samples whose sums are kept together

/// Sums of a row of a window, and of its samples in the middle.
struct RowsOfWindow {
  RowSums all, middle;

  PF_HD void add(int dx, int dy, float difference, float weight) {
    all.add(float(dx), difference, weight);
    if (MiddleSums::contains(dx, dy)) middle.add(float(dx), difference, weight);
  }
};

/// Sums of row dy of a sample's window that may leave the image.
RowsOfWindow row_near_border(const DisparitySamples& samples, int i, int j, int dy) {
  const int y = j + fit_stride * dy;
  RowsOfWindow row;
  for (int dx = -fit_radius; dx <= fit_radius; ++dx) {
    const int x = i + fit_stride * dx;
    if (x < 0 || x >= samples.d.width) continue;
    const float difference = samples.d(x, y) - samples.d(i, j);
    row.add(dx, dy, difference,
            sample_weight(difference, samples.luma(x, y) - samples.luma(i, j), samples.trust(x, y),
                          surface_step(window_distance(dx, dy))));
  }
  return row;
}

/// Three rows of surfaces.
struct SurfaceRow {
  const float *d, *slope_x, *slope_y;

  SurfaceRow(const Surfaces& surfaces, int j)
      : d(surfaces.d.row(j)), slope_x(surfaces.slope_x.row(j)), slope_y(surfaces.slope_y.row(j)) {}
  Surface operator[](int i) const { return {d[i], slope_x[i], slope_y[i]}; }
};

}  // namespace

template <class Backend>
void sample_disparities(Backend& cpu, View<const float> whole, View<const std::uint8_t> valid,
                        View<const std::uint32_t> colors, const DisparitySamples& samples) {
  cpu.rows(samples.d.height, [=](int j) {
    const float* const d = whole.row(2 * j);
    const std::uint8_t* const kept = valid.row(2 * j);
    const std::uint32_t* const words = colors.row(2 * j);
    const float* const certainty = samples.certainty.row(j);
    float *const to = samples.d.row(j), *const trust = samples.trust.row(j),
                 *const luma = samples.luma.row(j);
    const int count = samples.d.width;
    for (int i = 0; i < count; ++i) {
      to[i] = sampled_disparity(d[2 * i], to[i], kept[2 * i] != 0);
      trust[i] = sample_trust(kept[2 * i] != 0, certainty[i]);
    }
    for (int i = 0; i < count; ++i) luma[i] = luma_of(words[2 * i]);
  });
}

template <class Backend>
void fit_surfaces(Backend& cpu, const DisparitySamples& samples, const Surfaces& surfaces) {
  cpu.rows(surfaces.d.height, [=](int j) {
    constexpr int reach = fit_radius * fit_stride, side = 2 * fit_radius + 1;
    const int width = samples.d.width, height = samples.d.height;
    const float *const own = samples.d.row(j), *const own_luma = samples.luma.row(j),
                *const certainty = samples.certainty.row(j);
    const int begin = smaller(reach, width), end = larger(width - reach, begin);
    const auto store = [&](int i, const WindowSums& sums, const MiddleSums& middle) {
      const Surface fitted = fitted_surface(sums, middle, own[i], certainty[i]);
      surfaces.d.row(j)[i] = fitted.d;
      surfaces.slope_x.row(j)[i] = fitted.slope_x;
      surfaces.slope_y.row(j)[i] = fitted.slope_y;
    };
    const auto is_inside = [=](int dy) { return j + fit_stride * dy >= 0 && j + fit_stride * dy < height; };
    const auto fit_near_border = [&](int i) {
      WindowSums sums;
      MiddleSums middle;
      for (int dy = -fit_radius; dy <= fit_radius; ++dy) {
        if (!is_inside(dy)) continue;
        const RowsOfWindow row = row_near_border(samples, i, j, dy);
        sums.add(row.all, float(dy));
        middle.add(row.middle, float(dy));
      }
      store(i, sums, middle);
    };
    for (int i = 0; i < begin; ++i) fit_near_border(i);
    for (int i = end; i < width; ++i) fit_near_border(i);
    ChunkSums<surface_chunk> sums;
    struct {
      float one[surface_chunk], x[surface_chunk], y[surface_chunk], d[surface_chunk];
    } middle;
    for (int i0 = begin; i0 < end; i0 += surface_chunk) {
      const int n = smaller(surface_chunk, end - i0);
      const float *const center = own + i0, *const center_luma = own_luma + i0;
      for (int i = 0; i < n; ++i) {
        sums.set(i, {});
        middle.one[i] = middle.x[i] = middle.y[i] = middle.d[i] = 0;
      }
      for (int dy = -fit_radius; dy <= fit_radius; ++dy) {
        if (!is_inside(dy)) continue;
        const int y = j + fit_stride * dy, from = i0 - reach;
        const float *const d = samples.d.row(y) + from, *const trust = samples.trust.row(y) + from,
                           *const luma = samples.luma.row(y) + from;
        float steps[side];
        for (int k = 0; k < side; ++k) steps[k] = surface_step(window_distance(k - fit_radius, dy));
        const auto row_of = [=](int i, int first, int last) {
          RowSums row;
          PF_UNROLL
          for (int k = first; k <= last; ++k) {
            const int at = i + fit_stride * k;
            const float difference = d[at] - center[i];
            row.add(float(k - fit_radius), difference,
                    sample_weight(difference, luma[at] - center_luma[i], trust[at], steps[k]));
          }
          return row;
        };
        for (int i = 0; i < n; ++i) {
          WindowSums window = sums.at(i);
          window.add(row_of(i, 0, side - 1), float(dy));
          sums.set(i, window);
        }
        if (!MiddleSums::contains(0, dy)) continue;
        for (int i = 0; i < n; ++i) {
          MiddleSums window{middle.one[i], middle.x[i], middle.y[i], middle.d[i]};
          window.add(row_of(i, fit_radius - 1, fit_radius + 1), float(dy));
          middle.one[i] = window.one, middle.x[i] = window.x, middle.y[i] = window.y, middle.d[i] = window.d;
        }
      }
      float *const to = surfaces.d.row(j) + i0, *const slope_x = surfaces.slope_x.row(j) + i0,
                   *const slope_y = surfaces.slope_y.row(j) + i0;
      for (int i = 0; i < n; ++i) {
        const MiddleSums window{middle.one[i], middle.x[i], middle.y[i], middle.d[i]};
        const Surface fitted = fitted_surface(sums.at(i), window, center[i], certainty[i0 + i]);
        to[i] = fitted.d, slope_x[i] = fitted.slope_x, slope_y[i] = fitted.slope_y;
      }
    }
  });
}

template <class Backend>
void take_surfaces(Backend& cpu, View<const float> whole, View<const std::uint8_t> valid,
                   const Surfaces& surfaces, float least, float most, View<float> out) {
  cpu.rows(out.height, [=](int y) {
    const int width = out.width, count = surfaces.d.width;
    const int next_j = next_sample(y, surfaces.d.height);
    const SurfaceRow rows(surfaces, y / 2), next(surfaces, next_j);
    const float dy = float(y & 1), dy_next = float(y - 2 * next_j);
    const float* const d = whole.row(y);
    const std::uint8_t* const kept = valid.row(y);
    float* const to = out.row(y);
    // `beside`: the next sample of pixel 2 i + odd.
    const auto take = [=](int i, int odd, int beside) {
      const int x = 2 * i + odd;
      const float refined = surface_disparity(d[x], rows[i], rows[beside], next[i], next[beside], float(odd),
                                              float(x - 2 * beside), dy, dy_next);
      to[x] = kept[x] != 0 ? clamp(refined, least, most) : d[x];
    };
    const auto take_near_border = [&](int x) { take(x / 2, x & 1, next_sample(x, count)); };
    const int end = larger(count - 1, 1);
    for (int x = 0; x < smaller(2, width); ++x) take_near_border(x);
    for (int i = 1; i < end; ++i) take(i, 0, i - 1), take(i, 1, i + 1);
    for (int x = 2 * end; x < width; ++x) take_near_border(x);
  });
}

PF_STEP(sample_disparities<Cpu>);
PF_STEP(fit_surfaces<Cpu>);
PF_STEP(take_surfaces<Cpu>);

}  // namespace parafield
