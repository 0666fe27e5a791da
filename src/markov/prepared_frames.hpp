// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "markov/match/match.hpp"
#include "markov/mix/words.hpp"
#include "markov/planes/planes.hpp"
#include "steps/average/average.hpp"
#include "steps/convert/convert.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {

/// Planes that data terms and edge weights need.
struct PlanesNeeded {
  MatchingCost cost;
  bool edges = false;         ///< colors, for edge weights
  bool words = false;         ///< colors and their words, even if the data term is not the mix
  float noise = 0;            ///< noise of a video's frames, which are then averaged; 0 = no averaging
  int columns = 0, rows = 0;  ///< padding on each side of the planes: how far labels move a pixel
};

/// Planes of the frames in two slots. Planes that are not needed are empty.
template <class Backend>
class PreparedFrames {
 public:
  static constexpr int slots = 2;

  PreparedFrames(Backend& backend, Workspace& workspace, const PlanesNeeded& needed, Size size)
      : backend_(backend),
        needed_(needed),
        cost_(needed_.cost),
        size_(size),
        columns_(even(needed.columns)),
        rows_(needed.rows),
        taps_(gaussian_taps(cost_.presmooth)) {
    for (FramePlanes& frame : frames_) take_planes(frame, workspace);
    for (int i = 0; i < slots && averages(); ++i) {
      take_value_planes(fresh_[i], workspace);
      for (View<float>* plane : {&counts_[i], &changes_[i], &smooth_changes_[i]})
        *plane = workspace.image<float>(size);
    }
    if (cost_.presmooth > 0 && needs_color())
      for (View<float>& plane : unsmoothed_) plane = workspace.image<float>(size);
    backend.reserve_scratch(larger(smooth_scratch(taps_, size.width), word_scratch(size.width)));
  }

  /// Prepares `count` frames in the slots from `slot` on.
  void prepare(const Frame* frames, int slot, int count) {
    find_gray(frames, slot, count);
    take_values(frames, frames_ + slot, count);
    prepare_rest(frames_ + slot, count);
  }

  /// Prepares a pair of video frames. If it follows the last pair, its frames are averaged with the means
  /// that the slots hold.
  void prepare_next(const Frame* pair, bool follows) {
    if (!averages()) return prepare(pair, 0, slots);
    const bool were_gray[slots] = {frames_[0].gray, frames_[1].gray};
    find_gray(pair, 0, slots);
    if (!follows || were_gray[0] != frames_[0].gray || were_gray[1] != frames_[1].gray) {
      take_values(pair, frames_, slots);
      begin_average(backend_, counts_, slots);
    } else {
      FramePlanes fresh[slots];
      AveragedPlanes planes[slots];
      for (int i = 0; i < slots; ++i) {
        fresh[i] = frames_[i];
        fresh[i].luma = fresh_[i].luma;
        for (int j = 0; j < 3; ++j) fresh[i].color[j] = fresh_[i].color[j];
        planes[i].count = counts_[i];
        planes[i].add(fresh[i].luma, frames_[i].luma);
        for (int j = 0; j < 3 && needs_color() && !luma_is_all(frames_[i]); ++j)
          planes[i].add(fresh[i].color[j], frames_[i].color[j]);
      }
      take_values(pair, fresh, slots);
      find_changes(backend_, planes, changes_, slots);
      smooth(backend_, changes_, averaging_taps_, smooth_changes_, slots);
      average(backend_, planes, smooth_changes_, needed_.noise, slots);
    }
    prepare_rest(frames_, slots);
  }
  bool averages() const { return needed_.noise > 0; }

  /// Whether the mix compares gray only.
  bool is_gray() const { return !cost_.rgb || (frames_[0].gray && frames_[1].gray); }
  /// Pitch of the planes, in values.
  std::ptrdiff_t pitch() const { return pitch_; }
  View<const std::uint8_t> known(int slot) const { return frames_[slot].known; }
  /// Flatness of a frame; empty unless the data term is a texture-aware `mix`.
  View<float> flatness(int slot) const { return frames_[slot].flatness; }
  /// Red, green or blue plane of a frame.
  View<const float> color(int slot, int i) const { return color_of(frames_[slot], i); }
  /// Color words: see mix.hpp.
  View<const std::uint32_t> color_words(int slot) const { return frames_[slot].mix.color; }

