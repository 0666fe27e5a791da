// SPDX-License-Identifier: MIT
#pragma once
#include "core/views.hpp"
#include "markov/mix/mix.hpp"
#include "steps/census/census.hpp"
#include "steps/smooth/smooth.hpp"

/// Steps that compute the words of DataTerm::mix from the planes of a frame, and its flatness: 1 where there
/// is no texture, 0 where there is. All planes of a frame have the same size and pitch.
namespace parafield {

constexpr float texture_sigma = 3;  // px, of the gaussian that averages the strength of texture
constexpr float flat_sigma = 1;     // px, of the gaussian that smooths the frame where there is no texture

/// Luma, red, green and blue of a frame. Without color the last three are empty.
struct MixSource {
  View<float> plane[4];
  int count() const { return plane[1] ? 4 : 1; }
};

/// Computes the flatness of one or two frames from their luma. The strength of texture at a pixel is its
/// larger difference from the next pixels to the right and below; beyond the border, the nearest pixel is
/// used. `taps` average it.
template <class Backend>
void find_flatness(Backend& backend, const View<float>* luma, const Taps& taps, const View<float>* flatness,
                   int count);

/// Planes of words that mix_words writes.
struct WordViews {
  View<std::uint32_t> color, gradient, census;
};

/// Computes the words of one or two frames, smoothed by `taps` where they are flat. Without a plane of
/// flatness, the whole frame counts as textured.
template <class Backend>
void mix_words(Backend& backend, const MixSource* sources, const View<float>* flatness, const Taps& taps,
               const WordViews* words, int count);

/// Bytes of scratch memory for each CPU thread: the rows of texture strength, or of smoothed planes, around a
/// row.
inline std::size_t word_scratch(int width) {
  return sizeof(float) * std::size_t((width + 15) / 16 * 16) *
         std::size_t(larger(2 * gaussian_taps(texture_sigma).radius + 2, 5 + 3));
}

// Shared by both backends.

PF_HD float texture_strength(float here, float right, float below) {
  return larger(magnitude(right - here), magnitude(below - here));
}

/// Flatness for an averaged strength of texture in gray values per pixel: 1 up to 0.5, 0 from 2.5 on.
PF_HD float flatness_of(float strength) { return 1 - clamp((strength - 0.5f) * 0.5f, 0.0f, 1.0f); }

/// Weight of absolute differences, in the highest byte of the census.
PF_HD std::uint32_t mix_weight(float flatness) {
  return std::uint32_t(fma(float(most_mix_weight), 1 - flatness, 0.5f)) << 24;
}

}  // namespace parafield
