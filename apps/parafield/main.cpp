// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>
#include <sstream>
#include <string>

#include "commands.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "parafield/version.hpp"
#include "report.hpp"

namespace {

/// Prints the message in one line.
int fail(int code, const std::string& message) {
  std::fprintf(stderr, "parafield: error: %s\n", parafield::command::printable(message).c_str());
  return code;
}

/// "see parafield flow --help", for the given command.
std::string where_help_is(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return "see parafield " + (commands.empty() ? "" : commands.front()->get_name() + " ") + "--help";
}

std::vector<std::string> names_of_commands(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// What is wrong with arguments that nobody takes.
std::string unexpected(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  const std::vector<std::string> words = program.remaining(true);
  if (words.empty()) return "unexpected arguments";
  std::vector<std::string> names;
  if (words[0].starts_with('-')) {
    for (const CLI::Option* option : (commands.empty() ? &program : commands.front())->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  } else if (commands.empty()) {
    names = names_of_commands(program);
  }
  return fmt::format("unexpected: {}{}{}", words[0],
                     parafield::detail::did_you_mean(words[0], {names.begin(), names.end()}),
                     words.size() == 1 ? "" : fmt::format(" and {} more", words.size() - 1));
}

/// Prints --help or --version.
int answer(CLI::App& program, const CLI::Success& asked) {
  std::ostringstream text;
  const int code = program.exit(asked, text, text);
  parafield::command::print(text.str());
  return code;
}

/// Turns "help COMMAND" into "COMMAND --help".
void turn_help_around(const CLI::App& program, std::vector<std::string>& words) {
  if (words.empty() || words[0] != "help") return;
  words.erase(words.begin());
  const std::vector<std::string> names = names_of_commands(program);
  if (words.empty() || std::ranges::find(names, words[0]) != names.end()) words.emplace_back("--help");
}

int run(CLI::App& program, std::vector<std::string> words) {
  constexpr int failed = 1, usage = 2;
  using namespace parafield;
  command::App commands(program);
  try {
    for (const auto add : {command::add_flow, command::add_stereo, command::add_detect, command::add_tracks,
                           command::add_eval, command::add_color, command::add_synth, command::add_methods,
                           command::add_devices, command::add_bench})
      add(commands);
    command::add_generate(program);
    program.footer("parafield help COMMAND prints the options of a command.");  // not of the commands' help
    turn_help_around(program, words);
    std::ranges::reverse(words);  // as CLI11 wants them
    try {
      program.parse(std::move(words));
    } catch (const CLI::Success& help_or_version) {
      return answer(program, help_or_version);
    }
    if (!program.get_subcommands().empty()) return 0;
    std::fputs(program.help().c_str(), stderr);
    return usage;
  } catch (const CLI::ExtrasError&) {
    return fail(usage, unexpected(program) + "; " + where_help_is(program));
  } catch (const CLI::ParseError& error) {
    return fail(usage, std::string(error.what()) + "; " + where_help_is(program));
  } catch (const command::UsageError& error) {
    return fail(usage, error.what());
  } catch (const std::bad_alloc&) {
    return fail(failed, "out of memory");
  } catch (const std::exception& error) {
    return fail(failed, error.what());
  } catch (const command::Interrupted&) {
    return fail(failed, "interrupted");  // never reached: WhileWriting has ended the program
  }
}

}  // namespace

int main(int argc, char** argv) {
  parafield::command::end_on_interrupt();
  CLI::App program("Dense optical flow, stereo and motion detection on CPUs and CUDA GPUs", "parafield");
  program.formatter(parafield::command::help_formatter());
  program.set_version_flag("--version", std::string("parafield ") + parafield::version(),
                           "print the version");
  program.set_help_flag("-h,--help", "print this help");
  program.require_subcommand(0, 1);
  return run(program, {argv + std::min(argc, 1), argv + argc});
}
