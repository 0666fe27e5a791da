// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
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

/// The part of CLI11 that the commands use, mostly with its names. Only command_line.cpp, generate.cpp and
/// main.cpp include CLI11, which makes a file compile many times longer.
namespace parafield::command {

/// Handle of an option, which its App owns.
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
  /// Values for the shell to complete. Others are not refused here.
  Option suggest(const std::vector<std::string>& values) const;
  /// Adds a check: `problem` returns what is wrong with the text, or an empty string.
  Option check(const std::function<std::string(const std::string&)>& problem) const;
  /// Adds a check of a number. The error is "7 is not " and the words.
  Option is(bool (*allowed)(double), const std::string& words) const;

  std::size_t count() const;

 private:
  CLI::Option* option_;
};

template <class... T>
using AnyReference = std::variant<std::reference_wrapper<T>...>;
/// Variable that takes the value of an option.
using Variable = AnyReference<std::string, std::vector<std::string>, int, std::uint64_t, float, double,
                              std::optional<float>>;

/// Handle of the program or of one of its commands.
class App {
 public:
  explicit App(CLI::App& app) : app_(&app) {}

  App add_subcommand(const std::string& name, const std::string& help) const;
  /// Adds an option. `names` has all its names, a space and the type of its value: "-o,--output FILE". A name
  /// without dashes is a positional argument, which is required.
  Option add_option(const std::string& names, Variable value, const std::string& help = "") const;
  /// The same for an option that has a default, the value: --help shows it.
  Option add_setting(const std::string& names, Variable value, const std::string& help = "") const;
  /// T: bool, or std::string for flags with values.
  template <class T>
  Option add_flag(const std::string& names, T& value, const std::string& help = "") const;
  Option get_option(const std::string& name) const;
  void callback(const std::function<void()>& run) const;
  /// Calls prepare() before --help is printed, but not before --help-all. Options are parsed by then. An
  /// option whose group it sets to "" is not printed.
  void before_help(const std::function<void()>& prepare) const;
  /// Only --help-all prints the option.
  void leave_out_of_help(Option option) const;
  /// A list of names and what they are, for the end of --help.
  void list(const std::string& title, const std::vector<std::pair<std::string, std::string>>& names) const;
  /// Command lines for the end of --help, without the program's name. They replace those given before.
  void examples(const std::vector<std::string>& lines) const;
  /// For files that include CLI11.
  CLI::App& cli11() const { return *app_; }

 private:
  void add_to_end(const std::string& text) const;

  CLI::App* app_;
};

/// Adds a command that calls run(options). Returns it and its options, which live as long as the program.
template <class Options>
std::pair<App, Options&> add_command(App& program, const std::string& name, const std::string& help,
                                     void (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  const App command = program.add_subcommand(name, help);
  command.callback([options, run] { run(*options); });
  return {command, *options};
}

/// Prints --help.
std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace parafield::command
