// SPDX-License-Identifier: MIT
// A still camera looks at a square with a facade, trees and a road. Walkers, cars and a dog cross it. The
// conditions are the disturbances that motion detection must tolerate: leaves, changing light, shadows, noise,
// a camera that shakes, cars that stop or leave, thermal images.
#include "scenes/passers.hpp"
#include "scenes/render.hpp"
#include "scenes/surface.hpp"

namespace parafield {
namespace {

/// Noise to add to a gray value. It is the sum of 8 random bytes, which is nearly Gaussian.
double noise(double sigma, std::uint64_t bits) {
  int sum = -1020;
  for (int i = 0; i < 8; ++i) sum += int(bits >> (8 * i) & 255);
  return sigma / 209.0215 * sum;
}

/// Light factor at each pixel of a frame: a plane over the image, and a lamp.
struct Light {
  double middle = 1, slope_x = 0, slope_y = 0;  ///< slopes are from the middle to the border
  double lamp = 0;                              ///< added in the right half

  /// Light of one frame of the sequence.
  Light(const SceneOptions& options, int frame) {
    const double side = to_unit(random_bits(random_bits(options.seed, 6100), 0)) < 0.5 ? -1 : 1;
    if (options.conditions == Conditions::jumping && frame >= options.frames / 2) middle = 1 + 0.2 * side;
    if (options.conditions == Conditions::lamp && 3 * frame >= options.frames &&
        3 * frame < 2 * options.frames)
      lamp = 0.5;
    if (options.conditions != Conditions::drifting) return;
    const double turned = options.frames > 1 ? 2.0 * frame / (options.frames - 1) - 1 : 0;  // -1..1
    middle = 1 + 0.3 * side * turned;
    slope_x = 0.06 * turned;
    slope_y = 0.04 * wave(turned / 2);
  }
  double at(Size size, int x, int y) const {
    const double own = middle + slope_x * (2.0 * x / size.width - 1) + slope_y * (2.0 * y / size.height - 1);
    return lamp > 0 ? own * (1 + lamp * smooth_step(-0.04, 0.04, (x + 0.5) / size.width - 0.5)) : own;
  }
};

/// A tree's crown or a bush. Its leaves sway by up to `most` px in each direction.
struct Crown {
  Point center;
  double radius_x, radius_y, most;
  double periods[3], phases[3];  ///< three waves; periods in frames

  /// Displacement of the leaves. Nearby leaves move alike, because `lag`, in turns, changes slowly with the
  /// position.
  Point moved(int frame, double lag) const {
    constexpr double weights[] = {0.45, 0.3, 0.25};
    Point sum;
    for (int i = 0; i < 3; ++i) {
      const double turns = frame / periods[i] + phases[i] + lag;
      sum.x += most * weights[i] * wave(turns);
      sum.y += 0.4 * most * weights[i] * wave(1.3 * turns + 0.2);
    }
    return sum;
  }
};

/// Everything that does not cross the square. Each thread must have its own copy.
class Ground {
 public:
  Ground(const SceneOptions& options)
      : size_(options.size),
        ground_(random_bits(options.seed, 6200), {options.fine, true}),
        leaves_(random_bits(options.seed, 6201), {options.fine, false}),
        dye_(Dye::ground(random_bits(options.seed, 4000), 1)),
        leaf_dye_(Dye::object(random_bits(options.seed, 4000), 2)) {
    const std::uint64_t key = random_bits(options.seed, 6202);
    Draw draw(key);
    const double width = size_.width, height = size_.height;
    edge_ = Octave(std::max(height / 16, 3.0), random_bits(key, 1000));
    lag_ = Octave(std::max(height / 8, 3.0), random_bits(key, 1001));
    const Point centers[] = {{0.14, 0.27}, {0.55, 0.22}, {0.90, 0.36}, {0.30, 0.92}};
    for (const Point& center : centers)
      crowns_.push_back({.center = {width * (center.x + draw.between(-0.04, 0.04)), height * center.y},
                         .radius_x = width * draw.between(0.11, 0.15),
                         .radius_y = height * draw.between(0.13, 0.2),
                         .most = draw.between(1.2, 3),
                         .periods = {draw.between(23, 60), draw.between(9, 17), draw.between(4.5, 8)},
                         .phases = {draw.between(0, 1), draw.between(0, 1), draw.between(0, 1)}});
    if (options.conditions != Conditions::waving) return;
    for (Crown& crown : crowns_) {
      crown.radius_x *= 1.6;
      crown.radius_y *= 1.6;
      crown.most *= 1.7;
    }
  }

