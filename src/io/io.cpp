// SPDX-License-Identifier: MIT
#include "parafield/io.hpp"

#include <algorithm>
#include <cstdio>

#include "io/floats.hpp"
#include "io/frames.hpp"
#include "io/netcdf.hpp"

namespace parafield {
namespace io {
namespace {

/// Reads a file. If its format is unknown, it reads only the first bytes, because the file may be huge.
Bytes read_content(const std::filesystem::path& path) {
  const InputFile file(path);
  Bytes head = file.first(recognized_by);
  return content_of(head) == Content::unknown ? head : file.first(file.size());
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return extension;
}

/// The name of a stream of frames in messages.
std::filesystem::path name_of_stream(const std::filesystem::path& path) {
  return path == "-" ? "standard input" : path;
}

/// Writes the bytes that encode(extension) returns.
template <class Encode>
void write(const std::filesystem::path& path, Encode encode) {
  naming(path, [&] { write_file(path, encode(lower_extension(path))); });
}

}  // namespace

Content content_of(ByteSpan bytes) {
  if (starts_with(bytes, "\x89PNG\r\n\x1a\n")) return Content::png;
  if (starts_with(bytes, "\xff\xd8\xff")) return Content::jpeg;
  if (is_tiff(bytes)) return Content::tiff;
  if (is_netcdf(bytes)) return Content::netcdf;
  if (is_pnm(bytes)) return Content::pnm;
  if (is_pfm(bytes)) return Content::pfm;
  if (starts_with(bytes, "YUV4MPEG2")) return Content::y4m;
  if (starts_with(bytes, "PIEH")) return Content::flo;
  if (is_npy(bytes)) return Content::npy;
  return Content::unknown;
}

void fail_content(ByteSpan bytes, const char* wanted, const char* formats, const char* what) {
  const Content content = content_of(bytes);
  if (content == Content::png) fail_format("an image (PNG), not ", wanted);
  if (content == Content::jpeg) fail_format("an image (JPEG), not ", wanted);
  if (content == Content::tiff) fail_format("an image (TIFF), not ", wanted);
  if (content == Content::netcdf) fail_format("an image sequence (NetCDF), not ", wanted);
  if (content == Content::pnm) fail_format("an image (PGM or PPM), not ", wanted);
  if (content == Content::y4m) fail_format("a video (Y4M), not ", wanted);
  if (content == Content::flo) fail_format("a flow field (.flo), not ", wanted);
  if (content == Content::npy) fail_format("an array (.npy), not ", wanted);
  if (bytes.empty()) fail_format("the ", what, " is empty");
  std::string start;
  for (const std::uint8_t byte : bytes.first(std::min<std::size_t>(bytes.size(), 4))) {
    char digits[4];
    std::snprintf(digits, sizeof digits, " %02x", byte);
    start += digits;
  }
  fail_format("not a ", formats, " ", what, ": it starts with the bytes", start);
}

FlowField decode_flow(ByteSpan bytes) {
  const Content content = content_of(bytes);
  if (content == Content::png) return decode_kitti(bytes);
  if (content == Content::flo) return flow_of(open_flo(bytes));
  if (content == Content::npy) return flow_of(open_npy(bytes, 2));
  if (content != Content::pfm) fail_content(bytes, "a flow field", ".flo, PFM, .npy or KITTI flow (PNG)");
  const Floats floats = open_pfm(bytes);
  if (floats.channels != 3)
    fail_format(
        "a PFM file of one channel (Pf), not flow; flow has three (PF): u, v and one that is ignored");
  return flow_of(floats);
}

DisparityField decode_disparity(ByteSpan bytes, float scale) {
  const Content content = content_of(bytes);
  if (content == Content::png) return decode_png_disparity(bytes, scale);
  if (content != Content::pfm && content != Content::npy)
    fail_content(bytes,
                 content == Content::pnm ? "disparities; they are PFM, .npy or gray PNG" : "disparities",
                 "PFM, .npy or PNG");
  const Floats floats = content == Content::pfm ? open_pfm(bytes) : open_npy(bytes, 1);
  if (floats.channels != 1)
    fail_format("a PFM file of three channels (PF), not disparities, which have one (Pf)");
  return disparity_of(floats.size, floats);
}

}  // namespace io

FrameBuffer read_frame(const std::filesystem::path& path) {
  return io::naming(io::name_of_stream(path), [&] {
    io::ByteStream bytes(path);
    return io::FrameStream(bytes).only();
  });
}

void write_frame(const std::filesystem::path& path, const In<Frame>& frame) {
  io::write(path, [&](const std::string& extension) {
    const Frame checked = io::check_frame(frame);
    const int value_bytes = bytes_per_pixel(frame.format) / channels(frame.format);
    const bool pfm = extension == ".pfm", jpeg = extension == ".jpg" || extension == ".jpeg";
    const int wanted = extension == ".pgm" ? 1 : extension == ".ppm" ? 3 : 0;
    if (!wanted && !pfm && !jpeg && extension != ".png")
      fail(ErrorCode::invalid_argument, "frames are not written as '", extension,
           "' files; use .png, .jpg (u8), .pgm, .ppm or .pfm (f32)");
    if (pfm != (value_bytes == 4) || (jpeg && value_bytes != 1))
      fail(ErrorCode::invalid_argument, "a ", extension, " file holds ",
           pfm    ? "f32"
           : jpeg ? "u8"
                  : "u8 or u16",
           " pixels, the frame is ", to_string(frame.format), "; write it as ",
           value_bytes == 4 ? ".pfm" : ".png");
    if (wanted && wanted != channels(frame.format))
      fail(ErrorCode::invalid_argument, "a ", extension, " file holds ", wanted == 1 ? "gray" : "rgb",
           " pixels, the frame is ", to_string(frame.format), "; write it as ", wanted == 1 ? ".ppm" : ".pgm",
           " or .png");
    return pfm      ? io::encode_pfm_frame(checked)
           : jpeg   ? io::encode_jpeg(checked)
           : wanted ? io::encode_pnm(checked)
                    : io::encode_png(checked);
  });
}

FlowField read_flow(const std::filesystem::path& path) {
  return io::naming(path, [&] { return io::decode_flow(io::read_content(path)); });
}

void write_flow(const std::filesystem::path& path, const In<FlowView>& flow, bool mark_invalid) {
  io::write(path, [&](const std::string& extension) {
    io::check_flow(flow);
    if (extension == ".flo") return io::encode_flow(io::Content::flo, flow, mark_invalid);
    if (extension == ".pfm") return io::encode_flow(io::Content::pfm, flow, mark_invalid);
    if (extension == ".npy") return io::encode_flow(io::Content::npy, flow, mark_invalid);
    if (extension == ".png") return io::encode_kitti(flow);
    fail(ErrorCode::invalid_argument, "flow is not written as '", extension,
         "' files; use .flo, .pfm, .npy or .png (KITTI)");
  });
}

DisparityField read_disparity(const std::filesystem::path& path, float scale) {
  return io::naming(path, [&] {
    io::check_scale(scale, true);
    return io::decode_disparity(io::read_content(path), scale);
  });
}

void write_disparity(const std::filesystem::path& path, const In<DisparityView>& disparity, float scale,
                     bool mark_invalid) {
  io::write(path, [&](const std::string& extension) {
    io::check_disparity(disparity);
    io::check_scale(scale, false);
    if (extension == ".pfm") return io::encode_disparity(io::Content::pfm, disparity, mark_invalid);
    if (extension == ".npy") return io::encode_disparity(io::Content::npy, disparity, mark_invalid);
    if (extension == ".png") return io::encode_png_disparity(disparity, scale);
    fail(ErrorCode::invalid_argument, "disparities are not written as '", extension,
         "' files; use .pfm, .npy or .png (16 bit)");
  });
}

namespace {

/// 1 where any channel of the pixel is above 0.
Image<std::uint8_t> mask_of(const FrameBuffer& frame) {
  Image<std::uint8_t> mask(frame.size());
  const int count = channels(frame.format());
  const auto fill = [&]<class T>(View<const T> values) {
    for (int y = 0; y < mask.size().height; ++y)
      for (int x = 0; x < mask.size().width; ++x)
        mask(x, y) = std::any_of(&values(count * x, y), &values(count * x, y) + count,
                                 [](T value) { return value > 0; });
  };
  const int value_bytes = bytes_per_pixel(frame.format()) / count;
  if (value_bytes == 1) fill(values_of<std::uint8_t>(frame));
  if (value_bytes == 2) fill(values_of<std::uint16_t>(frame));
  if (value_bytes == 4) fill(values_of<float>(frame));
  return mask;
}

}  // namespace

Image<std::uint8_t> read_mask(const std::filesystem::path& path) {
  const FrameBuffer frame = read_frame(path);
  return io::naming(path, [&] { return mask_of(frame); });
}

Image<std::uint8_t> read_alpha(const std::filesystem::path& path) {
  return io::naming(path, [&]() -> Image<std::uint8_t> {
    if (path == "-" || !std::filesystem::is_regular_file(path)) return {};
    if (io::content_of(io::InputFile(path).first(io::recognized_by)) != io::Content::png) return {};
    const FrameBuffer alpha = io::decode_png_alpha(io::read_content(path));
    return alpha.size() == Size{} ? Image<std::uint8_t>() : mask_of(alpha);
  });
}

void write_mask(const std::filesystem::path& path, View<const std::uint8_t> mask) {
  io::write(path, [&](const std::string& extension) {
    if (extension != ".png" && extension != ".pgm")
      fail(ErrorCode::invalid_argument, "masks are not written as '", extension, "' files; use .png or .pgm");
    const Frame rows =
        io::check_frame({mask.data, mask.width, mask.height, mask.pitch, PixelFormat::gray_u8});
    FrameBuffer frame(mask.size(), PixelFormat::gray_u8);
    const View<const std::uint8_t> from = values_of<std::uint8_t>(rows);
    const View<std::uint8_t> to = values_of<std::uint8_t>(frame);
    for (int y = 0; y < mask.height; ++y)
      for (int x = 0; x < mask.width; ++x) to(x, y) = from(x, y) ? 255 : 0;
    return extension == ".pgm" ? io::encode_pnm(frame) : io::encode_png(frame);
  });
}

FileKind file_kind(const std::filesystem::path& path) {
  return io::naming(path, [&] {
    const io::InputFile file(path);
    const io::Bytes head = file.first(io::recognized_by);
    const io::Content content = io::content_of(head);
    if (content == io::Content::unknown) return FileKind::unknown;
    if (content == io::Content::flo) return FileKind::flow;
    if (content == io::Content::pfm) return io::is_pfm_of_flow(head) ? FileKind::flow : FileKind::disparity;
    // The shape is the last entry of the header, which is longer than `recognized_by`.
    if (content == io::Content::npy) return io::kind_of_npy(file.first(4096));
    if (content != io::Content::png) return FileKind::frame;
    // If the header is damaged, the reader reports it.
    try {
      return io::png_header(head).is_flow() ? FileKind::flow : FileKind::frame;
    } catch (const Error&) {
      return FileKind::frame;
    }
  });
}

}  // namespace parafield
