// SPDX-License-Identifier: MIT
#include "scenes/motion.hpp"

#include <functional>
#include <limits>

#include "scenes/noise.hpp"

namespace parafield {

/// Random numbers and lengths for a scene's motion.
class LayerDraw : public Draw {
 public:
  LayerDraw(Size size, std::uint64_t seed) : Draw(random_bits(seed, 1000)), size_(size) {}

  Point center() const { return {(size_.width - 1) / 2.0, (size_.height - 1) / 2.0}; }
  double width() const { return size_.width; }
  double height() const { return size_.height; }
  double shorter_side() const { return std::min(size_.width, size_.height); }
  double scale() const { return scale_of(size_); }
  Affine shift(double x, double y) const { return {1, 0, 0, 1, x * scale(), y * scale()}; }

 private:
  Size size_;
};

namespace {

/// Rotation by an angle below 0.1 radians, for which the truncated series of sine and cosine are exact to
/// float64 rounding.
Affine rotation(double angle) {
  const double square = angle * angle;
  const double sine = angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72))));
  const double cosine = 1 - square / 2 * (1 - square / 12 * (1 - square / 30 * (1 - square / 56)));
  return {cosine, -sine, sine, cosine};
}

constexpr double degree = 0.017453292519943295;
constexpr double no_limit = std::numeric_limits<double>::infinity();

std::vector<Layer> translation(LayerDraw draw) {
  const double x = draw.either_side(1.5, 4), y = draw.either_side(0.8, 2.5);
  return {{draw.shift(x, y), {}}};
}

std::vector<Layer> turning(LayerDraw draw) {
  return {{rotation(draw.either_side(0.5, 0.9) * degree).about(draw.center()), {}}};
}

/// A zoom toward the viewer. Texture that shrinks would soon be finer than the pixels.
std::vector<Layer> zoom(LayerDraw draw) {
  const double factor = draw.between(1.008, 1.016);
  return {{Affine{factor, 0, 0, factor}.about(draw.center()), {}}};
}

/// A stretch, a shear and a shift. The shears have opposite signs so that no direction shrinks for long.
std::vector<Layer> affine(LayerDraw draw) {
  const double turn = draw.sign();
  const Affine linear{1 + draw.between(0.004, 0.010), -turn * draw.between(0.004, 0.009),
                      turn * draw.between(0.004, 0.009), 1 + draw.between(-0.002, 0.004)};
  const double x = draw.either_side(0.5, 2), y = draw.either_side(0.5, 2);
  return {{draw.shift(x, y) * linear.about(draw.center()), {}}};
}

/// An ellipse that moves and rotates over a background that moves the opposite way.
std::vector<Layer> layers(LayerDraw draw) {
  const double x = draw.sign(), y = draw.sign();
  const double back_x = -x * draw.between(0.8, 2), back_y = -y * draw.between(0.3, 1.2);
  const double front_x = x * draw.between(2, 4.5), front_y = y * draw.between(1, 2.5);
  const double side = draw.shorter_side();
  const Point center{draw.center().x - x * 0.08 * side, draw.center().y - y * 0.08 * side};
  const Shape shape{center, side * draw.between(0.30, 0.36), side * draw.between(0.22, 0.28)};
  const Affine turn = rotation(draw.either_side(0.2, 0.6) * degree).about(center);
  return {{draw.shift(front_x, front_y) * turn, shape}, {draw.shift(back_x, back_y), {}}};
}

/// A thin vertical pole, as tall as the image, over a background that moves the opposite way.
std::vector<Layer> pole(LayerDraw draw) {
  const double x = draw.sign(), y = draw.sign();
  const double front_x = x * draw.between(2.5, 4.5), front_y = y * draw.between(0.4, 1.2);
  const double back_x = -x * draw.between(0.8, 2), back_y = -y * draw.between(0.3, 1);
  const Point center{draw.center().x - x * draw.between(0.02, 0.2) * draw.width(), 0};
  const Shape shape{center, draw.width() / 120, no_limit};
  return {{draw.shift(front_x, front_y), shape, false, 55}, {draw.shift(back_x, back_y), {}}};
}

/// A near object passes a camera that turns fast: everything moves in the same direction, the near object
/// farther.
std::vector<Layer> large(LayerDraw draw) {
  const double x = draw.sign(), y = draw.sign();
  const double far_x = x * draw.between(40, 48), far_y = y * draw.between(4, 10);
  const double near_x = x * draw.between(60, 74), near_y = y * draw.between(10, 20);
  const double side = draw.shorter_side();
  const Point center{draw.center().x - x * 0.25 * side, draw.center().y - y * 0.1 * side};
  const Shape shape{center, side * draw.between(0.28, 0.34), side * draw.between(0.24, 0.30)};
  return {{draw.shift(near_x, near_y), shape, true}, {draw.shift(far_x, far_y), {}, true}};
}

