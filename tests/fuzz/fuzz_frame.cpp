// SPDX-License-Identifier: MIT
#include "fuzz/mutate.hpp"
#include "io/frames.hpp"
#include "parafield/error.hpp"

// Reads the bytes as a file of one frame, and as a stream of frames from a pipe.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    parafield::io::decode_frame({data, size});
  } catch (const parafield::Error&) {
  }
  try {
    using enum parafield::io::Content;
    const auto content = parafield::io::content_of({data, size});
    if (content == png) parafield::io::decode_png_alpha({data, size});
    if (content == tiff) parafield::io::decode_tiff_alpha({data, size});
    if (content == webp) parafield::io::decode_webp_alpha({data, size});
  } catch (const parafield::Error&) {
  }
  try {
    parafield::io::ByteStream bytes({data, size}, false);
    parafield::io::FrameStream frames(bytes);
    while (frames.next()) continue;
  } catch (const parafield::Error&) {
  }
  return 0;
}
