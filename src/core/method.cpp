// SPDX-License-Identifier: MIT
#include "parafield/method.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "core/fail.hpp"

namespace parafield::detail {

void fail_parameter(std::string_view method, std::string_view name, const std::string& value,
                    const std::string& allowed) {
  fail(ErrorCode::invalid_argument, method, ": ", name, " cannot be ", value, "; allowed: ", allowed);
}

/// Number of characters to insert, remove, replace or swap with the next until `a` is `b`.
static std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);  // row i: from the first i characters of a
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j - 1] + (a[i - 1] != b[j - 1]), above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
  constexpr std::size_t longest = 100;
  if (name.size() > longest) return {};
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; };
  std::string plain(name);
  std::ranges::transform(plain, plain.begin(), lower);
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string_view each : known)
    if (const std::size_t changes = distance(plain, each); changes < least) {
      least = changes;
      nearest = each;
    }
  return nearest.empty() ? std::string() : " (did you mean '" + std::string(nearest) + "'?)";
}

void fail_name(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known) {
  std::string list;
  for (const std::string_view each : known) list += (list.empty() ? "" : ", ") + std::string(each);
  fail(ErrorCode::invalid_argument, "there is no ", kind, " '", name, "'", did_you_mean(name, known),
       "; there are: ", list);
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
