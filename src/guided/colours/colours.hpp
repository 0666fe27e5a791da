#pragma once
#include <vector>

#include "blocks/convert/convert.hpp"
#include "blocks/smooth/smooth.hpp"
#include "guided/likelihood.hpp"

namespace parafield {

/// The channels of one or two frames of any format (convert.hpp), and the same smoothed: the bits of convert_color and of
/// smooth. No taps beside the middle one: nothing is smoothed. On CUDA the frames are inputs that a replay reads anew.
template <class Backend>
void make_colours(Backend& backend, const Frame* frames, const Taps& taps, const Colours* colours,
                  const Colours* smoothed, int count);

/// The colours of the frames in slots, and the same smoothed, as likelihoods compare them.
template <class Backend>
class FrameColours {
 public:
  FrameColours(Backend& backend, Workspace& workspace, float presmooth, Size size, int slots)
      : backend_(backend), taps_(gaussian_taps(presmooth)) {
    for (int slot = 0; slot < slots; ++slot) {
      raw_.push_back(planes(workspace, size));
      smoothed_.push_back(taps_.radius > 0 ? planes(workspace, size) : raw_.back());
    }
  }

  void prepare(const Frame* frames, int slot, int count) {
    for (int i = 0; i < count; i += 2)
      make_colours<Backend>(backend_, frames + i, taps_, &raw_[std::size_t(slot + i)],
                            &smoothed_[std::size_t(slot + i)], smaller(2, count - i));
  }

  const Colours& raw(int slot) const { return raw_[std::size_t(slot)]; }
  const Colours& smoothed(int slot) const { return smoothed_[std::size_t(slot)]; }

 private:
  static Colours planes(Workspace& workspace, Size size) {
    Colours colours;
    for (View<float>& plane : colours.plane) plane = workspace.image<float>(size);
    return colours;
  }

  Backend& backend_;
  const Taps taps_;
  std::vector<Colours> raw_, smoothed_;  // of the frame in each slot
};

}  // namespace parafield
