// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "parafield/detail/text.hpp"

namespace parafield::command {
namespace {

/// Returns the names of the methods: "icm", "icm and annealing".
std::string methods_text(const std::vector<ParameterOf>& of) {
  std::string text;
  for (std::size_t i = 0; i < of.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 < of.size() ? ", " : " and ", of[i].method);
  return text;
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t width = 80;
  std::string out;
  std::size_t column = indent;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    }
    if (column > indent) out += ' ';
    column += word.size() + (column > indent);
    out += word;
  }
  return out;
}

std::string parameter_help(const std::vector<ParameterOf>& of) {
  const auto same = [&](std::string ParameterOf::*field) {
    return std::ranges::all_of(of, [&](const ParameterOf& each) { return each.*field == of[0].*field; });
  };
  std::string help = same(&ParameterOf::help) ? of[0].help : "";
  for (auto rest = help.empty() ? of : std::vector<ParameterOf>(); !rest.empty();) {
    const auto others =
        std::stable_partition(rest.begin(), rest.end(),
                              [text = rest[0].help](const ParameterOf& each) { return each.help == text; });
    help +=
        fmt::format("{}{}: {}", help.empty() ? "" : " ", methods_text({rest.begin(), others}), rest[0].help);
    rest.erase(rest.begin(), others);
  }
  std::vector<std::string> said;
  for (const ParameterOf& each : of)
    said.push_back(same(&ParameterOf::range)
                       ? fmt::format("{} {}", each.method, each.value)
                       : fmt::format("{}: {}, default {}", each.method, each.range, each.value));
  if (!same(&ParameterOf::range)) return fmt::format("{} ({})", help, fmt::join(said, "; "));
  return fmt::format("{} ({}, default {})", help, of[0].range,
                     same(&ParameterOf::value) ? of[0].value : fmt::format("{}", fmt::join(said, ", ")));
}

std::string parameter_group(const std::vector<ParameterOf>& of, std::size_t count) {
  return "Parameters of " + (of.size() == count && count > 1 ? "every method" : methods_text(of));
}

void ParameterOptions::add_parameters(App& command, const std::vector<MethodParameters>& methods) {
  for (const auto& [method, parameters] : methods)
    for (const ParameterValue& parameter : parameters) {
      std::vector<std::string> choices;
      for (const Value& choice : parameter.choices) choices.push_back(text_of(choice));
      auto given = std::ranges::find(options_, parameter.name, &Given::parameter);
      if (given == options_.end()) {  // otherwise an earlier method has added it
        given = options_.insert(given, {std::string(parameter.name), {}, {}, {}});
        const std::string name = option_name(parameter.name);
        given->option =
            parameter.is_flag()
                ? command.add_flag(fmt::format("{}{{true}},--no-{}{{false}}", name, name.substr(2)),
                                   given->text)
                : command.add_option(name + (parameter.is_name() ? " NAME" : " N"), given->text);
      }
      given->of.push_back(
          {std::string(method), parameter.help, range_text(parameter), text_of(parameter.value)});
      given->option.suggest(choices);
    }
  for (const Given& each : options_)
    each.option.help(parameter_help(each.of)).group(parameter_group(each.of, methods.size()));
}

void ParameterOptions::show_only(std::string_view method) const {
  for (const Given& each : options_) {
    const auto one = std::ranges::find(each.of, method, &ParameterOf::method);
    if (one == each.of.end())
      each.option.group("");
    else
      each.option.help(parameter_help({*one})).group(parameter_group({*one}, 1));
  }
}

std::vector<const ParameterOptions::Given*> ParameterOptions::given() const {
  std::vector<const Given*> list;
  for (const Given& each : options_)
    if (each.option.count() > 0) list.push_back(&each);
  return list;
}

void ParameterOptions::check_is_parameter(std::string_view method, const Given& given) {
  if (std::ranges::find(given.of, method, &ParameterOf::method) == given.of.end())
    throw UsageError(fmt::format("{} has no parameter {}; it is one of {}", method,
                                 option_name(given.parameter), methods_text(given.of)));
}

std::vector<std::string_view> ParameterOptions::named() const {
  std::vector<std::string_view> names;
  for (const Given* each : given()) names.push_back(each->parameter);
  return names;
}

void check_feature_parameters(const std::vector<std::string_view>& named, FeatureChoice features) {
  const bool matches = features == FeatureChoice::matches;
  for (const std::string_view name : named) {
    if (name.starts_with("track_") && matches)
      throw UsageError(fmt::format("{}: --features matches does not use it", option_name(name)));
    if (name.starts_with("match_") && !matches)
      throw UsageError(fmt::format("{} is for --features matches, not {}", option_name(name),
                                   names_of(features)[std::size_t(features)]));
  }
}

void DeviceOptions::add_to(App& command) {
  command
      .add_setting("-d,--device NAME", name,
                   "auto, cpu, cuda or cuda:N. With auto it is CUDA where that can be used")
      .suggest({"auto", "cpu", "cuda"});
  command.add_setting("--threads N", threads, "CPU threads; 0 = one for each core").range(0, 1024);
}

void DeviceOptions::check() const {
  if (name != "auto") device();
}

DeviceStart::DeviceStart(const DeviceOptions& options, bool for_one_call) {
  if (options.name == "cpu") return;
  constexpr int keep = 0;  // does not override the user's setting
  if (for_one_call) setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", keep);
  try {
    started_ = std::async(std::launch::async, [options] {
      try {
        start(options.device());
      } catch (const std::exception&) {  // the error recurs when the device is used
      }
    });
  } catch (const std::system_error&) {  // no thread available
  }
}

Device DeviceOptions::device() const {
  return typed([&] { return parse_device(name, threads); });
}

Size parse_size(const std::string& text) {
  Size size;
  const char* const end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, size.width);
  if (width.ec == std::errc{} && width.ptr != end && *width.ptr == 'x') {
    const auto height = std::from_chars(width.ptr + 1, end, size.height);
    if (height.ec == std::errc{} && height.ptr == end && size.width > 0 && size.height > 0) return size;
  }
  throw UsageError(
      fmt::format("{} is no size; a size is WIDTHxHEIGHT in pixels, as 640x480", detail::quoted(text)));
}

std::vector<float> parse_numbers(const std::string& text, std::size_t count, const char* option) {
  std::vector<float> numbers;
  const char *at = text.data(), *const end = at + text.size();
  for (;;) {
    float number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || !std::isfinite(number)) {
      numbers.clear();
      break;
    }
    numbers.push_back(number);
    at = rest;
    if (at == end || *at != ',') break;
    ++at;
  }
  if (at != end || numbers.size() != count)
    throw UsageError(
        fmt::format("{}: takes {} numbers with commas between, not {}", option, count, detail::quoted(text)));
  return numbers;
}

}  // namespace parafield::command
