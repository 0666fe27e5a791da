// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "errors.hpp"

namespace parafield::python {

/// Returns the text of a struct's field for repr: "focal=256.0".
template <class T>
std::string named(const char* name, T value) {
  return std::string(name) + "=" + repr_text(nanobind::cast(value));
}

/// Returns the repr of a struct: "StereoGeometry(focal=256.0, ...)".
inline std::string joined(const char* name, const std::vector<std::string>& fields) {
  std::string text = std::string(name) + "(";
  for (std::size_t i = 0; i < fields.size(); ++i) text += (i ? ", " : "") + fields[i];
  return text + ")";
}

}  // namespace parafield::python
