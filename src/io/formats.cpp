// SPDX-License-Identifier: MIT
#include "io/formats.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "io/netcdf.hpp"

namespace parafield::io {
namespace {

constexpr Format formats[] = {
    {Content::png, "PNG", "an image", [](ByteSpan bytes) { return starts_with(bytes, "\x89PNG\r\n\x1a\n"); },
     [](ByteSpan bytes) { return decode_png(bytes); }, note_png},
    {Content::jpeg, "JPEG", "an image", [](ByteSpan bytes) { return starts_with(bytes, "\xff\xd8\xff"); },
     decode_jpeg, note_jpeg},
    {Content::tiff, "TIFF", "an image", is_tiff, decode_tiff},
    {Content::netcdf, "NetCDF", "an image sequence", is_netcdf},
    {Content::pnm, "PGM or PPM", "an image", is_pnm},
    {Content::pfm, "PFM", "an image", is_pfm},
    {Content::y4m, "Y4M", "a video", [](ByteSpan bytes) { return starts_with(bytes, "YUV4MPEG2"); }},
    {Content::flo, ".flo", "a flow field", is_flo},
    {Content::npy, ".npy", "an array", [](ByteSpan bytes) { return starts_with(bytes, "\x93NUMPY"); },
     decode_npy},
};

}  // namespace

Content content_of(ByteSpan bytes) {
  const auto format = std::ranges::find_if(formats, [&](const Format& one) { return one.starts(bytes); });
  return format == std::end(formats) ? Content::unknown : format->content;
}

const Format* format_of(Content content) {
  const auto format = std::ranges::find(formats, content, &Format::content);
  return format == std::end(formats) ? nullptr : format;
}

void fail_content(ByteSpan bytes, const char* wanted, const char* formats, const char* what) {
  if (const Format* format = format_of(content_of(bytes)))
    fail_format(format->kind, " (", format->name, "), not ", wanted);
  if (bytes.empty()) fail_format("the ", what, " is empty");
  std::string start;
  for (const std::uint8_t byte : bytes.first(std::min<std::size_t>(bytes.size(), 4))) {
    char digits[4];
    std::snprintf(digits, sizeof digits, " %02x", byte);
    start += digits;
  }
  fail_format("not a ", formats, " ", what, ": it starts with the bytes", start);
}

void check_sides(const char* file, std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1 || width > max_side || height > max_side)
    fail_format(file, " of ", width, "x", height, " pixels; each side is 1 to ", max_side);
}

void check_pixels(const char* file, std::int64_t width, std::int64_t height) {
  if (width * height > most_pixels)
    fail_unsupported(file, " of ", width, "x", height, " pixels is too large: at most ", most_pixels,
                     " in all");
}

Frame check_frame(const Frame& frame) {
  if (!frame.memory.on_host())
    fail_value("the frame is in the memory of CUDA device ", frame.memory.device,
               "; files are written from host memory");
  if (!frame.data || frame.width < 1 || frame.height < 1)
    fail_value("a frame of ", frame.size(), " pixels", frame.data ? "" : " without data",
               " cannot be written");
  static constexpr PixelFormat written[] = {PixelFormat::gray_u8,  PixelFormat::gray_u16,
                                            PixelFormat::gray_f32, PixelFormat::rgb_u8,
                                            PixelFormat::rgb_u16,  PixelFormat::rgb_f32};
  if (std::ranges::find(written, frame.format) == std::end(written))
    fail_value("a frame of ", to_string(frame.format),
               " cannot be written; its format should be gray or rgb, u8, u16 or f32");
  Frame checked = frame;
  checked.pitch = pitch_of(frame);
  if (checked.pitch < row_bytes(frame))
    fail_value("a pitch of ", frame.pitch, " bytes is less than a row of ", row_bytes(frame));
  return checked;
}

void check_scale(float scale, bool may_be_0) {
  if ((scale > 0 && std::isfinite(scale)) || (may_be_0 && scale == 0)) return;
  fail_value("the scale cannot be ", scale,
             "; it must be the file's value of 1 px, finite and above 0 (KITTI: 256)");
}

std::string_view plain_text(ByteSpan bytes) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // written by spreadsheet programs
  std::string_view text = text_of(bytes);
  if (text.find('\0') != text.npos) fail_format("not text: it has bytes of 0");
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return text;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace parafield::io
