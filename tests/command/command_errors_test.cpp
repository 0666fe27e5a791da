// SPDX-License-Identifier: MIT
// Wrong arguments give an exit code, an error of one line, and no files.
#include "command/errors.hpp"

namespace parafield::test {
namespace {

class CommandErrors : public ErrorTest {};

TEST_F(CommandErrors, BadOptions) {
  const std::string out = path("out.flo");
  expect_failure(2, {"optical"}, {"optical"});
  expect_failure(2, {"flow"}, {"FRAMES"});
  expect_failure(2, {"flow", frame0()}, {"adaptive-ridge takes 2 frames, not 1"});
  expect_failure(2, flow({"third.png"}), {"adaptive-ridge takes 2 frames, not 3"});
  expect_failure(2, flow({"-o", out, "--windows", "5"}), {"--windows"});
  expect_failure(2, flow({"-o", out, "-m", "horn"}), {"horn", "adaptive-ridge, lucas-kanade"});
  expect_failure(2, flow({"-o", out, "--preset", "paper"}),
                 {"paper", "default, fast, fastest, precise, accurate, large-motion, sequence"});
  expect_failure(2, flow({"-o", out, "-m", "lucas-kanade", "--preset", "fast"}),
                 {"fast", "default, accurate, paper"});
  expect_failure(2, flow({"-o", out, "--preset", "sequence"}), {"adaptive-ridge takes 5 frames, not 2"});
  expect_failure(2, {"flow", frame0(), frame1(), "-d", "gpu", "-o", out}, {"gpu", "cuda:N"});
  expect_failure(2, flow({"--threads", "-1"}), {"threads"});
  expect_failure(2, flow({"--repeat", "0"}), {"--repeat"});
  expect_failure(2, flow({"--repeat", "two"}), {"--repeat"});
  expect_failure(2, flow({"--mask", frame0()}), {"--gt"});
  expect_failure(2, flow({"--valid-only"}), {"--gt"});
  expect_failure(2, {"color", truth()}, {"--output"});
  expect_failure(2, {"color", truth(), "-o", path("out.png"), "--scheme", "gray"}, {"gray", "marzat"});
  for (const char* bad : {"-1", "nan", "inf", "wide"})
    expect_failure(2, {"color", truth(), "-o", path("out.png"), "--max-motion", bad}, {"--max-motion"});
  const auto color = [&](Words more) {
    more.insert(more.begin(), {"color", truth(), "-o", path("out.png")});
    return more;
  };
  expect_failure(2, color({"--arrows"}), {"--arrows", "--frame"});
  expect_failure(2, color({"--beside"}), {"--beside", "--frame"});
  expect_failure(2, color({"--step", "8"}), {"--step", "--arrows"});
  expect_failure(2, color({"--frame", frame0(), "--arrows", "--step", "0"}), {"--step"});
  expect_failure(2, color({"--frame", frame0(), "--arrows", "--scale", "-1"}), {"--scale"});
  expect_failure(2, color({"--frame", frame0(), "--arrows", "--legend"}), {"--arrows", "--legend"});
  expect_failure(2, color({"--frame", frame0(), "--arrows", "--scheme", "marzat"}), {"--arrows", "--scheme"});
  expect_failure(2, flow({"--energy", "result"}), {"--energy", "adaptive-ridge"});
  expect_failure(2, flow({"--energy", "every"}), {"--energy", "every"});
  expect_failure(2, flow({"-m", "icm", "--levels", "2"}), {"icm", "--levels", "lucas-kanade"});
  expect_failure(2, flow({"--final-median", "4"}), {"--final-median"});
  expect_failure(2, flow({"--legend"}), {"--legend", "--color"});
  expect_failure(2, {"synth", "circle", "-o", path("new")}, {"circle", "translation"});
  expect_failure(2, {"synth", "zoom"}, {"--output"});
  for (const char* bad : {"640", "640x", "0x480", "640x-1", "640x480x3", "axb", ""})
    expect_failure(2, {"synth", "zoom", "-o", path("new"), "--size", bad}, {"size"});
  for (const char* bad : {"0", "-3", "2.5", "10000"})
    expect_failure(2, {"synth", "zoom", "-o", path("new"), "--frames", bad}, {"--frames"});
  expect_failure(2, {"synth", "zoom", "-o", path("new"), "--seed", "-1"}, {"--seed"});
  expect_failure(2, {"synth", "zoom", "-o", path("new"), "--texture", "rough"}, {"rough"});
  expect_failure(2, {"bench", "--preset", "paper"}, {"paper"});
  expect_failure(2, {"bench", "-m", "horn"}, {"horn"});
  expect_failure(2, {"bench", "-m", "icm", "--preset", "fast"}, {"icm", "fast"});
  expect_failure(2, {"bench", "--preset", "fast", "fst"}, {"--preset: none of the methods has fst"});
  expect_failure(2, {"bench", "-d", "gpu"}, {"gpu"});
  expect_failure(2, {"bench", "--size", "big"}, {"big"});
  expect_failure(2, {"bench", "--threads", "5000"}, {"--threads: 5000 is outside 0 to 1024"});
  expect_failure(2, {"bench", "--commit", "abc"}, {"--commit requires --json or --markdown"});
  expect_failure(2, {"bench", "--task", "clouds"}, {"clouds", "flow, stereo", "detection"});
  expect_failure(2, {"bench", "--task", "stereo", "-m", "lucas-kanade"}, {"lucas-kanade"});
  expect_failure(2, {"bench", "--task", "stereo", "flow", "-m", "lucas-kanade"},
                 {"stereo has no lucas-kanade"});
  expect_failure(2, {"bench", "--task", "stereo", "--planes", "flow"}, {"--planes: only flow has them"});
  expect_failure(2, {"bench", "--disparities", "16"}, {"--disparities: only stereo has them"});
  expect_failure(2, {"generate", ""}, {"FOLDER: cannot be empty"});
  expect_failure(2, {"methods", "more"}, {"more"});
}

TEST_F(CommandErrors, OptionsAreGivenOnceAndWithAValue) {
  expect_failure(2, flow({"--levels", "2", "--levels", "3"}), {"error: --levels: given twice;"});
  expect_failure(2, flow({"--levels=2", "--levels=3", "--levels=4"}), {"--levels: given 3 times;"});
  expect_failure(2, flow({"-o", "a.flo", "--output", "b.flo"}), {"--output: given twice;"});
  expect_failure(2, {"bench", "--json", "a", "--json", "b"}, {"--json: given twice;"});
  expect_failure(2, flow({"-o"}), {"error: -o: needs a value: FILE;"});
  expect_failure(2, flow({"--method"}), {"--method: needs a value: NAME;"});
  expect_failure(2, flow({"-qd"}), {"-d: needs a value: NAME;"});
  expect_failure(2, {"bench", "--size"}, {"--size: needs a value: WxH;"});
  expect_failure(2, {"detect", "--gt"}, {"--gt: needs a value: FILE;"});
}

TEST_F(CommandErrors, FlagsTakeNoValue) {
  for (const char* flag : {"--fill", "--json", "--quiet", "--help"})
    for (const char* value : {"3", "1", "true", "false", "maybe"})
      expect_failure(2, flow({std::string(flag) + "=" + value}),
                     {std::string(flag) + ": takes no value, not"});
  expect_failure(2, flow({"-q3"}), {"-q: takes no value, not 3"});
  expect_failure(2, {"--version=3"}, {"--version: takes no value, not 3"});
  expect_failure(2, {"devices", "--json=x y"}, {"not 'x y'"});
  expect_failure(2, flow({"-m", "lucas-kanade", "--no-temporal=true"}), {"--no-temporal: takes no value"});
  const auto temporal = [&](Words flags) {
    flags.insert(flags.begin(), {"-m", "lucas-kanade", "--json"});
    return bool(run_well(flow(flags)).json()["parameters"]["temporal"]);
  };
  EXPECT_FALSE(temporal({"--temporal", "--no-temporal"})) << "the last one counts";
  EXPECT_TRUE(temporal({"--no-temporal", "--temporal"}));
  run_well(flow({"-q", "--quiet"}));
}

TEST_F(CommandErrors, WordsThatCLI11WouldTakeForOthers) {
  expect_failure(2, flow({"--levels=", "3"}), {"--levels: cannot be empty"});
  expect_failure(2, flow({"++"}), {"unexpected: ++"});
  expect_failure(2, flow({"---json"}), {"unexpected: ---json"});
  expect_failure(2, flow({"-o=" + path("a.flo")}), {"unexpected: -o=", "write -o " + path("a.flo")});
  expect_failure(2, {"bench", "--json", "-"}, {"--json -: without a FILE the JSON is printed"});
  expect_failure(2, {"flow", "[" + frame0() + "," + frame1() + "]", "-d", "cpu"}, {"unexpected: [", "./["});
  expect_failure(2, {"--json", "devices"},
                 {"unexpected: --json; the command comes first: parafield devices"});
  expect_failure(2, {frame0(), frame1(), "flow"}, {"; the command comes first: parafield flow"});
  expect_failure(2, flow({"out.flo"}), {"out.flo is no frame; -o out.flo writes it"});
  expect_failure(2, {""}, {"unexpected: '';"});
  expect_failure(2, {"a b"}, {"unexpected: 'a b';"});
  expect_failure(2, {std::string(9999, 'x')}, {"unexpected: '" + std::string(40, 'x') + "...'"});
  run_well({"help", "help"});
}

TEST_F(CommandErrors, WordsBehindTwoDashesAreFiles) {
  run_well({"flow", "-d", "cpu", "-q", "--", frame0(), frame1()});
  run_well({"flow", "-d", "cpu", "-q", frame0(), "--", frame1()});
  run_well({"flow", "-d", "cpu", "-q", frame0(), frame1(), "--"});
  for (const char* name : {"-x.png", "--json", "++", "[x]"}) std::filesystem::copy(frame1(), path(name));
  for (const char* name : {"-x.png", "--json", "++", "'[x]'"})
    EXPECT_EQ(shell("flow -d cpu -q scene/frame0000.png -- " + std::string(name)).code, 0) << name;
  expect_failure(1, {"flow", "-d", "cpu", "--", frame0(), "-missing.png"}, {"-missing.png: cannot be read"});
}

TEST_F(CommandErrors, ValuesOfOneParameterRuleOutAnothers) {
  // Before the files are read.
  expect_failure(2, {"detect", "a.png", "b.png", "-m", "annealing", "--t-max", "1", "--t-min", "2"},
                 {"annealing: t_min cannot be 2; allowed: at most t_max, 1"});
  expect_failure(2, {"stereo", "a.png", "b.png", "-m", "belief-propagation", "--neighbors", "8"},
                 {"neighbors cannot be 8; allowed: 4"});
  expect_failure(
      2, {"flow", "a.png", "b.png", "-m", "multi-hypothesis", "--ranked", "2", "--change-softness", "3"},
      {"ranked cannot be 2", "change_softness is 3"});
}

TEST_F(CommandErrors, BlocksThatWouldTakeMinutes) {
  expect_failure(
      1, flow({"-m", "belief-propagation", "--blocks", "96", "--block-overlap", "4096"}),
      {"block_overlap cannot be 4096 px", "96 blocks of 96x64 px have 96 times the pixels", "32 times"});
}

TEST_F(CommandErrors, NoValueIsEmpty) {
  for (const char* option : {"-o", "--valid", "--confidence", "--color", "--gt", "--threads", "--device",
                             "--preset", "--method", "--tracks", "--repeat", "--levels", "--fb-check"})
    expect_failure(2, flow({option, ""}), {"cannot be empty"});
  expect_failure(2, {"flow", frame0(), "", "-d", "cpu"}, {"FRAMES", "cannot be empty"});
  expect_failure(2, {"synth", "zoom", "-o", path("new"), "--seed", ""}, {"--seed", "cannot be empty"});
}

TEST_F(CommandErrors, NumbersAreDecimal) {
  for (const char* bad : {"+3", "0x10", " 3", "3 ", "1e1", "3,5"}) {
    expect_failure(2, flow({"--threads", bad}), {"--threads", "not a whole number"});
    expect_failure(2, flow({"--levels", bad}), {"levels", "0 to 16"});
    expect_failure(2, flow({"--speckle", bad}), {"--speckle", "not a whole number"});
    expect_failure(2, {"synth", "zoom", "-o", path("new"), "--seed", bad}, {"--seed", "not a whole number"});
  }
  for (const char* bad : {"+3", "0x10", " 3", "3 ", "3,5"}) {
    expect_failure(2, flow({"--fb-check", bad}), {"--fb-check", "not a number"});
    expect_failure(2, {"stereo", frame0(), frame1(), "--focal", bad}, {"--focal", "not a number"});
  }
  expect_failure(2, flow({"--threads", "100000"}), {"--threads", "0 to 1024"});
  expect_failure(2, flow({"--final-median", "3.5"}), {"--final-median: 3.5 is not a whole number"});
  expect_failure(2, flow({"--final-median", "4"}), {"--final-median", "0, 3, 5"});
  expect_failure(2, flow({"--fb-check", "nan"}), {"--fb-check", "0 to 1e+06"});
  const std::string out = path("new");
  expect_failure(2, {"synth", "zoom", "-o", out, "--seed", "-1"}, {"--seed: -1 is not a whole number"});
  expect_failure(2, {"synth", "zoom", "-o", out, "--seed", "18446744073709551616"}, {"out of range"});
}

TEST_F(CommandErrors, WordsThatNobodyTakesAreFewInTheMessage) {
  Words many = {"eval", truth(), truth()};
  for (int i = 0; i < 300; ++i) many.push_back("more" + std::to_string(i) + ".flo");
  expect_failure(2, many, {"unexpected: more0.flo and 299 more"});
  expect_failure(2, {"folw"}, {"folw (did you mean 'flow'?)"});
  expect_failure(2, {"help", "folw"}, {"folw (did you mean 'flow'?)"});
  expect_failure(2, flow({"--presett", "fast"}), {"--presett (did you mean '--preset'?)"});
  expect_failure(2, {"synth", "pol", "-o", path("new")}, {"there is no 'pol' (did you mean 'pole'?)"});
  expect_failure(2, flow({"-m", "LUCAS_KANADE2"}), {"did you mean 'lucas-kanade'?"});
  expect_failure(2, flow({"-m", "adaptiveridge"}), {"did you mean 'adaptive-ridge'?"});
  expect_failure(2, flow({"--preset", "fats"}), {"did you mean 'fast'?"});
  expect_failure(2, {"eval", truth(), truth(), "--max-disparity", "9"},
                 {"unexpected: --max-disparity and 1"});
  expect_failure(2, {"stereo", frame0(), frame1(), "--max-disparity", "9"}, {"unexpected: --max-disparity"});
}

TEST_F(CommandErrors, ValuesWithSpacesStandInQuotes) {
  expect_failure(2, flow({"--levels", " 3"}), {"levels cannot be ' 3';"});
  expect_failure(2, flow({"--threads", "3 "}), {"'3 ' is not a whole number"});
  expect_failure(2, flow({"--fb-check", "1 000"}), {"'1 000' is not a number"});
  expect_failure(2, flow({"--levels", std::string(9999, '9')}),
                 {"levels cannot be '" + std::string(40, '9') + "...'"});
  for (const char* bad : {"inf", "-1", "0"})
    expect_failure(2, flow({"--color", path("a.png"), "--max-motion", bad}),
                   {std::string(bad) + " is not a finite number above 0"});
}

TEST_F(CommandErrors, ScenesThatAreTooLarge) {
  const Words says = {"100000x100000", "536870912"};
  expect_failure(2, {"synth", "zoom", "-o", path("new"), "--size", "100000x100000"}, says);
  const Outcome bench = run({"bench", "-d", "cpu", "--preset", "default", "--size", "100000x100000"});
  EXPECT_EQ(bench.code, 1);
  for (const std::string& word : says) EXPECT_NE(bench.out.find(word), std::string::npos) << bench.out;
}

TEST_F(CommandErrors, ParametersOutOfRange) {
  for (const char* bad : {"17", "-1", "four", "4.5", "nan", "99999999999999"})
    expect_failure(2, flow({"--levels=" + std::string(bad), "-o", path("out.flo")}), {"levels", "0 to 16"});
  for (const char* bad : {"0", "2", "-1", "nan", "inf", "1e-6x", "small"})
    expect_failure(2, flow({"-m", "lucas-kanade", "--alpha=" + std::string(bad), "-o", path("out.flo")}),
                   {"alpha", "1e-09 to 1"});
  expect_failure(2, flow({"--levels", ""}), {"--levels", "empty"});
  expect_failure(2, flow({"-m", "lucas-kanade", "--levels", "0"}), {"levels", "1 to 16"});
  expect_failure(2, flow({"--alpha", "1e-5"}), {"adaptive-ridge has no parameter --alpha", "lucas-kanade"});
  expect_failure(2, flow({"--median", "4"}), {"median", "0, 3, 5"});
  expect_failure(2, flow({"-m", "lucas-kanade", "--temporal=maybe"}), {"temporal", "maybe"});
}

TEST_F(CommandErrors, MissingDevices) {
  if (tests_sanitized_command()) GTEST_SKIP() << compares_builds;
  const std::string reason = why_no_cuda();
  const std::string device = reason.empty() ? "cuda:999" : "cuda";
  const Words says = reason.empty() ? Words{"cuda:999"} : Words{"cuda", reason};
  expect_failure(1, {"flow", frame0(), frame1(), "-o", path("out.flo"), "-d", device}, says);
  expect_failure(1, {"bench", "-d", device}, says);
}

TEST_F(CommandErrors, UnknownInstructionSet) {
  expect_failure(1, flow({"-o", path("out.flo")}), {"PARAFIELD_ISA=v9"}, {"PARAFIELD_ISA=v9"});
  expect_failure(1, {"devices"}, {"PARAFIELD_ISA=v9"}, {"PARAFIELD_ISA=v9"});
}

}  // namespace
}  // namespace parafield::test
