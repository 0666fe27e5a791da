// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/eval.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

/// Signatures of Python functions as texts, such as
///
///     "rectify(left, right, calibration, device, *, alpha: float = 0, axes) -> RectifiedPair"
///
/// An argument without a type has the type and the default that its name has in all functions (see
/// common_arguments), or any type. "array[float32]" is a NumPy array.
namespace parafield::python {

struct CommonArgument {
  std::string_view name, type;
};
inline constexpr CommonArgument common_arguments[] = {
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

/// A signature's name, arguments (including "self" and "*") and result (" -> None").
struct SignatureParts {
  static constexpr std::size_t most = 20;
  std::string_view name, arguments[most], result;
  std::size_t count = 0;

  constexpr explicit SignatureParts(std::string_view text) {
    std::size_t begin = text.find('(') + 1, at = begin;
    name = text.substr(0, begin - 1);
    for (int depth = 1; depth > 0; ++at) {
      depth += (text[at] == '(' || text[at] == '[') - (text[at] == ')' || text[at] == ']');
      if (depth > 1 || (depth == 1 && text[at] != ',')) continue;
      if (at > begin) arguments[count++] = text.substr(begin, at - begin);
      begin = at + 2;
    }
    result = text.substr(at);
  }
};

/// Returns an argument's name, without the asterisks of "**parameters".
constexpr std::string_view name_of(std::string_view argument) {
  argument.remove_prefix(std::min(argument.find_first_not_of('*'), argument.size()));
  return argument.substr(0, argument.find_first_of(": "));
}

/// Returns an argument's type and default as CommonArgument::type, or "" if it has no common type.
constexpr std::string_view common_type(std::string_view argument) {
  if (argument.find(' ') != argument.npos) return {};
  const auto* const common = std::ranges::find(common_arguments, name_of(argument), &CommonArgument::name);
  return common == std::end(common_arguments) ? std::string_view() : common->type;
}

/// Returns the default of an argument as text; "" = it must be given.
constexpr std::string_view default_of(std::string_view argument) {
  const std::string_view type = common_type(argument), text = type.empty() ? argument : type;
  const std::size_t at = text.find(" = ");
  return at == text.npos ? std::string_view() : text.substr(at + 3);
}

/// Returns the signature for docstrings and stubs, with all types.
nanobind::sig signature(std::string_view text);

/// A signature's text as a template argument.
template <std::size_t N>
struct SignatureText {
  char text[N];
  consteval SignatureText(const char (&given)[N]) { std::ranges::copy(given, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

/// Returns nanobind's description of argument i. None is never refused here, because functions refuse it with
/// an Error that names the argument.
template <SignatureText text, std::size_t i>
auto argument() {
  static constexpr std::string_view own = SignatureParts(text.view()).arguments[i], value = default_of(own);
  static const std::string name(name_of(own));
  if constexpr (value.empty())
    return nanobind::arg(name.c_str()).none();
  else
    return nanobind::arg(name.c_str()).none() =
               nanobind::eval(nanobind::str(value.data(), value.size()), nanobind::dict());
}

/// Defines the function f of a module or class by its signature, which gives its name, arguments and
/// defaults. `doc` is the docstring, if it has one.
template <SignatureText text, class Scope, class F, class... Doc>
void define(Scope& scope, F f, const Doc&... doc) {
  static constexpr SignatureParts parts(text.view());
  constexpr std::size_t first = parts.count > 0 && parts.arguments[0] == "self";
  constexpr std::size_t star =
      std::size_t(std::ranges::find(parts.arguments, parts.arguments + parts.count, "*") - parts.arguments);
  static const std::string name(parts.name);
  const auto add = [&]<std::size_t... i, std::size_t... keyword>(std::index_sequence<i...>,
                                                                 std::index_sequence<keyword...>) {
    if constexpr (sizeof...(keyword) > 0)
      scope.def(name.c_str(), f, argument<text, first + i>()..., nanobind::kw_only(),
                argument<text, star + 1 + keyword>()..., signature(text.view()), doc...);
    else
      scope.def(name.c_str(), f, argument<text, first + i>()..., signature(text.view()), doc...);
  };
  add(std::make_index_sequence<star - first>(),
      std::make_index_sequence < star < parts.count ? parts.count - star - 1 : 0 > ());
}

}  // namespace parafield::python
