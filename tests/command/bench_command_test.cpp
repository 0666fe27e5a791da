// SPDX-License-Identifier: MIT
// `parafield bench`: measurements and reports.
#include "command/run_command.hpp"
#include "support.hpp"

namespace parafield::test {
namespace {

class Command : public CommandTest {};

TEST_F(Command, BenchMeasuresEveryPresetAndSize) {
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

TEST_F(Command, BenchMeasuresTheGivenMethods) {
  const auto json = run_well({"bench", "-d", "cpu", "--size", "40x32", "--repeat", "1", "-m", "icm",
                              "winner-takes-all", "--json"})
                        .json();
  ASSERT_EQ(json["results"].size(), 6u);  // three presets each
  EXPECT_EQ(json["results"][0]["method"], "icm");
  EXPECT_EQ(json["results"][3]["method"], "winner-takes-all");
}

TEST_F(Command, BenchContinuesAfterAFailure) {
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

TEST_F(Command, BenchScoresTheRealPair) {
  PARAFIELD_DATA_OR_SKIP(pair, "yosemite/noclouds");
  const std::string data = pair.parent_path().parent_path().string();
  const auto json = run_well({"bench", "-d", "cpu", "--preset", "default", "--size", "64x48", "--repeat", "1",
                              "--data", data, "--json"})
                        .json();
  EXPECT_EQ(json["results"][0]["data"]["name"], "yosemite noclouds yos08-09");
  EXPECT_LT(json["results"][0]["data"]["aae_degrees"], 2.6);
}

}  // namespace
}  // namespace parafield::test
