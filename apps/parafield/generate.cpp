// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <algorithm>

#include "commands.hpp"
#include "files.hpp"
#include "options.hpp"
#include "pages.hpp"

namespace parafield::command {
namespace {

/// Returns the values that CLI11 lists in braces for a set: "a b" for "NAME:{a,b}".
std::string choices_in(const std::string& type) {
  std::vector<std::string> choices;
  for (auto open = type.find('{'); open != std::string::npos; open = type.find('{', open + 1)) {
    const auto close = type.find('}', open);
    for (const std::string& choice : CLI::detail::split(type.substr(open + 1, close - open - 1), ','))
      if (std::ranges::find(choices, choice) == choices.end()) choices.push_back(choice);
  }
  return CLI::detail::join(choices, " ");
}

DescribedOption described(const CLI::Option& option) {
  DescribedOption out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  const std::string type = option.get_type_name(), kind = type.substr(0, type.find(':'));
  if (option.get_expected_max() > 0) out.value = kind;
  if (option.get_positional()) out.value = option.get_name(true);
  out.help = option.get_description();
  if (const std::string value = option.get_default_str(); !value.empty())
    out.help += " (default " + value + ")";
  out.group = option.get_group();
  out.choices = choices_in(type);
  out.takes_file = kind == "FILE" || kind == "DIR";
  out.required = option.get_required();
  return out;
}

DescribedCommand described(const CLI::App& app) {
  DescribedCommand out{app.get_name(), app.get_description(), {}, {}, app.get_footer()};
  for (const CLI::Option* option : app.get_options())
    (option->get_positional() ? out.arguments : out.options).push_back(described(*option));
  return out;
}

void write(const Path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  write_text(path, text);
}

void generate(const CLI::App& app, const Path& folder) {
  if (folder.empty()) throw UsageError("FOLDER: cannot be empty");
  DescribedProgram program{described(app)};
  for (const CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty()) program.push_back(described(*command));
  for (std::size_t i = 0; i < program.size(); ++i) {
    const std::string name = i == 0 ? "parafield" : "parafield-" + program[i].name;
    write(folder / "man/man1" / (name + ".1"), manual_page(program, i));
  }
  write(folder / "bash-completion/completions/parafield", bash_completion(program));
  write(folder / "zsh/_parafield", zsh_completion(program));
  write(folder / "fish/vendor_completions.d/parafield.fish", fish_completion(program));
}

}  // namespace

void add_generate(App& commands) {
  const auto folder = std::make_shared<std::string>();
  CLI::App& program = commands.cli11();
  CLI::App* command = program.add_subcommand("generate", "Write the manual pages and shell completions");
  command->group("");  // hidden from users: --help does not list it
  command->add_option("FOLDER", *folder, "the prefix's share folder")->required();
  command->callback([folder, &program] { generate(program, *folder); });
}

}  // namespace parafield::command
