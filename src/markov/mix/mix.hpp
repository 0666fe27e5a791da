// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

/// DataTerm::mix in whole units of `mix_unit`. It compares the bytes of three words of each pixel:
///   color     red, green, blue; the highest byte is 0 (gray: luma three times)
///   gradient  horizontal derivatives of red, green, blue in quarters (gradient_code); the highest byte is 0
///   census    the census transform, 24 bits; the highest byte is the weight of absolute differences, 0..4
namespace parafield {

constexpr float mix_unit = 1.0f / 250;
constexpr int most_mix = 656;       // largest mix, in units
constexpr int most_mix_weight = 4;  // weight of absolute differences where there is texture

/// Words of a pixel.
struct MixWords {
  std::uint32_t color, gradient, census;
};
PF_HD MixWords words_at(const std::uint32_t* const (&planes)[3], std::ptrdiff_t at) {
  return {planes[0][at], planes[1][at], planes[2][at]};
}

/// Sum of the absolute differences of the bytes of two words. The highest bytes must be 0.
PF_HD int byte_differences(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return int(__vsadu4(a, b));
#else
  const auto difference = [=](int shift) {
    const int d = int(a >> shift & 255) - int(b >> shift & 255);
    return d < 0 ? -d : d;
  };
  return difference(0) + difference(8) + difference(16);
#endif
}

/// Number of bits that differ among the lowest 24.
PF_HD int bit_differences(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t different = (a ^ b) & 0xffffffu;
#ifdef __CUDA_ARCH__
  return __popc(different);
#else
  // The sums of the three bytes are added one by one, because g++ recognizes the usual multiplication as a
  // popcount, which it cannot vectorize.
  std::uint32_t sum = different - (different >> 1 & 0x55555555u);
  sum = (sum & 0x33333333u) + (sum >> 2 & 0x33333333u);
  sum = (sum + (sum >> 4)) & 0x0f0f0fu;
  return int((sum + (sum >> 8) + (sum >> 16)) & 0xffu);
#endif
}

// Largest counts of the three parts of the mix, and the units of each count. An absolute difference counts
// its weight.
constexpr int most_mix_bits = 10, most_mix_color = 3 * 18, most_mix_gradient = 4 * 6;
constexpr int units_of_bit = 20, units_of_gradient = 10;

/// Units of the mix of pixel a with its match b.
PF_HD int mixed_units(const MixWords& a, const MixWords& b) {
  const int bits = smaller(bit_differences(a.census, b.census), most_mix_bits);
  const int color = smaller(byte_differences(a.color, b.color), most_mix_color);
  const int gradient = smaller(byte_differences(a.gradient, b.gradient), most_mix_gradient);
  return units_of_bit * bits + units_of_gradient * gradient + int(a.census >> 24) * color;
}

/// Mix of pixel a with its match b: `limit` if b is outside the image.
PF_HD float mixed_difference(const MixWords& a, const MixWords& b, float limit) {
  const float mix = float(mixed_units(a, b)) * mix_unit;
  return b.census >> 31 ? limit : smaller(mix, limit);
}

/// An intensity as a byte.
PF_HD std::uint32_t intensity_code(float value) { return std::uint32_t(clamp(value + 0.5f, 0.0f, 255.0f)); }

/// A derivative as a byte, in quarters. Derivatives beyond +-32 are reflected into the range, so that two
/// bytes never differ by more than their derivatives do.
PF_HD std::uint32_t gradient_code(float derivative) {
  const float quarters = 4 * clamp(derivative, -1000.0f, 1000.0f);
  const std::uint32_t code = std::uint32_t(int(quarters + (4096 + 128.5f))) & 511u;  // rounded
  return code > 255 ? 511 - code : code;
}

/// Derivative along x from the pixels before and after. At the border, pass the nearest pixel instead.
PF_HD float central_difference(float before, float after) { return 0.5f * (after - before); }

}  // namespace parafield
