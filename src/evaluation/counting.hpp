#pragma once
#include <cstdint>
#include <limits>

#include "core/fail.hpp"
#include "parafield/image.hpp"

/// Shared by the scores of all tasks.
namespace parafield {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// part / whole; NaN if whole is 0.
inline double share(std::int64_t part, std::int64_t whole) {
  return whole ? double(part) / double(whole) : nan;
}

/// Whether a pixel of the plane is not 0. A plane without data is set everywhere.
inline bool is_set(View<const std::uint8_t> plane, int x, int y) { return !plane || plane(x, y) != 0; }

inline void check_size(const char* what, Size size, const char* truth, Size true_size) {
  if (size != true_size)
    fail(ErrorCode::invalid_argument, what, " has ", size.width, "x", size.height, " pixels, ", truth,
         " has ", true_size.width, "x", true_size.height);
}

}  // namespace parafield
