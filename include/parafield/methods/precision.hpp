#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// What a method's values are made of; each says what that means for it.
enum class Precision {
  exact,  ///< 32-bit floats: the same bits on every device
  fast    ///< less precise where that is faster
};
constexpr std::array<std::string_view, 2> names_of(Precision) { return {"exact", "fast"}; }

}  // namespace parafield
