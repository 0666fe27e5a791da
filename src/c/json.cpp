// SPDX-License-Identifier: MIT
#include "c/json.hpp"

#include <cmath>

#include "parafield/detail/text.hpp"

namespace parafield::c {

std::string json(std::string_view text) {
  std::string quoted = "\"";
  for (const char each : detail::printable(text)) {
    if (each == '"' || each == '\\') quoted += '\\';
    quoted += each;
  }
  return quoted + '"';
}

std::string json(float number) { return std::isfinite(number) ? detail::text_of(number) : "null"; }

std::string object(const Members& members) {
  std::string text;
  for (const auto& [name, value] : members) text += (text.empty() ? "" : ", ") + json(name) + ": " + value;
  return "{" + text + "}";
}

std::string array(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return "[" + text + "]";
}

}  // namespace parafield::c
