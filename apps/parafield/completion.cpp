// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "pages.hpp"

namespace parafield::command {
namespace {

/// Returns the first clause of a help text, because shells show one short line.
std::string brief(const std::string& help) {
  return help.substr(0, std::min({help.find("; "), help.find(" ("), help.find(": ")}));
}

/// Returns the text with a backslash before each character in `special`.
std::string escaped(const std::string& text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// Quotes text with single quotes, for bash and zsh.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::vector<std::string> option_names(const DescribedCommand& command) {
  std::vector<std::string> names;
  for (const DescribedOption& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// Returns how zsh completes the option's value: ":FILE:_files".
std::string zsh_value(const DescribedOption& option) {
  if (option.value.empty()) return "";
  return fmt::format(":{}:{}", escaped(option.value, ":"),
                     !option.choices.empty() ? fmt::format("({})", option.choices)
                     : option.takes_file     ? "_files"
                                             : " ");
}

std::string zsh_arguments(const DescribedCommand& command) {
  std::string out;
  for (const DescribedOption& option : command.options)
    for (const std::string& name : option.names)
      out += fmt::format(" \\\n      {}",
                         quoted(fmt::format("({}){}[{}]{}", fmt::join(option.names, " "), name,
                                            escaped(brief(option.help), "[]:\\"), zsh_value(option))));
  for (const DescribedOption& argument : command.arguments)
    out += " \\\n      " + quoted("*" + zsh_value(argument));
  return out;
}

}  // namespace

std::string bash_completion(const DescribedProgram& program) {
  std::string commands, cases;
  for (std::size_t i = 1; i < program.size(); ++i) {
    const DescribedCommand& command = program[i];
    commands += command.name + " ";
    std::vector<std::string> first, without_choices;  // first: values of positional arguments
    for (const DescribedOption& argument : command.arguments)
      if (!argument.choices.empty()) first.push_back(argument.choices);
    for (const DescribedOption& option : command.options) {
      if (option.value.empty()) continue;
      const std::string patterns =
          fmt::format("{}:{}", command.name, fmt::join(option.names, "|" + command.name + ":"));
      if (option.choices.empty())
        without_choices.push_back(patterns);
      else
        cases += fmt::format("    {}) words='{}' ;;\n", patterns, option.choices);
    }
    if (!without_choices.empty()) cases += fmt::format("    {}) ;;\n", fmt::join(without_choices, "|"));
    cases += fmt::format("    {}:*)\n      words='{}'\n      [[ $word == -* ]] && words='{}' ;;\n",
                         command.name, fmt::join(first, " "), fmt::join(option_names(command), " "));
  }
  return fmt::format(R"(# bash completion for parafield. Without a list of words, it completes names of files.
_parafield() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  ((COMP_CWORD > 1)) || before=
  case ${{COMP_WORDS[1]}}:$before in
    *:) words='{}{}' ;;
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _parafield parafield
)",
                     commands, fmt::join(option_names(program[0]), " "), cases);
}

std::string zsh_completion(const DescribedProgram& program) {
  std::string commands, cases;
  for (std::size_t i = 1; i < program.size(); ++i) {
    const DescribedCommand& command = program[i];
    commands += fmt::format("    {}\n", quoted(command.name + ":" + escaped(brief(command.help), ":\\")));
    cases += fmt::format("    {})\n      _arguments{}\n      ;;\n", command.name, zsh_arguments(command));
  }
  return fmt::format(R"(#compdef parafield
_parafield() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    _arguments{}
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
{}  esac
}}
_parafield "$@"
)",
                     commands, zsh_arguments(program[0]), cases);
}

std::string fish_completion(const DescribedProgram& program) {
  const auto fish = [](const std::string& text) { return "'" + escaped(text, "'\\") + "'"; };
  std::string out = "# fish completion for parafield\n";
  for (std::size_t i = 0; i < program.size(); ++i) {
    const DescribedCommand& command = program[i];
    const std::string when =
        fmt::format("complete -c parafield -n '{}'",
                    i == 0 ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + command.name);
    if (i > 0)
      out += fmt::format("complete -c parafield -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                         fish(brief(command.help)));
    for (const DescribedOption& option : command.options) {
      out += when;
      for (const std::string& name : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) out += option.takes_file ? " -r -F" : " -x";
      if (!option.choices.empty()) out += " -a " + fish(option.choices);
      out += " -d " + fish(brief(option.help)) + "\n";
    }
    for (const DescribedOption& argument : command.arguments)
      if (!argument.choices.empty()) out += when + " -f -a " + fish(argument.choices) + "\n";
  }
  return out;
}

}  // namespace parafield::command
