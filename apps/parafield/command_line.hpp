// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Formatter;
class Option;
}  // namespace CLI

/// The part of CLI11 that the commands use, mostly under CLI11's names. Only command_line.cpp, generate.cpp
/// and main.cpp include CLI11, because it makes a file compile many times longer.
namespace parafield::command {

/// Non-owning handle of an option, which belongs to its App.
class Option {
 public:
  Option(CLI::Option* option = nullptr) : option_(option) {}

  Option required(bool is = true) const;
  Option help(const std::string& text) const;
  Option group(const std::string& name) const;
  Option capture_default_str() const;
  Option expected(int least, int most) const;  ///< number of values
  Option needs(Option other) const;
  Option excludes(Option other) const;

  Option range(double least, double most) const;
  Option one_of(const std::vector<std::string>& values) const;
  /// Sets the values that the shell completes. Other values are accepted, too.
  Option suggest(const std::vector<std::string>& values) const;
  /// Adds a check: `problem` returns what is wrong with the text, or "" if it is valid.
  Option check(const std::function<std::string(const std::string&)>& problem) const;
  /// Adds a check of a number. The error message is "7 is not " followed by `words`.
  Option is(bool (*allowed)(double), const std::string& words) const;
  Option is_finite() const;
  Option is_positive() const;  ///< finite and above 0

  std::size_t count() const;

 private:
  CLI::Option* option_;
};

template <class... T>
using AnyReference = std::variant<std::reference_wrapper<T>...>;
/// Variable that receives the value of an option.
using Variable = AnyReference<std::string, std::vector<std::string>, int, std::uint64_t, float, double,
                              std::optional<float>>;

/// Non-owning handle of the program or of one of its commands.
class App {
 public:
  explicit App(CLI::App& app) : app_(&app) {}

  App add_subcommand(const std::string& name, const std::string& help) const;
  /// Adds an option. `names` is all its names, a space and the type of its value: "-o,--output FILE". A name
  /// without dashes makes a required positional argument.
  Option add_option(const std::string& names, Variable value, const std::string& help = "") const;
  /// Adds an option whose default is the variable's current value; --help shows it.
  Option add_setting(const std::string& names, Variable value, const std::string& help = "") const;
  /// T is bool, or std::string for flags with values.
  template <class T>
  Option add_flag(const std::string& names, T& value, const std::string& help = "") const;
  Option get_option(const std::string& name) const;
  void callback(const std::function<void()>& run) const;
  /// Calls prepare() before --help is printed, but not before --help-all. Options have been parsed by then.
  /// prepare() can hide an option by setting its group to "".
  void before_help(const std::function<void()>& prepare) const;
  /// Shows the option only in --help-all.
  void leave_out_of_help(Option option) const;
  void leave_out_of_help(std::initializer_list<const char*> names) const;
  /// Adds a list of names and descriptions to the end of --help.
  void list(const std::string& title, const std::vector<std::pair<std::string, std::string>>& names) const;
  /// Sets the example command lines at the end of --help, without the program's name. Replaces earlier
  /// examples.
  void examples(const std::vector<std::string>& lines) const;
  /// The underlying object, for files that include CLI11.
  CLI::App& cli11() const { return *app_; }

 private:
  void add_to_end(const std::string& text) const;

  CLI::App* app_;
};

/// Adds a command that calls run(options). Returns the command and its options, which live as long as the
/// program.
template <class Options>
std::pair<App, Options&> add_command(App& program, const std::string& name, const std::string& help,
                                     void (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  const App command = program.add_subcommand(name, help);
  command.callback([options, run] {
    if constexpr (requires { options->expand(); }) options->expand();
    run(*options);
  });
  return {command, *options};
}

/// Returns the formatter that prints --help.
std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace parafield::command
