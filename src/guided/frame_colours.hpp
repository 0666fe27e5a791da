#pragma once
#include "blocks/convert/convert.hpp"
#include "blocks/smooth/smooth.hpp"
#include "guided/likelihood.hpp"

namespace parafield {

/// The colours of the frames in slots, and the same smoothed, as likelihoods compare them.
template <class Backend>
class FrameColours {
 public:
  FrameColours(Backend& backend, Workspace& workspace, float presmooth, Size size, int slots)
      : backend_(backend), taps_(gaussian_taps(presmooth)), frames_(std::size_t(slots)) {
    for (Colours& frame : frames_) frame = planes(workspace, size);
    if (taps_.radius > 0) smoothed_ = planes(workspace, size);
  }

  void prepare(const Frame* frames, int slot, int count) {
    for (int i = 0; i < count; ++i) convert_color(backend_, frames[i], raw(slot + i).plane);
  }

  const Colours& raw(int slot) const { return frames_[std::size_t(slot)]; }

  /// Stands until the next call.
  const Colours& smoothed(int slot) {
    if (taps_.radius == 0) return raw(slot);
    smooth(backend_, raw(slot).plane, taps_, smoothed_.plane, 2);
    smooth(backend_, raw(slot).plane + 2, taps_, smoothed_.plane + 2, 1);
    return smoothed_;
  }

 private:
  static Colours planes(Workspace& workspace, Size size) {
    Colours colours;
    for (View<float>& plane : colours.plane) plane = workspace.image<float>(size);
    return colours;
  }

  Backend& backend_;
  const Taps taps_;
  std::vector<Colours> frames_;
  Colours smoothed_;
};

}  // namespace parafield
