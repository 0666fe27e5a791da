// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "parafield/parafield.hpp"

/// Pictures with text: captioned fields, and curves.
namespace parafield::bench {

using Ink = std::array<std::uint8_t, 3>;
constexpr Ink black{0, 0, 0}, pale{215, 215, 215}, blue{20, 60, 200}, red{200, 30, 30};

/// A white page.
class Canvas {
 public:
  static constexpr int letter_width = 6, letter_height = 8;  ///< px, space between letters and lines included

  explicit Canvas(Size size);
  /// Draws a picture (gray_u8 or rgb_u8) with its upper left pixel at (x, y).
  void place(int x, int y, const Frame& picture);
  /// Draws a square around (x, y).
  void dot(int x, int y, Ink ink, int side = 1);
  /// Draws a line; a dashed one leaves out every other 4 px.
  void line(double x0, double y0, double x1, double y1, Ink ink, bool dashed = false);
  /// Draws ASCII text to the right of (x, y).
  void text(int x, int y, std::string_view words, Ink ink = black);
  void write(const std::filesystem::path& file) const { write_frame(file, picture_); }

 private:
  FrameBuffer picture_;
};

struct Captioned {
  std::string caption;
  FrameBuffer picture;
};

/// Writes pictures of one size as a PNG, `columns` in a row, each below its caption.
void write_captioned(const std::filesystem::path& file, const std::vector<Captioned>& pictures, int columns);

struct Curve {
  std::string name;
  Ink ink;
  bool dashed;
  std::vector<std::array<double, 2>> points;  ///< (x, y), both above 0
};

/// Writes curves over logarithmic axes of whole decades as a PNG. `along`: name of the x axis.
void plot_logarithmic(const std::filesystem::path& file, std::string_view title, std::string_view along,
                      const std::vector<Curve>& curves);

}  // namespace parafield::bench