  /// A place without leaves.
  Seen bare(double x, double y, bool colored) {
    const double texture = ground_(x, y) - mean_gray, down = (y + 0.5) / size_.height;
    const double windows = std::max(size_.height / 16.0, 6.0);
    double gray = 125 + 0.45 * texture;
    if (down < 0.38) gray = facade_gray(mean_gray + 5 * texture, {x, y}, windows);
    if (down > 0.46 && down < 0.66) gray = 95 + 0.3 * texture;
    if (std::abs(down - 0.56) < 0.006 && int(32 * x / size_.width) % 3 != 0) gray = 190 + 0.2 * texture;
    return {gray, colored ? dye_(x, y) : Tint{}};
  }
  /// The same place covered by the leaves of a frame. `lag` is the lag at the place.
  Seen with_leaves(Seen seen, int number, double x, double y, int frame, double lag, bool colored) {
    const Crown& crown = crowns_[std::size_t(number)];
    const Point moved = crown.moved(frame, lag), leaf{x + moved.x, y + moved.y};
    const double share = smooth_step(0, 0.25, inside(crown, leaf) + 0.6 * edge_(leaf.x, leaf.y));
    if (share <= 0) return seen;
    const double gray = 88 + 0.9 * (leaves_(leaf.x, leaf.y) - mean_gray);
    return {seen.gray + share * (gray - seen.gray),
            colored ? seen.tint.mixed(leaf_dye_(x, y), share) : Tint{}};
  }
  /// Index of the crown whose leaves may cover a place, or -1.
  int crown_near(double x, double y) const {
    for (std::size_t i = 0; i < crowns_.size(); ++i) {
      Crown larger = crowns_[i];
      larger.radius_x += 2 * larger.most;
      larger.radius_y += 2 * larger.most;
      if (inside(larger, {x, y}) > -0.6) return int(i);
    }
    return -1;
  }
  double lag(double x, double y) { return 0.7 * lag_(x, y); }

 private:
  /// 1 in the middle of a crown, 0 on its ellipse, negative outside.
  static double inside(const Crown& crown, Point p) {
    const double x = (p.x - crown.center.x) / crown.radius_x, y = (p.y - crown.center.y) / crown.radius_y;
    return 1 - x * x - y * y;
  }

  Size size_;
  Texture ground_, leaves_;
  Dye dye_, leaf_dye_;
  Octave edge_, lag_;
  std::vector<Crown> crowns_;
};

/// A passer with texture and colors.
struct Clothed {
  Passer passer;
  Texture texture;
  Dye dye;

  Clothed(const Passer& crossing, bool fine)
      : passer(crossing), texture(crossing.key, {fine, false}), dye(Dye::object(crossing.key, 0)) {}

  /// Whether a pixel may show it or its shadow, which is `length` times longer than usual.
  bool near(Point pixel, double length) const {
    return pixel.y >= passer.foot.y - passer.height - 1 &&
           pixel.y <= passer.foot.y + 0.15 * length * passer.height + 1 &&
           std::abs(pixel.x - passer.foot.x) <= (1.25 * passer.reach() + 0.2 * length) * passer.height + 1;
  }
  Seen seen(Point pixel, double gray, bool colored) {
    const double x = pixel.x - passer.foot.x, y = pixel.y - passer.foot.y;
    return {gray + 0.3 * (texture(x, y) - mean_gray), colored ? dye(x, y) : Tint{}};
  }
};

/// A pixel of the background.
struct Place {
  Seen seen;       ///< without leaves if they sway
  int crown = -1;  ///< crown whose leaves sway in front of it; -1 = none
  double lag = 0;

