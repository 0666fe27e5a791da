// SPDX-License-Identifier: MIT
// `parafield bench`: measurements and reports.
#include <fstream>

#include "command/run_command.hpp"
#include "support.hpp"

namespace parafield::test {
namespace {

class BenchCommand : public CommandTest {};

TEST_F(BenchCommand, MeasuresEveryPresetAndSize) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  const Words bench = {"bench", "-d", "cpu", "--size", "48x32", "40x40", "--repeat", "3"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), bench.begin(), bench.end());
    return run_well(more);
  };
  const auto json = with({"--json"}).json();
  EXPECT_EQ(json["version"], version());
  EXPECT_EQ(json["results"].size(), 2 * presets(AdaptiveRidge{}).size());
  for (const auto& result : json["results"]) {
    for (const char* way : {"resident", "streaming", "end_to_end", "overlapped"}) {
      const auto& times = result[way];
      EXPECT_EQ(times["repeats"], 3);
      EXPECT_GT(times["min_milliseconds"], 0);
      EXPECT_LE(times["min_milliseconds"], times["p10_milliseconds"]);
      EXPECT_LE(times["p10_milliseconds"], times["median_milliseconds"]);
      EXPECT_LE(times["median_milliseconds"], times["p90_milliseconds"]);
    }
    const double pixels = double(result["width"]) * double(result["height"]);
    const double etato = double(result["resident"]["median_milliseconds"]) * 1000 / pixels *
                         double(result["scene"]["aae_degrees"]);
    EXPECT_NEAR(result["scene"]["etato_microsecond_degrees_per_pixel"], etato, 1e-9);
    EXPECT_FALSE(result.contains("data"));
  }
  const std::string table = with({"--preset", "default"}).out;
  EXPECT_NE(table.find("adaptive-ridge default"), std::string::npos);
  EXPECT_EQ(table.find("sequence"), std::string::npos);
  EXPECT_NE(with({"-m", "adaptive-ridge", "--json", path("bench.json")}).out.find("48x32"),
            std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(read_text(path("bench.json")))["results"].size(), json["results"].size());
}

TEST_F(BenchCommand, MeasuresTheGivenMethods) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  const auto json = run_well({"bench", "-d", "cpu", "--size", "40x32", "--repeat", "1", "-m", "icm",
                              "winner-takes-all", "--json"})
                        .json();
  ASSERT_EQ(json["results"].size(), 6u);  // three presets each
  EXPECT_EQ(json["results"][0]["method"], "icm");
  EXPECT_EQ(json["results"][3]["method"], "winner-takes-all");
}

TEST_F(BenchCommand, MeasuresTheGivenPresetsOfMethodsThatHaveThem) {
  const auto json = run_well({"bench", "-d", "cpu", "--size", "40x32", "--repeat", "1", "-m", "lucas-kanade",
                              "adaptive-ridge", "--preset", "paper", "default", "fast", "--json"})
                        .json();
  std::vector<std::string> measured;
  for (const auto& row : json["results"])
    measured.push_back(std::string(row["method"]) + " " + std::string(row["preset"]));
  EXPECT_EQ(measured, (std::vector<std::string>{"lucas-kanade default", "lucas-kanade paper",
                                                "adaptive-ridge default", "adaptive-ridge fast"}));
}

TEST_F(BenchCommand, MeasuresEveryTask) {
  const std::string markdown = path("bench.md");
  const auto json = run_well({"bench",
                              "-d",
                              "cpu",
                              "--size",
                              "64x48",
                              "--repeat",
                              "2",
                              "--task",
                              "detection",
                              "flow",
                              "stereo",
                              "-m",
                              "winner-takes-all",
                              "--preset",
                              "paper",
                              "--disparities",
                              "16",
                              "--json",
                              "--markdown",
                              markdown,
                              "--commit",
                              "abc"})
                        .json();
  ASSERT_EQ(json["devices"].size(), 1u);
  const auto& device = json["devices"][0];
  EXPECT_GT(device["copy_gigabytes_per_second"], 0.1);
  EXPECT_LT(device["copy_gigabytes_per_second"], 10000);
  EXPECT_NE(device["energy_source"].is_null(), !device.contains("why_no_energy"));
  const std::vector<std::string> tasks = {"flow", "stereo", "detection"};
  ASSERT_EQ(json["results"].size(), tasks.size());
  const int bytes_of_call[] = {2 + 13, 2 + 9, 2 + 6}, bytes_of_push[] = {1 + 13, 2 + 9, 1 + 6};  // of a pixel
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto& row = json["results"][i];
    SCOPED_TRACE(row.dump());
    EXPECT_EQ(row["task"], tasks[i]);
    EXPECT_EQ(row.contains("overlapped"), tasks[i] != "stereo");
    EXPECT_EQ(row.contains("energy"), !device["energy_source"].is_null());
    EXPECT_EQ(row["traffic"]["resident"]["bytes"], 64 * 48 * bytes_of_call[i]);
    EXPECT_EQ(row["traffic"]["streaming"]["bytes"], 64 * 48 * bytes_of_push[i]);
    const auto& traffic = row["traffic"]["streaming"];
    const double rate = double(traffic["bytes"]) / double(row["streaming"]["median_milliseconds"]) / 1e6;
    EXPECT_NEAR(double(traffic["gigabytes_per_second"]) / rate, 1, 1e-9);
    EXPECT_NEAR(double(traffic["share_of_copy"]), rate / double(device["copy_gigabytes_per_second"]), 1e-9);
  }
  EXPECT_EQ(json["results"][1]["disparities"], 16);
  EXPECT_LT(json["results"][1]["scene"]["bad_1"], 1);
  EXPECT_TRUE(json["results"][2]["scene"].contains("f1"));
  const std::string text = read_text(markdown);
  for (const char* part : {"# parafield bench", "- commit abc", "- cpu: ", "copies ", "## flow", "## stereo",
                           "## detection", "| cpu | winner-takes-all paper | 64x48 | "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in:\n" << text;
}

TEST_F(BenchCommand, ContinuesAfterAFailure) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  const Words bench = {"bench", "-d",       "cpu",   "--preset", "default", "--size",
                       "40x32", "500001x1", "48x32", "--repeat", "1"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), bench.begin(), bench.end());
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("1 of 3 measurements failed"), std::string::npos) << outcome.err;
    return outcome;
  };
  const auto results = with({"--json"}).json()["results"];
  ASSERT_EQ(results.size(), 3u);
  EXPECT_NE(std::string(results[1]["error"]).find("500001x1"), std::string::npos);
  EXPECT_TRUE(results[2].contains("resident"));
  EXPECT_NE(with({}).out.find("500001x1 failed: "), std::string::npos);
}

