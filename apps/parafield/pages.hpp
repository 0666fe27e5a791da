// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

/// The manual pages and shell completions, written from the options that the program has.
namespace parafield::command {

struct DescribedOption {
  std::vector<std::string> names;  ///< "-o", "--output"; empty for a positional argument
  std::string value;               ///< "FILE"; empty for a flag; name of a positional argument
  std::string help, group;
  std::string choices;  ///< the values that it takes, where they have names: "auto cpu cuda"
  bool takes_file = false, required = false;
};

struct DescribedCommand {
  std::string name, help;
  std::vector<DescribedOption> options, arguments;
  std::string end;  ///< lists and examples: a title with a colon, then indented lines, each
};

/// The program with its own options first, then its commands.
using DescribedProgram = std::vector<DescribedCommand>;

/// "parafield-flow.1" of the command `index`, "parafield.1" of the program itself.
std::string manual_page(const DescribedProgram& program, std::size_t index);

std::string bash_completion(const DescribedProgram& program);
std::string zsh_completion(const DescribedProgram& program);
std::string fish_completion(const DescribedProgram& program);

}  // namespace parafield::command
