#pragma once
#include <cmath>

#include "core/fail.hpp"
#include "parafield/fields.hpp"

namespace parafield {

/// False for what flow files call unknown: |u| or |v| above 1e9, infinite or NaN.
inline bool has_value(float u, float v) { return std::abs(u) <= 1e9f && std::abs(v) <= 1e9f; }

/// Throws Error(invalid_argument) for a field without pixels or whose planes differ in size; `what` names it.
inline void check_flow(const FlowView& flow, const char* what) {
  if (!flow.u || !flow.v || flow.u.width < 1 || flow.u.height < 1)
    fail(ErrorCode::invalid_argument, what, " has no pixels");
  if (flow.v.size() != flow.u.size())
    fail(ErrorCode::invalid_argument, "u of ", what, " has ", flow.u.width, "x", flow.u.height,
         " pixels, v has ", flow.v.width, "x", flow.v.height);
  if (flow.valid && flow.valid.size() != flow.u.size())
    fail(ErrorCode::invalid_argument, what, " has ", flow.u.width, "x", flow.u.height,
         " pixels, its valid plane has ", flow.valid.width, "x", flow.valid.height);
}

}  // namespace parafield
