// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "parafield/parafield.hpp"
#include "parameters.hpp"

/// Options that several commands share: device, method and its parameters, sizes.
namespace parafield::command {

/// An error in the command line itself: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns f(). Turns Error(invalid_argument) into UsageError, because the rejected value was typed by the
/// user.
template <class F>
auto typed(F f) {
  try {
    return f();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw UsageError(error.what());
  }
}

struct DeviceOptions {
  std::string name = "auto";
  int threads = 0;

  void add_to(App& command);
  void check() const;     ///< throws UsageError for an unknown device name; starts nothing
  Device device() const;  ///< throws UsageError
};

/// Starts a device on a separate thread while the program reads its files. An error of the device is reported
/// when the device is used.
class DeviceStart {
 public:
  /// `for_one_call`: CUDA opens one connection to the GPU instead of eight, which shortens opening and
  /// closing by a third, but makes work on several streams run one after the other.
  DeviceStart(const DeviceOptions& options, bool for_one_call);

 private:
  std::future<void> started_;
};

/// Parses a size like "640x480". Throws UsageError.
Size parse_size(const std::string& text);

/// Parses `count` finite numbers like "1,2.5,-3". Throws UsageError, which names `option`.
std::vector<float> parse_numbers(const std::string& text, std::size_t count, const char* option);

/// Wraps text before column 80. The first line starts in column `indent`; the others are indented to it.
std::string wrapped(const std::string& text, std::size_t indent);

/// A parameter as one method describes it. `value` is the default.
struct ParameterOf {
  std::string method, help, range, value;
};

/// Returns the --help text of a parameter: its help, range and default, listed by method where they differ.
std::string parameter_help(const std::vector<ParameterOf>& of);

/// Returns the heading of a group of parameters, like "Parameters of icm and annealing". `count` is the
/// number of all methods.
std::string parameter_group(const std::vector<ParameterOf>& of, std::size_t count);

/// A method's name and the defaults of its parameters.
struct MethodParameters {
  std::string_view method;
  std::vector<ParameterValue> parameters;
};

/// Options for the parameters of methods, kept as text. An object must not move until the command has run.
class ParameterOptions {
 public:
  /// Prepares --help to print only the parameters of one method.
  void show_only(std::string_view method) const;
  /// Adds an option for each parameter.
  void add_parameters(App& command, const std::vector<MethodParameters>& methods);

  /// Sets the parameters that the command line gives. Throws UsageError for a parameter of another method,
  /// and Error(invalid_argument) for a value out of range.
  template <class Method>
  void set(Method& method) const {
    for (const Given* each : given()) {
      check_is_parameter(Method::name, *each);
      set_parameter(method, each->parameter, each->text);
    }
  }
  /// Returns the names of the parameters that the command line gives.
  std::vector<std::string_view> named() const;

 private:
  struct Given {
    std::string parameter, text;
    std::vector<ParameterOf> of;
    Option option = {};
  };

  /// Returns the options that the command line gives.
  std::vector<const Given*> given() const;
  /// Throws UsageError if the method lacks the parameter.
  static void check_is_parameter(std::string_view method, const Given& given);

  std::deque<Given> options_;  // CLI11's options point into it
};

/// Throws UsageError if `named`, the parameters given on the command line, contains one that the chosen
/// features ignore.
void check_feature_parameters(const std::vector<std::string_view>& named, FeatureChoice features);

/// --method, --preset and the parameters of a task's methods. Parameters given as options override the
/// preset.
template <class Methods>
class MethodOptions : public ParameterOptions {
 public:
  std::string preset;
  bool background = false;  ///< --background of detect: compare with a learned background

  void add_to(App& command) {
    std::vector<MethodParameters> methods;
    std::vector<std::string> names, preset_names;
    for_each_method<Methods>([&]<class Method>(const Method& method) {
      methods.push_back({Method::name, parameters_of(method)});
      names.emplace_back(Method::name);
      for (const auto& each : presets(method)) preset_names.emplace_back(each.name);
    });
    name_ = names.front();
    command.add_setting("-m,--method NAME", name_, fmt::format("{}", fmt::join(names, ", "))).suggest(names);
    const Option presets = command.add_option("--preset NAME", preset)
                               .suggest(preset_names)
                               .help("preset of the method. parafield methods lists them");
    add_parameters(command, methods);
    command.before_help([this, presets] { show_only(presets); });
  }

  /// Returns whether the method has a preset of that name. Throws UsageError for an unknown method.
  bool has_preset(std::string_view name) const {
    return std::visit(
        [&]<class Method>(const Method& method) {
          for (const auto& each : presets(method))
            if (each.name == name) return true;
          return false;
        },
        named_method());
  }

  /// Returns the method that --method names, with its defaults. Throws UsageError for an unknown name.
  Methods named_method() const {
    return typed([&] { return method_named<Methods>(full_name()); });
  }

  /// Returns the method with its preset and parameters. Throws UsageError for an unknown name, a value out of
  /// range or a parameter of another method.
  Methods method() const {
    return typed([&] {
      Methods chosen = method_named<Methods>(full_name());
      std::visit(
          [&]<class Method>(Method& method) {
            if (!preset.empty()) method = parafield::preset<Method>(preset);
            set(method);
            check(method);
          },
          chosen);
      return chosen;
    });
  }

 private:
  std::string full_name() const {
    return background && !name_.ends_with("-background") ? name_ + "-background" : name_;
  }

  /// Prepares --help to print only the presets and parameters of the chosen method.
  void show_only(Option option) const {
    std::visit(
        [&]<class Method>(const Method& method) {
          std::vector<std::string_view> names;
          for (const auto& each : presets(method)) names.push_back(each.name);
          option.help(fmt::format("preset of the method: {}", fmt::join(names, ", ")));
          ParameterOptions::show_only(Method::name);
        },
        named_method());
  }

  std::string name_;
};

}  // namespace parafield::command
