// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "grid.hpp"

namespace parafield::oracle {

/// Sample of a frame, 0..255 from black to white; 16-bit values of the usual range are divided by 257.
inline double sample_of(const Frame& frame, int x, int y, int channel) {
  const std::ptrdiff_t touching = std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format);
  const char* row = static_cast<const char*>(frame.data) + y * (frame.pitch ? frame.pitch : touching);
  const std::ptrdiff_t i = std::ptrdiff_t(x) * channels(frame.format) + channel;
  const ValueRange range = frame.range;
  const bool usual = range == ValueRange{};
  const auto scaled = [&](double value, double divisor) {
    return usual ? value / divisor : (value - range.black) / (double(range.white) - range.black) * 255;
  };
  switch (frame.format) {
    case PixelFormat::gray_f32:
    case PixelFormat::rgb_f32:
      return scaled(reinterpret_cast<const float*>(row)[i], 1);
    case PixelFormat::gray_u16:
    case PixelFormat::rgb_u16:
      return scaled(reinterpret_cast<const std::uint16_t*>(row)[i], 257);
    default:
      return scaled(reinterpret_cast<const std::uint8_t*>(row)[i], 1);
  }
}

/// Red, green and blue of a frame, 0..255; a gray frame gives the same image three times.
inline std::array<Grid, 3> colors(const Frame& frame) {
  const bool gray = channels(frame.format) == 1;
  const bool blue_first = frame.format == PixelFormat::bgr_u8 || frame.format == PixelFormat::bgra_u8;
  std::array<Grid, 3> result;
  for (int c = 0; c < 3; ++c)
    result[std::size_t(c)] = tabulate(frame.size(), [&](int x, int y) {
      return sample_of(frame, x, y, gray ? 0 : blue_first ? 2 - c : c);
    });
  return result;
}

/// BT.601 luma: 0.299 R + 0.587 G + 0.114 B.
inline Grid luma(const Frame& frame) {
  const std::array<Grid, 3> rgb = colors(frame);
  if (channels(frame.format) == 1) return rgb[0];
  return tabulate(frame.size(), [&](int x, int y) {
    return 0.299 * rgb[0](x, y) + 0.587 * rgb[1](x, y) + 0.114 * rgb[2](x, y);
  });
}

/// Weighted sums along x, then along y; of n taps, number n / 2 lies on the pixel.
inline Grid smooth(const Grid& image, const std::vector<double>& taps) {
  const int count = int(taps.size()), radius = count / 2;
  const Grid along_x = tabulate(image.size, [&](int x, int y) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += taps[i] * image(x + i - radius, y);
    return sum;
  });
  return tabulate(image.size, [&](int x, int y) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += taps[i] * along_x(x, y + i - radius);
    return sum;
  });
}

/// Gaussian taps: exp(-i^2 / (2 sigma^2)) for |i| <= ceil(2.5 sigma), divided by their sum. The radius is
/// found in float, as 2.5 times the float nearest to 0.8 is above 2 in float64.
inline std::vector<double> gaussian_taps(float sigma) {
  const int radius = int(std::ceil(2.5f * sigma));
  std::vector<double> taps;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    taps.push_back(std::exp(-double(i) * i / (2.0 * sigma * sigma)));
    sum += taps.back();
  }
  for (double& tap : taps) tap /= sum;
  return taps;
}

/// The next coarser level of a pyramid (Marzat, section 2.2): smoothing by (1 4 6 4 1) / 16, then every
/// second pixel, beginning with the first.
inline Grid reduce(const Grid& image) {
  const Grid smoothed = smooth(image, {1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0});
  return tabulate({(image.size.width + 1) / 2, (image.size.height + 1) / 2},
                  [&](int x, int y) { return smoothed(2 * x, 2 * y); });
}

/// Bilinear value at (x, y); beyond the border the nearest point of the border.
inline double bilinear(const Grid& image, double x, double y) {
  x = std::clamp(x, 0.0, image.size.width - 1.0);
  y = std::clamp(y, 0.0, image.size.height - 1.0);
  const int x0 = int(x), y0 = int(y);
  const double fx = x - x0, fy = y - y0;
  return (1 - fy) * ((1 - fx) * image(x0, y0) + fx * image(x0 + 1, y0)) +
         fy * ((1 - fx) * image(x0, y0 + 1) + fx * image(x0 + 1, y0 + 1));
}

/// One component of the flow at the next finer level, of `size` (Marzat, section 2.2): pixel (x, y) lies at
/// (x/2, y/2) of the coarser level, and moves twice as far.
inline Grid enlarge(const Grid& flow, Size size) {
  return tabulate(size, [&](int x, int y) { return 2 * bilinear(flow, x / 2.0, y / 2.0); });
}

/// Derivative in x by (1 -8 0 8 -1) / 12, exact for polynomials up to degree 4. As it is written in
/// differences, it is exactly 0 where the image is constant.
inline Grid derivative_x(const Grid& image) {
  return tabulate(image.size, [&](int x, int y) {
    return (8 * (image(x + 1, y) - image(x - 1, y)) - (image(x + 2, y) - image(x - 2, y))) / 12;
  });
}

inline Grid derivative_y(const Grid& image) {
  return tabulate(image.size, [&](int x, int y) {
    return (8 * (image(x, y + 1) - image(x, y - 1)) - (image(x, y + 2) - image(x, y - 2))) / 12;
  });
}

/// Keys' cubic kernel, a = -0.75.
inline double keys(double distance) {
  const double d = std::abs(distance), a = -0.75;
  if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * (d * d * d - 5 * d * d + 8 * d - 4) : 0;
}

/// Bicubic value at (x, y), which lies inside the image.
inline double bicubic(const Grid& image, double x, double y) {
  const int x0 = int(x), y0 = int(y);
  double sum = 0;
  for (int j = -1; j <= 2; ++j)
    for (int i = -1; i <= 2; ++i) sum += keys(x - x0 - i) * keys(y - y0 - j) * image(x0 + i, y0 + j);
  return sum;
}

/// Whether (x, y) lies inside an image, whose corners are the centers of its corner pixels.
inline bool inside(Size size, double x, double y) {
  return x >= 0 && y >= 0 && x <= size.width - 1 && y <= size.height - 1;
}

/// Mean over the n x n window around each pixel: x - n/2 to x + (n - 1)/2, rounded down, and the same in y.
inline Grid window_mean(const Grid& image, int n) { return smooth(image, std::vector<double>(n, 1.0 / n)); }

/// Median over the n x n window around each pixel, n odd.
inline Grid median(const Grid& image, int n) {
  return tabulate(image.size, [&](int x, int y) {
    std::vector<double> window;
    for (int j = -n / 2; j <= n / 2; ++j)
      for (int i = -n / 2; i <= n / 2; ++i) window.push_back(image(x + i, y + j));
    std::nth_element(window.begin(), window.begin() + n * n / 2, window.end());
    return window[n * n / 2];
  });
}

}  // namespace parafield::oracle