/// A vertical bar, as tall as the image, that moves six times as far as the background, like the pole of Kim,
/// Hwangbo and Kanade (2009, figures 3 to 5). At 320x240 it is 4 px wide and moves by 12 px, and the
/// background moves by 2.
std::vector<Layer> bar_over_background(LayerDraw draw, double light, bool camouflaged) {
  const double x = draw.sign();
  const Point center{draw.center().x - x * draw.between(0.02, 0.2) * draw.width(), 0};
  const Shape shape{center, 4 * draw.scale(), no_limit};
  const bool across = draw.sign() < 0;
  const double shift = draw.sign() * 4;
  return {{draw.shift(x * 24, 0), shape, false, light, camouflaged},
          {across ? draw.shift(shift, 0) : draw.shift(0, shift), {}}};
}

std::vector<Layer> bar(LayerDraw draw) { return bar_over_background(draw, 45, false); }
std::vector<Layer> camouflage(LayerDraw draw) { return bar_over_background(draw, 0, true); }

/// Similar to the merry-go-round of Kim, Hwangbo and Kanade (figures 6 and 7): everything moves to one side,
/// near objects farther. Thin poles are at different depths, and about half of them carry a load.
std::vector<Layer> poles(LayerDraw draw) {
  const double x = draw.sign(), slope = draw.between(-0.1, 0.1);
  const double width = draw.width(), height = draw.height(), side = draw.shorter_side();
  const auto step = [&](double low, double high) {
    const double far = draw.between(low, high);
    return draw.shift(x * far, slope * far + draw.between(-2, 2));
  };
  const auto ellipse = [&](Point center, double low, double high) {
    return Shape{center, side * draw.between(low, high), side * draw.between(low, high)};
  };
  std::vector<Layer> list;

  const int count = 8 + int(draw.between(0, 5));
  for (int i = 0; i < count; ++i) {
    const Affine along = step(20, 45);
    const double column = width * (i + draw.between(0.1, 0.9)) / count;
    const double radius = std::max(draw.scale() * draw.between(1.5, 3), 1.0);
    const bool loaded = draw.sign() < 0;
    const Shape load = ellipse({column, height * draw.between(0.4, 0.75)}, 0.05, 0.09);
    if (loaded) list.push_back({along, load, true, draw.either_side(5, 25)});
    list.push_back({along, {{column, 0}, radius, no_limit}, true, draw.either_side(35, 55)});
  }
  for (int i = 0; i < 7; ++i) {
    const Point center{width * (i + draw.between(0.2, 0.8)) / 7, height * draw.between(0.15, 0.6)};
    list.push_back({step(13, 20), ellipse(center, 0.07, 0.13), true});
  }
  for (int i = 0; i < 3; ++i) {
    const Point center{width * (i + draw.between(0.2, 0.8)) / 3, height * draw.between(0.8, 0.95)};
    list.push_back({step(44, 50), ellipse(center, 0.10, 0.17), true});
  }
  // Nearest first, and a load before its pole.
  std::ranges::stable_sort(list, std::greater{}, [&](const Layer& layer) { return x * layer.step.x; });
  list.push_back({step(8, 12), {}, true});
  return list;
}

/// Balloons of different sizes, blown to one side. Near balloons are larger and move farther.
std::vector<Layer> balloons(LayerDraw draw) {
  const double x = draw.sign(), side = draw.shorter_side();
  constexpr int count = 5;
  std::vector<Layer> list;
  for (int i = 0; i < count; ++i) {
    const double size = 0.13 - 0.018 * i + draw.between(0, 0.012);
    const int place = (i * 2) % count;  // large and small balloons alternate
    const Point center{draw.width() * (place + draw.between(0.3, 0.7)) / count,
                       draw.height() * draw.between(0.22, 0.62)};
    const Affine step = draw.shift(x * 35 * size, draw.between(-1.5, 0.5));
    list.push_back({step, {center, side * size, side * size * 1.15}, true, 25});
  }
  list.push_back({draw.shift(0, 0), {}});
  return list;
}

/// Two facades of identical windows, seen by a camera that moves sideways and toward them. Each window looks
/// like its neighbor, 8 or 12 px away, and moves by less than that distance.
std::vector<Layer> facade(LayerDraw draw) {
  const double x = draw.sign(), y = draw.either_side(0.2, 0.6);
  const double far_x = x * draw.between(1, 1.8), near_x = x * draw.between(2.5, 4);
  const auto towards = [&](double factor) { return Affine{factor, 0, 0, factor}.about(draw.center()); };
  const Point center{draw.center().x - x * draw.between(0.05, 0.2) * draw.width(), 0};
  const Shape near{center, draw.width() * draw.between(0.18, 0.26), no_limit};
  return {{.step = draw.shift(near_x, y) * towards(1.004), .shape = near, .light = -20, .windows = 12},
          {.step = draw.shift(far_x, y / 2) * towards(1.002), .shape = {}, .light = 15, .windows = 8}};
}

