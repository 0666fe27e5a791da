// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Formatter;
class Option;
}  // namespace CLI

/// The part of CLI11 that the commands use, with its names. Only command_line.cpp, generate.cpp and main.cpp
/// include CLI11, which makes a file compile many times longer.
namespace parafield::command {

/// Handle of an option, which its App owns.
class Option {
 public:
  Option(CLI::Option* option = nullptr) : option_(option) {}

  Option required() const;
  Option description(const std::string& help) const;
  Option group(const std::string& name) const;
  Option capture_default_str() const;
  Option expected(int least, int most) const;  ///< number of values
  Option needs(Option other) const;
  Option excludes(Option other) const;

  template <class T>
  Option range(T least, T most) const;  ///< T: int, double
  Option not_negative() const;
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

/// Handle of the program or of one of its commands.
class App {
 public:
  explicit App(CLI::App& app) : app_(&app) {}

  App add_subcommand(const std::string& name, const std::string& help) const;
  /// Adds an option. `names` has all its names, a space and the type of its value: "-o,--output FILE". A name
  /// without dashes is a positional argument, which is required. T: std::string, a vector of them, int,
  /// std::uint64_t, float, double or std::optional<float>.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help = "") const;
  /// T: bool, or std::string for flags with values.
  template <class T>
  Option add_flag(const std::string& names, T& value, const std::string& help = "") const;
  Option get_option(const std::string& name) const;
  void callback(const std::function<void()>& run) const;

 private:
  CLI::App* app_;
};

/// Prints --help.
std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace parafield::command
