// SPDX-License-Identifier: MIT
// Writers of files. The extension of the name chooses the format.
#include <algorithm>
#include <cmath>

#include "io/floats.hpp"

namespace parafield {
namespace io {
namespace {

/// Points as PLY (Turk: The PLY polygon file format, 1994), binary and little-endian.
Bytes encode_points(std::span<const ColorPoint> points) {
  const auto is_known = [](const ColorPoint& point) { return !std::isnan(point.sigma_z); };
  const bool has_sigma = std::ranges::any_of(points, is_known);
  const std::string header = "ply\nformat binary_little_endian 1.0\nelement vertex " +
                             std::to_string(points.size()) +
                             "\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\n"
                             "property uchar green\nproperty uchar blue\n" +
                             (has_sigma ? "property float sigma_z\n" : "") + "end_header\n";
  const std::size_t point_bytes = has_sigma ? 19 : 15;
  Bytes bytes(header.size() + points.size() * point_bytes);
  std::uint8_t* p = std::ranges::copy(header, bytes.data()).out;
  for (const ColorPoint& point : points) {
    for (const float value : {point.x, point.y, point.z}) p = store_float(p, value);
    for (const std::uint8_t value : {point.red, point.green, point.blue}) *p++ = value;
    if (has_sigma) p = store_float(p, point.sigma_z);
  }
  return bytes;
}

/// Writes the bytes that encode(extension) returns; `extension` is in lower case.
template <class Encode>
void write(const std::filesystem::path& path, Encode encode) {
  naming(path, [&] {
    std::string extension = path.extension().string();
    for (char& c : extension)
      if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
    write_file(path, encode(extension));
  });
}

/// `what` is a phrase such as "flow is".
[[noreturn]] void fail_extension(const char* what, const std::string& extension, const char* formats) {
  fail_value(what, " not written as '", extension, "' files; use ", formats);
}

/// The format of float32 values with an extension; unknown for other extensions.
Content floats_of(const std::string& extension) {
  return extension == ".pfm" ? Content::pfm : extension == ".npy" ? Content::npy : Content::unknown;
}

}  // namespace
}  // namespace io

void write_frame(const std::filesystem::path& path, const In<Frame>& frame) {
  io::write(path, [&](const std::string& extension) {
    const Frame checked = io::check_frame(frame);
    const int value_bytes = bytes_per_value(frame.format);
    const bool pfm = extension == ".pfm", jpeg = extension == ".jpg" || extension == ".jpeg";
    const int wanted = extension == ".pgm" ? 1 : extension == ".ppm" ? 3 : 0;
    if (!wanted && !pfm && !jpeg && extension != ".png")
      io::fail_extension("frames are", extension, ".png, .jpg (u8), .pgm, .ppm or .pfm (f32)");
    if (pfm != (value_bytes == 4) || (jpeg && value_bytes != 1))
      fail_value("a ", extension, " file holds ",
                 pfm    ? "f32"
                 : jpeg ? "u8"
                        : "u8 or u16",
                 " pixels, the frame is ", to_string(frame.format), "; write it as ",
                 value_bytes == 4 ? ".pfm" : ".png");
    if (wanted && wanted != channels(frame.format))
      fail_value("a ", extension, " file holds ", wanted == 1 ? "gray" : "rgb", " pixels, the frame is ",
                 to_string(frame.format), "; write it as ", wanted == 1 ? ".ppm" : ".pgm", " or .png");
    return pfm      ? io::encode_pfm_frame(checked)
           : jpeg   ? io::encode_jpeg(checked)
           : wanted ? io::encode_pnm(checked)
                    : io::encode_png(checked);
  });
}

void write_flow(const std::filesystem::path& path, const In<FlowView>& flow, bool mark_invalid) {
  io::write(path, [&](const std::string& extension) {
    check_flow(flow, "the flow field");
    const io::Content format = extension == ".flo" ? io::Content::flo : io::floats_of(extension);
    if (format != io::Content::unknown) return io::encode_flow(format, flow, mark_invalid);
    if (extension == ".png") return io::encode_kitti(flow);
    io::fail_extension("flow is", extension, ".flo, .pfm, .npy or .png (KITTI)");
  });
}

void write_covariance(const std::filesystem::path& path, const Covariance<View<const float>>& covariance) {
  io::write(path, [&](const std::string& extension) {
    const auto& [xx, xy, yy] = covariance;
    if (!xx || !xy || !yy) fail_value("the covariance lacks a plane");
    check_same_size("xy of the covariance", xy.size(), "xx", xx.size());
    check_same_size("yy of the covariance", yy.size(), "xx", xx.size());
    if (extension != ".npy") io::fail_extension("covariances are", extension, ".npy");
    const std::string header = io::npy_header(xx.size(), 3);
    const auto pixels = std::size_t(xx.width) * std::size_t(xx.height);
    io::Bytes bytes(header.size() + pixels * 3 * sizeof(float));
    std::uint8_t* p = std::ranges::copy(header, bytes.data()).out;
    for (int y = 0; y < xx.height; ++y)
      for (int x = 0; x < xx.width; ++x)
        for (const View<const float>* plane : {&xx, &xy, &yy}) p = io::store_float(p, (*plane)(x, y));
    return bytes;
  });
}

void write_disparity(const std::filesystem::path& path, const In<DisparityView>& disparity, float scale,
                     bool mark_invalid) {
  io::write(path, [&](const std::string& extension) {
    check_disparity(disparity, "the disparity field");
    io::check_scale(scale, false);
    const io::Content format = io::floats_of(extension);
    if (format != io::Content::unknown) return io::encode_disparity(format, disparity, mark_invalid);
    if (extension == ".png") return io::encode_png_disparity(disparity, scale);
    io::fail_extension("disparities are", extension, ".pfm, .npy or .png (16 bits)");
  });
}

float depth_scale_of(double baseline) { return baseline < 3 ? 1000 : 1; }

DepthLoss write_depth(const std::filesystem::path& path, const View<const float>& depth, float scale) {
  DepthLoss loss;
  io::write(path, [&](const std::string& extension) {
    check_disparity({depth}, "the depth image");
    if (!(scale > 0 && std::isfinite(scale)))
      fail_value("the scale cannot be ", scale,
                 "; it is the file's value of a depth of 1, finite and above 0");
    const io::Content format = io::floats_of(extension);
    if (format != io::Content::unknown) return io::encode_disparity(format, {depth}, false);
    if (extension == ".png") return io::encode_png_depth(depth, scale, loss);
    io::fail_extension("depths are", extension, ".pfm, .npy or .png");
  });
  return loss;
}

void write_mask(const std::filesystem::path& path, View<const std::uint8_t> mask) {
  io::write(path, [&](const std::string& extension) {
    if (extension != ".png" && extension != ".pgm")
      io::fail_extension("masks are", extension, ".png or .pgm");
    const Frame rows =
        io::check_frame({mask.data, mask.width, mask.height, mask.pitch, PixelFormat::gray_u8});
    FrameBuffer frame(mask.size(), PixelFormat::gray_u8);
    const View<const std::uint8_t> from = values_of<std::uint8_t>(rows);
    const View<std::uint8_t> to = values_of<std::uint8_t>(frame);
    for_each_pixel(mask.size(), [&](int x, int y) { to(x, y) = from(x, y) ? 255 : 0; });
    return extension == ".pgm" ? io::encode_pnm(frame) : io::encode_png(frame);
  });
}

void write_points(const std::filesystem::path& path, std::span<const ColorPoint> points) {
  io::write(path, [&](const std::string& extension) {
    if (extension != ".ply") io::fail_extension("points are", extension, ".ply");
    return io::encode_points(points);
  });
}

}  // namespace parafield
