// SPDX-License-Identifier: MIT
// Options of a task with several methods, here two that are made up.
#include "options.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "files.hpp"
#include "measure.hpp"

namespace parafield::test {

struct First {
  static constexpr std::string_view name = "first";

  PF_PARAMETER(int, window, 3, range(1, 9, "px"), "Side of the window.");
  PF_PARAMETER(bool, fast, false, "Hurry.");
};
struct Second {
  static constexpr std::string_view name = "second";

  PF_PARAMETER(int, window, 5, range(1, 31, "px"), "Side of the window.");
  PF_PARAMETER(float, weight, 0.5f, range(0, 1), "Weight of the data.");
};
inline std::array<Preset<First>, 1> presets(const First&) { return {{{"wide", {.window = 9}, ""}}}; }
inline std::array<Preset<Second>, 1> presets(const Second&) { return {{{"heavy", {.weight = 1}, ""}}}; }

namespace {

using Methods = std::variant<First, Second>;

Methods parse(std::vector<std::string> words) {
  CLI::App app;
  command::App command(app);
  command::MethodOptions<Methods> options;
  options.add_to(command);
  std::ranges::reverse(words);
  app.parse(words);
  return options.method();
}

std::string problem(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const command::UsageError& error) {
    return error.what();
  }
  return "";
}

std::string options_text(const First& first) {
  return command::options_text(command::parameters_of(first), command::parameters_of(First{}));
}

TEST(MethodOptions, FirstMethodIsTheDefault) { EXPECT_EQ(std::get<First>(parse({})).window, 3); }

TEST(MethodOptions, SharedParametersAreOneOption) {
  EXPECT_EQ(std::get<First>(parse({"--window", "7"})).window, 7);
  EXPECT_EQ(std::get<Second>(parse({"--window", "21", "-m", "second"})).window, 21);
  EXPECT_EQ(problem({"--window", "21"}), "first: window cannot be 21; allowed: 1 to 9");
}

TEST(MethodOptions, AnotherMethodsParameterIsAnErrorThatNamesIt) {
  EXPECT_EQ(problem({"--weight", "1"}), "first has no parameter --weight; it is one of second");
  EXPECT_EQ(problem({"-m", "second", "--no-fast"}), "second has no parameter --fast; it is one of first");
}

TEST(MethodOptions, HelpGroupsParametersByTheirMethods) {
  CLI::App app;
  command::App command(app);
  command::MethodOptions<Methods> options;
  options.add_to(command);
  EXPECT_EQ(app.get_option("--window")->get_group(), "Parameters of every method");
  EXPECT_EQ(app.get_option("--fast")->get_group(), "Parameters of first");
  EXPECT_EQ(app.get_option("--window")->get_description(),
            "Side of the window. (first: 1 to 9 px, default 3; second: 1 to 31 px, default 5)");
  EXPECT_EQ(app.get_option("--weight")->get_description(), "Weight of the data. (0 to 1, default 0.5)");
  EXPECT_EQ(command::parameter_help({{"a", "Size.", "1 to 9", "2"}, {"b", "Size.", "1 to 9", "3"}}),
            "Size. (1 to 9, default a 2, b 3)");
  EXPECT_EQ(
      command::parameter_help(
          {{"a", "Size.", "0 to 9", "2"}, {"b", "Width.", "0 to 9", "2"}, {"c", "Size.", "0 to 9", "2"}}),
      "a and c: Size. b: Width. (0 to 9, default 2)");
  EXPECT_EQ(command::parameter_group({{"a", "", "", ""}, {"b", "", "", ""}, {"c", "", "", ""}}, 4),
            "Parameters of a, b and c");
}

TEST(MethodOptions, PresetsBelongToTheirMethod) {
  EXPECT_EQ(std::get<First>(parse({"--preset", "wide", "--fast"})).window, 9);
  EXPECT_NE(problem({"--preset", "heavy"}), "");
  EXPECT_EQ(std::get<Second>(parse({"--preset", "heavy", "-m", "second"})).weight, 1);
}

TEST(MethodOptions, TextOfOptionsNamesWhatDiffers) {
  EXPECT_EQ(options_text(First{}), "");
  EXPECT_EQ(options_text(First{.window = 4, .fast = true}), "--window 4 --fast");
}

TEST(DidYouMean, FindsNearNamesAndNoOthers) {
  const std::vector<std::string_view> options = {"--levels",     "--min-disparity", "--disparities",
                                                 "--weight",     "--features",      "--mask",
                                                 "--output",     "--window",        "--max-features",
                                                 "--max-motion", "--mean",          "--lr-check"},
                                      methods = {"icm", "lucas-kanade", "belief-propagation",
                                                 "adaptive-ridge"};
  const auto meant = [](std::string_view name, const auto& known) {
    const std::string text = detail::did_you_mean(name, known);
    return text.empty() ? text : text.substr(16, text.size() - 19);
  };
  for (const auto& [typed, near] : std::vector<std::pair<const char*, const char*>>{
           {"--level", "--levels"},
           {"--leevls", "--levels"},
           {"--Levels", "--levels"},
           {"-levels", "--levels"},
           {"--min_disparity", "--min-disparity"},
           {"--min-disp", "--min-disparity"},  // only one begins so
           {"--disparity", "--disparities"},
           {"--window-size", "--window"},
           {"--output-file", "--output"}})
    EXPECT_EQ(meant(typed, options), near) << typed;
  for (const char* far : {"--max-disparity", "--height", "--textures", "--fast", "--median", "--fb-check",
                          "--max", "--legends", "--", "-", "", "--o", "levels2go"})
    EXPECT_EQ(meant(far, options), "") << far;
  EXPECT_EQ(meant("adaptiveridge", methods), "adaptive-ridge");
  EXPECT_EQ(meant("LUCAS_KANADE2", methods), "lucas-kanade");
  EXPECT_EQ(meant("lucas", methods), "lucas-kanade");
  EXPECT_EQ(meant("icn", methods), "icm");
  EXPECT_EQ(meant("horn-schunck", methods), "");
}

TEST(Sizes, AreTwoNumbers) {
  EXPECT_EQ(command::parse_size("640x480"), (Size{640, 480}));
  for (const char* bad : {"", "x", "1x", "x1", "0x1", "1x0", "-1x2", "1x2 ", "1X2", "99999999999x1"})
    EXPECT_THROW(command::parse_size(bad), command::UsageError) << bad;
}

TEST(Quantiles, LieBetweenTheValues) {
  EXPECT_EQ(command::quantile({1, 2, 4}, 0.5), 2);
  EXPECT_EQ(command::quantile({1, 2, 4, 8}, 0.5), 3);
  EXPECT_DOUBLE_EQ(command::quantile({0, 10}, 0.1), 1);
  EXPECT_EQ(command::quantile({7}, 0.9), 7);
}

TEST(Measure, RepeatsAsOftenAsAsked) {
  int calls = 0;
  const command::Times times = command::measure({.fixed = 5}, [&](int i) { return ++calls, double(i); });
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(times.median, 2);
  EXPECT_EQ(times.min, 0);
  EXPECT_EQ(command::measure({.seconds = 0, .least = 4}, [](int) { return 1.; }).repeats, 4);
  EXPECT_EQ(command::measure({.seconds = 100, .least = 1, .most = 9}, [](int) { return 1.; }).repeats, 9);
}

}  // namespace
}  // namespace parafield::test
