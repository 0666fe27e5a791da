// SPDX-License-Identifier: MIT
#pragma once
#include "steps/colors/color.hpp"
#include "steps/convert/convert.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {

/// Writes the channels of one or two frames, and the smoothed channels of the first `smooth_count` frames
/// unless the taps' radius is 0: the same bits as convert_color and smooth. On CUDA, the frames are inputs
/// that a replay reads again.
template <class Backend>
void make_colors(Backend& backend, const Frame* frames, int count, const Taps& taps, const Colors* colors,
                 const Colors* smoothed, int smooth_count);

/// Copies of up to seven frames in the backend's memory, for colors that are needed later at few pixels, when
/// the user's memory may have changed.
struct KeptFrames {
  static constexpr int most_slots = 7;
  View<std::uint8_t> bytes[most_slots];
  Frame* frames = nullptr;  ///< descriptions of `bytes`, also in the backend's memory

  static KeptFrames make(Workspace& workspace, Size size, int slots) {
    const Size most{size.width * bytes_per_pixel(PixelFormat::rgb_f32), size.height};
    KeptFrames kept;
    for (int i = 0; i < slots; ++i) kept.bytes[i] = workspace.image<std::uint8_t>(most);
    kept.frames = workspace.array<Frame>(std::size_t(slots));
    return kept;
  }
};

/// Describes a frame whose rows have been copied to `bytes`. The pitch depends on the frame's format.
[[gnu::always_inline]] static inline Frame kept_frame(Frame frame, View<std::uint8_t> bytes) {
  constexpr std::ptrdiff_t alignment = 64;
  const std::ptrdiff_t row_bytes = std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format);
  frame.data = bytes.data;
  frame.pitch = (row_bytes + alignment - 1) / alignment * alignment;
  return frame;
}

/// Copies one or two frames into slots `slot` and following. On CUDA, the frames are inputs that a replay
/// reads again.
template <class Backend>
void keep_frames(Backend& backend, const Frame* frames, int slot, int count, const KeptFrames& kept);

/// Computes the smoothed channels of the frames in slots 0 and 1: the same bits as convert_color and smooth.
/// The taps' radius must be above 0. `scratch`: three planes, which the CPU overwrites.
template <class Backend>
void smooth_kept(Backend& backend, const KeptFrames& kept, const Taps& taps, const View<float>* scratch,
                 const Colors* smoothed);

/// Allocates planes for the channels of a frame. `workspace`: a Workspace or a SharedWorkspace.
template <class Backend, class From>
Colors make_color_planes(From& workspace, Size size) {
  Colors colors;
  if constexpr (Backend::is_gpu)
    colors.pixels = workspace.template image<Color>(size);
  else
    for (View<float>& plane : colors.plane) plane = workspace.template image<float>(size);
  return colors;
}
template <class Backend>
void lend_colors(const Colors& colors, SharedWorkspace& to) {
  if constexpr (Backend::is_gpu)
    to.lend(colors.pixels);
  else
    for (const View<float>& plane : colors.plane) to.lend(plane);
}

/// Colors of the frames in two slots, and smoothed colors, which likelihoods compare.
template <class Backend>
class FrameColors {
 public:
  FrameColors(Backend& backend, Workspace& workspace, float presmooth, Size size)
      : backend_(backend), taps_(gaussian_taps(presmooth)) {
    for (int slot = 0; slot < 2; ++slot) {
      raw_[slot] = make_color_planes<Backend>(workspace, size);
      smoothed_[slot] = taps_.radius > 0 ? make_color_planes<Backend>(workspace, size) : raw_[slot];
    }
  }

  /// `both`: if there are two frames, also smooth the second one, for the backward flow.
  void prepare(const Frame* frames, int slot, int count, bool both) {
    make_colors(backend_, frames, count, taps_, raw_ + slot, smoothed_ + slot, both ? count : 1);
  }

  const Colors& raw(int slot) const { return raw_[slot]; }
  const Colors& smoothed(int slot) const { return smoothed_[slot]; }

 private:
  Backend& backend_;
  const Taps taps_;
  Colors raw_[2], smoothed_[2];
};

}  // namespace parafield
