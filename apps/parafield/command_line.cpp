// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>

#include "options.hpp"

namespace parafield::command {
namespace {

/// Help text: CLI11's without the internals of checks and flags, with wrapped descriptions.
class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = option->get_name(is_positional, true);
    for (auto open = name.find('{'); open != std::string::npos; open = name.find('{'))
      name.erase(open, name.find('}') - open + 1);
    if (const std::string type = option->get_type_name(); !is_positional && !type.empty())
      name += " " + type.substr(0, type.find(':'));
    std::string description = option->get_description();
    if (option->get_required() && !is_positional) description += " (required)";
    if (const std::string value = option->get_default_str(); !value.empty())
      description += " (default " + value + ")";
    return described(name, description);
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return described(command->get_name(), command->get_description());
  }

 private:
  static std::string described(const std::string& name, const std::string& description) {
    constexpr std::size_t indent = 26;
    std::string out = "  " + name;
    out += out.size() + 2 > indent ? "\n" + std::string(indent, ' ') : std::string(indent - out.size(), ' ');
    return out + wrapped(description, indent) + "\n";
  }
};

}  // namespace

Option Option::required() const { return option_->required(); }
Option Option::help(const std::string& text) const { return option_->description(text); }
Option Option::group(const std::string& name) const { return option_->group(name); }
Option Option::capture_default_str() const { return option_->capture_default_str(); }
Option Option::expected(int least, int most) const { return option_->expected(least, most); }
Option Option::needs(Option other) const { return option_->needs(other.option_); }
Option Option::excludes(Option other) const { return option_->excludes(other.option_); }

Option Option::range(int least, int most) const { return option_->check(CLI::Range(least, most)); }
Option Option::range(double least, double most) const { return option_->check(CLI::Range(least, most)); }
Option Option::one_of(const std::vector<std::string>& values) const {
  return option_->check(CLI::IsMember(values));
}
Option Option::suggest(const std::vector<std::string>& values) const {
  if (values.empty()) return *this;
  const auto any = [](std::string&) { return std::string(); };
  return option_->check(CLI::Validator(any, CLI::detail::generate_set(values)));
}
Option Option::check(const std::function<std::string(const std::string&)>& problem) const {
  return option_->check(problem);
}
Option Option::is(bool (*allowed)(double), const std::string& words) const {
  return check([=](const std::string& text) {  // CLI11 checks that it is a number
    return allowed(std::strtod(text.c_str(), nullptr)) ? std::string() : text + " is not " + words;
  });
}

/// What is wrong with the text of a value of type T, or an empty string. Numbers are decimal, without '+'.
template <class T>
static std::string problem_of(const std::string& text) {
  if (text.empty()) return "cannot be empty";
  if constexpr (std::is_arithmetic_v<T>) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) return text + " is out of range";
    if (error == std::errc{} && end == text.data() + text.size()) return {};
    return fmt::format("{} is not a {}number{}", text, std::is_integral_v<T> ? "whole " : "",
                       std::is_unsigned_v<T> ? " of at least 0" : "");
  }
  return {};
}

std::size_t Option::count() const { return option_->count(); }

App App::add_subcommand(const std::string& name, const std::string& help) const {
  return App(*app_->add_subcommand(name, help));
}

Option App::add_option(const std::string& names, Variable value, const std::string& help) const {
  const auto space = names.find(' ');
  const auto add = [&]<class T>(std::reference_wrapper<T> to) {
    CLI::Option* const option = app_->add_option(names.substr(0, space), to.get(), help);
    if constexpr (std::is_same_v<T, std::optional<float>>)
      return option->check(problem_of<float>);
    else
      return option->check(problem_of<T>);
  };
  return std::visit(add, value)->required(!names.starts_with('-'))->type_name(names.substr(space + 1));
}
Option App::add_setting(const std::string& names, Variable value, const std::string& help) const {
  return add_option(names, value, help).capture_default_str();
}

template <class T>
Option App::add_flag(const std::string& names, T& value, const std::string& help) const {
  return app_->add_flag(names, value, help);
}
template Option App::add_flag(const std::string&, bool&, const std::string&) const;
template Option App::add_flag(const std::string&, std::string&, const std::string&) const;

Option App::get_option(const std::string& name) const { return app_->get_option(name); }
void App::callback(const std::function<void()>& run) const { app_->callback(run); }

std::shared_ptr<CLI::Formatter> help_formatter() { return std::make_shared<WrappedHelp>(); }

}  // namespace parafield::command
