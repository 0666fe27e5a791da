// SPDX-License-Identifier: MIT
#include "core/cpu/processor_name.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace parafield::test {
namespace {

std::string name_from(const std::string& cpuinfo, const std::string& board = "") {
  std::istringstream stream(cpuinfo);
  return processor_name(stream, board);
}

TEST(ProcessorName, IsTheModelOnX86) {
  EXPECT_EQ(name_from("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9B14\nflags\t\t: fpu\n"),
            "AMD EPYC 9B14");
}

TEST(ProcessorName, IsTheBoardAndItsCoresOnArm) {
  const std::string a78 =
                        "processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x0\nCPU part\t: 0xd42\n\n",
                    a53 = "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n",
                    other = "processor\t: 2\nCPU implementer\t: 0x99\nCPU part\t: 0x001\n\n";
  EXPECT_EQ(name_from(a78 + a78, std::string("NVIDIA Jetson Orin Nano\0", 24)),
            "NVIDIA Jetson Orin Nano (Cortex-A78AE)");
  EXPECT_EQ(name_from(a53 + a78 + a53), "Cortex-A53, Cortex-A78AE");
  EXPECT_EQ(name_from(other), "ARM core 0x99:0x001");
  EXPECT_EQ(name_from("processor\t: 0\n", "A board\n"), "A board");
  EXPECT_EQ(name_from(""), "CPU");
}

TEST(ProcessorName, IsKnownHere) { EXPECT_FALSE(processor_name().empty()); }

}  // namespace
}  // namespace parafield::test
