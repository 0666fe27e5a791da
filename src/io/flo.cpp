// SPDX-License-Identifier: MIT
// Middlebury's .flo: the float 202021.25 ("PIEH"), width and height as 32-bit integers, then u and v of each
// pixel as floats, row by row; everything little-endian (Baker et al. 2011, flow-code).
#include "io/floats.hpp"

namespace parafield::io {

constexpr std::size_t header_bytes = 12;

Floats open_flo(ByteSpan bytes) {
  if (bytes.size() < header_bytes)
    fail_format("the header of a .flo file has ", header_bytes, " bytes, the file has ", bytes.size());
  const auto width = std::int32_t(load_u32(bytes.data() + 4)),
             height = std::int32_t(load_u32(bytes.data() + 8));
  check_sides("a .flo file", width, height);
  // A file that is too long is also damaged: its width or height is wrong.
  const std::uint64_t needed = header_bytes + 8 * std::uint64_t(width) * std::uint64_t(height);
  if (bytes.size() != needed)
    fail_format(width, "x", height, " pixels need ", needed, " bytes, the file has ", bytes.size());
  return {{width, height}, 2, bytes.data() + header_bytes};
}

std::string flo_header(Size size) {
  std::uint8_t header[header_bytes];
  store_u32(store_u32(store_float(header, 202021.25f), std::uint32_t(size.width)),
            std::uint32_t(size.height));
  return {std::begin(header), std::end(header)};
}

}  // namespace parafield::io
