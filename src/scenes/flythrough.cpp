// SPDX-License-Identifier: MIT
// A camera or a stereo rig flies along a valley, similar to the Yosemite sequence. The ray of each pixel is
// traced to the terrain in float64. The pixel's flow is computed by projecting the point that was hit into
// the next camera. The camera is level, which means that each image column looks along one vertical plane. A
// pixel never sees a nearer point than a lower pixel of the same column, so its search starts where the lower
// pixel's search ended.
#include <limits>

#include "core/views.hpp"
#include "scenes/landscape.hpp"
#include "scenes/render.hpp"

namespace parafield {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nearest = 0.2, farthest = 60;  ///< range of depths in which terrain is rendered
constexpr double stereo_baseline = 0.17;

/// Focal length, px: 0.8 times the width of the smallest 4:3 picture that contains the image.
double focal_length(Size size) { return 0.8 * std::max(double(size.width), size.height * 4.0 / 3); }

struct Pixel {
  double x = 0, y = 0, depth = 0;  ///< depth along the viewing direction; infinite = sky
};

struct Camera {
  double x = 0, z = 0, height = 0;
  double ahead_x = 0, ahead_z = 1;            ///< viewing direction, of length 1
  double focal = 1, center = 0, horizon = 0;  ///< px
  double drift = 0;                           ///< motion of the sky since frame 0, as a slope to the right

  /// Ray of a pixel: change of x and z, and descent, per unit of depth.
  struct Ray {
    double x, z, sinks;
  };
  Ray ray(double column, double row) const {
    const double aside = (column - center) / focal;
    return {ahead_x + aside * ahead_z, ahead_z - aside * ahead_x, (row - horizon) / focal};
  }

  /// Pixel that sees a direction or a point, given relative to the camera.
  Pixel project(double right_x, double right_z, double up) const {
    const double depth = right_x * ahead_x + right_z * ahead_z;
    return {center + focal * (right_x * ahead_z - right_z * ahead_x) / depth, horizon - focal * up / depth,
            depth};
  }
};

/// The camera of a frame on its flight along the valley.
Camera flying_camera(const Landscape& terrain, const SceneOptions& options, int frame) {
  Draw draw(random_bits(options.seed, 2000));
  const double focal = focal_length(options.size);
  // In tiny images the camera flies faster, because otherwise nothing would move.
  const double speed = std::clamp(128 / focal, 1.0, 16.0) * draw.between(0.022, 0.028);
  const double wind = draw.either_side(0.0028, 0.0042) * std::clamp(128 / focal, 1.0, 4.0);
  Camera camera;
  camera.z = draw.between(0, 100) + frame * speed;
  Landscape landscape = terrain;
  camera.x = landscape.middle(camera.z);
  camera.height = 1;
  const double turn = (landscape.middle(camera.z + 2.5) - camera.x) / 2.5 + draw.between(-0.12, 0.12);
  const double length = std::sqrt(1 + turn * turn);
  camera.ahead_x = turn / length;
  camera.ahead_z = 1 / length;
  camera.focal = focal;
  camera.center = (options.size.width - 1) / 2.0;
  camera.horizon = 0.42 * options.size.height - 0.5;
  camera.drift = wind * frame;
  return camera;
}

/// The camera of a frame of the stereo rig: the camera of frame 2 i + 1 is to the right of the camera of
/// frame 2 i.
Camera rig_camera(const Landscape& landscape, const SceneOptions& options, int frame) {
  Camera camera = flying_camera(landscape, options, frame / 2);
  if (frame % 2 == 1) {
    camera.x += stereo_baseline * camera.ahead_z;
    camera.z -= stereo_baseline * camera.ahead_x;
  }
  return camera;
}

/// View of the landscape from one camera. Each thread must have its own.
class Eye {
 public:
  Eye(const Landscape& landscape, const Camera& camera) : camera_(camera), landscape_(landscape) {}

