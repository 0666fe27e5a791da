// SPDX-License-Identifier: MIT
#pragma once
#include "steps/colors/color.hpp"
#include "steps/convert/convert.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {

/// Writes the channels of one or two frames, and the smoothed channels of the first `smooth_count` unless the
/// taps' radius is 0: the bits of convert_color and smooth. On CUDA frames are an input, read anew by a
/// replay.
template <class Backend>
void make_colors(Backend& backend, const Frame* frames, int count, const Taps& taps, const Colors* colors,
                 const Colors* smoothed, int smooth_count);

/// Colors of the frames in two slots, and smoothed colors, which likelihoods compare.
template <class Backend>
class FrameColors {
 public:
  FrameColors(Backend& backend, Workspace& workspace, float presmooth, Size size)
      : backend_(backend), taps_(gaussian_taps(presmooth)) {
    for (int slot = 0; slot < 2; ++slot) {
      raw_[slot] = planes(workspace, size);
      smoothed_[slot] = taps_.radius > 0 ? planes(workspace, size) : raw_[slot];
    }
  }

  /// `both`: of two frames the second is smoothed, too, for the flow back.
  void prepare(const Frame* frames, int slot, int count, bool both) {
    make_colors(backend_, frames, count, taps_, raw_ + slot, smoothed_ + slot, both ? count : 1);
  }

  const Colors& raw(int slot) const { return raw_[slot]; }
  const Colors& smoothed(int slot) const { return smoothed_[slot]; }

 private:
  static Colors planes(Workspace& workspace, Size size) {
    Colors colors;
    if constexpr (Backend::is_gpu)
      colors.pixels = workspace.image<Color>(size);
    else
      for (View<float>& plane : colors.plane) plane = workspace.image<float>(size);
    return colors;
  }

  Backend& backend_;
  const Taps taps_;
  Colors raw_[2], smoothed_[2];
};

}  // namespace parafield
