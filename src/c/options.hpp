// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "c/call.hpp"
#include "parafield/device.hpp"
#include "parafield/estimator.hpp"
#include "parafield/method.hpp"

namespace parafield::c {

/// Options by name and text. Each is taken once.
class NamedOptions {
 public:
  /// Throws Error(invalid_argument) for null pointers, a negative count, and a name that comes twice.
  NamedOptions(const parafield_option* options, std::int32_t count);

  /// Removes an option and returns its text; null if it was not given.
  const char* take(std::string_view name);
  /// Removes an option and sets `value` to it, if it was given. Throws Error(invalid_argument) for a text
  /// that is no value of its type.
  template <class T>
  void take(std::string_view name, T& value) {
    const char* const text = take(name);
    if (text && !detail::read_value(text, value))
      detail::fail_parameter("options", name, text, detail::allowed(detail::parameter<T>(name, "")));
  }
  /// Removes the options device and threads. Returns the device, or nothing if neither was given.
  std::optional<Device> take_device();

  /// Sets parameters of the structs to the remaining options. Throws Error(invalid_argument) for a name that
  /// none of them has, whose message lists `others`, too.
  template <class... Structs>
  void set_parameters(std::string_view who, const std::vector<std::string_view>& others,
                      Structs&... structs) const {
    for (const parafield_option& option : options_) {
      if ((set_parameter(structs, option.name, option.value) || ...)) continue;
      std::vector<std::string_view> known = others;
      const auto add = [&](const auto&, const auto& parameter) { known.push_back(parameter.name); };
      (describe(structs, add), ...);
      detail::fail_name("option of " + std::string(who), option.name, known);
    }
  }

 private:
  std::vector<parafield_option> options_;
};

}  // namespace parafield::c