  Place() = default;
  Place(Ground& ground, Point at, const SceneOptions& options)
      : seen(ground.bare(at.x, at.y, options.color)) {
    const int near = ground.crown_near(at.x, at.y);
    if (near < 0) return;
    lag = ground.lag(at.x, at.y);
    if (options.conditions == Conditions::swaying || options.conditions == Conditions::waving)
      crown = near;
    else
      seen = ground.with_leaves(seen, near, at.x, at.y, 0, lag, options.color);
  }
};

/// Where the camera looks: a random walk that stays near the middle.
class Shake {
 public:
  Shake(const SceneOptions& options) : key_(random_bits(options.seed, 6400)) {}

  /// The offset of the next frame, px.
  Point next() {
    for (double* const side : {&at_.x, &at_.y})
      *side = std::clamp(0.6 * *side + noise(0.9, random_bits(key_, count_++)), -3.0, 3.0);
    return at_;
  }

 private:
  std::uint64_t key_, count_ = 0;
  Point at_{0, 0};
};

/// A gray value as a thermal camera shows it: with little contrast, and with warm objects.
double thermal_gray(double gray, bool is_object) {
  return 90 + 0.12 * (gray - mean_gray) + (is_object ? 14 : 0);
}

/// Content of a frame. Each thread must have its own copy.
struct Shown {
  Ground ground;
  std::vector<Clothed> crossing;  ///< the nearest first
};

}  // namespace

Scene render_square(const SceneOptions& options) {
  const Size size = options.size;
  Scene scene;
  Passes passes(options, options.frames + 1);
  const Passers passers(options);
  Shown shown{Ground(options), {}};
  std::vector<Place> places(std::size_t(size.width) * size.height);
  const auto place = [&](int x, int y) -> Place& { return places[std::size_t(y) * size.width + x]; };
  passes.pixels(size, shown.ground, [&](Ground& ground, int x, int y) {
    place(x, y) = Place(ground, {double(x), double(y)}, options);
  });

  const bool is_shadowed = options.conditions == Conditions::shadowed,
             is_thermal = options.conditions == Conditions::thermal,
             is_shaking = options.conditions == Conditions::shaking;
  const double shade = is_shadowed ? 0.4 : 0.09, shadow_length = is_shadowed ? 3 : 1;
  const double sigma = options.conditions == Conditions::noisy ? 6 : is_thermal ? 3.3 : 2;
  const std::uint64_t fixed_key = random_bits(options.seed, 6500);
  Shake shake(options);
  for (int i = 0; i < options.frames; ++i) {
    const Canvas canvas(add_frame(scene, options));
    Image<std::uint8_t>* const moving = i > 0 ? &scene.moving.emplace_back(size) : nullptr;
    shown.crossing.clear();
    for (const Passer& passer : passers.at(i))
      shown.crossing.insert(shown.crossing.begin(), Clothed(passer, options.fine));
    const Light light(options, i);
    const std::uint64_t noise_key = random_bits(random_bits(options.seed, 6300), std::uint64_t(i));
    const Point offset = is_shaking ? shake.next() : Point{0, 0};
    passes.pixels(size, shown, [&](Shown& own, int x, int y) {
      const Point here{x + offset.x, y + offset.y};
      const Place behind = is_shaking ? Place(own.ground, here, options) : place(x, y);
      Seen seen = behind.seen;
      bool covered = false;
      double shadow = 0;
      for (Clothed& each : own.crossing) {
        if (!each.near(here, shadow_length)) continue;
        if (const std::optional<double> gray = each.passer.gray(here)) {
          seen = each.seen(here, *gray, options.color);
          covered = true;
          break;
        }
        shadow = std::max(shadow, each.passer.shadow(here, shadow_length));
      }
      if (!covered && behind.crown >= 0)
        seen = own.ground.with_leaves(seen, behind.crown, x, y, i, behind.lag, options.color);
      if (!covered) seen.gray *= 1 - shade * shadow;
      const auto noise_at = [&](std::uint64_t key, double deviation) {
        return noise(deviation, random_bits(random_bits(key, std::uint64_t(y)), std::uint64_t(x)));
      };
      double lit = seen.gray * light.at(size, x, y);
      if (is_thermal) lit = thermal_gray(lit, covered) + noise_at(fixed_key, 2);
      canvas.put(x, y, lit + noise_at(noise_key, sigma), is_thermal ? Tint{} : seen.tint);
      if (moving) (*moving)(x, y) = covered;
    });
  }
  return scene;
}

}  // namespace parafield
