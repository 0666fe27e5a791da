#pragma once
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

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

  void add_to(CLI::App& command);
  Device device() const;  ///< throws UsageError
};

/// "640x480". Throws UsageError.
Size parse_size(const std::string& text);

/// Text broken before column 100; the first line starts in column `indent`, the others are indented by that.
std::string wrapped(const std::string& text, std::size_t indent);

/// How --help is printed.
std::shared_ptr<CLI::Formatter> help_formatter();

/// A parameter, as one of its methods has it.
struct ParameterOf {
  std::string method, range, value;  // value: the default
};

/// "icm", "icm and annealing".
std::string methods_text(const std::vector<ParameterOf>& of);

/// What --help says of a parameter: its range and default, of each method where they differ.
std::string parameter_help(const std::string& help, const std::vector<ParameterOf>& of);

/// "Parameters of icm and annealing"; of `count` methods in all.
std::string parameter_group(const std::vector<ParameterOf>& of, std::size_t count);

/// --method, --preset and every parameter of every method of a task. A preset comes first, then options
/// override.
template <class Methods>
class MethodOptions {
 public:
  std::string preset;

  /// `this` stays where it is until the command has run.
  void add_to(CLI::App& command) {
    std::vector<std::string> names;
    for_each_method<Methods>([&]<class Method>(const Method&) { names.emplace_back(Method::name); });
    method_name_ = names.front();
    command.add_option("-m,--method", method_name_, fmt::format("method: {}", fmt::join(names, ", ")))
        ->type_name("NAME")
        ->capture_default_str();
    command.add_option("--preset", preset, "named parameters of the method (parafield methods lists them)")
        ->type_name("NAME");
    for_each_method<Methods>([&]<class Method>(const Method& method) {
      describe(method, [&]<class T>(const T& value, const Parameter<T>& parameter) {
        add_parameter(command, std::string(Method::name), value, parameter);
      });
    });
    for (const Given& given : given_)
      given.option->description(parameter_help(given.help, given.of))
          ->group(parameter_group(given.of, names.size()));
  }

  /// Throws UsageError for an unknown name, a value out of range or a parameter of another method.
  Methods method() const {
    return typed([&] {
      Methods chosen = method_named<Methods>(method_name_);
      std::visit([&](auto& method) { apply(method); }, chosen);
      return chosen;
    });
  }

 private:
  struct Given {
    std::string parameter, help, text;
    std::vector<ParameterOf> of;
    CLI::Option* option = nullptr;
  };

  template <class T>
  void add_parameter(CLI::App& command, const std::string& method, const T& value,
                     const Parameter<T>& parameter) {
    const ParameterOf here{method, range_text(parameter), detail::text_of(value)};
    for (Given& given : given_)
      if (given.parameter == parameter.name) {  // several methods have it: one option
        given.of.push_back(here);
        return;
      }
    Given& given =
        given_.emplace_back(Given{std::string(parameter.name), std::string(parameter.help), {}, {here}});
    const std::string name = option_name(parameter.name);
    if constexpr (std::is_same_v<T, bool>)
      given.option =
          command.add_flag(fmt::format("{}{{true}},--no-{}{{false}}", name, name.substr(2)), given.text);
    else
      given.option = command.add_option(name, given.text)->type_name(std::is_enum_v<T> ? "NAME" : "N");
  }

  template <class Method>
  void apply(Method& method) const {
    if (!preset.empty()) method = parafield::preset<Method>(preset);
    for (const Given& given : given_)
      if (given.option->count() > 0 && !set_parameter(method, given.parameter, given.text))
        throw UsageError(fmt::format("{} has no parameter {}; it is one of {}", Method::name,
                                     option_name(given.parameter), methods_text(given.of)));
  }

  std::string method_name_;
  std::deque<Given> given_;  // options point into it
};

}  // namespace parafield::command
