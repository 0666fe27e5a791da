// SPDX-License-Identifier: MIT
// Presets of every method: their names, and that `accurate` has a lower error than the default.
#include <algorithm>
#include <cstdio>
#include <random>

#include "parafield/parafield.hpp"
#include "support.hpp"

namespace parafield {
namespace {

/// The parameters of a method, as text.
template <class Method>
std::vector<std::string> values_of(const Method& method) {
  std::vector<std::string> values;
  describe(method, [&](const auto& value, const auto&) { values.push_back(std::to_string(double(value))); });
  return values;
}

template <class Methods>
void expect_presets() {
  for_each_method<Methods>([]<class Method>(const Method& method) {
    SCOPED_TRACE(Method::name);
    const auto list = presets(method);
    EXPECT_EQ(values_of(list[0].method), values_of(method)) << "the first preset is the default";
    EXPECT_TRUE(list[0].name == "default" || list[0].name == "paper" || list[0].name == "quality")
        << list[0].name;
    EXPECT_EQ(std::ranges::count(list, "accurate", &Preset<Method>::name), 1);
    for (const auto& preset : list) {
      EXPECT_NO_THROW(check(preset.method)) << preset.name;
      EXPECT_TRUE(preset.help.ends_with('.')) << preset.help;
      EXPECT_LE(preset.help.size(), 90u) << "one short sentence: " << preset.help;
    }
  });
}

TEST(Presets, EveryMethodHasItsDefaultFirstAndAccurate) {
  expect_presets<FlowMethod>();
  expect_presets<StereoMethod>();
  expect_presets<DetectionMethod>();
}

/// Expects that each method's default has a lower error than its preset `paper`, and that `accurate` has a
/// lower error than the default (or than `paper` if the default is `quality`). Presets with the same
/// parameters are not compared.
template <class Methods, class Error>
void expect_lower_error(Error error_of) {
  for_each_method<Methods>([&]<class Method>(const Method& method) {
    const Method accurate = preset<Method>("accurate");
    if (values_of(accurate) == values_of(method)) return;
    const auto list = presets(method);
    const bool good = list[0].name == "quality",
               has_paper = std::ranges::count(list, "paper", &Preset<Method>::name) > 0;
    const double before = error_of(good ? preset<Method>("paper") : method), after = error_of(accurate);
    std::printf("%s: %.4f, accurate %.4f\n", std::string(Method::name).c_str(), before, after);
    EXPECT_LT(after, before) << Method::name;
    if (has_paper && values_of(preset<Method>("paper")) != values_of(method)) {
      EXPECT_LT(error_of(method), error_of(preset<Method>("paper"))) << Method::name;
    }
  });
}

TEST(Presets, AccurateFlowHasALowerError) {
  const auto layers = [](Size size) {
    return render_scene("layers", {.size = size, .frames = 7, .seed = 5, .color = true});
  };
  const Scene scene = layers({240, 180});
  expect_lower_error<FlowMethod>([&]<class Method>(const Method& method) {
    const std::ptrdiff_t first = 3 - (method.frames - 1) / 2;
    const std::vector<Frame> frames(scene.frames.begin() + first,
                                    scene.frames.begin() + first + method.frames);
    return evaluate(estimate_flow(frames, method, {.device = Device::cpu()}), scene.flow[3]).epe;
  });
}

TEST(Presets, AccurateDisparitiesHaveALowerError) {
  const Scene scene = render_scene("stereo", {.size = {128, 96}, .seed = 5, .color = true});
  expect_lower_error<StereoMethod>([&](auto method) {
    method.energy.disparities = 24;
    return evaluate(estimate_disparity(scene.frames[0], scene.frames[1], method, {.device = Device::cpu()}),
                    scene.disparity[0])
        .bad_1;
  });
}

/// Adds noise with a standard deviation of about 4.
void add_noise(FrameBuffer& frame, std::mt19937& random) {
  const Size size = frame.size();
  for (int y = 0; y < size.height; ++y) {
    auto* const row = static_cast<std::uint8_t*>(frame.row(y));
    for (int i = 0; i < size.width * channels(frame.format()); ++i) {
      const int sum = int(random() % 8 + random() % 8 + random() % 8) - 10;
      row[i] = std::uint8_t(std::clamp(int(row[i]) + sum, 0, 255));
    }
  }
}

TEST(Presets, AccurateMotionMasksHaveABetterScore) {
  std::vector<Scene> scenes;
  std::mt19937 random(1);
  for (const unsigned seed : {1, 2, 3, 4}) {
    scenes.push_back(render_scene("balloons", {.size = {160, 120}, .frames = 4, .seed = seed}));
    for (FrameBuffer& frame : scenes.back().frames) add_noise(frame, random);
  }
  // A background is learned from more frames than that.
  std::vector<Scene> videos;
  for (const unsigned seed : {3, 4})
    videos.push_back(render_scene(
        "square", {.size = {160, 120}, .frames = 120, .seed = seed, .conditions = Conditions::stopping}));
  expect_lower_error<DetectionMethod>([&]<class Method>(const Method& method) {
    MaskScores scores;
    for (const Scene& scene : Method::learns ? videos : scenes) {
      MotionDetector detector(method, scene.frames[0].size(), {.device = Device::cpu()});
      for (std::size_t i = 0; i < scene.frames.size(); ++i) {
        const MotionMask* const mask = detector.push(scene.frames[i]);
        if (!mask) continue;
        Image<std::uint8_t> labels(scene.moving[i - 1].size());
        for (int y = 0; y < labels.size().height; ++y)
          for (int x = 0; x < labels.size().width; ++x) labels(x, y) = scene.moving[i - 1](x, y) ? 255 : 0;
        const View<const std::uint8_t> view = labels;
        scores +=
            evaluate(*mask, Frame{view.data, view.width, view.height, view.pitch, PixelFormat::gray_u8});
      }
    }
    return 1 - scores.f1;
  });
}

}  // namespace
}  // namespace parafield
