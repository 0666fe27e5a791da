// SPDX-License-Identifier: MIT
// Every subcommand, end to end, on rendered scenes.
#include <cstring>

#include "command/run_command.hpp"
#include "support.hpp"

namespace parafield::test {
namespace {

class Command : public CommandTest {};

const Words score_keys = {"aae", "aae_std", "epe",    "epe_std", "r1",     "r3",
                          "r5",  "density", "pixels", "unknown", "missing"};

TEST_F(Command, PrintsVersionAndHelp) {
  EXPECT_EQ(run_well({"--version"}).out, std::string("parafield ") + version() + "\n");
  for (const char* command :
       {"flow", "stereo", "detect", "eval", "color", "synth", "methods", "devices", "bench"}) {
    EXPECT_NE(run_well({"--help"}).out.find(command), std::string::npos);
    EXPECT_NE(run_well({command, "--help"}).out.find("Usage: parafield " + std::string(command)),
              std::string::npos);
  }
}

TEST_F(Command, WithoutASubcommandPrintsHelpAndFails) {
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

TEST_F(Command, SaysTheScaleOfAPicture) {
  render();
  const auto flow = [&](Words more) {
    const Words words = {"flow", frame0(), frame1(), "-d", "cpu", "--color", path("a.png")};
    more.insert(more.begin(), words.begin(), words.end());
    return run_well(more);
  };
  EXPECT_EQ(flow({"--max-motion", "2.5", "--json"}).json()["max_motion"], 2.5);
  EXPECT_NE(flow({"--max-motion", "2.5"}).out.find("flow of 2.5 px has full color\n"), std::string::npos);
  EXPECT_GT(flow({"--arrows", "--json"}).json()["arrow_scale"], 1);
  EXPECT_EQ(flow({"--arrows", "--scale", "2", "--json"}).json()["arrow_scale"], 2);
  EXPECT_EQ(run_well({"color", truth(), "-o", path("b.png"), "--max-motion", "3"}).out,
            "flow of 3 px has full color\n");
  expect_failure(2, {"flow", frame0(), frame1(), "--max-motion", "3"}, {"--max-motion", "--color"});
}

TEST_F(Command, HelpIsShortAndOfOneMethod) {
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

TEST_F(Command, HelpAllListsEveryParameterWithItsRange) {
  const std::string help = run_well({"flow", "--help-all"}).out;
  expect_every_parameter<FlowMethod>(help);
  const std::string words = one_line(help);
  EXPECT_NE(words.find("1 to 16, default 4"), std::string::npos) << help;
  EXPECT_NE(words.find("default icm 10, annealing 500"), std::string::npos) << help;
  EXPECT_NE(help.find("\nParameters of icm and annealing:"), std::string::npos) << help;
  expect_every_parameter<StereoMethod>(run_well({"stereo", "--help-all"}).out);
  expect_every_parameter<DetectionMethod>(run_well({"detect", "--help-all"}).out);
}

TEST_F(Command, FlowWritesFlowAndPictureAndScores) {
  render();
  const Outcome outcome =
      run_well({"flow", frame0(), frame1(), "-o", path("out.flo"), "--color", path("out.png"), "--gt",
                truth(), "-d", "cpu", "--repeat", "2", "--json"});
  const auto json = outcome.json();
  EXPECT_EQ(json["method"], "adaptive-ridge");
  EXPECT_FALSE(json.contains("preset"));
  EXPECT_EQ(json["parameters"]["rounds"], 2);
  EXPECT_EQ(json["parameters"]["shrinkage"], 0.5);
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_FALSE(json["device_name"].get<std::string>().empty());
  EXPECT_FALSE(json["instruction_set"].get<std::string>().empty());
  EXPECT_GE(json["threads"], 1);
  EXPECT_EQ(json["width"], 96);
  EXPECT_EQ(json["height"], 64);
  EXPECT_EQ(json["repeats"], 2);
  EXPECT_GT(json["valid"], 0.5);
  EXPECT_GT(json["mean_motion"], 0.5);
  EXPECT_LT(json["mean_motion"], json["largest_motion"]);
  EXPECT_LT(json["largest_motion"], 20);
  EXPECT_EQ(json["files"], (Words{path("out.flo"), path("out.png")}));
  EXPECT_GT(json["max_motion"], 0.5);
  EXPECT_LE(json["max_motion"], 1.01 * double(json["largest_motion"]));
  EXPECT_GT(json["milliseconds"], 0);
  for (const std::string& key : score_keys) EXPECT_TRUE(json[key].is_number()) << key;
  EXPECT_EQ(json["pixels"], 96 * 64);
  EXPECT_EQ(json["unknown"], 0);
  EXPECT_LT(json["aae"], 3) << "degrees; a translation is easy";
  EXPECT_LT(json["epe"], 0.2) << "px";
  EXPECT_GT(json["density"], 0.5);
  EXPECT_EQ(read_flow(path("out.flo")).size(), (Size{96, 64}));
  EXPECT_EQ(read_frame(path("out.png")).size(), (Size{96, 64}));
  EXPECT_EQ(read_frame(path("out.png")).format(), PixelFormat::rgb_u8);
}

TEST_F(Command, FlowIsWrittenByExtension) {
  render();
  run_well(
      {"flow", frame0(), frame1(), "-d", "cpu", "-q", "-o", path("out.flo"), "--valid", path("valid.png")});
  const FlowField flow = read_flow(path("out.flo"));
  for (const char* name : {"out.pfm", "out.npy"}) {
    run_well({"flow", frame0(), frame1(), "-d", "cpu", "-q", "-o", path(name), "--valid", path("valid.pgm")});
    const FlowField same = read_flow(path(name));
    ASSERT_EQ(same.size(), flow.size());
    for (int y = 0; y < flow.size().height; ++y)
      for (int x = 0; x < flow.size().width; ++x) {
        ASSERT_EQ(same.u(x, y), flow.u(x, y));
        ASSERT_EQ(same.v(x, y), flow.v(x, y));
      }
    EXPECT_EQ(run_well({"eval", path(name), path("out.flo"), "--json"}).json()["epe"], 0);
  }
  run_well({"flow", frame0(), frame1(), "-d", "cpu", "-q", "-o", path("out.png")});
  const FlowField kitti = read_flow(path("out.png"));
  for (const char* name : {"valid.png", "valid.pgm"}) {
    const FrameBuffer valid = read_frame(path(name));
    ASSERT_EQ(valid.size(), flow.size());
    ASSERT_EQ(valid.format(), PixelFormat::gray_u8);
    for (int y = 0; y < flow.size().height; ++y)
      for (int x = 0; x < flow.size().width; ++x)
        ASSERT_EQ(static_cast<const std::uint8_t*>(valid.row(y))[x], kitti.valid(x, y) ? 255 : 0);
  }
}

TEST_F(Command, FlowReportsInTextUnlessQuiet) {
  render();
  const std::string text = run_well({"flow", frame0(), frame1(), "-d", "cpu", "--gt", truth()}).out;
  for (const char* word : {"adaptive-ridge on cpu", "96x64", " ms", "AAE", "EPE", "density"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
  EXPECT_EQ(run_well({"flow", frame0(), frame1(), "-d", "cpu", "-q"}).out, "");
  const auto json = run_well({"flow", frame0(), frame1(), "-d", "cpu", "-q", "--json"}).json();
  EXPECT_FALSE(json.contains("aae"));
}

TEST_F(Command, PresetComesFirstThenOptions) {
  render();
  const auto with = [&](Words more) {
    const Words flow = {"flow", frame0(), frame1(), "-d", "cpu", "--json"};
    more.insert(more.begin(), flow.begin(), flow.end());
    return run_well(more).json();
  };
  const auto fast = with({"--iterations", "5", "--preset", "fast"});
  EXPECT_EQ(fast["preset"], "fast");
  EXPECT_EQ(fast["parameters"]["iterations"], 5);
  EXPECT_EQ(fast["parameters"]["rounds"], preset<AdaptiveRidge>("fast").rounds);
  const auto json =
      with({"-m", "lucas-kanade", "--window", "7", "--preset", "accurate", "--min-eigenvalue", "1e-4"});
  EXPECT_EQ(json["preset"], "accurate");
  EXPECT_EQ(json["parameters"]["window"], 7);
  EXPECT_EQ(json["parameters"]["min_eigenvalue"], 1e-4);
  EXPECT_EQ(json["parameters"]["median"], preset<LucasKanade>("accurate").median);
  EXPECT_EQ(with({"-m", "lucas-kanade", "--no-temporal"})["parameters"]["temporal"], false);
  EXPECT_EQ(with({"-m", "lucas-kanade", "--temporal=false"})["parameters"]["temporal"], false);
  EXPECT_EQ(with({"-m", "lucas-kanade", "--temporal"})["parameters"]["temporal"], true);
  EXPECT_EQ(with({"-m", "lucas_kanade"})["method"], "lucas-kanade");
}

TEST_F(Command, EvalAgreesWithFlow) {
  render("layers");
  for (const Words& more : {Words{}, Words{"--mask", path("scene/occluded0000.png")}}) {
    Words flow = {"flow", frame0(), frame1(), "-d", "cpu", "-o", path("out.flo"), "--gt", truth(), "--json"};
    Words eval = {"eval", path("out.flo"), truth(), "--json"};
    flow.insert(flow.end(), more.begin(), more.end());
    eval.insert(eval.end(), more.begin(), more.end());
    const auto of_flow = run_well(flow).json(), of_eval = run_well(eval).json();
    for (const std::string& key : score_keys) {
      if (key == "density") continue;  // .flo does not store validity
      EXPECT_EQ(of_flow[key], of_eval[key]) << key;
    }
    EXPECT_EQ(of_eval["density"], 1);
    EXPECT_EQ(of_eval["task"], "flow");
  }
  EXPECT_NE(run_well({"eval", path("out.flo"), truth()}).out.find("AAE"), std::string::npos);
}

TEST_F(Command, EvalReadsValidFromKittiFiles) {
  render();
  const Outcome flow = run_well({"flow", frame0(), frame1(), "-d", "cpu", "-o", path("out.png"), "--gt",
                                 truth(), "--valid-only", "--json"});
  const auto eval = run_well({"eval", path("out.png"), truth(), "--valid-only", "--json"}).json();
  EXPECT_EQ(eval["pixels"], flow.json()["pixels"]);
  EXPECT_NEAR(eval["epe"], flow.json()["epe"], 1. / 64);
}

TEST_F(Command, EvalWithoutPixelsGivesNull) {
  render();
  FrameBuffer nothing({96, 64}, PixelFormat::gray_u8);
  write_frame(path("black.png"), nothing);
  const auto json = run_well({"eval", truth(), truth(), "--mask", path("black.png"), "--json"}).json();
  EXPECT_EQ(json["pixels"], 0);
  EXPECT_TRUE(json["aae"].is_null());
}

TEST_F(Command, PicturesHaveArrowsLegendAndTheFrameBesideThem) {
  render();
  const std::string out = path("out.png");
  const auto picture = [&](Words words) {
    for (const std::string& word : {std::string(words[0] == "flow" ? "--color" : "-o"), out})
      words.push_back(word);
    run_well(words);
    return read_text(out);
  };
  const std::string plain = picture({"color", truth()});
  const std::string arrows = picture({"color", truth(), "--frame", frame0(), "--arrows"});
  EXPECT_NE(arrows, plain);
  EXPECT_NE(arrows,
            picture({"color", truth(), "--frame", frame0(), "--arrows", "--step", "8", "--scale", "2"}));
  EXPECT_NE(plain, picture({"color", truth(), "--legend"}));
  EXPECT_EQ(plain, picture({"color", truth(), "--frame", frame0()}));
  picture({"color", truth(), "--frame", frame0(), "--beside", "--legend", "--scheme", "marzat"});
  EXPECT_EQ(read_frame(out).size(), (Size{192, 64}));
  picture({"flow", frame0(), frame1(), "-d", "cpu", "--arrows", "--beside"});
  EXPECT_EQ(read_frame(out).size(), (Size{192, 64}));
}

TEST_F(Command, ColorDrawsBothSchemes) {
  render("rotation");
  run_well({"color", truth(), "-o", path("a.png")});
  run_well({"color", truth(), "-o", path("b.png"), "--scheme", "marzat", "--max-motion", "2.5"});
  EXPECT_EQ(read_frame(path("a.png")).size(), (Size{96, 64}));
  EXPECT_EQ(read_frame(path("b.png")).size(), (Size{96, 64}));
  EXPECT_NE(read_text(path("a.png")), read_text(path("b.png")));
}

TEST_F(Command, FlowTakesLabelMethodsAndRefinement) {
  render();
  const auto json = run_well({"flow",      frame0(),
                              frame1(),    "-d",
                              "cpu",       "-m",
                              "icm",       "--max-displacement",
                              "3",         "--aggregation",
                              "5",         "--sub-pixel",
                              "--speckle", "9",
                              "--fill",    "--final-median",
                              "5",         "--energy",
                              "sweeps",    "--gt",
                              truth(),     "--json"})
                        .json();
  EXPECT_EQ(json["method"], "icm");
  EXPECT_EQ(json["parameters"]["sub_pixel"], true);
  EXPECT_EQ(json["fb_check"], 0);
  EXPECT_EQ(json["speckle"], 9);
  EXPECT_EQ(json["fill"], true);
  EXPECT_EQ(json["final_median"], 5);
  EXPECT_EQ(json["energy"].size(), 11u);
  EXPECT_LT(json["epe"], 0.5);
  run_well({"flow", frame0(), frame1(), "-d", "cpu", "-m", "winner-takes-all", "--color", path("out.png")});
  EXPECT_TRUE(std::filesystem::exists(path("out.png")));
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

TEST_F(Command, MethodsListsEveryMethod) {
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
  EXPECT_EQ(json.size(), 3u);
  expect_methods<FlowMethod>(json["flow"], text);
  expect_methods<StereoMethod>(json["stereo"], text);
  expect_methods<DetectionMethod>(json["detect"], text);
  for (const char* task : {"parafield flow", "parafield stereo", "parafield detect"})
    EXPECT_NE(text.find(task), std::string::npos) << task;
}

TEST_F(Command, DevicesListsTheCpuFirst) {
  const auto json = run_well({"devices", "--json"}).json();
  EXPECT_EQ(json["devices"][0]["device"], "cpu");
  EXPECT_GE(json["devices"][0]["threads"], 1);
  EXPECT_EQ(json["devices"].size() > 1, json["why_no_cuda"].is_null());
  const std::string text = run_well({"devices"}).out;
  EXPECT_TRUE(text.starts_with("cpu"));
  EXPECT_EQ(text.find("cuda    none: " + why_no_cuda()) != std::string::npos, !why_no_cuda().empty());
}

TEST_F(Command, ForcedInstructionSetIsTheOneThatRuns) {
  if (run({"devices"}, {"PARAFIELD_ISA=v2"}).code != 0)
    GTEST_SKIP() << "only x86-64 has the instruction set v2";
  render();
  const auto json =
      run_well({"flow", frame0(), frame1(), "-d", "cpu", "--json"}, {"PARAFIELD_ISA=v2"}).json();
  EXPECT_EQ(json["instruction_set"], "v2");
}

TEST_F(Command, FramesMayBeNamedLikeSubcommands) {
  render();
  std::filesystem::copy(frame0(), path("flow"));
  std::filesystem::copy(frame1(), path("eval"));
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(path(""));
  run_well({"flow", "flow", "eval", "-d", "cpu"});
  std::filesystem::current_path(here);
}

}  // namespace
}  // namespace parafield::test