  /// The depth in `from`..`to` at which a ray first meets the terrain, or infinity.
  double first_hit(const Camera::Ray& ray, double from, double to) {
    double depth = from, above = clearance(ray, depth);
    while (above > 0) {
      if (depth >= to || (ray.sinks <= 0 && camera_.height - depth * ray.sinks > Landscape::highest))
        return infinity;
      // A step is at least half a pixel's width, and larger if the terrain is far below.
      const double next = std::min(depth + std::max(0.4 * above, 0.5 * depth / camera_.focal), to);
      const double next_above = clearance(ray, next);
      if (next_above <= 0) return refine(ray, depth, above, next, next_above);
      depth = next;
      above = next_above;
    }
    return depth;
  }

  Seen ground(const Camera::Ray& ray, double depth, double finer, bool colored) {
    const double x = camera_.x + depth * ray.x, z = camera_.z + depth * ray.z;
    // The pixel's footprint on the tangent plane is `across` wide and `along` long. Long footprints are
    // averaged over a few points, because otherwise distant texture would also be blurred across.
    const double across = depth / camera_.focal;
    const Slope slope = slope_at(x, z, across);
    const double rise = slope.x * ray.x + slope.z * ray.z;
    const double aslant = std::abs(slope.x * camera_.ahead_z - slope.z * camera_.ahead_x);
    const double along = across * (1 + aslant) / std::max(ray.sinks + rise, 0.01);
    constexpr int points = 4;
    const double footprint = std::max(across, along / points);

    double sum = 0, snow = 0;
    for (int i = 0; i < points; ++i) {
      const double off = along * ((i + 0.5) / points - 0.5);
      const double height = camera_.height - depth * ray.sinks + off * rise;
      const auto point = landscape_.ground(x + off * ray.x, z + off * ray.z, height, finer * footprint);
      sum += point.gray;
      snow += point.snow;
    }
    // The sun is behind the camera on the left. Slopes are measured over the size of the footprint.
    const Slope shade = slope_at(x, z, finer * footprint);
    const double facing =
        (0.62 * shade.x + 0.35 * shade.z + 0.70) / std::sqrt(shade.x * shade.x + shade.z * shade.z + 1);
    const double gray = sum / points * (0.42 + 0.75 * std::max(facing, 0.0));
    if (!colored) return {gray, {}};
    const double height = camera_.height - depth * ray.sinks;
    const Tint bare = landscape_.bare_ground(x, z, height, finer * std::max(across, along));
    return {gray, bare.mixed({-4, 9}, snow / points)};
  }

  /// Blue sky with white clouds.
  Seen sky(const Camera::Ray& ray, double finer) {
    const double gray =
        landscape_.sky(ray.x / ray.z - camera_.drift, -ray.sinks / ray.z, finer / camera_.focal);
    return {gray, Tint{-46, 60}.mixed({-4, 6}, smooth_step(120, 230, gray))};
  }

 private:
  struct Slope {
    double x, z;
  };

  double clearance(const Camera::Ray& ray, double depth) {
    return camera_.height - depth * ray.sinks -
           landscape_.height(camera_.x + depth * ray.x, camera_.z + depth * ray.z);
  }

  /// Mean slope over `width` to each side.
  Slope slope_at(double x, double z, double width) {
    return {(landscape_.height(x + width, z) - landscape_.height(x - width, z)) / (2 * width),
            (landscape_.height(x, z + width) - landscape_.height(x, z - width)) / (2 * width)};
  }

  /// Depth of the terrain between depth `a`, where the ray is above it, and depth `b`, where the ray is below
  /// it, found by the Illinois variant of false position.
  double refine(const Camera::Ray& ray, double a, double above_a, double b, double above_b) {
    double last = 0;
    for (int i = 0; i < 60 && b - a > 1e-13 * b; ++i) {
      const double middle = a + (b - a) * (above_a / (above_a - above_b));
      const double above = clearance(ray, middle);
      if (above == 0 || middle <= a || middle >= b) return middle;
      if (above > 0) {
        a = middle;
        above_a = above;
        above_b /= last > 0 ? 2 : 1;
      } else {
        b = middle;
        above_b = above;
        above_a /= last < 0 ? 2 : 1;
      }
      last = above;
    }
    return b;
  }

