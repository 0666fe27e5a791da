// SPDX-License-Identifier: MIT
// parafield_motion: the moving regions in the video of a still camera.
#include <cstring>
#include <optional>

#include "filter.hpp"

namespace parafield::frei0r {
namespace {

enum { view, method, preset_name, device };
constexpr Setting settings[] = {
    {"view", Setting::text, "overlay: moving pixels are tinted red. mask: they are white, others black."},
    {"method", Setting::text, "Method of motion detection, such as icm or annealing. Empty: icm."},
    {"preset", Setting::text, preset_help},
    {"device", Setting::text, device_help},
};
constexpr const char* views[] = {"overlay", "mask"};
enum { overlay_view, mask_view };

FrameBuffer picture_of(const MotionMask& mask) {
  FrameBuffer picture(mask.size(), PixelFormat::rgb_u8);
  for (int y = 0; y < mask.size().height; ++y)
    for (int x = 0; x < mask.size().width; ++x)
      std::memset(static_cast<std::uint8_t*>(picture.row(y)) + 3 * x, mask.moving(x, y) ? 255 : 0, 3);
  return picture;
}

class MotionFilter : public Filter {
 public:
  explicit MotionFilter(Size size) : size_(size), mask_(size) {}

  void set(std::span<const Value> values) override {
    const auto text = [&](int index) { return std::get<std::string>(values[index]); };
    view_ = choice(settings[view].name, text(view), views);
    const EstimatorNames names{text(method), text(preset_name), text(device)};
    if (detector_ && names == names_) return;
    detector_.emplace(names.chosen<DetectionMethod>(), size_,
                      DetectionOptions{.device = names.used_device()});
    names_ = names;
    has_before_ = false;
  }

  FrameBuffer draw(Step step, const Frame& before, const Frame& frame) override {
    if (step == Step::first) {
      detector_->reset();
      detector_->push(frame);
      mask_ = MotionMask(size_);
    } else if (step == Step::next || !has_before_) {
      if (!has_before_) detector_->push(before);
      detector_->push(frame, mask_);
    }
    has_before_ = true;
    return view_ == mask_view ? picture_of(mask_) : overlay_mask(frame, mask_);
  }

 private:
  Size size_;
  int view_ = overlay_view;
  EstimatorNames names_;
  std::optional<MotionDetector> detector_;
  bool has_before_ = false;  ///< the detector has received the previous frame
  MotionMask mask_;
};

}  // namespace

const Description description{"parafield motion", "Motion detection: what moves in front of a still camera",
                              settings};

std::unique_ptr<Filter> make_filter(Size size) { return std::make_unique<MotionFilter>(size); }

}  // namespace parafield::frei0r
