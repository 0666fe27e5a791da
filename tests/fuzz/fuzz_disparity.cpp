// SPDX-License-Identifier: MIT
#include "fuzz/mutate.hpp"
#include "io/formats.hpp"
#include "parafield/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    parafield::io::decode_disparity({data, size}, 256);
  } catch (const parafield::Error&) {
  }
  return 0;
}
