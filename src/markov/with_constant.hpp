#pragma once

namespace parafield {

/// Calls f.template operator()<N>() with the one of `Values` that equals `value`. Returns false if none does.
/// Static, so that each instruction set has its own copy.
template <int... Values, class F>
static inline bool with_constant(int value, F f) {
  return ((value == Values && (f.template operator()<Values>(), true)) || ...);
}

}  // namespace parafield
