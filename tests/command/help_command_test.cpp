// SPDX-License-Identifier: MIT
// The command's descriptions of itself: --version, --help, --help-all and methods.
#include <regex>

#include "command/run_command.hpp"

namespace parafield::test {
namespace {

const Words commands = {"flow",    "stereo", "detect", "video",   "tracks",  "clouds", "eval",
                        "convert", "color",  "synth",  "methods", "devices", "serve",  "bench"};

class HelpCommand : public CommandTest {
 protected:
  /// Creates the files that the examples of --help name, in the folder.
  void make_files_of_examples() const {
    run_well({"synth", "layers", "-o", path("made"), "--size", "96x64", "--frames", "7", "-q"});
    const auto copy = [&](const std::string& from, const std::string& to) {
      std::filesystem::copy_file(path("made/" + from), path(to));
    };
    for (int i = 0; i < 7; ++i)
      copy("frame000" + std::to_string(i) + ".png", "frame0" + std::to_string(i + 1) + ".png");
    for (const char* to : {"a.png", "left.png", "left2.png"}) copy("frame0000.png", to);
    for (const char* to : {"b.png", "right.png", "right2.png", "truth.png"}) copy("frame0001.png", to);
    for (const char* to : {"flow.flo", "truth.flo"}) copy("flow0000.flo", to);
    for (const char* to : {"mask.png", "labels.png", "lines.png"}) copy("occluded0000.png", to);
    std::ofstream(path("calib.txt")) << "cam0=[90 0 48; 0 90 32; 0 0 1]\ncam1=[90 0 48; 0 90 32; 0 0 1]\n"
                                     << "baseline=0.1\n";
    run_well({"stereo", path("left.png"), path("right.png"), "-o", path("disparity.pfm"), "-q"});
    run_well({"video", path("made/frame%04d.png"), "-m", "lucas-kanade", "-o", path("clip.y4m"), "-q"});
    std::filesystem::rename(path("clip.y4m"), path("clip.mp4"));  // readers go by the content
    run_well({"tracks", path("a.png"), path("b.png"), "-o", path("tracks.csv"), "-q"});
    std::filesystem::create_directory(path("bin"));
    std::filesystem::create_symlink(std::filesystem::absolute(tested_command()), path("bin/parafield"));
  }

  /// Runs a line in the folder, in a shell that finds the command.
  Outcome run_line(const std::string& line) const {
    const std::string script = "cd '" + path("") +
                               "' && PATH=\"$PWD/bin:$PATH\" && unset PARAFIELD_DATA && { " + line +
                               "; } >line.out 2>line.err";
    const int status = std::system(script.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(path("line.out")),
            read_text(path("line.err"))};
  }
};

/// The command lines at the end of --help.
Words examples_in(const std::string& help) {
  Words lines;
  std::istringstream text(help.substr(std::min(help.find("\nExamples:\n"), help.size())));
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("  parafield ")) lines.push_back(line.substr(2));
  return lines;
}

TEST_F(HelpCommand, PrintsVersionAndHelp) {
  EXPECT_EQ(run_well({"--version"}).out, std::string("parafield ") + version() + "\n");
  for (const std::string& command : commands) {
    EXPECT_NE(run_well({"--help"}).out.find(command), std::string::npos);
    EXPECT_NE(run_well({command, "--help"}).out.find("Usage: parafield " + command), std::string::npos);
  }
}

TEST_F(HelpCommand, WithoutACommandPrintsHelpAndAnError) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, run_well({"--help"}).out + "\nparafield: error: no command is given\n");
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
  EXPECT_NE(
      one_line(help).find(
          "preset of the method: default, fast, fastest, precise, accurate, large-motion, sequence, clouds "),
      std::string::npos)
      << help;
  EXPECT_NE(help.find("\nExamples:\n  parafield flow "), std::string::npos) << help;
  EXPECT_EQ(help.find("--tracks"), std::string::npos) << help;

  const std::string other = run_well({"flow", "--help", "-m", "direct-interpolation"}).out;
  EXPECT_NE(other.find("\nParameters of direct-interpolation:\n"), std::string::npos) << other;
  EXPECT_EQ(other.find("adaptive-ridge:"), std::string::npos) << other;
  EXPECT_NE(other.find("--tracks"), std::string::npos) << other;
  expect_failure(2, {"flow", "--help", "-m", "horn"}, {"horn"});
}

TEST_F(HelpCommand, EveryHelpFitsAScreen) {
  EXPECT_LE(lines_of_help(run_well({"--help"}).out), 30);
  EXPECT_LE(lines_of_help(run_well({"methods"}).out), 60);
  for (const std::string& command : commands) {
    EXPECT_LE(lines_of_help(run_well({command, "--help"}).out), 60) << command;
    lines_of_help(run_well({command, "--help-all"}).out);
  }
}

