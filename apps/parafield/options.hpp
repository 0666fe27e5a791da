#pragma once
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "parafield/parafield.hpp"
#include "parameters.hpp"

/// Options that several commands have: device, method and its parameters, sizes.
namespace parafield::command {

/// What is wrong in the words of the command line itself: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// f(), where a value that it refuses was typed by the user.
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
  Device device() const;  ///< throws UsageError
};

/// "640x480". Throws UsageError.
Size parse_size(const std::string& text);

/// "1,2.5,-3": `count` finite numbers. Throws UsageError that names the option.
std::vector<float> parse_numbers(const std::string& text, std::size_t count, const char* option);

/// Text broken before column 100; the first line starts in column `indent`, the others are indented by that.
std::string wrapped(const std::string& text, std::size_t indent);

/// A parameter, as one of its methods has it. `value` is the default.
struct ParameterOf {
  std::string method, help, range, value;
};

/// "icm", "icm and annealing".
std::string methods_text(const std::vector<ParameterOf>& of);

/// The text of --help for a parameter: its help, range and default, by method where they differ.
std::string parameter_help(const std::vector<ParameterOf>& of);
/// The same for a parameter that belongs to no method.
std::string parameter_help(const ParameterValue& parameter);

/// "Parameters of icm and annealing"; of `count` methods in all.
std::string parameter_group(const std::vector<ParameterOf>& of, std::size_t count);

/// A method's name and its parameters' defaults.
struct MethodParameters {
  std::string_view method;
  std::vector<ParameterValue> parameters;
};

/// A value of a parameter that is the command's own: no method knows it.
struct CommandValue {
  std::string_view parameter, value, help;

  bool is(std::string_view name, std::string_view text) const { return name == parameter && text == value; }
  /// Adds the value to what --help says of the parameter.
  void add_to(std::vector<ParameterValue>& parameters) const;
  /// f(), which sets a parameter; where it refuses a value of this one's, it names the command's own, too.
  template <class F>
  auto listed(std::string_view name, F f) const {
    try {
      return f();
    } catch (const Error& error) {
      if (name != parameter) throw;
      throw Error(error.code(), fmt::format("{}, {}", error.what(), value));  // the message ends in a list
    }
  }
};

/// --method, --preset and every parameter of every method of a task, as text.
class ParameterOptions {
 public:
  std::string preset;

  /// Whether the command line has the command's own value.
  bool has_own() const;
  /// The parameters that the command line names.
  std::vector<std::string_view> named() const;

 protected:
  struct Given {
    std::string parameter, text;
    std::vector<ParameterOf> of;
    Option option = {};
  };

  /// `this` stays where it is until the command has run.
  void add_to(App& command, const std::vector<MethodParameters>& methods, const CommandValue* own);
  const std::string& method_name() const { return method_name_; }
  /// What the command line says.
  std::vector<const Given*> given() const;
  [[noreturn]] static void fail_other(std::string_view method, const Given& given);
  /// Sets the parameter by set(name, text), unless the value is the command's own. Returns whether the method has it.
  template <class Set>
  bool set(std::string_view method, const Given& given, Set set) const {
    if (!own_) return set(given.parameter, given.text);
    if (own_->is(given.parameter, given.text))
      return std::ranges::find(given.of, method, &ParameterOf::method) != given.of.end();
    return own_->listed(given.parameter, [&] { return set(given.parameter, given.text); });
  }

 private:
  const CommandValue* own_ = nullptr;
  std::string method_name_;
  std::deque<Given> options_;  // CLI11's options point into it
};

/// A task's options. A preset comes first, then options override.
template <class Methods>
class MethodOptions : public ParameterOptions {
 public:
  /// `this` stays where it is until the command has run. `own`: a value of the command's own, which lives as long.
  void add_to(App& command, const CommandValue* own = nullptr) {
    std::vector<MethodParameters> methods;
    std::vector<std::string> preset_names;
    for_each_method<Methods>([&]<class Method>(const Method& method) {
      methods.push_back({Method::name, parameters_of(method)});
      for (const auto& each : presets(method)) preset_names.emplace_back(each.name);
      if (own) own->add_to(methods.back().parameters);
    });
    ParameterOptions::add_to(command, methods, own);
    command.get_option("--preset").suggest(preset_names);
  }

  /// Throws UsageError for an unknown name, a value out of range or a parameter of another method.
  Methods method() const {
    return typed([&] {
      Methods chosen = method_named<Methods>(method_name());
      std::visit([&](auto& method) { apply(method); }, chosen);
      return chosen;
    });
  }

 private:
  template <class Method>
  void apply(Method& method) const {
    if (!preset.empty()) method = parafield::preset<Method>(preset);
    for (const Given* each : given())
      if (!set(Method::name, *each, [&](const std::string& parameter, const std::string& text) {
            return set_parameter(method, parameter, text);
          }))
        fail_other(Method::name, *each);
  }
};

}  // namespace parafield::command
