// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <string>

/// The functions of CUDA's driver, libcuda.so.1, that `parafield bench` needs. The driver is loaded on first
/// use.
namespace parafield::command {

/// Returns "GPU-" and the UUID of a CUDA device, as NVML writes it, or "" if the driver does not report it.
std::string gpu_identifier(int index);

/// Returns the milliseconds of one copy of `bytes` bytes within a CUDA device's memory: the median of several
/// series of back-to-back copies. Throws Error(device).
double gpu_copy_milliseconds(int index, std::size_t bytes);

}  // namespace parafield::command
