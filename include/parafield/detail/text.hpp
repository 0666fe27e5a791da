// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "parafield/export.hpp"

/// Text from outside the library, such as file names, in messages.
namespace parafield::detail {

/// The text as one line that is safe to print on a terminal. '?' replaces control characters, characters that
/// reorder or hide text (direction marks, invisible characters), and bytes that are not UTF-8.
PARAFIELD_API std::string printable(std::string_view text);

/// The value in single quotes, printable. Values longer than 40 bytes are cut there.
PARAFIELD_API std::string quoted(std::string_view value);

/// A value as messages show it: quoted if it is empty, longer than 40 bytes, or contains anything but
/// printable ASCII without spaces and single quotes.
PARAFIELD_API std::string value_text(std::string_view value);

}  // namespace parafield::detail
