// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <system_error>

#include "bench/compare.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "parafield/version.hpp"
#include "report.hpp"

namespace {

/// Prints the message on one line and returns the exit code.
int fail(int code, const std::string& message) {
  std::fprintf(stderr, "parafield: error: %s\n", parafield::command::printable(message).c_str());
  return code;
}

/// Returns "see parafield flow --help", for the given command.
std::string where_help_is(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return "see parafield " + (commands.empty() ? "" : commands.front()->get_name() + " ") + "--help";
}

struct Command {
  std::string name;
  void (*add)(parafield::command::App& program);
};

/// Returns the commands in the order of --help, followed by hidden ones.
std::vector<Command> all_commands() {
  using namespace parafield::command;
  return {{"flow", add_flow},   {"stereo", add_stereo},   {"detect", add_detect},
          {"video", add_video}, {"tracks", add_tracks},   {"clouds", add_clouds},
          {"eval", add_eval},   {"color", add_color},     {"convert", add_convert},
          {"synth", add_synth}, {"methods", add_methods}, {"devices", add_devices},
          {"serve", add_serve}, {"bench", add_bench},     {"generate", add_generate}};
}

std::vector<std::string> names_of_commands() {
  std::vector<std::string> names;
  for (const Command& command : all_commands()) names.push_back(command.name);
  return names;
}

/// Adds the command that the words begin with, because adding the options of every command takes
/// milliseconds. Adds all commands if the words begin with none of them, or with generate, which describes
/// all.
void add_commands(CLI::App& program, const std::vector<std::string>& words) {
  const std::vector<Command> all = all_commands();
  const bool one = !words.empty() && words[0] != "generate" &&
                   std::ranges::find(all, words[0], &Command::name) != all.end();
  parafield::command::App commands(program);
  for (const Command& command : all)
    if (!one || command.name == words[0]) command.add(commands);
}

/// Returns the word as messages show it. Words of up to 300 characters stay whole, because they may be file
/// names; longer ones are cut.
std::string shown(const std::string& word) {
  constexpr std::size_t short_word = 40, longest_name = 300;
  return word.size() <= short_word || word.size() > longest_name ? parafield::detail::value_text(word) : word;
}

/// Returns an error message for unexpected arguments.
std::string unexpected(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  const std::vector<std::string> words = program.remaining(true), before = program.remaining();
  if (words.empty()) return "unexpected arguments";
  if (!commands.empty() && !before.empty())
    return fmt::format("unexpected: {}; the command comes first: parafield {}", shown(before[0]),
                       commands[0]->get_name());
  std::vector<std::string> names;
  if (words[0].starts_with('-')) {
    for (const CLI::Option* option : (commands.empty() ? &program : commands.front())->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  } else if (commands.empty()) {
    names = names_of_commands();
  }
  return fmt::format("unexpected: {}{}{}", shown(words[0]),
                     parafield::detail::did_you_mean(words[0], {names.begin(), names.end()}),
                     words.size() == 1 ? "" : fmt::format(" and {} more", words.size() - 1));
}

/// Throws UsageError if the command comes after other words.
void check_order(const std::vector<std::string>& words) {
  const std::vector<std::string> names = names_of_commands();
  const auto command = std::ranges::find_first_of(words, names);
  if (command == words.begin() || command == words.end() || words[0].starts_with('-')) return;
  throw parafield::command::UsageError(
      fmt::format("unexpected: {}; the command comes first: parafield {}", shown(words[0]), *command));
}

/// Returns the command that the words begin with, or the program.
const CLI::App& command_of(const CLI::App& program, const std::vector<std::string>& words) {
  for (const CLI::App* command : program.get_subcommands({}))
    if (!words.empty() && command->get_name() == words[0]) return *command;
  return program;
}

/// Returns an error message for an option with too many or too few values.
std::string miscounted(const CLI::App& command, const std::string& last_word, const std::string& otherwise) {
  for (const CLI::Option* option : command.get_options())
    if (const int most = option->get_items_expected_max(), count = int(option->count());
        most > 0 && count > most)
      return fmt::format("{}: given {}", option->get_name(),
                         count == 2 ? "twice" : fmt::format("{} times", count));
  const std::string name =
      last_word.starts_with("--") ? last_word : std::string{'-', last_word.back()};  // -d in -qd
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (!option) return otherwise;
  const std::string type = option->get_type_name();
  return fmt::format("{}: needs a value: {}", name, type.substr(0, type.find(':')));
}

/// Throws UsageError for words that CLI11 would silently misinterpret.
void check_words(const CLI::App& command, const std::vector<std::string>& words) {
  using parafield::command::UsageError;
  const auto flag = [&](const std::string& name) -> const CLI::Option* {
    const CLI::Option* const option = command.get_option_no_throw(name);
    return option && option->get_items_expected_max() == 0 ? option : nullptr;
  };
  const auto fail_value = [](const std::string& name, const std::string& value) {
    throw UsageError(fmt::format("{}: takes no value, not {}", name, parafield::detail::value_text(value)));
  };
  for (const std::string& word : words) {
    if (word == "++" || word.starts_with("---"))  // would end the command; would be a file name
      throw UsageError("unexpected: " + shown(word));
    if (word.starts_with('[') && word.ends_with(']'))  // would be a list
      throw UsageError(fmt::format("unexpected: {0}; ./{0} names such a file", word));
    if (const auto equals = word.find('='); word.starts_with("--") && equals != word.npos) {
      const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
      if (value.empty()) throw UsageError(name + ": cannot be empty");  // would take the next word
      // Only flags with a --no form accept true and false.
      if (const CLI::Option* option = flag(name);
          option && (!option->check_fname(name.substr(2)) || name.starts_with("--no-")))
        fail_value(name, value);
    } else if (word.size() > 2 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]))) {
      const std::string name = word.substr(0, 2), rest = word.substr(2);
      if (flag(name) && !command.get_option_no_throw("-" + rest.substr(0, 1)))
        fail_value(name, rest);                                 // would be taken as a file name
      if (rest[0] == '=' && command.get_option_no_throw(name))  // the value would begin with '='
        throw UsageError(fmt::format("unexpected: {}; write {} {}", word, name, rest.substr(1)));
    }
  }
}

