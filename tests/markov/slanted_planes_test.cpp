// SPDX-License-Identifier: MIT
// Belief propagation's refined disparities on slanted planes have no steps, folds are not flattened, and
// smoothness follows slanted surfaces with little texture.
#include <array>
#include <cmath>
#include <random>

#include "parafield/parafield.hpp"
#include "support.hpp"
#include "tasks/on_device.hpp"
#include "textures.hpp"

namespace parafield {
namespace {

/// Disparity d + x * slope_x + y * slope_y.
struct SlantedPlane {
  double d, slope_x, slope_y;
  double operator()(double x, double y) const { return d + slope_x * x + slope_y * y; }
};

class SlantedPlanes : public OnDevice {
 protected:
  /// Expects the mean error of each tenth of a pixel and the error of all valid pixels to be small.
  template <class Picture, class Truth>
  void expect_no_steps(const Picture& left, const Picture& right, Truth truth, const std::string& what) {
    for (const char* name : {"quality", "fast", "accurate"}) {
      const auto method = preset<BeliefPropagation<StereoEnergy>>(name);
      const DisparityField found = estimate_disparity(left, right, method, {.device = device()});
      std::array<double, 10> sums{}, counts{};
      double squares = 0, all = 0, valid = 0;
      for (int y = 0; y < found.size().height; ++y)
        for (int x = 0; x < found.size().width; ++x) {
          if (!found.valid(x, y)) continue;
          const double expected = truth(x, y), error = found.d(x, y) - expected;
          ++valid;
          if (std::abs(error) > 1) continue;
          const auto tenth = std::size_t((expected - std::floor(expected)) * 10);
          sums[tenth] += error, ++counts[tenth], squares += error * error, ++all;
        }
      const double rms = std::sqrt(squares / all);
      EXPECT_GT(all, 0.99 * valid) << name << ", " << what;
      EXPECT_GT(valid, 0.8 * found.size().width * found.size().height) << name << ", " << what;
      EXPECT_LE(rms, 0.08) << name << ", " << what;
      double worst = 0;
      for (std::size_t i = 0; i < sums.size(); ++i)
        if (counts[i] > 0) worst = std::max(worst, std::abs(sums[i] / counts[i]));
      EXPECT_LE(worst, 0.05) << name << ", " << what;
      std::printf("%s, %s: rms %.3f px, mean of a tenth of a pixel at most %.3f px\n", name, what.c_str(),
                  rms, worst);
    }
  }
};

TEST_P(SlantedPlanes, HaveNoSteps) {
  constexpr Size size{240, 160};
  constexpr SlantedPlane planes[] = {
      {5, 0.04, 0}, {6, 0.05, 0.03}, {22, -0.06, 0.05}, {6, 0.012, 0.004}, {4, 0, 0.1}};
  struct {
    double scale, contrast;
  } constexpr looks[] = {{1.2, 1}, {0.5, 1}, {1, 0.2}};
  unsigned seed = 0;
  for (const SlantedPlane& plane : planes)
    for (const auto& look : looks) {
      const Texture texture(++seed);
      const auto gray = [&](double x, double y) {
        const double value = 128 + look.contrast * (texture(look.scale * x, look.scale * y) - 127.5);
        return std::uint8_t(std::clamp(value, 0.0, 255.0));
      };
      Image<std::uint8_t> left(size), right(size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          left(x, y) = gray(x, y);
          right(x, y) = gray((x + plane(0, y)) / (1 - plane.slope_x), y);
        }
      const auto frame = [](View<const std::uint8_t> view) {
        return Frame{view.data, view.width, view.height, view.pitch};
      };
      expect_no_steps(frame(left.view()), frame(right.view()), plane,
                      "slopes " + std::to_string(plane.slope_x) + " and " + std::to_string(plane.slope_y) +
                          ", texture " + std::to_string(seed));
    }
}

/// On a plane that faces the camera, errors of both signs do not cancel out, as they do on slanted planes.
TEST_P(SlantedPlanes, ThatFaceTheCameraAreNotDrawnToWholeDisparities) {
  constexpr Size size{200, 120};
  double mean = 0;
  int count = 0;
  for (const double scale : {0.5, 1.0, 1.2})
    for (int tenths = 1; tenths < 10; ++tenths) {
      const Texture texture(unsigned(40 + tenths));
      const SlantedPlane plane{10 + 0.1 * tenths, 0, 0};
      Image<std::uint8_t> left(size), right(size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          left(x, y) = std::uint8_t(std::clamp(texture(scale * x, scale * y), 0.0, 255.0));
          right(x, y) = std::uint8_t(std::clamp(texture(scale * (x + plane(0, y)), scale * y), 0.0, 255.0));
        }
      const auto frame = [](View<const std::uint8_t> view) {
        return Frame{view.data, view.width, view.height, view.pitch};
      };
      for (const char* name : {"quality", "fast"}) {
        auto method = preset<BeliefPropagation<StereoEnergy>>(name);
        method.energy.disparities = 24;
        const DisparityField found =
            estimate_disparity(frame(left.view()), frame(right.view()), method, {.device = device()});
        double sum = 0, valid = 0;
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x)
            if (found.valid(x, y)) sum += found.d(x, y) - plane.d, ++valid;
        EXPECT_GT(valid, 0.8 * size.width * size.height);
        EXPECT_LE(std::abs(sum / valid), 0.05) << name << ", scale " << scale << ", " << plane.d << " px";
        std::printf("%s, scale %.1f, %.1f px: off by %.3f px on average\n", name, scale, plane.d,
                    sum / valid);
        mean += std::abs(sum / valid), ++count;
      }
    }
  EXPECT_LE(mean / count, 0.03);
  std::printf("mean %.3f px\n", mean / count);
}

TEST_P(SlantedPlanes, HaveNoStepsInFiles) {
  PARAFIELD_DATA_OR_SKIP(folder, "faults");
  const DisparityField truth = read_disparity(folder / "s_slant_d.npy");
  expect_no_steps(
      read_frame(folder / "s_slant_l.png"), read_frame(folder / "s_slant_r.png"),
      [&](int x, int y) { return double(truth.d(x, y)); }, "s_slant");
}

/// A noisy pair whose disparities are truth(x, y), which must change by less than a pixel per pixel.
template <class Truth>
struct SurfacePair {
  static constexpr Size size{240, 160};
  Image<std::uint8_t> left{size}, right{size};

