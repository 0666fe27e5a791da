// SPDX-License-Identifier: MIT
// Every subcommand, end to end, on rendered scenes.
#include <cstring>

#include "command/run_command.hpp"
#include "same.hpp"
#include "support.hpp"

namespace parafield::test {
namespace {

class Command : public CommandTest {};

const Words score_keys = {"aae", "aae_std", "epe",    "epe_std", "r1",     "r3",
                          "r5",  "density", "pixels", "unknown", "missing"};

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

TEST_F(Command, FlowWritesFlowAndPictureAndScores) {
  render();
  const Outcome outcome =
      run_well({"flow", frame0(), frame1(), "-o", path("out.flo"), "--color", path("out.png"), "--gt",
                truth(), "-d", "cpu", "--repeat", "2", "--json"});
  const auto json = outcome.json();
  EXPECT_EQ(json["method"], "adaptive-ridge");
  EXPECT_FALSE(json.contains("preset"));
  EXPECT_EQ(json["parameters"]["rounds"], 2);
  EXPECT_EQ(json["parameters"]["shrinkage"], 1);
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
    expect_same_motion(same, flow);
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

TEST_F(Command, EvalScoresTheConfidenceThatFlowWrites) {
  render("layers");
  for (const char* name : {"confidence.npy", "confidence.pfm"})
    for (const Words& more : {Words{}, Words{"--mask", path("scene/occluded0000.png")}}) {
      // The confidence is the unrefined flow's.
      const Words flow = {"flow",         frame0(),   frame1(),   "-d", "cpu",  "-o",    path("out.flo"),
                          "--confidence", path(name), "--refine", "0",  "--gt", truth(), "--json"},
                  eval = {"eval", path("out.flo"), truth(), "--confidence", path(name), "--json"};
      const auto of_flow = run_well(join(flow, more)).json(), of_eval = run_well(join(eval, more)).json();
      for (const char* key : {"auc", "auc_best", "epe"}) EXPECT_EQ(of_flow[key], of_eval[key]) << key;
      EXPECT_LT(of_flow["auc_best"], of_flow["auc"]);
      if (more.empty()) {
        EXPECT_LT(of_flow["auc"], of_flow["epe"]) << "it is better than no order";
      }
      EXPECT_EQ(of_flow["files"], (Words{path("out.flo"), path(name)}));
    }
  const FlowField flow =
      estimate_flow(read_frame(frame0()), read_frame(frame1()), {}, {.device = Device::cpu()});
  expect_same(read_disparity(path("confidence.pfm")).d, flow.confidence);
  const std::string text =
      run_well({"flow", frame0(), frame1(), "--confidence", path("c.npy"), "--gt", truth()}).out;
  EXPECT_NE(text.find("\nAUC 0."), std::string::npos) << text;
  EXPECT_FALSE(run_well({"flow", frame0(), frame1(), "--gt", truth(), "--json"}).json().contains("auc"));
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
  expect_failure(2, {"color", truth(), "-o", path("other.png"), "--frame", frame0()},
                 {"--frame needs --arrows or --beside"});
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
  for (const char* name : {"a.jpg", "a.JPEG", "a.ppm"}) {
    run_well({"color", truth(), "-o", path(name)});
    EXPECT_EQ(read_frame(path(name)).format(), PixelFormat::rgb_u8);
  }
  expect_failure(2, {"color", truth(), "-o", path("a.gif")},
                 {"the name should end in .png or .jpg or .jpeg or .ppm"});
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
  EXPECT_EQ(json["energy"].size(), 5u);
  EXPECT_LT(json["epe"], 0.5);
  run_well({"flow", frame0(), frame1(), "-d", "cpu", "-m", "winner-takes-all", "--color", path("out.png")});
  EXPECT_TRUE(std::filesystem::exists(path("out.png")));
}

TEST_F(Command, DevicesListsTheCpuFirst) {
  if (tests_sanitized_command()) GTEST_SKIP() << compares_builds;
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
