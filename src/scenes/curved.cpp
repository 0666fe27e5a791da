// SPDX-License-Identifier: MIT
// Curved surfaces before a wall, seen by a rectified pair of cameras: a ball, or a sheet that hangs in folds.
// A surface has a disparity at each point of the left image. It changes by less than a pixel per pixel, which
// is why each point of the right image shows one point of the surface.
#include "core/views.hpp"
#include "scenes/render.hpp"
#include "scenes/surface.hpp"

namespace parafield {
namespace {

enum class Curved { ball, sheet };

/// A shape before a wall at the time of one pair. Each thread must use its own copy.
struct Room {
  Texture textures[2];  ///< of the shape and of the wall
  Dye dyes[2];
  Curved shape;
  double scale;        ///< sizes are given for 640x480
  Point middle, from;  ///< of the image, and of the wall's disparity
  Point pan;           ///< from one pair to the next, px
  Point shift = {};    ///< since the first pair
  double wall, wall_x, wall_y;
  double radius, rise;            ///< ball
  double period, depth, bend;     ///< folds of the sheet
  double left, right, below, hem;  ///< borders of the sheet

  Room(const SceneOptions& options, Curved of)
      : textures{{random_bits(options.seed, 6100), {options.fine, false}},
                 {random_bits(options.seed, 6101), {options.fine, false}}},
        dyes{Dye::object(random_bits(options.seed, 4000), 0), Dye::ground(random_bits(options.seed, 4000), 1)},
        shape(of),
        scale(scale_of(options.size)) {
    Draw draw(random_bits(options.seed, 6000));
    const double width = options.size.width, height = options.size.height, side = std::min(width, height);
    from = {width / 2, height / 2};
    middle = {width * draw.between(0.45, 0.55), height * draw.between(0.45, 0.55)};
    pan = {scale * draw.either_side(1.5, 4), scale * draw.either_side(0.5, 1.5)};
    wall = scale * draw.between(10, 13);
    wall_x = draw.either_side(0.004, 0.012);
    wall_y = draw.either_side(0.004, 0.012);
    radius = side * draw.between(0.34, 0.42);
    rise = radius * draw.between(0.1, 0.15);
    period = scale * draw.between(85, 130);
    depth = period * draw.between(0.03, 0.04);
    bend = draw.either_side(0.15, 0.3);
    left = width * draw.between(0.12, 0.2), right = width * draw.between(0.8, 0.88);
    below = height * draw.between(0.78, 0.86);
    hem = scale * draw.between(6, 12);
  }

  void advance() { shift = {shift.x + pan.x, shift.y + pan.y}; }
  Point in_first(Point p) const { return {p.x + shift.x, p.y + shift.y}; }

  double wall_at(Point p) const { return wall + wall_x * (p.x - from.x) + wall_y * (p.y - from.y); }
  /// Position across the folds, in folds. They run down, and bend.
  double fold(Point p) const { return p.x / period + bend * wave(p.y / (5 * period)); }

  /// Whether the shape covers a point of the first left image.
  bool covers(Point p) const {
    if (shape == Curved::sheet)
      return p.x >= left && p.x <= right && p.y <= below + hem * wave(fold(p) + 0.25);
    const double x = p.x - middle.x, y = p.y - middle.y;
    return x * x + y * y <= 0.94 * radius * radius;  // farther out, the cameras do not see the same points
  }
  /// Disparity of the shape at a point of the first left image, px.
  double shape_at(Point p) const {
    if (shape == Curved::sheet) {
      // The folds are deeper toward the hem.
      const double down = std::clamp(p.y / below, 0.0, 1.2);
      return wall + scale * 14 + 0.01 * p.y +
             depth * (0.4 + 0.6 * down) * (wave(fold(p)) + 0.25 * wave(2.3 * p.x / period + 0.2));
    }
    const double x = p.x - middle.x, y = p.y - middle.y;
    const double rest = 1 - (x * x + y * y) / (radius * radius);
    return wall + scale * 10 + rise * std::sqrt(std::max(rest, 0.06));
  }
  double disparity(Point p, bool of_shape) const { return of_shape ? shape_at(p) : wall_at(p); }

  /// The point of the first left image that shows what a pixel of a right image shows, if it is on the shape
  /// or on the wall. Disparities change by so little per pixel that the iteration converges.
  Point left_of(Point pixel, bool of_shape) const {
    const Point start = in_first(pixel);
    Point at = start;
    for (int i = 0; i < 100; ++i) {
      const double x = start.x + disparity(at, of_shape), step = x - at.x;
      at.x = x;
      if (step * step < 1e-20) break;
    }
    return at;
  }
  struct Hit {
    Point at;       ///< in the first left image
    bool of_shape;  ///< or of the wall
  };
  Hit seen(Point pixel, bool is_right) const {
    if (!is_right) return {in_first(pixel), covers(in_first(pixel))};
    const Point at = left_of(pixel, true);
    return covers(at) ? Hit{at, true} : Hit{left_of(pixel, false), false};
  }
  /// Pixel of a point of the first left image.
  Point pixel_of(Hit hit, bool is_right) const {
    const double d = is_right ? disparity(hit.at, hit.of_shape) : 0;
    return {hit.at.x - shift.x - d, hit.at.y - shift.y};
  }
};

Scene render(const SceneOptions& options, Curved shape) {
  Scene scene;
  Passes passes(options, 2 * options.frames - 1 + options.frames / 2);
  Room last(options, shape), now = last;
  for (int i = 0; i < options.frames; ++i) {
    const bool is_right = i % 2 == 1;
    if (i > 0 && !is_right) now.advance();
    const Canvas canvas(add_frame(scene, options));
    passes.pixels(options.size, now, [&](Room& room, int x, int y) {
      const auto [at, of_shape] = room.seen({double(x), double(y)}, is_right);
      const int which = of_shape ? 0 : 1;
      const double texture = room.textures[which](at.x, at.y) - mean_gray;
      const double gray = mean_gray + (of_shape ? 20 : -15) + 0.6 * texture;
      canvas.put(x, y, gray, canvas.colored() ? room.dyes[which](at.x, at.y) : Tint{});
    });
    if (i > 0) {
      const Truth truth(scene, options.size);
      passes.pixels(options.size, 0, [&](int, int x, int y) {
        const Room::Hit hit = last.seen({double(x), double(y)}, !is_right);
        const Point match = now.pixel_of(hit, is_right);
        truth.put(x, y, match, [&] { return !hit.of_shape && now.seen(match, is_right).of_shape; });
      });
    }
    last = now;
    if (!is_right) continue;
    DisparityField& field = scene.disparity.emplace_back(options.size, Memory::host(), false);
    passes.pixels(options.size, 0, [&](int, int x, int y) {
      const Room::Hit hit = now.seen({double(x), double(y)}, false);
      field.d(x, y) = float(now.disparity(hit.at, hit.of_shape));
      field.valid(x, y) = 1;
    });
  }
  return scene;
}

}  // namespace

Scene render_ball(const SceneOptions& options) { return render(options, Curved::ball); }
Scene render_sheet(const SceneOptions& options) { return render(options, Curved::sheet); }

}  // namespace parafield
