// SPDX-License-Identifier: MIT
#include "parafield/detail/text.hpp"

#include <algorithm>
#include <cstddef>

#include "core/fail.hpp"

namespace parafield::detail {
namespace {

struct Character {
  char32_t code;
  std::size_t bytes;  // 0: not UTF-8
};

/// The first character of a non-empty text.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    if ((next & 0xc0) != 0x80) return {0, 0};
    code = code << 6 | (next & 0x3f);
  }
  constexpr char32_t least[] = {0x80, 0x800, 0x10000};  // smaller codes have a shorter form
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  const bool is_utf8 =
      lead >= 0xc0 && lead < 0xf8 && code >= least[bytes - 2] && code <= 0x10ffff && !surrogate;
  return {code, is_utf8 ? bytes : 0};
}

bool is_shown(char32_t code) {
  constexpr struct {
    char32_t first, last;
  } hidden[] = {
      {0, 0x1f},          {0x7f, 0x9f},      // controls
      {0xad, 0xad},       {0x61c, 0x61c},    // soft hyphen, Arabic mark of direction
      {0x200b, 0x200b},   {0x200e, 0x200f},  // space without width, marks of direction
      {0x2028, 0x202e},   {0x2060, 0x206f},  // ends of lines, directions, invisible operators
      {0xfeff, 0xfeff},   {0xfff9, 0xfffb},  // byte order mark, annotations
      {0xe0000, 0xe007f},                    // invisible tags
  };
  return std::ranges::none_of(hidden,
                              [&](const auto& each) { return code >= each.first && code <= each.last; });
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [code, bytes] = first_of(text);
    const std::size_t taken = std::max<std::size_t>(bytes, 1);
    out += bytes > 0 && is_shown(code) ? text.substr(0, taken) : "?";
    text.remove_prefix(taken);
  }
  return out;
}

constexpr std::size_t longest_quote = 40;

std::string quoted(std::string_view value) {
  return text("'", printable(value.substr(0, longest_quote)), value.size() > longest_quote ? "...'" : "'");
}

std::string value_text(std::string_view value) {
  const bool plain = std::ranges::all_of(value, [](char c) { return c > ' ' && c < 127 && c != '\''; });
  return plain && !value.empty() && value.size() <= longest_quote ? std::string(value) : quoted(value);
}

}  // namespace parafield::detail
