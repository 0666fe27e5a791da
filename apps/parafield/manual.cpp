// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "pages.hpp"
#include "parafield/version.hpp"

namespace parafield::command {
namespace {

/// Escapes text so that roff prints it unchanged.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && out.empty())
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

/// Formats a tagged paragraph: an option, an argument or a command.
std::string tagged(const std::string& tag, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", tag, roff(text));
}

std::string entry(const DescribedOption& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(bold(name));
  const std::string value = option.value.empty() ? "" : italic(option.value);
  const std::string tag =
      fmt::format("{}{}{}", fmt::join(names, ", "), names.empty() || value.empty() ? "" : " ", value);
  return tagged(tag, option.help + (option.required && !names.empty() ? " (required)" : ""));
}

std::string page_name(const DescribedProgram& program, std::size_t index) {
  return index == 0 ? "parafield" : "parafield-" + program[index].name;
}

std::string synopsis(const DescribedProgram& program, std::size_t index) {
  std::string line = bold("parafield");
  if (index == 0) return line + " " + italic("COMMAND") + " [" + italic("ARGUMENTS") + "]\n";
  line += " " + bold(program[index].name);
  for (const DescribedOption& argument : program[index].arguments)
    line += argument.required ? " " + italic(argument.value) : " [" + italic(argument.value) + "]";
  return line + " [" + italic("OPTIONS") + "]\n";
}

std::string options(const DescribedCommand& command) {
  std::vector<std::string> groups;
  for (const DescribedOption& option : command.options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  std::string out =
      ".SH OPTIONS\nAn option is given once. Of a flag and its \\-\\-no form, the last one counts.\n";
  for (const std::string& group : groups) {
    if (group != "Options") out += ".SS " + roff(group) + "\n";
    for (const DescribedOption& option : command.options)
      if (option.group == group) out += entry(option);
  }
  return out;
}

/// Returns the section on exit codes, which all commands share.
std::string exit_status() {
  return ".SH EXIT STATUS\n" + tagged("0", "Success.") +
         tagged("1",
                "Failure of a file, a device or memory. Each output file is complete or as it was before: "
                "those written before the failure stay. So they do if only the report cannot be printed; the "
                "error names them then.") +
         tagged("2", "The command line is wrong. Nothing is written.") +
         tagged("3", "bench --compare: times have grown by more than --tolerance. All files are complete.") +
         tagged("128 + N", "Signal N ended the command: 130 for Ctrl-C. No file is left half written.");
}

std::string uppercase(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  return text;
}

/// Makes a section for each title and keeps its lines as they are.
std::string sections(const std::string& end) {
  std::string out;
  std::istringstream lines(end);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(':')) {
      line.pop_back();
      out += fmt::format("{}.SH {}\n.nf\n", out.empty() ? "" : ".fi\n", roff(uppercase(line)));
    } else if (line.starts_with(' ')) {
      out += roff(line) + "\n";
    }
  }
  return out.empty() ? out : out + ".fi\n";
}

}  // namespace

std::string manual_page(const DescribedProgram& program, std::size_t index) {
  const DescribedCommand& command = program[index];
  const std::string name = page_name(program, index);
  std::string out =
      fmt::format(".TH {} 1 \"\" \"parafield {}\" \"User Commands\"\n", uppercase(name), version());
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(command.help));
  out += ".SH SYNOPSIS\n" + synopsis(program, index);
  if (!command.arguments.empty()) out += ".SH ARGUMENTS\n";
  for (const DescribedOption& argument : command.arguments) out += entry(argument);
  out += options(command);
  if (index == 0) out += ".SH COMMANDS\n";
  for (std::size_t i = 1; index == 0 && i < program.size(); ++i)
    out += tagged(fmt::format("{}(1)", bold(page_name(program, i))), program[i].help);
  out += sections(command.end) + exit_status() + ".SH SEE ALSO\n";
  std::vector<std::string> others;
  for (std::size_t i = 0; i < program.size(); ++i)
    if (i != index) others.push_back(bold(page_name(program, i)) + "(1)");
  return out + fmt::format("{}\n", fmt::join(others, ", "));
}

}  // namespace parafield::command
