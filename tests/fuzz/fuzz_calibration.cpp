// SPDX-License-Identifier: MIT
#include "io/calibration.hpp"
#include "parafield/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace parafield;
  const io::ByteSpan bytes{data, size};
  try {
    if (io::is_middlebury(bytes))
      io::decode_middlebury(bytes);
    else if (io::is_kitti(bytes))
      io::decode_kitti_calibration(bytes);
    else
      io::calibration_of(io::decode_yaml(bytes));
  } catch (const Error&) {
  }
  return 0;
}
