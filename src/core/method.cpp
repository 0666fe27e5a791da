// SPDX-License-Identifier: MIT
#include "parafield/method.hpp"

#include <algorithm>
#include <charconv>

#include "core/fail.hpp"

namespace parafield::detail {

void fail_parameter(std::string_view method, std::string_view name, const std::string& value,
                    const std::string& allowed) {
  fail(ErrorCode::invalid_argument, method, ": ", name, " cannot be ", value, "; allowed: ", allowed);
}

void fail_name(std::string_view kind, std::string_view name, const std::string& known) {
  fail(ErrorCode::invalid_argument, "there is no ", kind, " '", name, "'; there are: ", known);
}

namespace values {

Values range(double min, double max, std::string_view unit) { return {min, max, unit}; }
Values one_of(std::vector<int> choices, std::string_view unit) {
  const auto [min, max] = std::ranges::minmax(choices);
  return {double(min), double(max), unit, std::move(choices)};
}
Values odd(int min, int max, std::string_view unit) {
  std::vector<int> choices;
  for (int value = min; value <= max; value += 2) choices.push_back(value);
  return one_of(std::move(choices), unit);
}

}  // namespace values

std::string text_of(int value) { return std::to_string(value); }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(float value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

template <class T>
static bool read_number(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool read_value(const std::string& text, int& value) { return read_number(text, value); }
bool read_value(const std::string& text, float& value) { return read_number(text, value); }
bool read_value(const std::string& text, bool& value) {
  value = text == "true" || text == "1" || text == "on" || text == "yes";
  return value || text == "false" || text == "0" || text == "off" || text == "no";
}

bool same_name(std::string_view a, std::string_view b) {
  const auto plain = [](char c) { return c == '_' ? '-' : c; };
  return std::ranges::equal(a, b, {}, plain, plain);
}

}  // namespace parafield::detail