/// Prints --help or --version.
int answer(CLI::App& program, const CLI::Success& asked) {
  std::ostringstream text;
  const int code = program.exit(asked, text, text);
  parafield::command::print(text.str());
  return code;
}

/// Removes "--". Words after it that begin with '-' are file names and get the prefix "./", because CLI11
/// applies "--" only to the first positional arguments of a command.
void take_rest_as_files(std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  if (end == words.end()) return;
  for (auto word = end + 1; word != words.end(); ++word)
    if ((word->starts_with('-') && *word != "-") || word->starts_with('[') || *word == "++")
      *word = "./" + *word;
  words.erase(end);
}

/// Turns "help COMMAND" into "COMMAND --help".
void turn_help_around(std::vector<std::string>& words) {
  if (words.empty() || words[0] != "help") return;
  while (!words.empty() && words[0] == "help") words.erase(words.begin());
  const std::vector<std::string> names = names_of_commands();
  if (words.empty() || std::ranges::find(names, words[0]) != names.end()) words.emplace_back("--help");
}

int run_words(CLI::App& program, std::vector<std::string> words) {
  constexpr int failed = 1, usage = 2, regression = 3;
  using namespace parafield;
  try {
    take_rest_as_files(words);
    turn_help_around(words);
    check_order(words);
    add_commands(program, words);
    program.footer(  // only in the program's help, not in the commands'
        "Examples:\n"
        "  parafield synth layers -o scene\n"
        "  parafield flow scene/frame0000.png scene/frame0001.png --color flow.png\n\n"
        "parafield help COMMAND prints the options of a command.");
    const CLI::App& command = command_of(program, words);
    try {
      check_words(command, words);
      program.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 expects reversed order
    } catch (const CLI::Success& help_or_version) {
      return answer(program, help_or_version);
    } catch (const CLI::ArgumentMismatch& error) {
      return fail(usage, miscounted(command, words.back(), error.what()) + "; " + where_help_is(program));
    }
    if (!program.get_subcommands().empty()) return 0;
    std::fputs((program.help() + "\n").c_str(), stderr);
    return fail(usage, "no command is given");
  } catch (const CLI::ExtrasError&) {
    return fail(usage, unexpected(program) + "; " + where_help_is(program));
  } catch (const CLI::ParseError& error) {
    return fail(usage, std::string(error.what()) + "; " + where_help_is(program));
  } catch (const command::UsageError& error) {
    return fail(usage, error.what());
  } catch (const command::RegressionError& error) {
    return fail(regression, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(failed, error.path1().string() + ": " + error.code().message());
  } catch (const std::system_error& error) {
    return fail(failed, "cannot start a thread: " + error.code().message());
  } catch (const std::bad_alloc&) {
    return fail(failed, "out of memory");
  } catch (const std::exception& error) {
    return fail(failed, error.what());
  } catch (const command::Interrupted&) {
    return fail(failed, "interrupted");  // never reached: WhileWriting has ended the program
  }
}

/// Opens /dev/null in place of closed standard streams. Otherwise the next opened file would get their
/// descriptor and receive messages. Writing to stdout or stderr still fails in this case.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1) (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int parafield::command::run_program(int argc, char** argv) {
  occupy_standard_streams();
  end_on_interrupt();
  CLI::App program("Dense optical flow, stereo and motion detection on CPUs and CUDA GPUs", "parafield");
  program.formatter(help_formatter());
  program.set_version_flag("--version", std::string("parafield ") + parafield::version(),
                           "print the version");
  program.set_help_flag("-h,--help", "print this help");
  program.require_subcommand(0, 1);
  return run_words(program, {argv + std::min(argc, 1), argv + argc});
}
