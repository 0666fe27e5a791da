#pragma once
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "parafield/parafield.hpp"

/// Pictures with words: labeled fields, and curves.
namespace parafield::bench {

using Ink = std::array<std::uint8_t, 3>;
constexpr Ink black{0, 0, 0}, pale{215, 215, 215}, blue{20, 60, 200}, red{200, 30, 30};

/// A white page.
class Canvas {
 public:
  static constexpr int letter_width = 6, letter_height = 8;  ///< px, with what is between letters and lines

  explicit Canvas(Size size);
  /// A picture (gray_u8 or rgb_u8) with its first pixel at (x, y).
  void place(int x, int y, const Frame& picture);
  void dot(int x, int y, Ink ink, int side = 1);
  /// Dashed: every other 4 px.
  void line(double x0, double y0, double x1, double y1, Ink ink, bool dashed = false);
  /// ASCII from (x, y) on, to the right.
  void text(int x, int y, std::string_view words, Ink ink = black);
  void write(const std::filesystem::path& file) const { write_frame(file, picture_); }

 private:
  FrameBuffer picture_;
};

struct Captioned {
  std::string caption;
  FrameBuffer picture;
};

/// Pictures of one size with their captions above, `columns` in a row, as a PNG.
void write_captioned(const std::filesystem::path& file, const std::vector<Captioned>& pictures, int columns);

struct Curve {
  std::string name;
  Ink ink;
  bool dashed;
  std::vector<std::array<double, 2>> points;  ///< above 0
};

/// Curves over logarithmic axes that span whole decades, as a PNG.
void plot_logarithmic(const std::filesystem::path& file, std::string_view title, std::string_view along,
                      const std::vector<Curve>& curves);

}  // namespace parafield::bench
