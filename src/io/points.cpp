// SPDX-License-Identifier: MIT
// Points as PLY (Turk: The PLY polygon file format, 1994), binary and little-endian; depths.
#include <bit>
#include <cmath>
#include <limits>

#include "io/formats.hpp"

namespace parafield {
namespace io {
namespace {

Bytes encode_points(std::span<const ColorPoint> points) {
  const std::string header = "ply\nformat binary_little_endian 1.0\nelement vertex " +
                             std::to_string(points.size()) +
                             "\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\n"
                             "property uchar green\nproperty uchar blue\nend_header\n";
  constexpr std::size_t point_bytes = 15;
  Bytes bytes(header.begin(), header.end());
  bytes.reserve(bytes.size() + points.size() * point_bytes);
  for (const ColorPoint& point : points) {
    for (const float value : {point.x, point.y, point.z})
      for (int shift = 0; shift < 32; shift += 8)
        bytes.push_back(std::uint8_t(std::bit_cast<std::uint32_t>(value) >> shift));
    bytes.insert(bytes.end(), {point.red, point.green, point.blue});
  }
  return bytes;
}

/// 16-bit PNG of depth * scale; 0 where the depth is unknown or does not fit.
Bytes encode_png_depth(View<const float> depth, float scale) {
  FrameBuffer frame(depth.size(), PixelFormat::gray_u16);
  const View<std::uint16_t> values = values_of<std::uint16_t>(frame);
  for_each_pixel(depth.size(), [&](int x, int y) {
    const float value = std::round(depth(x, y) * scale);
    values(x, y) = value >= 0 && value <= 65535 ? std::uint16_t(value) : std::uint16_t(0);
  });
  return encode_png(frame);
}

std::string extension_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return extension;
}

}  // namespace
}  // namespace io

void write_points(const std::filesystem::path& path, std::span<const ColorPoint> points) {
  io::naming(path, [&] {
    if (const std::string extension = io::extension_of(path); extension != ".ply")
      fail_value("points are not written as '", extension, "' files; use .ply");
    io::write_file(path, io::encode_points(points));
  });
}

void write_depth(const std::filesystem::path& path, const View<const float>& depth, float scale) {
  io::naming(path, [&] {
    io::check_disparity({depth});
    if (!(scale > 0 && std::isfinite(scale)))
      fail_value("the scale cannot be ", scale,
                 "; it is the file's value of a depth of 1, finite and above 0");
    const std::string extension = io::extension_of(path);
    if (extension != ".pfm" && extension != ".npy" && extension != ".png")
      fail_value("depths are not written as '", extension, "' files; use .pfm, .npy or .png");
    io::write_file(path, extension == ".pfm"   ? io::encode_disparity(io::Content::pfm, {depth}, false)
                         : extension == ".npy" ? io::encode_disparity(io::Content::npy, {depth}, false)
                                               : io::encode_png_depth(depth, scale));
  });
}

}  // namespace parafield
