// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

/// Manual pages and shell completions, generated from the program's options.
namespace parafield::command {

struct DescribedOption {
  std::vector<std::string> names;  ///< "-o", "--output"; empty for a positional argument
  std::string value;               ///< "FILE"; empty for a flag; name of a positional argument
  std::string help, group;
  std::string choices;  ///< named values, if any: "auto cpu cuda"
  bool takes_file = false, required = false;
};

struct DescribedCommand {
  std::string name, help;
  std::vector<DescribedOption> options, arguments;
  std::string end;  ///< lists and examples, each a title with a colon followed by indented lines
};

/// The program itself with its own options, followed by its commands.
using DescribedProgram = std::vector<DescribedCommand>;

/// Returns the manual page of command `index`, such as parafield-flow.1; index 0 is the program itself,
/// parafield.1.
std::string manual_page(const DescribedProgram& program, std::size_t index);

std::string bash_completion(const DescribedProgram& program);
std::string zsh_completion(const DescribedProgram& program);
std::string fish_completion(const DescribedProgram& program);

}  // namespace parafield::command
