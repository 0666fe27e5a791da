// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "parafield/export.hpp"

/// Text that comes from outside, such as names of files, in messages.
namespace parafield::detail {

/// The text in one line that a terminal shows as it is. '?' stands for each character that a terminal obeys
/// or that turns or hides other text (controls, marks of direction, invisible ones), and for each byte that
/// is not UTF-8.
PARAFIELD_API std::string printable(std::string_view text);

/// The value in single quotes, printable; of a long one, the first 40 bytes.
PARAFIELD_API std::string quoted(std::string_view value);

/// A value as messages show it: in quotes if it is empty, long or more than letters, digits and ASCII signs.
PARAFIELD_API std::string value_text(std::string_view value);

}  // namespace parafield::detail
