// SPDX-License-Identifier: MIT
#include "signatures.hpp"

#include <deque>

namespace parafield::python {
namespace {

std::string with_type(std::string_view argument) {
  const std::string text(argument);
  if (text == "self" || text == "*" || text.find(": ") != text.npos) return text;
  if (const std::string_view type = common_type(argument); !type.empty())
    return text + ": " + std::string(type);
  const std::size_t end = std::min(text.find(' '), text.size());
  return text.substr(0, end) + ": typing.Any" + text.substr(end);
}

}  // namespace

nanobind::sig signature(std::string_view text) {
  const SignatureParts parts(text);
  std::string all = "def " + std::string(parts.name) + "(";
  for (std::size_t i = 0; i < parts.count; ++i) all += (i > 0 ? ", " : "") + with_type(parts.arguments[i]);
  all += ")" + std::string(parts.result);
  constexpr std::string_view array = "array[";
  for (auto found = all.find(array); found != all.npos; found = all.find(array, found))
    all.replace(found, array.size(), "numpy.typing.NDArray[numpy.");
  static auto& kept = *new std::deque<std::string>;  // nanobind::sig only points to the text
  return nanobind::sig(kept.emplace_back(std::move(all)).c_str());
}

}  // namespace parafield::python