  /// Planes that data terms compare, starting at pixel (x, y).
  ComparedPlanes compared(int slot, int x, int y) const {
    const FramePlanes& frame = frames_[slot];
    const auto at = [=](const auto& plane) { return plane ? &plane(x, y) : nullptr; };
    return {at(frame.luma),
            {at(color_of(frame, 0)), at(color_of(frame, 1)), at(color_of(frame, 2))},
            at(frame.gradient),
            at(frame.census),
            {at(frame.mix.color), at(frame.mix.gradient), at(frame.mix.census)}};
  }

 private:
  /// Planes of a frame. Planes that are not needed are empty.
  struct FramePlanes {
    View<float> luma, color[3], gradient, flatness;
    View<std::uint32_t> census;
    WordViews mix;
    View<std::uint8_t> known;
    bool gray = false;  // the frame has no colors; always false on CUDA
  };

  /// Rounded up to an even number, because rows of matches are read from an even column on.
  static int even(int value) { return value + (value & 1); }
  bool mixes() const { return cost_.data == DataTerm::mix; }
  bool flattens() const { return mixes() && cost_.texture_aware; }
  bool compares_levels() const { return cost_.data == DataTerm::absolute || cost_.data == DataTerm::squared; }
  /// Whether luma and colors come from one pass over the frames.
  bool converts_at_once() const { return needs_luma() && needs_color() && cost_.presmooth == 0; }
  /// Whether a frame has no color planes because its luma serves as all three.
  bool luma_is_all(const FramePlanes& frame) const { return frame.gray && converts_at_once(); }
  View<float> color_of(const FramePlanes& frame, int i) const {
    return luma_is_all(frame) ? frame.luma : frame.color[i];
  }
  bool has_words() const { return mixes() || needed_.words; }
  bool needs_color() const {
    return (cost_.rgb && (compares_levels() || mixes())) || needed_.edges || needed_.words;
  }
  bool needs_luma() const { return !(cost_.rgb && compares_levels()) || needed_.words || averages(); }

  /// Allocates a plane with padding for every match. All planes have the same pitch.
  template <class T>
  View<T> take_plane(Workspace& workspace) {
    const View<T> whole = workspace.image<T>({size_.width + 2 * columns_, size_.height + 2 * rows_});
    pitch_ = whole.stride();
    return {&whole.row(rows_)[columns_], size_.width, size_.height, whole.pitch};
  }

  void take_value_planes(FramePlanes& frame, Workspace& workspace) {
    if (needs_luma()) frame.luma = take_plane<float>(workspace);
    if (needs_color())
      for (View<float>& plane : frame.color) plane = take_plane<float>(workspace);
  }
  void take_planes(FramePlanes& frame, Workspace& workspace) {
    take_value_planes(frame, workspace);
    if (cost_.data == DataTerm::census) frame.census = take_plane<std::uint32_t>(workspace);
    if (cost_.data == DataTerm::gradient) frame.gradient = take_plane<float>(workspace);
    if (has_words())
      for (View<std::uint32_t>* plane : {&frame.mix.color, &frame.mix.gradient, &frame.mix.census})
        *plane = take_plane<std::uint32_t>(workspace);
    if (flattens()) frame.flatness = workspace.image<float>(size_);
    frame.known = workspace.image<std::uint8_t>(size_);
  }

  static View<std::uint32_t> words(View<float> plane) {
    return {reinterpret_cast<std::uint32_t*>(plane.data), plane.width, plane.height, plane.pitch};
  }

  /// Finds which frames have no colors.
  void find_gray(const Frame* frames, int slot, int count) {
    if constexpr (!Backend::is_gpu)
      for (int i = 0; i < count; ++i) frames_[slot + i].gray = channels(frames[i].format) == 1;
  }

