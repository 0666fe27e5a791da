// SPDX-License-Identifier: MIT
#pragma once
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "common/timing.hpp"

/// Options that the programs of bench/ share.
namespace parafield::bench {

struct ProgramOptions {
  std::string data, markdown_file, json_file, commit = "unknown";
  int threads = 0;
  bool quick = false;

  Effort effort() const { return quick ? Effort{1, 1, 0} : Effort{}; }
};

inline void add_options(CLI::App& app, ProgramOptions& options) {
  app.add_option(
         "--data", options.data,
         "folder of real sequences; default: PARAFIELD_DATA, otherwise ../shared/data beside the sources")
      ->type_name("DIR");
  app.add_option("-o,--output", options.markdown_file, "the report as Markdown; default: standard output")
      ->type_name("FILE");
  app.add_option("--json", options.json_file, "the report as JSON; default: none")->type_name("FILE");
  app.add_option("--threads", options.threads, "CPU threads; 0 = one for each core")->capture_default_str();
  app.add_option("--commit", options.commit, "commit that is measured, for the report")
      ->capture_default_str();
  app.add_flag("--quick", options.quick, "tiny sizes and one repeat, only to see that it runs");
}

/// Calls run() and returns the exit code; 1 after an error, which goes to stderr.
template <class Run>
int run_program(Run run) {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace parafield::bench
