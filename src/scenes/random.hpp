// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace parafield {

/// Mixes all 64 bits of a number (splitmix64's finalizer: Steele, Lea, Flood 2014).
inline std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// Element `index` of the stream of random bits `key`.
inline std::uint64_t random_bits(std::uint64_t key, std::uint64_t index) {
  return mix(key + 0x9e3779b97f4a7c15u * (index + 1));
}

/// Converts random bits to a number in [0, 1), without rounding.
inline double to_unit(std::uint64_t bits) { return double(bits >> 11) * 0x1p-53; }

}  // namespace parafield
