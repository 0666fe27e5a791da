// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>
#include <string>

#include "commands.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "parafield/version.hpp"

namespace {

/// Prints the message in one line, even if a file name in it has several.
int fail(int code, std::string message) {
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  std::fprintf(stderr, "parafield: error: %s\n", message.c_str());
  return code;
}

/// "see parafield flow --help", for the given command.
std::string where_help_is(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return "see parafield " + (commands.empty() ? "" : commands.front()->get_name() + " ") + "--help";
}

int run(CLI::App& program, int argc, char** argv) {
  constexpr int failed = 1, usage = 2;
  using namespace parafield;
  command::App commands(program);
  try {
    for (const auto add : {command::add_flow, command::add_stereo, command::add_detect, command::add_tracks,
                           command::add_eval, command::add_color, command::add_synth, command::add_methods,
                           command::add_devices, command::add_bench})
      add(commands);
    command::add_generate(program);
    for (CLI::App* each : program.get_subcommands({})) each->formatter(command::help_formatter());
    program.parse(argc, argv);
    if (!program.get_subcommands().empty()) return 0;
    std::fputs(program.help().c_str(), stderr);
    return usage;
  } catch (const CLI::Success& help_or_version) {
    return program.exit(help_or_version);
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
  return run(program, argc, argv);
}
