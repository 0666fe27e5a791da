// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "parafield/error.hpp"

namespace parafield {

/// The parts, concatenated.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

/// Throws Error(code) with the concatenated parts as its message.
template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw Error(code, text(parts...));
}

/// Throws Error(invalid_argument).
template <class... Parts>
[[noreturn]] void fail_value(const Parts&... parts) {
  fail(ErrorCode::invalid_argument, parts...);
}

/// The items as text, with a separator between them.
template <class Items>
std::string joined(const Items& items, std::string_view separator = ", ") {
  std::ostringstream stream;
  for (bool first = true; const auto& item : items)
    stream << (std::exchange(first, false) ? "" : separator) << item;
  return stream.str();
}

/// Throws Error(cancelled) if the flag is true.
inline void fail_if_cancelled(const std::atomic<bool>& flag) {
  if (flag.load(std::memory_order_relaxed)) fail(ErrorCode::cancelled, "the call was cancelled");
}

}  // namespace parafield
