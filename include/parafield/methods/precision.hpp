// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// Precision of a method's arithmetic. The help of each method's `precision` says what `fast` changes.
enum class Precision {
  exact,  ///< 32-bit floats: the same bits on every device
  fast    ///< less precise where this saves time
};
constexpr std::array<std::string_view, 2> names_of(Precision) { return {"exact", "fast"}; }

}  // namespace parafield