/// Checks the --help of every method of a task: its length, and that it lists the method's presets.
template <class Methods, class Help>
void expect_help_of_methods(Help help_of) {
  for_each_method<Methods>([&]<class Method>(const Method& method) {
    SCOPED_TRACE(Method::name);
    const std::string help = help_of(std::string(Method::name));
    constexpr bool guided = requires(Method any) { any.tracking; };
    EXPECT_LE(lines_of_help(help), guided ? 80 : 66) << help;
    std::string names;
    for (const auto& preset : presets(method))
      names += (names.empty() ? "" : ", ") + std::string(preset.name);
    EXPECT_NE(one_line(help).find("preset of the method: " + names + " "), std::string::npos) << help;
  });
}

TEST_F(HelpCommand, HelpOfEveryMethodIsShortAndListsItsPresets) {
  const auto help_with = [&](const std::string& command) {
    return [this, command](const std::string& method) {
      return run_well({command, "--help", "-m", method}).out;
    };
  };
  expect_help_of_methods<FlowMethod>(help_with("flow"));
  expect_help_of_methods<StereoMethod>(help_with("stereo"));
  expect_help_of_methods<DetectionMethod>(help_with("detect"));
}

TEST_F(HelpCommand, HelpLeavesOutWhatTheMethodCannotUse) {
  const auto has = [&](const Words& words, const std::string& option) {
    return run_well(words).out.find("\n  " + option) != std::string::npos;
  };
  EXPECT_FALSE(has({"flow", "--help"}, "--energy"));
  EXPECT_TRUE(has({"flow", "--help", "-m", "icm"}, "--energy"));
  EXPECT_TRUE(has({"flow", "--help-all"}, "--energy"));
  EXPECT_TRUE(has({"flow", "--help"}, "--fb-check"));
  EXPECT_FALSE(has({"flow", "--help", "-m", "gradient-tensor"}, "--fb-check"));
  EXPECT_FALSE(has({"stereo", "--help"}, "--doffs"));
  EXPECT_TRUE(has({"stereo", "--help-all"}, "--doffs"));
}

TEST_F(HelpCommand, ExamplesOfHelpRun) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  make_files_of_examples();
  Words lines = examples_in(run_well({"--help"}).out);
  const auto add = [&](const Words& words) {
    const Words more = examples_in(run_well(words).out);
    EXPECT_FALSE(more.empty()) << testing::PrintToString(words);
    lines.insert(lines.end(), more.begin(), more.end());
  };
  for (const std::string& command : commands) add({command, "--help"});
  for_each_method<FlowMethod>([&]<class Method>(const Method&) {
    add({"flow", "--help", "-m", std::string(Method::name)});
  });
  std::set<std::string> seen;
  for (const std::string& line : lines) {
    if (!seen.insert(line).second || line.starts_with("parafield serve")) continue;  // it does not end
    std::string quick = line;
    if (line.starts_with("parafield bench"))  // measures less
      quick = std::regex_replace(std::regex_replace(line, std::regex("320x240"), "64x48"),
                                 std::regex("--repeat 10"), "--repeat 1");
    const Outcome outcome = run_line(quick);
    if (line.starts_with("parafield video") && outcome.err.find("FFmpeg") != std::string::npos)
      continue;  // built without it
    EXPECT_EQ(outcome.code, 0) << line << '\n' << outcome.err;
    EXPECT_EQ(outcome.err.find("error"), std::string::npos) << line << '\n' << outcome.err;
  }
  for (const char* made : {"flow.png", "flow0001.flo", "disparity.png", "disparity0002.pfm", "mask0006.png",
                           "tracks.png", "arrows.png", "scene/flow0000.flo", "bench.json"})
    EXPECT_TRUE(std::filesystem::exists(path(made))) << made;
}

TEST_F(HelpCommand, HelpAllListsEveryParameterWithItsRange) {
  const std::string help = run_well({"flow", "--help-all"}).out;
  expect_every_parameter<FlowMethod>(help);
  const std::string words = one_line(help);
  EXPECT_NE(words.find("1 to 16, default 4"), std::string::npos) << help;
  EXPECT_NE(words.find("default icm 4, annealing 20"), std::string::npos) << help;
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
    EXPECT_EQ(entry["help"], Method::help);
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
  EXPECT_EQ(text.find("--"), std::string::npos) << text;
  EXPECT_NE(icm.find("  --sweeps "), std::string::npos) << icm;
  EXPECT_NE(icm.find("  --preset accurate "), std::string::npos) << icm;
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
