// SPDX-License-Identifier: MIT
#include "signatures.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace parafield::python {
namespace {

struct Argument {
  std::string_view name, type;
};
constexpr Argument known_arguments[] = {
    {"axes", "typing.Literal[\"hw\", \"hwc\", \"chw\"] | None = None"},
    {"calibration", "StereoCalibration | str | os.PathLike[str]"},
    {"channels", "typing.Literal[\"rgb\", \"bgr\"] | None = None"},
    {"device", "str | None = None"},
    {"method", "str | object | None = None"},
    {"parameters", "bool | int | float | str"},
    {"path", "str | os.PathLike[str]"},
    {"preset", "str | None = None"},
    {"range", "tuple[float, float] | None = None"},
    {"shape", "tuple[int, int] | None = None"},
    {"threads", "int | None = None"},
};

std::string with_type(std::string_view argument) {
  const std::string text(argument);
  if (text == "self" || text == "*" || text.find(": ") != text.npos) return text;
  const std::string_view name = argument.substr(std::min(argument.find_first_not_of('*'), argument.size()));
  const auto* const known = std::ranges::find(known_arguments, name, &Argument::name);
  if (known != std::end(known_arguments)) return text + ": " + std::string(known->type);
  const std::size_t end = std::min(text.find(' '), text.size());
  return text.substr(0, end) + ": typing.Any" + text.substr(end);
}

}  // namespace

nanobind::sig signature(std::string_view text) {
  std::size_t begin = text.find('(') + 1, at = begin;
  std::string all = "def " + std::string(text.substr(0, begin));
  for (int depth = 1; depth > 0; ++at) {
    depth += (text[at] == '(' || text[at] == '[') - (text[at] == ')' || text[at] == ']');
    if (depth > 1 || (depth == 1 && text[at] != ',')) continue;
    if (at > begin) all += with_type(text.substr(begin, at - begin));
    all += depth == 1 ? ", " : ")";
    begin = at + 2;
  }
  all += text.substr(at);
  constexpr std::string_view array = "array[";
  for (auto found = all.find(array); found != all.npos; found = all.find(array, found))
    all.replace(found, array.size(), "numpy.typing.NDArray[numpy.");
  return nanobind::sig((new std::string(all))->c_str());  // never freed, as nanobind::sig only points to it
}

}  // namespace parafield::python