TEST_F(BenchCommand, ComparesWithEarlierTimes) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  const Words bench = {"bench", "-d", "cpu", "--preset", "default", "--size", "64x48", "--repeat", "3"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), bench.begin(), bench.end());
    return run(more);
  };
  const std::string file = path("earlier.json");
  ASSERT_EQ(with({"--json", file, "--commit", "abc"}).code, 0);
  const auto earlier = nlohmann::json::parse(read_text(file));
  const auto write = [&](auto change) {
    auto changed = earlier;
    change(changed);
    std::ofstream(file) << changed.dump();
  };
  const auto scale = [&](double factor) {
    write([=](auto& json) {
      for (const char* way : {"resident", "streaming", "end_to_end", "overlapped"}) {
        auto& median = json["results"][0][way]["median_milliseconds"];
        median = double(median) * factor;
      }
    });
  };
  scale(1000);
  const Outcome faster = with({"--compare", file, "--json"});
  EXPECT_EQ(faster.code, 0) << faster.err;
  const auto json = faster.json();
  EXPECT_EQ(json["compared_with"]["file"], file);
  EXPECT_EQ(json["compared_with"]["commit"], "abc");
  EXPECT_EQ(json["compared_with"]["tolerance_percent"], 10);
  const auto& compared = json["results"][0]["compared"];
  EXPECT_EQ(compared["same_parameters"], true);
  EXPECT_EQ(compared["ratios"].size(), 4u);
  EXPECT_LT(compared["ratios"]["resident"], 0.2);
  EXPECT_GT(compared["ratios"]["resident"], 0);

  scale(0.001);
  const Outcome slower = with({"--compare", file, "--tolerance", "50"});
  EXPECT_EQ(slower.code, 3);
  EXPECT_NE(slower.out.find("ratios to --compare"), std::string::npos);
  for (const char* part :
       {"4 times are more than 50 % above", "adaptive-ridge default 64x48 on cpu, resident: "})
    EXPECT_NE(slower.err.find(part), std::string::npos) << slower.err;

  write([](auto& json) { json["results"][0]["width"] = 65; });
  const Outcome other = with({"--compare", file});
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.err.find("none of these measurements"), std::string::npos) << other.err;

  for (const char* text : {"", "{}", "[1]", "{\"command\": \"flow\", \"results\": []}",
                           "{\"command\": \"bench\", \"results\": []}",
                           "{\"command\": \"bench\", \"schema_version\": 1, \"results\": [3]}"}) {
    std::ofstream(file) << text;
    const Outcome wrong = with({"--compare", file});
    EXPECT_EQ(wrong.code, 1) << text;
    EXPECT_NE(wrong.err.find(file), std::string::npos) << wrong.err;
  }
  EXPECT_EQ(with({"--compare", path("missing.json")}).code, 1);
  EXPECT_EQ(with({"--tolerance", "5"}).code, 2);
}

TEST_F(BenchCommand, ScoresTheRealPair) {
  PARAFIELD_DATA_OR_SKIP(pair, "yosemite/noclouds");
  const std::string data = pair.parent_path().parent_path().string();
  const auto json = run_well({"bench", "-d", "cpu", "--preset", "default", "--size", "64x48", "--repeat", "1",
                              "--data", data, "--json"})
                        .json();
  EXPECT_EQ(json["results"][0]["data"]["name"], "yosemite noclouds yos08-09");
  EXPECT_LT(json["results"][0]["data"]["aae_degrees"], 2.6);
}

TEST_F(BenchCommand, ScoresRealSequencesOfEveryTask) {
  PARAFIELD_DATA_OR_SKIP(pair, "middlebury-stereo/cones");
  PARAFIELD_DATA_OR_SKIP(highway, "cdnet/highway_a");
  const std::string data = pair.parent_path().parent_path().string();
  const auto results =
      run_well({"bench", "-d", "cpu", "--task", "stereo", "detection", "-m", "icm", "--preset", "paper",
                "--size", "64x48", "--repeat", "1", "--data", data, "--json"})
          .json()["results"];
  EXPECT_EQ(results[0]["data"]["name"], "middlebury cones");
  EXPECT_LT(results[0]["data"]["bad_1"], 0.5);
  EXPECT_EQ(results[1]["data"]["name"], "cdnet highway, 40 frames");
  EXPECT_GT(results[1]["data"]["f1"], 0.8);
}

}  // namespace
}  // namespace parafield::test
