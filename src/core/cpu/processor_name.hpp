// SPDX-License-Identifier: MIT
#pragma once
#include <istream>
#include <string>

namespace parafield {

/// Name of this machine's processor: of x86-64, its model; of ARM, the board and its cores, such as "NVIDIA
/// Jetson Orin Nano Developer Kit (Cortex-A78AE)". "CPU" if the system does not report it.
std::string processor_name();

/// The same from the text of /proc/cpuinfo and of /proc/device-tree/model, which may be empty.
std::string processor_name(std::istream& cpuinfo, std::string board);

}  // namespace parafield