  /// Computes luma and colors, and which pixels are known.
  void take_values(const Frame* frames, FramePlanes* data, int count) {
    if (converts_at_once()) {
      KnownPlanes to[slots];
      for (int i = 0; i < count; ++i) {
        to[i] = {data[i].luma, {data[i].color[0], data[i].color[1], data[i].color[2]}, data[i].known};
        if (luma_is_all(data[i]))
          for (View<float>& plane : to[i].color) plane = {};
      }
      return convert_known(backend_, frames, to, count);
    }
    if (needs_luma()) {
      View<float> luma[slots];
      for (int i = 0; i < count; ++i) luma[i] = data[i].luma;
      if (cost_.presmooth > 0)
        smooth_luma(backend_, frames, taps_, luma, count);
      else
        convert(backend_, frames, luma, count);
    }
    Planes planes[slots];
    View<std::uint8_t> known[slots];
    for (int i = 0; i < count; ++i) {
      if (needs_color()) convert_colors(frames[i], data[i]);
      planes[i] = values_of(data[i]);
      known[i] = data[i].known;
    }
    clean(backend_, planes, known, count);
  }

  Planes values_of(const FramePlanes& data) const {
    constexpr std::uint32_t nan = 0x7fc00000;  // any difference from it is NaN, which becomes the limit
    Planes planes;
    if (needs_luma()) planes.add(words(data.luma), nan);
    if (needs_color() && !luma_is_all(data))
      for (const View<float>& plane : data.color) planes.add(words(plane), nan);
    return planes;
  }

  /// Prepares all planes except luma and colors.
  void prepare_rest(FramePlanes* data, int count) {
    constexpr std::uint32_t nan = 0x7fc00000;
    Planes planes[slots];
    for (int i = 0; i < count; ++i) planes[i] = values_of(data[i]);
    for (int i = 0; i < count; ++i) {
      if (data[i].census) {
        census(backend_, data[i].luma, data[i].census);
        planes[i].add(data[i].census, no_census);
      }
      if (data[i].gradient) {
        central_differences(backend_, data[i].luma, data[i].gradient);
        planes[i].add(words(data[i].gradient), nan);
      }
    }
    if (has_words()) find_words(data, planes, count);
    if (columns_ == 0 && rows_ == 0) return;
    extend(backend_, planes, count, columns_, rows_,
           cost_.truncation == 0 ? Padding::nearest : Padding::outside);
  }

  /// Planes that the mix of a frame is computed from.
  MixSource source_of(const FramePlanes& frame) const {
    if (luma_is_all(frame) || (mixes() && !cost_.rgb)) return {{frame.luma}};
    return {{frame.luma, frame.color[0], frame.color[1], frame.color[2]}};
  }
  /// Computes the words of frames. If the data term is the mix, `planes` becomes the words, because nothing
  /// else is matched.
  void find_words(const FramePlanes* data, Planes* planes, int count) {
    MixSource sources[slots];
    View<float> luma[slots], flatness[slots];
    WordViews words[slots];
    for (int i = 0; i < count; ++i) {
      sources[i] = source_of(data[i]);
      luma[i] = data[i].luma;
      flatness[i] = data[i].flatness;
      words[i] = data[i].mix;
      if (!mixes()) continue;
      planes[i] = {};
      planes[i].add(words[i].color, 0);
      planes[i].add(words[i].gradient, 0);
      planes[i].add(words[i].census, no_census);
    }
    if (flattens()) find_flatness(backend_, luma, texture_taps_, flatness, count);
    mix_words(backend_, sources, flatness, flat_taps_, words, count);
  }

  void convert_colors(const Frame& frame, const FramePlanes& data) {
    convert_color(backend_, frame, cost_.presmooth > 0 ? unsmoothed_ : data.color);
    if (cost_.presmooth == 0) return;
    smooth(backend_, unsmoothed_, taps_, data.color, 2);
    smooth(backend_, unsmoothed_ + 2, taps_, data.color + 2, 1);
  }

  Backend& backend_;
  const PlanesNeeded needed_;
  const MatchingCost& cost_;
  const Size size_;
  const int columns_, rows_;
  const Taps taps_;
  const Taps texture_taps_ = gaussian_taps(texture_sigma), flat_taps_ = gaussian_taps(flat_sigma),
             averaging_taps_ = gaussian_taps(averaging_sigma);
  std::ptrdiff_t pitch_ = 0;
  FramePlanes frames_[slots];
  FramePlanes fresh_[slots];  // luma and colors of new frames, before they are averaged
  View<float> counts_[slots], changes_[slots], smooth_changes_[slots];
  View<float> unsmoothed_[3];
};

}  // namespace parafield
