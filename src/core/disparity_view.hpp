#pragma once
#include <cmath>

#include "core/fail.hpp"
#include "parafield/fields.hpp"

namespace parafield {

/// False for what disparity files call unknown: infinite or NaN.
inline bool has_value(float d) { return std::isfinite(d); }

/// Throws Error(invalid_argument) for a field without pixels or whose planes differ in size; `what` names it.
inline void check_disparity(const DisparityView& disparity, const char* what) {
  const auto& [d, valid] = disparity;
  if (!d || d.width < 1 || d.height < 1) fail(ErrorCode::invalid_argument, what, " has no pixels");
  if (valid && valid.size() != d.size())
    fail(ErrorCode::invalid_argument, what, " has ", d.width, "x", d.height, " pixels, its valid plane has ",
         valid.width, "x", valid.height);
}

}  // namespace parafield
