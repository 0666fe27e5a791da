// SPDX-License-Identifier: MIT
// What the command says of itself: --version, --help, --help-all and methods.
#include "command/run_command.hpp"

namespace parafield::test {
namespace {

class HelpCommand : public CommandTest {};

TEST_F(HelpCommand, PrintsVersionAndHelp) {
  EXPECT_EQ(run_well({"--version"}).out, std::string("parafield ") + version() + "\n");
  for (const char* command :
       {"flow", "stereo", "detect", "eval", "color", "synth", "methods", "devices", "bench"}) {
    EXPECT_NE(run_well({"--help"}).out.find(command), std::string::npos);
    EXPECT_NE(run_well({command, "--help"}).out.find("Usage: parafield " + std::string(command)),
              std::string::npos);
  }
}

TEST_F(HelpCommand, WithoutASubcommandPrintsHelpAndFails) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("flow"), std::string::npos);
}

template <class Methods>
void expect_every_parameter(const std::string& help) {
  for_each_method<Methods>([&](const auto& method) {
    describe(method, [&](const auto&, const auto& parameter) {
      std::string option = "--" + std::string(parameter.name);
      std::ranges::replace(option, '_', '-');
      EXPECT_NE(help.find("  " + option), std::string::npos) << option;
    });
  });
}

/// Checks that no line is longer than a terminal is wide. Returns the number of lines.
int lines_of_help(const std::string& help) {
  std::istringstream text(help);
  int count = 0;
  for (std::string line; std::getline(text, line); ++count) EXPECT_LE(line.size(), 80u) << line;
  return count;
}

TEST_F(HelpCommand, HelpIsShortAndOfOneMethod) {
  const std::string help = run_well({"flow", "--help"}).out;
  EXPECT_LE(lines_of_help(help), 60) << help;
  EXPECT_EQ(help, run_well({"help", "flow"}).out);
  EXPECT_EQ(help, run_well({"flow", frame0(), "-h"}).out);
  EXPECT_NE(help.find("\nParameters of adaptive-ridge:\n"), std::string::npos) << help;
  EXPECT_NE(help.find("preset of the method: default, fast, sequence\n"), std::string::npos) << help;
  EXPECT_NE(help.find("\nExamples:\n  parafield flow "), std::string::npos) << help;
  EXPECT_EQ(help.find("--tracks"), std::string::npos) << help;

  const std::string other = run_well({"flow", "--help", "-m", "direct-interpolation"}).out;
  EXPECT_NE(other.find("\nParameters of direct-interpolation:\n"), std::string::npos) << other;
  EXPECT_EQ(other.find("adaptive-ridge:"), std::string::npos) << other;
  EXPECT_NE(other.find("--tracks"), std::string::npos) << other;
  for (const char* command : {"stereo", "detect", "tracks", "eval", "color", "synth", "methods", "bench"})
    for (const char* flag : {"--help", "--help-all"}) lines_of_help(run_well({command, flag}).out);
  expect_failure(2, {"flow", "--help", "-m", "horn"}, {"horn"});
}

TEST_F(HelpCommand, HelpAllListsEveryParameterWithItsRange) {
  const std::string help = run_well({"flow", "--help-all"}).out;
  expect_every_parameter<FlowMethod>(help);
  const std::string words = one_line(help);
  EXPECT_NE(words.find("1 to 16, default 4"), std::string::npos) << help;
  EXPECT_NE(words.find("default icm 10, annealing 500"), std::string::npos) << help;
  EXPECT_NE(help.find("\nParameters of icm and annealing:"), std::string::npos) << help;
  expect_every_parameter<StereoMethod>(run_well({"stereo", "--help-all"}).out);
  expect_every_parameter<DetectionMethod>(run_well({"detect", "--help-all"}).out);
}

template <class Methods>
void expect_methods(const nlohmann::json& listed, const std::string& text) {
  std::size_t index = 0;
  for_each_method<Methods>([&]<class Method>(const Method& method) {
    ASSERT_LT(index, listed.size());
    const auto& entry = listed[index++];
    EXPECT_EQ(entry["name"], Method::name);
    EXPECT_EQ(entry["source"], Method::source);
    EXPECT_EQ(entry["presets"].size(), presets(method).size());
    EXPECT_NE(text.find(Method::name), std::string::npos);
    std::size_t count = 0;
    describe(method, [&]<class T>(const T& value, const auto& parameter) {
      const auto& one = entry["parameters"][count++];
      EXPECT_EQ(one["name"], parameter.name);
      if constexpr (std::is_enum_v<T>)
        EXPECT_EQ(one["default"], names_of(value)[std::size_t(value)]);
      else
        EXPECT_FLOAT_EQ(float(one["default"]), float(value));
      EXPECT_TRUE(one.contains("unit") && one.contains("help"));
      EXPECT_TRUE(one["type"] == "bool" || one.contains("choices") ||
                  (one.contains("min") && one.contains("max")));
    });
    EXPECT_EQ(count, entry["parameters"].size());
  });
  EXPECT_EQ(index, listed.size());
}

TEST_F(HelpCommand, MethodsListsEveryMethod) {
  const auto json = run_well({"methods", "--json"}).json();
  const std::string text = run_well({"methods"}).out;
  const std::string icm = run_well({"methods", "icm"}).out;
  EXPECT_NE(icm.find("icm"), std::string::npos);
  EXPECT_EQ(icm.find("lucas-kanade"), std::string::npos) << icm;
  const auto one = run_well({"methods", "icm", "--json"}).json();
  EXPECT_EQ(one["flow"].size(), 1u);
  EXPECT_EQ(one["stereo"][0]["name"], "icm");
  EXPECT_FALSE(run_well({"methods", "lucas-kanade", "--json"}).json().contains("stereo"));
  expect_failure(2, {"methods", "icmm"}, {"did you mean 'icm'?", "adaptive-ridge"});
  expect_methods<FlowMethod>(json["flow"], text);
  expect_methods<StereoMethod>(json["stereo"], text);
  expect_methods<DetectionMethod>(json["detect"], text);
  for (const char* task : {"parafield flow", "parafield stereo", "parafield detect"})
    EXPECT_NE(text.find(task), std::string::npos) << task;
}

}  // namespace
}  // namespace parafield::test
