// SPDX-License-Identifier: MIT
#include "scenes/dye.hpp"

#include "scenes/random.hpp"

namespace parafield {
namespace {

/// Hue of an object, as a tint of length 1. It turns by the golden angle from one index to the next, which
/// makes the hues of a few objects clearly different.
Tint hue(std::uint64_t seed, std::size_t index) {
  const auto draw = [&](std::uint64_t i) { return 2 * to_unit(random_bits(seed, i)) - 1; };
  Tint tint{draw(0), draw(1)};
  const double length = std::sqrt(tint.red * tint.red + tint.blue * tint.blue) + 1e-6;
  tint = {tint.red / length, tint.blue / length};
  constexpr double cosine = -0.7373688780783197, sine = 0.6754902942615238;
  for (std::size_t i = 0; i < index; ++i)
    tint = {cosine * tint.red - sine * tint.blue, sine * tint.red + cosine * tint.blue};
  return tint;
}

}  // namespace

Dye::Dye(std::uint64_t seed, Tint mean, double change) : mean_(mean), change_(change) {
  for (std::size_t i = 0; i < octaves_.size(); ++i)
    octaves_[i] = Octave(i < 2 ? 120 : 40, random_bits(seed, i));
}

Dye Dye::object(std::uint64_t seed, std::size_t index) {
  return {random_bits(seed, 10 + index), hue(seed, index) * 56, 24};
}

Dye Dye::ground(std::uint64_t seed, std::size_t index) {
  return {random_bits(seed, 10 + index), hue(seed, index) * 26, 44};
}

Tint Dye::operator()(double x, double y) {
  const auto noise = [&](std::size_t i) { return octaves_[i](x, y); };
  return mean_ + Tint{noise(0), noise(1)} * change_ + Tint{noise(2), noise(3)} * (0.6 * change_);
}

}  // namespace parafield
