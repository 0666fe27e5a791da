// SPDX-License-Identifier: MIT
#include "frei0r/plugin.hpp"

#include <cmath>
#include <limits>
#include <set>

namespace parafield::test {
namespace {

enum FlowSetting { view, method, preset_name, max_motion, arrow_spacing, legend, device };

std::vector<FrameBuffer> film(Size size = {97, 61}, int frames = 5) {
  return std::move(render_scene("flythrough", {.size = size, .frames = frames, .color = true}).frames);
}

TEST(FreiPlugin, DescribesItself) {
  const std::pair<const char*, int> modules[] = {{"parafield_flow", 7}, {"parafield_motion", 4}};
  for (const auto& [name, settings] : modules) {
    const Plugin plugin(name);
    f0r_plugin_info_t info{};
    plugin.get_plugin_info(&info);
    EXPECT_EQ(info.plugin_type, F0R_PLUGIN_TYPE_FILTER);
    EXPECT_EQ(info.color_model, F0R_COLOR_MODEL_RGBA8888);
    EXPECT_EQ(info.frei0r_version, FREI0R_MAJOR_VERSION);
    EXPECT_EQ(info.num_params, settings);
    std::set<std::string> names;
    for (int i = 0; i < info.num_params; ++i) {
      f0r_param_info_t setting{};
      plugin.get_param_info(&setting, i);
      names.insert(setting.name);
      EXPECT_GT(std::strlen(setting.explanation), 10u);
    }
    EXPECT_EQ(int(names.size()), settings);
    EXPECT_EQ(plugin.construct(0, 8), nullptr);
    EXPECT_EQ(plugin.construct(8, 4000000000u), nullptr);
  }
}

TEST(FreiPlugin, DrawsTheFlowOfEachFrameFromTheLast) {
  const Plugin plugin("parafield_flow");
  const std::vector<FrameBuffer> frames = film();
  const Size size = frames[0].size();
  Instance color(plugin, size), arrows(plugin, size);
  color.set(legend, 1.0);
  arrows.set(view, "arrows");
  arrows.set(method, "lucas-kanade");
  arrows.set(preset_name, "paper");
  arrows.set(max_motion, 0.05);
  arrows.set(arrow_spacing, 0.1);
  FollowedScale scale;
  for (int i = 0; i < int(frames.size()); ++i) {
    const Pixels frame = rgba_of(frames[i]);
    const FlowField flow = i == 0 ? still(size) : arrival(frames[i - 1], frames[i]);
    const float longest = scale.next(flow);
    EXPECT_EQ(color(0.04 * i, frame), with_alpha(with_legend(color_flow(flow, {.max_motion = longest}),
                                                             ColorScheme::middlebury, longest),
                                                 frame));
    const FlowField by_paper =
        i == 0 ? still(size) : arrival(frames[i - 1], frames[i], preset<LucasKanade>("paper"));
    const ArrowOptions options{.step = 10, .scale = 10 / float(0.05 * size.width)};
    EXPECT_EQ(arrows(0.04 * i, frame), with_alpha(draw_arrows(frames[i], by_paper, options), frame));
  }
}

TEST(FreiPlugin, TintsThePicture) {
  const Plugin plugin("parafield_flow");
  const std::vector<FrameBuffer> frames = film();
  Instance overlay(plugin, frames[0].size());
  overlay.set(view, "overlay");
  overlay.set(max_motion, 0.1);
  EXPECT_EQ(overlay(0, rgba_of(frames[0])), rgba_of(frames[0])) << "nothing moves yet";
  const FrameBuffer colors =
      color_flow(arrival(frames[0], frames[1]), {.max_motion = float(0.1 * frames[0].size().width)});
  const Pixels frame = rgba_of(frames[1]), tint = rgba_of(colors), shown = overlay(1, frame);
  for (std::size_t i = 0; i < frame.size(); ++i)
    for (int shift = 0; shift < 24; shift += 8) {
      const auto value = [&](const Pixels& pixels) { return int(pixels[i] >> shift & 255); };
      ASSERT_EQ(value(shown), std::lround(value(frame) * value(tint) / 255.0)) << i;
    }
}

TEST(FreiPlugin, TintsWhatMoves) {
  const Plugin plugin("parafield_motion");
  const std::vector<FrameBuffer> frames =
      std::move(render_scene("balloons", {.size = {99, 75}, .frames = 4}).frames);
  Instance overlay(plugin, frames[0].size()), white(plugin, frames[0].size());
  white.set(0, "mask");
  white.set(2, "accurate");
  MotionDetector detector({}, frames[0].size());
  MotionDetector accurate(preset<Icm<ChangeEnergy>>("accurate"), frames[0].size());
  for (int i = 0; i < int(frames.size()); ++i) {
    const Pixels frame = rgba_of(frames[i]);
    const MotionMask* mask = detector.push(frames[i]);
    const MotionMask nothing(frames[i].size());
    EXPECT_EQ(overlay(i, frame), with_alpha(overlay_mask(frames[i], mask ? *mask : nothing), frame));
    const MotionMask* colored = accurate.push(frames[i]);
    const Pixels shown = white(i, frame);
    for (int y = 0; y < 75; ++y)
      for (int x = 0; x < 99; ++x)
        ASSERT_EQ(shown[std::size_t(99 * y + x)] & 0xffffff,
                  colored && colored->moving(x, y) ? 0xffffffu : 0u);
  }
}

TEST(FreiPlugin, BeginsAnewWhereTimeJumps) {
  const std::vector<FrameBuffer> frames = film();
  for (const char* name : {"parafield_flow", "parafield_motion"}) {
    const Plugin plugin(name);
    Instance shown(plugin, frames[0].size());
    std::vector<Pixels> rgba;
    for (const FrameBuffer& frame : frames) rgba.push_back(rgba_of(frame));
    /// Whether a frame is drawn as if it were the first.
    const auto begins = [&](double time, int i) {
      Instance first(plugin, frames[0].size());
      return shown(time, rgba[i]) == first(0, rgba[i]);
    };
    EXPECT_TRUE(begins(7, 0));
    EXPECT_FALSE(begins(7.04, 2));
    EXPECT_FALSE(begins(7.04, 2)) << "asked again, it is the same";
    EXPECT_FALSE(begins(7.12, 4)) << "a frame was dropped";
    EXPECT_TRUE(begins(7.08, 3)) << "back";
    EXPECT_FALSE(begins(7.12, 4));
    EXPECT_TRUE(begins(9, 1)) << "ahead";
    EXPECT_FALSE(begins(9.04, 3));
    EXPECT_FALSE(begins(9.04, 0)) << "a clock that stands still";
    EXPECT_FALSE(begins(std::numeric_limits<double>::quiet_NaN(), 2)) << "no clock";
  }
}

TEST(FreiPlugin, ShowsTheSameFrameInAnotherView) {
  const std::vector<FrameBuffer> frames = film();
  const Plugin plugin("parafield_flow");
  Instance changed(plugin, frames[0].size()), arrows(plugin, frames[0].size());
  arrows.set(view, "arrows");
  for (int i = 0; i < 2; ++i) {
    changed(i, rgba_of(frames[i]));
    arrows(i, rgba_of(frames[i]));
  }
  changed.set(view, "arrows");
  EXPECT_EQ(changed(1, rgba_of(frames[1])), arrows(1, rgba_of(frames[1])));
  changed.set(method, "lucas-kanade");
  arrows.set(method, "lucas-kanade");
  EXPECT_EQ(changed(1, rgba_of(frames[1])), arrows(1, rgba_of(frames[1])));
  EXPECT_EQ(changed(2, rgba_of(frames[2])), arrows(2, rgba_of(frames[2])));
}

TEST(FreiPlugin, ShowsTheFrameAndSaysWhyOnceWhereItCannotDraw) {
  const std::vector<FrameBuffer> frames = film();
  const Plugin plugin("parafield_flow");
  const auto error_of = [&](auto change) {
    Instance instance(plugin, frames[0].size());
    change(instance);
    testing::internal::CaptureStderr();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(instance(i, rgba_of(frames[i])), rgba_of(frames[i]));
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    return said;
  };
  using Change = void (*)(Instance&);
  const std::pair<Change, const char*> cases[] = {
      {[](Instance& i) { i.set(view, "colour"); },
       "parafield flow: view cannot be colour; it is one of color, overlay, arrows"},
      {[](Instance& i) { i.set(method, "optical"); }, "optical"},
      {[](Instance& i) { i.set(preset_name, "paper\n"); }, "preset"},
      {[](Instance& i) { i.set(preset_name, "sequence"); }, "cannot take 5 frames"},
      {[](Instance& i) { i.set(max_motion, 20.0); }, "max motion cannot be 20"},
      {[](Instance& i) { i.set(arrow_spacing, std::nan("")); }, "arrow spacing cannot be nan"},
      {[](Instance& i) { i.set(device, "cuda:99"); }, "cuda:99"},
      {[](Instance& i) { i.set(device, "gpu"); }, "gpu"},
  };
  for (const auto& [change, words] : cases) {
    EXPECT_NE(error_of(change).find(words), std::string::npos) << words;
  }

  Instance instance(plugin, frames[0].size()), other(plugin, frames[0].size());
  instance.set(view, "colour");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) {
    instance(i, rgba_of(frames[i]));
    other(i, rgba_of(frames[i]));
  }
  testing::internal::GetCapturedStderr();
  instance.set(view, "color");
  EXPECT_EQ(instance(1, rgba_of(frames[1])), other(1, rgba_of(frames[1]))) << "put right, it draws";
}

TEST(FreiPlugin, KeepsSettings) {
  const Plugin plugin("parafield_flow");
  Instance instance(plugin, {8, 8});
  EXPECT_EQ(instance.text(view), "");
  EXPECT_EQ(instance.number(max_motion), 0);
  instance.set(view, "arrows");
  instance.set(max_motion, 0.25);
  instance.set(99, "nothing");
  instance.set(-1, 0.5);
  EXPECT_EQ(instance.text(view), "arrows");
  EXPECT_EQ(instance.number(max_motion), 0.25);
}

TEST(FreiPlugin, TakesAnySize) {
  for (const char* name : {"parafield_flow", "parafield_motion"}) {
    const Plugin plugin(name);
    for (const Size size : {Size{1, 1}, {1, 9}, {9, 1}, {3, 2}, {641, 3}, {33, 257}}) {
      for (const char* shown : {"", "overlay"}) {
        Instance instance(plugin, size);
        instance.set(view, shown);
        for (int i = 0; i < 3; ++i) {
          Pixels frame(std::size_t(size.width) * size.height);
          for (std::size_t k = 0; k < frame.size(); ++k) frame[k] = std::uint32_t(k * 2654435761u + i);
          const Pixels drawn = instance(i, frame);
          for (std::size_t k = 0; k < frame.size(); ++k) ASSERT_EQ(drawn[k] >> 24, frame[k] >> 24);
        }
      }
    }
  }
}

}  // namespace
}  // namespace parafield::test
