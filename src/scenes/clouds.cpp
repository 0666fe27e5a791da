// SPDX-License-Identifier: MIT
// Clouds over ground, seen by two satellites. The clouds are a layer whose opacity and height are smooth
// functions of the position in the cloud, which makes their edges translucent. The ground has disparity 0.
#include "core/views.hpp"
#include "scenes/render.hpp"
#include "scenes/surface.hpp"

namespace parafield {
namespace {

/// Sizes and motions for a seed, px. As in other scenes, they are given for 640x480.
struct Weather {
  double scale;
  Affine wind, drift;  ///< motion of the clouds and of the ground, from every left image to the next
  double least, most;  ///< range of the clouds' disparities

  explicit Weather(const SceneOptions& options) {
    Draw draw(random_bits(options.seed, 5000));
    const auto [width, height] = options.size;
    scale = scale_of(options.size);
    const double x = draw.sign(), y = draw.sign(), turn = draw.either_side(0.003, 0.007);
    const Affine about = Affine{1, -turn, turn, 1}.about({(width - 1) / 2.0, (height - 1) / 2.0});
    wind = Affine{1, 0, 0, 1, x * draw.at(4, 2, 4) * scale, y * draw.at(5, 0.8, 2) * scale} * about;
    drift = {1, 0, 0, 1, -x * draw.at(6, 0.3, 0.8) * scale, -y * draw.at(7, 0.2, 0.5) * scale};
    least = draw.at(8, 5, 6) * scale;
    most = draw.at(9, 13, 15) * scale;
  }
};

/// The scene at the time of one pair. Each thread must use its own copy.
struct Sky {
  Weather weather;
  Texture cloud, ground;
  Dye cloud_dye, ground_dye;
  Octave cover[3], height;
  Affine to_start = {}, ground_to_start = {};  ///< from a point of this left image to its match in the first

  Sky(const SceneOptions& options)
      : weather(options),
        cloud(random_bits(options.seed, 5100), {options.fine, true}),
        ground(random_bits(options.seed, 5101), {options.fine, true}),
        cloud_dye(Dye::object(random_bits(options.seed, 4000), 0)),
        ground_dye(Dye::ground(random_bits(options.seed, 4000), 1)),
        height(130 * weather.scale, random_bits(options.seed, 5102)) {
    const double spacings[] = {90, 45, 22};
    for (std::size_t i = 0; i < 3; ++i)
      cover[i] = Octave(spacings[i] * weather.scale, random_bits(options.seed, 5103 + i));
  }

  void advance() {
    to_start = to_start * weather.wind.inverse();
    ground_to_start = ground_to_start * weather.drift.inverse();
  }

  /// Opacity of the clouds at a point of the left image, 0..1.
  double opacity(Point p) {
    const Point q = to_start(p);
    const double sum = 0.6 * cover[0](q.x, q.y) + 0.3 * cover[1](q.x, q.y) + 0.15 * cover[2](q.x, q.y);
    return smooth_step(-0.04, 0.10, sum);
  }
  /// Disparity of the clouds at a point of the left image, px.
  double disparity(Point p) {
    const Point q = to_start(p);
    return weather.least + (weather.most - weather.least) * smooth_step(-0.6, 0.6, height(q.x, q.y));
  }
  /// The point of the left image that shows the same cloud as a pixel of the right image. Heights change so
  /// slowly that the iteration converges.
  Point left_of(Point right) {
    Point left = right;
    for (int i = 0; i < 40; ++i) {
      const double x = right.x + disparity(left), step = x - left.x;
      left.x = x;
      if (step * step < 1e-16) break;
    }
    return left;
  }

  void paint(const Canvas& canvas, int x, int y, bool right) {
    const Point here{double(x), double(y)}, at = right ? left_of(here) : here;
    const double share = opacity(at);
    const Point g = ground_to_start(here), c = to_start(at);
    const double below = 80 + 0.5 * (ground(g.x, g.y) - mean_gray),
                 above = 175 + 0.6 * (cloud(c.x, c.y) - mean_gray);
    canvas.put(x, y, below + share * (above - below),
               canvas.colored() ? ground_dye(g.x, g.y).mixed(cloud_dye(c.x, c.y), share) : Tint{});
  }
};

bool is_cloud(double opacity) { return opacity >= 0.5; }

}  // namespace

Scene render_clouds(const SceneOptions& options) {
  Scene scene;
  Passes passes(options, 2 * options.frames);
  struct Pair {
    Sky last, now;  ///< at the times of the previous pair and the current one
  };
  Pair pair{Sky(options), Sky(options)};
  for (int i = 0; i < options.frames; ++i) {
    const bool right = i % 2 == 1;
    if (i > 0 && !right) {
      pair.last = pair.now;
      pair.now.advance();
    }
    const Canvas canvas(add_frame(scene, options));
    passes.pixels(options.size, pair.now, [&](Sky& sky, int x, int y) { sky.paint(canvas, x, y, right); });
    if (i >= 2) {
      const Truth truth(scene, options.size);
      passes.pixels(options.size, pair, [&](Pair& own, int x, int y) {
        Sky &sky = own.last, &later = own.now;
        const Point here{double(x), double(y)}, at = right ? sky.left_of(here) : here;
        const bool cloud = is_cloud(sky.opacity(at));
        Point match = (cloud ? sky.weather.wind : sky.weather.drift)(cloud ? at : here);
        if (cloud && right) match.x -= later.disparity(match);
        truth.put(x, y, match,
                  [&] { return !cloud && is_cloud(later.opacity(right ? later.left_of(match) : match)); });
      });
    }
    if (!right) continue;
    DisparityField& field = scene.disparity.emplace_back(options.size, Memory::host(), false);
    passes.pixels(options.size, pair.now, [&](Sky& sky, int x, int y) {
      const Point here{double(x), double(y)};
      field.d(x, y) = is_cloud(sky.opacity(here)) ? float(sky.disparity(here)) : 0.0f;
      field.valid(x, y) = 1;
    });
  }
  return scene;
}

}  // namespace parafield
