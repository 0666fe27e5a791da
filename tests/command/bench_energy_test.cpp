// SPDX-License-Identifier: MIT
// The counters of energy of `parafield bench`.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "bench/energy.hpp"

namespace parafield::test {
namespace {

using namespace parafield::command;

/// A folder like /sys/class/powercap, in a temporary place.
class BenchEnergy : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "parafield-energy-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& zone, const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(folder_ / zone);
    std::ofstream(folder_ / zone / file) << text << "\n";
  }
  void add_package(const std::string& zone, const std::string& microjoules) const {
    write(zone, "name", "package-0");
    write(zone, "max_energy_range_uj", "1000000");
    write(zone, "energy_uj", microjoules);
  }

  std::filesystem::path folder_;
};

TEST_F(BenchEnergy, IsTheSumOfThePackages) {
  add_package("intel-rapl:0", "100000");
  add_package("intel-rapl:1", "900000");
  write("intel-rapl:0:0", "name", "core");  // a part of a package
  write("intel-rapl:0:0", "energy_uj", "50000");
  const EnergyMeter meter = rapl_meter(folder_.string());
  ASSERT_TRUE(meter) << meter.missing;
  EXPECT_EQ(meter.source, "rapl");
  EXPECT_EQ(meter.joules(), 0);
  add_package("intel-rapl:0", "300000");
  write("intel-rapl:0:0", "energy_uj", "150000");
  EXPECT_NEAR(meter.joules().value_or(-1), 0.2, 1e-9);
  add_package("intel-rapl:1", "100000");  // past its range of 1 J
  EXPECT_NEAR(meter.joules().value_or(-1), 0.4, 1e-9);
  write("intel-rapl:1", "energy_uj", "gone");
  EXPECT_FALSE(meter.joules());
}

TEST_F(BenchEnergy, SaysWhyThereIsNoCounter) {
  EXPECT_EQ(rapl_meter(folder_.string()).missing, folder_.string() + " has no counter of energy (RAPL)");
  EXPECT_FALSE(rapl_meter((folder_ / "none").string()));
  add_package("intel-rapl:0", "refused");
  EXPECT_NE(rapl_meter(folder_.string()).missing.find("cannot be read"), std::string::npos);
  EXPECT_FALSE(energy_meter(Device::cuda(1000)));
}

TEST_F(BenchEnergy, AddsUpThePowerOfABoard) {
  EXPECT_NE(hwmon_meter(folder_.string()).missing.find("VDD_IN"), std::string::npos);
  write("hwmon3", "name", "ina3221");
  write("hwmon3", "in1_label", "VDD_IN");
  write("hwmon3", "in1_input", "5000");
  EXPECT_FALSE(hwmon_meter(folder_.string()));  // a voltage alone
  write("hwmon3", "curr1_input", "2000");
  write("hwmon3", "in2_label", "VDD_SOC");
  write("hwmon3", "in2_input", "5000");
  write("hwmon3", "curr2_input", "900");
  const EnergyMeter meter = hwmon_meter(folder_.string());
  ASSERT_TRUE(meter) << meter.missing;
  EXPECT_EQ(meter.source, "hwmon");
  EXPECT_EQ(meter.joules(), 0);
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(20)) continue;
  write("hwmon3", "curr1_input", "4000");
  const double joules = meter.joules().value_or(-1);  // 10 W, then 20 W: 15 W on average
  EXPECT_GE(joules, 15 * 0.02);
  EXPECT_LE(joules,
            15 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() + 0.1);
  write("hwmon3", "in1_input", "gone");
  EXPECT_FALSE(meter.joules());
}

TEST_F(BenchEnergy, AddsTheRailsOfABoard) {
  const char* const labels[] = {"VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(hwmon_meter(folder_.string()));
    const std::string number = std::to_string(i + 1);
    write("hwmon1", "in" + number + "_label", labels[i]);
    write("hwmon1", "in" + number + "_input", "5000");
    write("hwmon1", "curr" + number + "_input", "1000");
  }
  EXPECT_TRUE(hwmon_meter(folder_.string()));
}

TEST_F(BenchEnergy, IsMeasuredFromChangeToChange) {
  int reads = 0;
  const EnergyMeter meter{"test", {}, [&]() -> std::optional<double> { return ++reads / 3; }};
  const auto energy = measure_energy(meter, 0.1, [] { return 2L; });
  ASSERT_TRUE(energy);
  EXPECT_GE(energy->joules, 1);
  EXPECT_GE(energy->seconds, 0.1);
  EXPECT_GT(energy->frames, 0);
  EXPECT_EQ(energy->frames % 2, 0);
}

TEST_F(BenchEnergy, IsUnknownWhereTheCounterStands) {
  const EnergyMeter meter{"test", {}, []() -> std::optional<double> { return 7; }};
  EXPECT_FALSE(measure_energy(meter, 0, [] { return 1L; }));
  const EnergyMeter broken{"test", {}, []() -> std::optional<double> { return {}; }};
  EXPECT_FALSE(measure_energy(broken, 0, [] { return 1L; }));
}

}  // namespace
}  // namespace parafield::test