  /// `texture(x, y)`: what the surface looks like, 0 on average. `noise`: standard deviation.
  template <class Look>
  SurfacePair(Truth truth, Look texture, double noise, unsigned seed) {
    std::mt19937 random(seed);
    const auto gray = [&](double x, double y) {
      double sum = 128.5 + texture(x, y);
      for (int i = 0; i < 12; ++i) sum += noise * (random() / 4294967296.0 - 0.5);
      return std::uint8_t(std::clamp(sum, 0.0, 255.0));
    };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        double at = x;  // column of the left image that shows the same point
        for (int i = 0; i < 60; ++i) at = x + truth(at, y);
        left(x, y) = gray(x, y);
        right(x, y) = gray(at, y);
      }
  }
  /// Shares of the pixels seen in both images whose disparities are off by more than `most`.
  double wrong(const BeliefPropagation<StereoEnergy>& method, const Device& device, Truth truth,
               double most) const {
    const auto frame = [](const Image<std::uint8_t>& image) {
      const View<const std::uint8_t> view = image.view();
      return Frame{view.data, view.width, view.height, view.pitch};
    };
    const DisparityField found = estimate_disparity(frame(left), frame(right), method, {.device = device});
    int wrong = 0, all = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        if (const double d = truth(x, y); x - d >= 0) ++all, wrong += std::abs(found.d(x, y) - d) > most;
    return double(wrong) / all;
  }
};

