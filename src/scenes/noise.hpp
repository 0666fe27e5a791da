// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <cstdint>

/// Random numbers and random structure. Everything uses only + - * / and sqrt, which give the same bits on
/// every machine.
namespace parafield {

/// Element `index` of the stream of random bits `key`: all 64 bits are mixed (splitmix64: Steele, Lea, Flood
/// 2014).
inline std::uint64_t random_bits(std::uint64_t key, std::uint64_t index) {
  std::uint64_t bits = key + 0x9e3779b97f4a7c15u * (index + 1);
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// Converts random bits to a number in [0, 1), without rounding.
inline double to_unit(std::uint64_t bits) { return double(bits >> 11) * 0x1p-53; }

/// The random numbers of a key.
class Draw {
 public:
  explicit Draw(std::uint64_t key) : key_(key) {}

  /// Number `index`, scaled to low..high.
  double at(std::uint64_t index, double low, double high) const {
    return low + (high - low) * to_unit(random_bits(key_, index));
  }
  /// The next number.
  double between(double low, double high) { return at(count_++, low, high); }
  double sign() { return between(-1, 1) < 0 ? -1 : 1; }
  double either_side(double low, double high) {
    const double side = sign();
    return side * between(low, high);
  }

 private:
  std::uint64_t key_, count_ = 0;
};

/// A wave of period 1 between -1 and 1, made of two parabolas in place of a sine.
inline double wave(double turns) {
  const double u = 2 * (turns - std::floor(turns)) - 1;  // -1..1
  return -4 * u * (1 - std::abs(u));
}

/// Two numbers that the processor adds, multiplies and divides at once.
using Pair [[gnu::vector_size(16)]] = double;

/// An octave of random structure over the plane: a cubic B-spline over a lattice of independent random
/// numbers in -1..1, which is a smooth function of real coordinates. The B-spline's spectrum is sinc^4: the
/// amplitude is low at a wavelength of twice the spacing, and zero at the spacing itself. An Octave caches
/// the lattice values around the last point that was read, which is why each thread must use its own copy.
class Octave {
 public:
  Octave() = default;
  Octave(double spacing, std::uint64_t key);

  double spacing() const { return spacing_; }
  double operator()(double x, double y);

 private:
  double spacing_ = 1;
  Pair shift_ = {};  ///< shift of the lattice, in its units; different for each octave
  std::uint64_t key_ = 0;
  std::int64_t column_ = INT64_MIN, row_ = INT64_MIN;
  Pair values_[4][2] = {};  ///< of each column two values and the two below them
};

/// Smooth step: 0 up to `low`, 1 from `high`.
inline double smooth_step(double low, double high, double value) {
  const double t = (value - low) / (high - low);
  return t <= 0 ? 0 : t >= 1 ? 1 : t * t * (3 - 2 * t);
}

}  // namespace parafield
