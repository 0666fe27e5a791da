// SPDX-License-Identifier: MIT
#pragma once
#include "core/views.hpp"
#include "markov/mix/mix.hpp"
#include "steps/census/census.hpp"
#include "steps/smooth/smooth.hpp"

/// Steps from the planes of a frame to the words of DataTerm::mix, and flatness: 1 where there is no texture, 0
/// where there is. All planes of a frame have one size and pitch.
namespace parafield {

constexpr float texture_sigma = 3;  // px, of the gaussian that averages the texture's strength
constexpr float flat_sigma = 1;     // px, of the one that smooths the frame where it has none

/// Luma of a frame and, in color, red, green and blue. Without color the last three are empty.
struct MixSource {
  View<float> plane[4];
  int count() const { return plane[1] ? 4 : 1; }
};

/// Finds the flatness of one frame or two from their luma. The strength of texture at a pixel is the larger
/// difference to the next pixel, to the right or below; beyond the border the nearest pixel stands in. `taps`
/// average it.
template <class Backend>
void find_flatness(Backend& backend, const View<float>* luma, const Taps& taps, const View<float>* flatness,
                   int count);

/// Planes of words that mix_words writes.
struct WordViews {
  View<std::uint32_t> color, gradient, census;
};

/// Computes the words of one frame or two, smoothed by `taps` where they are flat. Without a plane of flatness there
/// is texture everywhere.
template <class Backend>
void mix_words(Backend& backend, const MixSource* sources, const View<float>* flatness, const Taps& taps,
               const WordViews* words, int count);

/// Bytes of scratch memory for each CPU thread: rows around one, of texture's strength or of smoothed planes.
inline std::size_t word_scratch(int width) {
  return sizeof(float) * std::size_t((width + 15) / 16 * 16) *
         std::size_t(larger(2 * gaussian_taps(texture_sigma).radius + 2, 5 + 3));
}

// Both backends compute these.

PF_HD float texture_strength(float here, float right, float below) {
  return larger(magnitude(right - here), magnitude(below - here));
}

/// Flatness by the averaged strength of texture, in gray values a pixel: 1 up to 0.5, 0 from 2.5 on.
PF_HD float flatness_of(float strength) { return 1 - clamp((strength - 0.5f) * 0.5f, 0.0f, 1.0f); }

/// Weight of absolute differences, in the highest byte of the census.
PF_HD std::uint32_t mix_weight(float flatness) {
  return std::uint32_t(fma(float(most_mix_weight), 1 - flatness, 0.5f)) << 24;
}

}  // namespace parafield
