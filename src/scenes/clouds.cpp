// SPDX-License-Identifier: MIT
// Clouds over ground, seen by two satellites. The clouds are a layer whose opacity and height are smooth
// functions of the position in the cloud, which makes their edges translucent. The ground has disparity 0.
#include <cmath>

#include "scenes/dye.hpp"
#include "scenes/random.hpp"
#include "scenes/render.hpp"
#include "scenes/texture.hpp"

namespace parafield {
namespace {

/// Sizes and motions for a seed, px. As in other scenes, they are given for 640x480.
struct Weather {
  double scale;
  Affine wind, drift;  ///< motion of the clouds and of the ground, from every left image to the next
  double least, most;  ///< range of the clouds' disparities

  explicit Weather(const SceneOptions& options) {
    const auto draw = [&](std::uint64_t i, double low, double high) {
      return low + (high - low) * to_unit(random_bits(random_bits(options.seed, 5000), i));
    };
    const auto sign = [&](std::uint64_t i) { return draw(i, -1, 1) < 0 ? -1.0 : 1.0; };
    const auto [width, height] = options.size;
    scale = std::clamp(std::sqrt(double(width) * height / (640.0 * 480.0)), 0.25, 4.0);
    const double x = sign(0), y = sign(1), turn = sign(2) * draw(3, 0.003, 0.007);
    const Affine about = Affine{1, -turn, turn, 1}.about({(width - 1) / 2.0, (height - 1) / 2.0});
    wind = Affine{1, 0, 0, 1, x * draw(4, 2, 4) * scale, y * draw(5, 0.8, 2) * scale} * about;
    drift = {1, 0, 0, 1, -x * draw(6, 0.3, 0.8) * scale, -y * draw(7, 0.2, 0.5) * scale};
    least = draw(8, 5, 6) * scale;
    most = draw(9, 13, 15) * scale;
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

  void paint(Row& row, int x, int y, bool right) {
    const Point here{double(x), double(y)}, at = right ? left_of(here) : here;
    const double share = opacity(at);
    const Point g = ground_to_start(here), c = to_start(at);
    const double below = 80 + 0.5 * (ground(g.x, g.y) - 127.5), above = 175 + 0.6 * (cloud(c.x, c.y) - 127.5);
    row.put(x, below + share * (above - below),
            row.colored() ? ground_dye(g.x, g.y).mixed(cloud_dye(c.x, c.y), share) : Tint{});
  }
};

bool is_cloud(double opacity) { return opacity >= 0.5; }

/// Writes the true motion from a left or right image to the next one of the same side.
void write_truth(Passes& passes, const Sky& now, const Sky& next, bool right, FlowField& flow,
                 Image<std::uint8_t>& occluded) {
  passes.run(flow.size().height, flow.size().width, [&](int y) {
    Sky sky = now, later = next;
    for (int x = 0; x < flow.size().width; ++x) {
      const Point here{double(x), double(y)}, at = right ? sky.left_of(here) : here;
      const bool cloud = is_cloud(sky.opacity(at));
      Point match = (cloud ? sky.weather.wind : sky.weather.drift)(cloud ? at : here);
      if (cloud && right) match.x -= later.disparity(match);
      const bool inside = write_flow(flow, x, y, match);
      const Point seen = right ? later.left_of(match) : match;
      occluded(x, y) = !inside || (!cloud && is_cloud(later.opacity(seen)));
    }
  });
}

}  // namespace

Scene render_clouds(const SceneOptions& options) {
  Scene scene;
  Passes passes(options, 2 * options.frames);
  Sky sky(options), last = sky;  // the current pair and the previous one
  for (int i = 0; i < options.frames; ++i) {
    const bool right = i % 2 == 1;
    if (i > 0 && !right) {
      last = sky;
      sky.advance();
    }
    FrameBuffer& frame = scene.frames.emplace_back(options.size, frame_format(options));
    passes.run(options.size.height, options.size.width, [&](int y) {
      Sky own = sky;
      Row row(frame, y);
      for (int x = 0; x < options.size.width; ++x) own.paint(row, x, y, right);
    });
    if (i >= 2)
      write_truth(passes, last, sky, right, scene.flow.emplace_back(options.size, Memory::host(), false),
                  scene.occluded.emplace_back(options.size));
    if (!right) continue;
    DisparityField& field = scene.disparity.emplace_back(options.size, Memory::host(), false);
    passes.run(options.size.height, options.size.width, [&](int y) {
      Sky own = sky;
      for (int x = 0; x < options.size.width; ++x) {
        const Point here{double(x), double(y)};
        field.d(x, y) = is_cloud(own.opacity(here)) ? float(own.disparity(here)) : 0.0f;
        field.valid(x, y) = 1;
      }
    });
  }
  return scene;
}

}  // namespace parafield
