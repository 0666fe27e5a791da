// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "options.hpp"
#include "parafield/detail/text.hpp"

namespace parafield::command {
namespace {

/// Formats a name and its description, on one line if they fit, even if the name is wider than its column.
std::string described(const std::string& name, const std::string& description) {
  constexpr std::size_t indent = 22, width = 80;
  std::string out = "  " + name;
  if (out.size() + 2 <= indent)
    out.resize(indent, ' ');
  else if (out.size() + 2 + description.size() <= width)
    out += "  ";
  else
    out += "\n" + std::string(indent, ' ');
  return out + wrapped(description, indent);
}

/// Help text: CLI11's, but without the internals of checks and flags, and with wrapped descriptions.
class WrappedHelp : public CLI::Formatter {
 public:
  std::function<void()> prepare = [] {};

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    whole_ = mode != CLI::AppFormatMode::Normal;
    if (!whole_) prepare();
    const std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    std::string out;  // at most one empty line between paragraphs
    for (const char c : text)
      if (c != '\n' || !out.ends_with("\n\n")) out += c;
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    group = wrapped(group + ":", 0);
    group.pop_back();  // CLI11 adds the colon
    return CLI::Formatter::make_group(group, is_positional, options);
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string type = option->get_type_name(), kind = type.substr(0, type.find(':'));
    std::string name = option->get_name(is_positional, true);
    for (auto open = name.find('{'); open != std::string::npos; open = name.find('{'))
      name.erase(open, name.find('}') - open + 1);
    if (!is_positional && !kind.empty()) name += " " + kind;
    std::string description =
        whole_ ? option->get_description() : shortened(option->get_description(), kind == "NAME");
    if (option->get_required() && !is_positional) description += " (required)";
    if (const std::string value = option->get_default_str(); !value.empty())
      description += " (default " + value + ")";
    return described(name, description) + "\n";
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return described(command->get_name(), command->get_description()) + "\n";
  }

 private:
  mutable bool whole_ = true;  // mutable because CLI11 calls const functions only

  /// Returns the first sentence of a description, without capital and full stop, followed by the
  /// description's final parentheses: only the default for a number, all of it for a name.
  static std::string shortened(const std::string& text, bool is_name) {
    const std::size_t range = text.ends_with(')') ? std::min(text.rfind(" ("), text.size()) : text.size();
    std::string first = text.substr(0, std::min(end_of_sentence(text), range));
    if (first.ends_with('.')) first.pop_back();
    if (first.size() > 1 && !std::isupper(static_cast<unsigned char>(first[1])))
      first[0] = char(std::tolower(static_cast<unsigned char>(first[0])));
    const std::size_t value = text.find("default ", range);
    if (value == std::string::npos) return first;
    return first + (is_name ? text.substr(range) : " (" + text.substr(value));
  }

  /// Returns where the first sentence ends. The next sentence starts with a capital, or with a value and a
  /// colon.
  static std::size_t end_of_sentence(const std::string& text) {
    std::size_t end = text.find(". ");
    for (; end != std::string::npos; end = text.find(". ", end + 1)) {
      const std::size_t word = end + 2;
      if (std::isupper(static_cast<unsigned char>(text[word])) ||
          text.substr(word, text.find(' ', word) - word).ends_with(':'))
        break;
    }
    return end;
  }
};

}  // namespace

Option Option::required(bool is) const { return option_->required(is); }
Option Option::help(const std::string& text) const { return option_->description(text); }
Option Option::group(const std::string& name) const { return option_->group(name); }
Option Option::capture_default_str() const { return option_->capture_default_str(); }
Option Option::expected(int least, int most) const { return option_->expected(least, most); }
Option Option::needs(Option other) const { return option_->needs(other.option_); }
Option Option::excludes(Option other) const { return option_->excludes(other.option_); }

Option Option::range(double least, double most) const {
  return check([=](const std::string& text) {
    const double value = std::strtod(text.c_str(), nullptr);
    return value >= least && value <= most
               ? std::string()
               : fmt::format("{} is outside {} to {}", detail::value_text(text), least, most);
  });
}
Option Option::one_of(const std::vector<std::string>& values) const {
  return suggest(values).check([values](const std::string& text) {
    return std::ranges::find(values, text) != values.end()
               ? std::string()
               : fmt::format("there is no {}{}; there are: {}", detail::quoted(text),
                             detail::did_you_mean(text, {values.begin(), values.end()}),
                             fmt::join(values, ", "));
  });
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
    return allowed(std::strtod(text.c_str(), nullptr)) ? std::string()
                                                       : detail::value_text(text) + " is not " + words;
  });
}

Option Option::is_finite() const {
  return is([](double value) { return std::isfinite(value); }, "a finite number");
}
Option Option::is_positive() const {
  return is([](double value) { return value > 0 && std::isfinite(value); }, "a finite number above 0");
}

/// Returns why `text` is not a valid T, or "" if it is valid. Numbers must be decimal, without '+'.
template <class T>
static std::string problem_of(const std::string& text) {
  if (text.empty()) return "cannot be empty";
  if constexpr (std::is_arithmetic_v<T>) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) return detail::value_text(text) + " is out of range";
    if (error == std::errc{} && end == text.data() + text.size()) return {};
    return fmt::format("{} is not a {}number{}", detail::value_text(text),
                       std::is_integral_v<T> ? "whole " : "", std::is_unsigned_v<T> ? " of at least 0" : "");
  }
  return {};
}

std::size_t Option::count() const { return option_->count(); }

App App::add_subcommand(const std::string& name, const std::string& help) const {
  CLI::App* const command = app_->add_subcommand(name, help);
  command->formatter(help_formatter());
  command->group("Commands");
  command->set_help_all_flag("--help-all", "print all options, at length");
  return App(*command);
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
void App::before_help(const std::function<void()>& prepare) const {
  if (!dynamic_cast<WrappedHelp*>(app_->get_formatter().get())) app_->formatter(help_formatter());
  auto& before = dynamic_cast<WrappedHelp&>(*app_->get_formatter()).prepare;
  before = [first = before, prepare] { first(), prepare(); };
}
void App::leave_out_of_help(Option option) const {
  before_help([option] { option.group(""); });
}
void App::leave_out_of_help(std::initializer_list<const char*> names) const {
  for (const char* name : names) leave_out_of_help(get_option(name));
}
void App::list(const std::string& title,
               const std::vector<std::pair<std::string, std::string>>& names) const {
  std::string text = title + ":";
  for (const auto& [name, what] : names) text += "\n" + described(name, what);
  add_to_end(text);
}
void App::examples(const std::vector<std::string>& lines) const {
  std::string text = "Examples:", before = app_->get_footer();
  before.erase(std::min(before.find(text), before.size()));  // drops earlier examples
  while (before.ends_with('\n')) before.pop_back();
  app_->footer(before);
  for (const std::string& line : lines) text += "\n  parafield " + line;
  add_to_end(text);
}
void App::add_to_end(const std::string& text) const {
  const std::string before = app_->get_footer();
  app_->footer(before.empty() ? text : before + "\n\n" + text);
}
void App::callback(const std::function<void()>& run) const { app_->callback(run); }

std::shared_ptr<CLI::Formatter> help_formatter() {
  const auto formatter = std::make_shared<WrappedHelp>();
  formatter->label("Positionals", "Arguments");
  formatter->label("SUBCOMMAND", "COMMAND");
  return formatter;
}

}  // namespace parafield::command
