// SPDX-License-Identifier: MIT
// parafield_flow: the optical flow of a video, as colors or arrows.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "filter.hpp"

namespace parafield::frei0r {
namespace {

enum { view, method, preset_name, max_motion, arrow_spacing, legend, device };
constexpr Setting settings[] = {
    {"view", Setting::text,
     "color: each pixel's motion as a color (hue is direction). overlay: the colors over the picture. "
     "arrows: arrows over the picture."},
    {"method", Setting::text,
     "Method of optical flow, such as adaptive-ridge or lucas-kanade. Empty: adaptive-ridge."},
    {"preset", Setting::text, preset_help},
    {"max motion", Setting::number,
     "Motion per frame that has full color, and arrows as long as their spacing, as a share of the "
     "picture's width. 0: adapts to the video."},
    {"arrow spacing", Setting::number,
     "Distance between arrows, as a share of the picture's width. 0: a thirtieth."},
    {"legend", Setting::on_or_off, "Draws a color wheel in the lower right corner, except with arrows."},
    {"device", Setting::text, device_help},
};
constexpr const char* views[] = {"color", "overlay", "arrows"};
enum { color_view, overlay_view, arrow_view };

/// Returns the value if it is a valid share of the picture's width, 0 to 1. Throws Error(invalid_argument)
/// otherwise.
double share(const Value& value, int index) {
  const double number = std::get<double>(value);
  if (number >= 0 && number <= 1) return number;
  throw Error(ErrorCode::invalid_argument, std::string(settings[index].name) + " cannot be " +
                                               std::to_string(number) +
                                               "; it is a share of the picture's width, 0 to 1");
}

/// Tints the picture with the flow's colors. Where nothing moves (white), the picture stays unchanged.
FrameBuffer tint(const Frame& frame, FrameBuffer colors) {
  for (int y = 0; y < frame.height; ++y) {
    const auto* pixel = static_cast<const std::uint8_t*>(frame.data) + std::ptrdiff_t(y) * frame.width * 4;
    auto* color = static_cast<std::uint8_t*>(colors.row(y));
    for (int x = 0; x < frame.width; ++x)
      for (int channel = 0; channel < 3; ++channel)
        color[3 * x + channel] = std::uint8_t((pixel[4 * x + channel] * color[3 * x + channel] + 127) / 255);
  }
  return colors;
}

class FlowFilter : public Filter {
 public:
  explicit FlowFilter(Size size) : size_(size), flow_(size, {}, false) {}

  void set(std::span<const Value> values) override {
    const auto text = [&](int index) { return std::get<std::string>(values[index]); };
    view_ = choice(settings[view].name, text(view), views);
    max_motion_ = float(share(values[max_motion], max_motion) * size_.width);
    const double spacing = share(values[arrow_spacing], arrow_spacing);
    arrow_step_ = std::max(int(std::lround((spacing > 0 ? spacing : 1.0 / 30) * size_.width)), 4);
    legend_ = std::get<double>(values[legend]) >= 0.5;
    const EstimatorNames names{text(method), text(preset_name), text(device)};
    if (estimator_ && names == names_) return;

    const auto chosen = names.chosen<FlowMethod>();
    if (frames_of(chosen) != 2)
      throw Error(ErrorCode::invalid_argument, "method and preset cannot take " +
                                                   std::to_string(frames_of(chosen)) +
                                                   " frames; this filter has the last two");
    estimator_.emplace(chosen, size_, FlowOptions{.device = names.used_device(), .confidence = false});
    names_ = names;
    known_ = false;
  }

  FrameBuffer draw(Step step, const Frame& before, const Frame& frame) override {
    if (step != Step::repeated || !known_) solve(step, before, frame);
    const float longest = max_motion_ > 0 ? max_motion_ : usual_motion_;
    if (view_ == arrow_view)
      return draw_arrows(frame, flow_, {.step = arrow_step_, .scale = float(arrow_step_) / longest});
    FrameBuffer picture = color_flow(flow_, {.max_motion = longest});
    if (view_ == overlay_view) picture = tint(frame, std::move(picture));
    return legend_ ? with_legend(picture, ColorScheme::middlebury, longest) : std::move(picture);
  }

 private:
  /// Computes how each pixel of `frame` came from the previous frame. This direction puts colors and arrows
  /// where things are now, without delaying the video. If there is no previous frame, the motion is zero.
  void solve(Step step, const Frame& before, const Frame& frame) {
    known_ = step != Step::first;
    if (step == Step::first) {
      flow_ = FlowField(size_, {}, false);
      std::ranges::fill_n(flow_.valid.view().data, flow_.valid.view().pitch * size_.height, std::uint8_t(1));
      usual_motion_ = least_motion;
      return;
    }
    const std::array<Frame, 2> backward{frame, before};
    (*estimator_)(FlowInput{.frames = backward}, flow_);
    for (Image<float>* plane : {&flow_.u, &flow_.v})
      for (int y = 0; y < size_.height; ++y)
        for (int x = 0; x < size_.width; ++x) (*plane)(x, y) = -(*plane)(x, y);
    // The scale rises at once but falls slowly, because colors that rescale with every frame would flicker.
    usual_motion_ = std::max({least_motion, color_scale(flow_), 0.95f * usual_motion_});
  }

  static constexpr float least_motion = 1;  // px; smaller motion is noise in many videos

  Size size_;
  int view_ = color_view, arrow_step_ = 0;
  float max_motion_ = 0;
  bool legend_ = false;
  EstimatorNames names_;
  std::optional<FlowEstimator> estimator_;
  FlowField flow_;
  bool known_ = false;  ///< flow_ belongs to the latest two frames
  float usual_motion_ = least_motion;
};

}  // namespace

const Description description{"parafield flow", "Optical flow: where each pixel of the picture came from",
                              settings};

std::unique_ptr<Filter> make_filter(Size size) { return std::make_unique<FlowFilter>(size); }

}  // namespace parafield::frei0r
