// Middlebury's .flo: the float 202021.25 ("PIEH"), width and height as 32-bit integers, then u and v of each
// pixel as floats, row by row; all little-endian (Baker et al. 2011, flow-code).
#include "core/fail.hpp"
#include "io/bytes.hpp"
#include "io/formats.hpp"

namespace parafield::io {
namespace {

constexpr std::size_t header_bytes = 12;

}  // namespace

bool is_flo(ByteSpan bytes) { return starts_with(bytes, "PIEH"); }

FlowField decode_flo(ByteSpan bytes) {
  if (bytes.size() < header_bytes)
    fail(ErrorCode::format, "the header of a .flo file has ", header_bytes, " bytes, the file has ",
         bytes.size());
  const auto width = std::int32_t(load_u32(bytes.data() + 4)),
             height = std::int32_t(load_u32(bytes.data() + 8));
  if (width < 1 || height < 1 || width > max_side || height > max_side)
    fail(ErrorCode::format, "a .flo file of ", width, "x", height, " pixels; each side is 1 to ", max_side);
  // A file that is too long is damaged, too: its width or height is wrong.
  const std::uint64_t needed = header_bytes + 8 * std::uint64_t(width) * std::uint64_t(height);
  if (bytes.size() != needed)
    fail(ErrorCode::format, width, "x", height, " pixels need ", needed, " bytes, the file has ",
         bytes.size());

  FlowField flow({width, height}, {}, false);
  const std::uint8_t* p = bytes.data() + header_bytes;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x, p += 8) set_flow(flow, x, y, load_float(p), load_float(p + 4));
  return flow;
}

Bytes encode_flo(const FlowView& flow, bool mark_invalid) {
  const auto [width, height] = flow.size();
  Bytes bytes(header_bytes + 8 * std::size_t(width) * std::size_t(height));
  std::uint8_t* p = store_float(bytes.data(), 202021.25f);
  p = store_u32(p, std::uint32_t(width));
  p = store_u32(p, std::uint32_t(height));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto [u, v] = written_flow(flow, x, y, mark_invalid);
      p = store_float(store_float(p, u), v);
    }
  return bytes;
}

}  // namespace parafield::io
