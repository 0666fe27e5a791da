// SPDX-License-Identifier: MIT
#include <sys/mman.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "parafield/io.hpp"

// Looks for missing parts in the bytes as a video file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/proc/self/fd/" + std::to_string(::memfd_create("fuzz", 0));
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), std::streamsize(size));
  parafield::missing_part(path);
  return 0;
}
