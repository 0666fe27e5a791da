// SPDX-License-Identifier: MIT
#include "common/canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "color/letters.hpp"

namespace parafield::bench {

Canvas::Canvas(Size size) : picture_(size, PixelFormat::rgb_u8) {
  for (int y = 0; y < size.height; ++y)
    std::fill_n(static_cast<std::uint8_t*>(picture_.row(y)), 3 * size.width, std::uint8_t(255));
}

void Canvas::place(int x, int y, const Frame& picture) {
  const int depth = channels(picture.format);
  for (int j = 0; j < picture.height; ++j) {
    const auto* from = static_cast<const std::uint8_t*>(picture.data) + j * picture.pitch;
    auto* to = static_cast<std::uint8_t*>(picture_.row(y + j)) + 3 * x;
    for (int i = 0; i < picture.width; ++i)
      for (int c = 0; c < 3; ++c) to[3 * i + c] = from[depth * i + (depth == 3 ? c : 0)];
  }
}

void Canvas::dot(int x, int y, Ink ink, int side) {
  const Size size = picture_.size();
  for (int j = std::max(y - side / 2, 0); j < std::min(y - side / 2 + side, size.height); ++j)
    for (int i = std::max(x - side / 2, 0); i < std::min(x - side / 2 + side, size.width); ++i)
      std::ranges::copy(ink, static_cast<std::uint8_t*>(picture_.row(j)) + 3 * i);
}

void Canvas::line(double x0, double y0, double x1, double y1, Ink ink, bool dashed) {
  const int steps = std::max(1, int(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0)))));
  for (int i = 0; i <= steps; ++i) {
    if (dashed && i / 4 % 2) continue;
    const double t = double(i) / steps;
    dot(int(std::lround(x0 + t * (x1 - x0))), int(std::lround(y0 + t * (y1 - y0))), ink);
  }
}

void Canvas::text(int x, int y, std::string_view words, Ink ink) {
  for (const char letter : words) {
    const auto index = std::size_t(letter - ' ');
    if (index < letters.size())
      for (int column = 0; column < 5; ++column)
        for (int row = 0; row < 7; ++row)
          if (letters[index][std::size_t(column)] >> row & 1) dot(x + column, y + row, ink);
    x += letter_width;
  }
}

void write_captioned(const std::filesystem::path& file, const std::vector<Captioned>& pictures, int columns) {
  const Size size = pictures.front().picture.size();
  const int gap = 6, above = Canvas::letter_height + 4, rows = (int(pictures.size()) + columns - 1) / columns;
  Canvas canvas({columns * (size.width + gap) - gap, rows * (size.height + above)});
  for (int i = 0; i < int(pictures.size()); ++i) {
    const int x = i % columns * (size.width + gap), y = i / columns * (size.height + above);
    canvas.text(x + 1, y + 3, pictures[std::size_t(i)].caption);
    canvas.place(x, y + above, pictures[std::size_t(i)].picture);
  }
  canvas.write(file);
}

namespace {

/// A logarithmic axis over whole decades.
struct Axis {
  double low = 1e300, high = -1e300;  ///< exponents to base 10
  double from = 0, to = 1;            ///< ends in the picture, px

  void take(double value) {
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  }
  double at(double value) const {
    return from + (to - from) * (std::log10(value) - low) / std::max(high - low, 1.0);
  }
};

std::string tick_text(double value) {
  return value >= 1e6 ? fmt::format("{:g}M", value * 1e-6)
                      : fmt::format("{:.{}f}", value, value < 1 ? int(std::lround(-std::log10(value))) : 0);
}

}  // namespace

void plot_logarithmic(const std::filesystem::path& file, std::string_view title, std::string_view along,
                      const std::vector<Curve>& curves) {
  const Size size{560, 360};
  Axis x{.from = 60, .to = 540}, y{.from = 310, .to = 40};
  for (const Curve& curve : curves)
    for (const auto& point : curve.points) x.take(point[0]), y.take(point[1]);

  Canvas canvas(size);
  canvas.text(int(x.from), 12, title);
  canvas.text(int(x.to) - int(along.size()) * Canvas::letter_width, size.height - 16, along);
  for (double decade = x.low; decade <= x.high; ++decade)
    for (int digit = 1; digit < (decade < x.high ? 10 : 2); ++digit) {
      const double value = digit * std::pow(10, decade), column = x.at(value);
      canvas.line(column, y.from, column, digit == 1 ? y.to : y.from - 4, pale);
      if (digit > 1) continue;
      const std::string words = tick_text(value);
      canvas.text(int(column) - int(words.size()) * Canvas::letter_width / 2, int(y.from) + 8, words);
    }
  for (double decade = y.low; decade <= y.high; ++decade)
    for (int digit = 1; digit < (decade < y.high ? 10 : 2); ++digit) {
      const double value = digit * std::pow(10, decade), row = y.at(value);
      canvas.line(x.from, row, digit == 1 ? x.to : x.from + 4, row, pale);
      if (digit > 1) continue;
      const std::string words = tick_text(value);
      canvas.text(int(x.from) - 6 - int(words.size()) * Canvas::letter_width, int(row) - 3, words);
    }
  canvas.line(x.from, y.from, x.to, y.from, black);
  canvas.line(x.from, y.from, x.from, y.to, black);

  int legend = int(y.to) + 6;
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const auto& point = curve.points[i];
      canvas.dot(int(x.at(point[0])), int(y.at(point[1])), curve.ink, 5);
      if (i == 0) continue;
      const auto& last = curve.points[i - 1];
      canvas.line(x.at(last[0]), y.at(last[1]), x.at(point[0]), y.at(point[1]), curve.ink, curve.dashed);
    }
    canvas.line(x.from + 12, legend + 3, x.from + 36, legend + 3, curve.ink, curve.dashed);
    canvas.text(int(x.from) + 42, legend, curve.name, curve.ink);
    legend += Canvas::letter_height + 3;
  }
  canvas.write(file);
}

}  // namespace parafield::bench
