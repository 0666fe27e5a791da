// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <string>

/// What `parafield bench` asks CUDA's driver, libcuda.so.1. It is loaded when it is used.
namespace parafield::command {

/// "GPU-" and the identifier of a CUDA device, as NVML writes it; empty if the driver does not tell it.
std::string gpu_identifier(int index);

/// Milliseconds of one copy of `bytes` within a CUDA device's memory: the median of several series of copies
/// that follow each other. Throws Error(device).
double gpu_copy_milliseconds(int index, std::size_t bytes);

}  // namespace parafield::command