/// Two facades of fine level slats, seen by a camera that rises past them. The near one moves by up to half
/// of the distance of its slats, the far one by up to a third.
std::vector<Layer> slats(LayerDraw draw) {
  const double x = draw.sign(), y = draw.sign();
  const double far_y = y * draw.between(0.6, 2), near_y = y * draw.between(2.5, 3.5);
  const auto step = [](double along, double up) { return Affine{1, 0, 0, 1, along, up}; };
  const Point center{draw.center().x - x * draw.between(0.05, 0.2) * draw.width(), 0};
  const Shape near{center, draw.width() * draw.between(0.18, 0.26), no_limit};
  return {{.step = step(x * draw.between(0.5, 1.5), near_y), .shape = near, .light = -20, .slats = 8},
          {.step = step(x * draw.between(0.2, 0.8), far_y), .shape = {}, .light = 15, .slats = 6}};
}

/// A thin figure that runs before a distant background. Its limbs swing: they are ellipses with motions of
/// their own.
std::vector<Layer> runner(LayerDraw draw) {
  const double x = draw.sign(), tall = 0.5 * draw.height();
  const double along = x * draw.between(18, 28), up = draw.either_side(1, 4);
  const Point hip{draw.center().x - x * draw.between(0.1, 0.25) * draw.width(),
                  draw.center().y + draw.between(-0.02, 0.08) * draw.height()};
  std::vector<Layer> list;
  // An ellipse at a place from the hip, in heights of the figure, that moves by (u, v) more than the body.
  const auto part = [&](double right, double down, double wide, double high, double u, double v) {
    const Shape shape{{hip.x + x * right * tall, hip.y + down * tall}, wide * tall, high * tall};
    list.push_back({draw.shift(along + x * u, up + v), shape, true, draw.either_side(15, 35)});
  };
  const double swing = draw.between(4, 9);
  part(0.07, -0.10, 0.025, 0.11, swing, 0);  // the near arm
  part(0.06, -0.37, 0.045, 0.06, 0, 0);      // the head
  part(0.02, -0.15, 0.055, 0.17, 0, 0);      // the body
  part(0.08, 0.17, 0.035, 0.18, swing, -2);  // the legs
  part(-0.09, 0.16, 0.035, 0.17, -swing, 1);
  part(-0.06, -0.12, 0.025, 0.10, -swing, 0);  // the other arm
  list.push_back({draw.shift(-x * draw.between(0.5, 2.5), draw.between(-0.6, 0.6)), {}, true});
  return list;
}

constexpr LayeredScene list[] = {
    {{"translation", "everything moves by the same few px"}, translation},
    {{"rotation", "a turn around the center, below a degree a frame"}, turning},
    {{"zoom", "towards the viewer, about a percent a frame"}, zoom},
    {{"affine", "a stretch, a shear and a shift"}, affine},
    {{"layers", "an ellipse moves and turns over a background that moves the other way; occlusion"}, layers},
    {{"pole", "a thin vertical pole passes over a background that moves the other way; occlusion"}, pole},
    {{"large", "motion of 40 to 80 px, most of near objects; occlusion"}, large},
    {{"bar", "a thin bar of a color of its own moves six times as far as the background; occlusion"}, bar},
    {{"camouflage", "the same bar, but it looks like the background"}, camouflage},
    {{"poles", "many thin poles with loads move by 20 to 45 px, at different depths; occlusion"}, poles},
    {{"balloons", "balloons drift before a still camera; true masks of what moves, occlusion"},
     balloons,
     true},
    {{"facade", "two buildings whose windows look alike, at two depths, move by 1 to 6 px; occlusion"},
     facade},
    {{"slats", "two buildings of fine slats that look alike, at two depths, move by 1 to 4 px; occlusion"},
     slats},
    {{"runner", "a thin figure runs by 10 to 40 px; occlusion"}, runner},
};

/// A fraction of a motion: 0 = no motion, 1 = all of it.
Affine part_of(const Affine& step, double part) {
  return {1 + part * (step.xx - 1), part * step.xy, part * step.yx,
          1 + part * (step.yy - 1), part * step.x,  part * step.y};
}

}  // namespace

Affine step_of(const Layer& layer, bool ground, const SceneOptions& options, int pair) {
  switch (options.pace) {
    case Pace::accelerating:
      return part_of(layer.step, 0.4 + 0.3 * pair);
    case Pace::shaking: {
      LayerDraw draw(options.size, random_bits(options.seed, 5000 + std::uint64_t(pair)));
      const double x = draw.between(-2, 2), y = draw.between(-2, 2);
      return draw.shift(x, y) * layer.step;
    }
    case Pace::stop_and_go:
      return part_of(layer.step, ground || pair / 2 % 2 == 1 ? 1 : 0);
    default:
      return layer.step;
  }
}

std::span<const LayeredScene> layered_scenes() { return list; }

std::vector<Layer> scene_layers(const LayeredScene& scene, Size size, std::uint64_t seed) {
  return scene.layers(LayerDraw(size, seed));
}

}  // namespace parafield
