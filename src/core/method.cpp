// SPDX-License-Identifier: MIT
#include "parafield/method.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "parafield/detail/text.hpp"

namespace parafield::detail {

void fail_parameter(std::string_view method, std::string_view name, const std::string& value,
                    const std::string& allowed) {
  fail(ErrorCode::invalid_argument, method, ": ", name, " cannot be ", value_text(value),
       "; allowed: ", allowed);
}

/// Edit distance: how many characters to insert, remove, replace or swap with their neighbor to turn `a` into
/// `b`.
static std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);  // row i: distances of a's first i characters
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

/// The words of a name, separated by '-'.
static std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words = {name};
  for (auto end = name.find('-'); end != name.npos; end = words.back().find('-')) {
    const std::string_view rest = words.back().substr(end + 1);
    words.back() = words.back().substr(0, end);
    words.push_back(rest);
  }
  return words;
}

/// Number of edits that turn one word into another; npos if the words are not similar. Similar words have the
/// same first letter, because typing errors seldom change it, or their first two letters are swapped.
static std::size_t changes_of_word(std::string_view a, std::string_view b) {
  const bool same_start =
      a.substr(0, 1) == b.substr(0, 1) || (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]);
  const std::size_t changes = distance(a, b),
                    most = std::max<std::size_t>(1, std::min(a.size(), b.size()) / 3);
  return same_start && changes <= most ? changes : a.npos;
}

/// The same for whole names. Names with the same number of words are similar if each word is.
static std::size_t changes_of(std::string_view a, std::string_view b) {
  for (std::string_view* name : {&a, &b})
    name->remove_prefix(std::min(name->find_first_not_of('-'), name->size()));
  const auto words_a = words_of(a), words_b = words_of(b);
  if (words_a.size() != words_b.size()) return changes_of_word(a, b);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < words_a.size(); ++i) {
    const std::size_t changes = changes_of_word(words_a[i], words_b[i]);
    if (changes == a.npos) return changes;
    sum += changes;
  }
  return sum;
}

/// The only known name that begins with `name`. If none does, the longest known name that `name` continues
/// with another word. Empty if there is none, or if several begin with `name`.
static std::string_view of_same_start(std::string_view name, const std::vector<std::string_view>& known) {
  constexpr std::size_t least = 2;  // letters
  if (name.size() < name.find_first_not_of('-') + least) return {};
  std::string_view found;
  int longer = 0;
  for (const std::string_view each : known)
    if (each.starts_with(name)) found = each, ++longer;
  if (longer > 0) return longer == 1 ? found : std::string_view();
  for (const std::string_view each : known)
    if (name.starts_with(std::string(each) + '-') && each.size() > found.size()) found = each;
  return found;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
  constexpr std::size_t longest = 100;
  if (name.size() > longest) return {};
  std::string plain(name);
  std::ranges::transform(plain, plain.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  std::ranges::replace(plain, '_', '-');
  std::string_view nearest;
  std::size_t least = name.npos;
  for (const std::string_view each : known)
    if (const std::size_t changes = changes_of(plain, each); changes < least) {
      least = changes;
      nearest = each;
    }
  if (nearest.empty()) nearest = of_same_start(plain, known);
  return nearest.empty() ? std::string() : " (did you mean '" + std::string(nearest) + "'?)";
}

void fail_name(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known) {
  std::string list;
  for (const std::string_view each : known) list += (list.empty() ? "" : ", ") + std::string(each);
  fail(ErrorCode::invalid_argument, "there is no ", kind, " ", quoted(name), did_you_mean(name, known),
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