/// Without slopes, the smoothness makes steps of surfaces such as a floor with little texture.
TEST_P(SlantedPlanes, AreFollowedWithLittleTexture) {
  double even = 0, sloped = 0;
  unsigned seed = 20;
  for (const SlantedPlane& plane : {SlantedPlane{6, 0.02, 0.25}, {8, 0, 0.3}, {8, 0.02, 0.2}}) {
    const Texture texture(++seed);
    const auto faint = [&](double x, double y) {
      double sum = 0;
      for (const auto& [scale, contrast] : {std::pair{1.5, 0.008}, {0.4, 0.012}, {0.12, 0.016}})
        sum += contrast * (texture(scale * x, scale * y) - 127.5);
      return sum;
    };
    const SurfacePair<SlantedPlane> pair(plane, faint, 0.5, seed);
    BeliefPropagation<StereoEnergy> method;
    method.energy.disparities = 64;
    sloped += pair.wrong(method, device(), plane, 1) / 3;
    method.surfaces.slant = Slant::none;
    even += pair.wrong(method, device(), plane, 1) / 3;
  }
  std::printf("slants with little texture: %.2f %% off by more than 1 px, without slopes %.2f %%\n",
              100 * sloped, 100 * even);
  EXPECT_LT(sloped, 0.6 * even);
}

/// A draped sheet and a sphere.
TEST_P(SlantedPlanes, DoNotFlattenCurvedSurfaces) {
  BeliefPropagation<StereoEnergy> method;
  method.energy.disparities = 48;
  const auto folds = [](double x, double y) {
    return 20 + 2.5 * std::sin(6.283 / 90 * x + 0.8 * std::sin(y / 60)) + 1.2 * std::sin(y / 33 + x / 90);
  };
  const auto narrow_folds = [](double x, double y) { return 20 + 1.5 * std::sin(6.283 / 45 * x) + 0.02 * y; };
  const auto sphere = [](double x, double y) {
    const double inside = 1 - ((x - 120) * (x - 120) + (y - 80) * (y - 80)) / (90.0 * 90.0);
    return 12 + 14 * std::sqrt(std::max(inside, 0.2));
  };
  const auto expect_curved = [&](auto truth, unsigned seed, const char* what) {
    const Texture texture(seed);
    const auto look = [&](double x, double y) { return 0.6 * (texture(x, y) - 127.5); };
    const SurfacePair<decltype(truth)> pair(truth, look, 1, seed);
    const double refined = pair.wrong(method, device(), truth, 0.5);
    BeliefPropagation<StereoEnergy> whole = method;
    whole.energy.sub_pixel = false;
    const double unrefined = pair.wrong(whole, device(), truth, 0.5);
    std::printf("%s: %.2f %% off by more than 0.5 px, as whole disparities %.2f %%\n", what, 100 * refined,
                100 * unrefined);
    EXPECT_LT(refined, unrefined) << what;
  };
  expect_curved(folds, 31, "folds");
  expect_curved(narrow_folds, 32, "narrow folds");
  expect_curved(sphere, 33, "sphere");
}

/// Without the correction for folds, 5.2 % of the sheet's pixels are off by more than half a pixel.
TEST_P(SlantedPlanes, DoNotFlattenABallOrASheet) {
  for (const auto& [name, most] : {std::pair{"ball", 0.004}, {"sheet", 0.01}}) {
    const Scene scene = render_scene(name, {.size = {320, 240}, .color = true});
    for (const char* preset_name : {"quality", "fast", "accurate"}) {
      auto method = preset<BeliefPropagation<StereoEnergy>>(preset_name);
      method.energy.disparities = 32;
      const DisparityField found =
          estimate_disparity(scene.frames[0], scene.frames[1], method, {.device = device()});
      int wrong = 0, all = 0;
      for (int y = 0; y < 240; ++y)
        for (int x = 0; x < 320; ++x)
          if (!scene.occluded[0](x, y))
            ++all, wrong += std::abs(found.d(x, y) - scene.disparity[0].d(x, y)) > 0.5f;
      std::printf("%s, %s: %.2f %% off by more than 0.5 px\n", name, preset_name, 100.0 * wrong / all);
      EXPECT_LT(wrong, most * all) << name << ", " << preset_name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SlantedPlanes, every_device(), device_name);

}  // namespace
}  // namespace parafield