  Camera camera_;
  Landscape landscape_;
};

/// Depth of every pixel.
Image<double> find_depth(Passes& passes, const Landscape& landscape, const Camera& camera, Size size) {
  Image<double> depth(size);
  passes.run(size.width, size.height, [&](int x) {  // columns instead of rows
    Eye eye(landscape, camera);
    double start = nearest;
    for (int y = size.height - 1; y >= 0; --y) {
      if (start < farthest) start = eye.first_hit(camera.ray(x, y), start, farthest);
      depth(x, y) = start;
    }
  });
  return depth;
}

/// Pixel of the next camera that sees the point that is seen at (x, y) now.
Pixel follow(const Camera& now, const Camera& next, int x, int y, double depth) {
  const Camera::Ray ray = now.ray(x, y);
  if (depth < infinity)
    return next.project(now.x + depth * ray.x - next.x, now.z + depth * ray.z - next.z,
                        now.height - depth * ray.sinks - next.height);
  const double drift = next.drift - now.drift;
  const Pixel pixel = next.project(ray.x / ray.z + drift, 1, -ray.sinks / ray.z);
  return {pixel.x, pixel.y, infinity};
}

/// Whether something is in front of the point that a pixel inside the image shows.
bool is_hidden(Eye& eye, const Camera& camera, const Image<double>& depth, const Pixel& pixel) {
  // The search starts at the depth of the pixels below, which is smaller: nothing is in front of it.
  const auto [width, height] = depth.size();
  const int left = int(pixel.x), right = std::min(left + 1, width - 1),
            below = std::min(int(pixel.y) + 1, height - 1);
  const double start = std::min(depth(left, below), depth(right, below));
  // It ends half a pixel's width before the point itself.
  const double end = pixel.depth < infinity ? pixel.depth * (1 - 0.5 / camera.focal) : farthest;
  return start < end && eye.first_hit(camera.ray(pixel.x, pixel.y), 0.999 * start, end) < infinity;
}

Scene render_views(const SceneOptions& options,
                   Camera camera_of(const Landscape&, const SceneOptions&, int frame)) {
  const Landscape landscape(random_bits(options.seed, 3000), 1 / focal_length(options.size));

  const double finer = options.fine ? 1 : 7;
  Scene scene;
  Passes passes(options, 3 * options.frames - 1);
  Camera last;
  Image<double> last_depth;
  for (int i = 0; i < options.frames; ++i) {
    const Camera camera = camera_of(landscape, options, i);
    Image<double> depth = find_depth(passes, landscape, camera, options.size);
    Image<float>& stored = scene.depth.emplace_back(options.size);
    for_each_pixel(options.size, [&](int x, int y) { stored(x, y) = float(depth(x, y)); });
    const Canvas canvas(add_frame(scene, options));
    const Eye now(landscape, camera);
    passes.pixels(options.size, now, [&](Eye& eye, int x, int y) {
      const Camera::Ray ray = camera.ray(x, y);
      const Seen seen = depth(x, y) < infinity ? eye.ground(ray, depth(x, y), finer, canvas.colored())
                                               : eye.sky(ray, finer);
      canvas.put(x, y, seen.gray, seen.tint);
    });
    if (i > 0) {
      const Truth truth(scene, options.size);
      passes.pixels(options.size, now, [&](Eye& eye, int x, int y) {
        const Pixel match = follow(last, camera, x, y, last_depth(x, y));
        truth.put(x, y, {match.x, match.y}, [&] { return is_hidden(eye, camera, depth, match); });
      });
    }
    last = camera;
    last_depth = std::move(depth);
  }
  return scene;
}

}  // namespace

Scene render_flythrough(const SceneOptions& options) { return render_views(options, flying_camera); }

Scene render_stereo(const SceneOptions& options) {
  Scene scene = render_views(options, rig_camera);
  const double factor = focal_length(options.size) * stereo_baseline;
  for (std::size_t i = 0; i + 1 < scene.depth.size(); i += 2) {
    DisparityField& field = scene.disparity.emplace_back(options.size, Memory::host(), false);
    for_each_pixel(options.size, [&](int x, int y) {
      field.d(x, y) = float(factor / double(scene.depth[i](x, y)));
      field.valid(x, y) = 1;
    });
  }
  return scene;
}

}  // namespace parafield
