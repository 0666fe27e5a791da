#pragma once
#include <vector>

#include "guided/support/color.hpp"
#include "steps/convert/convert.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {

/// Writes the channels of one or two frames of any format, and the smoothed channels of the first
/// `smooth_count`, with the bits of convert_color and of smooth. Nothing is smoothed where the taps have
/// radius 0. On CUDA the frames are an input, which a replay reads anew.
template <class Backend>
void make_colors(Backend& backend, const Frame* frames, int count, const Taps& taps, const Colors* colors,
                 const Colors* smoothed, int smooth_count);

/// Colors of the frames in slots, and smoothed colors, which likelihoods compare.
template <class Backend>
class FrameColors {
 public:
  FrameColors(Backend& backend, Workspace& workspace, float presmooth, Size size, int slots)
      : backend_(backend), taps_(gaussian_taps(presmooth)) {
    for (int slot = 0; slot < slots; ++slot) {
      raw_.push_back(planes(workspace, size));
      smoothed_.push_back(taps_.radius > 0 ? planes(workspace, size) : raw_.back());
    }
  }

  /// `both`: of two frames the second is smoothed, too, for the flow back.
  void prepare(const Frame* frames, int slot, int count, bool both) {
    for (int i = 0; i < count; i += 2) {
      const int some = smaller(2, count - i);
      make_colors<Backend>(backend_, frames + i, some, taps_, &raw_[std::size_t(slot + i)],
                           &smoothed_[std::size_t(slot + i)], both ? some : 1);
    }
  }

  const Colors& raw(int slot) const { return raw_[std::size_t(slot)]; }
  const Colors& smoothed(int slot) const { return smoothed_[std::size_t(slot)]; }

 private:
  static Colors planes(Workspace& workspace, Size size) {
    Colors colors;
    if constexpr (Backend::is_gpu) {
      colors.pixels = workspace.image<Color>(size);
    } else {
      for (View<float>& plane : colors.plane) plane = workspace.image<float>(size);
    }
    return colors;
  }

  Backend& backend_;
  const Taps taps_;
  std::vector<Colors> raw_, smoothed_;  // one for each slot
};

}  // namespace parafield
