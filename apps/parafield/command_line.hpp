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

/// What the commands need of CLI11, by its names. Files that include CLI11 take many times as long to compile:
/// those are command_line.cpp and main.cpp.
namespace parafield::command {

/// Names an option that its App holds.
class Option {
 public:
  Option(CLI::Option* option = nullptr) : option_(option) {}

  Option required() const;
  Option type_name(const std::string& name) const;
  Option description(const std::string& help) const;
  Option group(const std::string& name) const;
  Option capture_default_str() const;
  Option expected(int least, int most) const;  ///< how many values
  Option needs(Option other) const;
  Option excludes(Option other) const;

  template <class T>
  Option range(T least, T most) const;  ///< T: int, double
  Option not_negative() const;
  Option one_of(const std::vector<std::string>& values) const;
  /// What `problem` says of the text, nothing where it is right.
  Option check(const std::function<std::string(const std::string&)>& problem) const;

  std::size_t count() const;

 private:
  CLI::Option* option_;
};

/// Names the program or one of its commands.
class App {
 public:
  explicit App(CLI::App& app) : app_(&app) {}

  App add_subcommand(const std::string& name, const std::string& help) const;
  /// T: std::string, a vector of them, int, std::uint64_t, float, double or std::optional<float>.
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

/// How --help is printed.
std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace parafield::command
