// SPDX-License-Identifier: MIT
#include "io/formats.hpp"
#include "parafield/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    parafield::io::decode_tracks({data, size});
  } catch (const parafield::Error&) {
  }
  return 0;
}
