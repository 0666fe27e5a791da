#include "parafield/io.hpp"

#include <algorithm>
#include <cstdio>

#include "core/fail.hpp"
#include "io/formats.hpp"

namespace parafield {
namespace io {
namespace {

/// The bytes of a file. If its kind is unknown, only the first ones: it may be huge.
Bytes read_content(const std::filesystem::path& path) {
  const InputFile file(path);
  Bytes head = file.first(recognized_by);
  return content_of(head) == Content::unknown ? head : file.first(file.size());
}

[[noreturn]] void fail_unknown(ByteSpan bytes, const char* wanted) {
  if (bytes.empty()) fail(ErrorCode::format, "the file is empty");
  std::string start;
  for (const std::uint8_t byte : bytes.first(std::min<std::size_t>(bytes.size(), 4))) {
    char digits[4];
    std::snprintf(digits, sizeof digits, " %02x", byte);
    start += digits;
  }
  fail(ErrorCode::format, "not a ", wanted, " file: it starts with the bytes", start);
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return extension;
}

}  // namespace

Content content_of(ByteSpan bytes) {
  if (is_png(bytes)) return Content::png;
  if (is_jpeg(bytes)) return Content::jpeg;
  if (is_pnm(bytes)) return Content::pnm;
  if (is_pfm(bytes)) return Content::pfm;
  if (is_flo(bytes)) return Content::flo;
  if (is_npy(bytes)) return Content::npy;
  return Content::unknown;
}

FrameBuffer decode_frame(ByteSpan bytes) {
  switch (content_of(bytes)) {
    case Content::png:
      return decode_png(bytes);
    case Content::jpeg:
      return decode_jpeg(bytes);
    case Content::pnm:
      return decode_pnm(bytes);
    case Content::pfm:
      return decode_pfm_frame(bytes);
    case Content::flo:
      fail(ErrorCode::format, "a flow field (.flo), not an image");
    case Content::npy:
      fail(ErrorCode::format, "an array (.npy), not an image");
    case Content::unknown:
      break;
  }
  fail_unknown(bytes, "PNG, JPEG, PGM, PPM or PFM");
}

FlowField decode_flow(ByteSpan bytes) {
  switch (content_of(bytes)) {
    case Content::png:
      return decode_kitti(bytes);
    case Content::jpeg:
      fail(ErrorCode::format, "an image (JPEG), not a flow field");
    case Content::pnm:
      fail(ErrorCode::format, "an image (PGM or PPM), not a flow field");
    case Content::pfm:
      return decode_pfm_flow(bytes);
    case Content::flo:
      return decode_flo(bytes);
    case Content::npy:
      return decode_npy_flow(bytes);
    case Content::unknown:
      break;
  }
  fail_unknown(bytes, ".flo, PFM, .npy or KITTI flow (PNG)");
}

DisparityField decode_disparity(ByteSpan bytes, float scale) {
  switch (content_of(bytes)) {
    case Content::png:
      return decode_png_disparity(bytes, scale);
    case Content::jpeg:
      fail(ErrorCode::format, "an image (JPEG), not disparities");
    case Content::pnm:
      fail(ErrorCode::format, "an image (PGM or PPM), not disparities; they are PFM, .npy or gray PNG");
    case Content::pfm:
      return decode_pfm_disparity(bytes);
    case Content::flo:
      fail(ErrorCode::format, "a flow field (.flo), not disparities");
    case Content::npy:
      return decode_npy_disparity(bytes);
    case Content::unknown:
      break;
  }
  fail_unknown(bytes, "PFM, .npy or PNG");
}

}  // namespace io

FrameBuffer read_frame(const std::filesystem::path& path) {
  return io::naming(path, [&] { return io::decode_frame(io::read_content(path)); });
}

void write_frame(const std::filesystem::path& path, const In<Frame>& frame) {
  io::naming(path, [&] {
    const Frame checked = io::check_frame(frame);
    const std::string extension = io::lower_extension(path);
    const bool floats = bytes_per_pixel(frame.format) == 4 * channels(frame.format);
    const bool pfm = extension == ".pfm";
    const int wanted = extension == ".pgm" ? 1 : extension == ".ppm" ? 3 : 0;
    if (!wanted && !pfm && extension != ".png")
      fail(ErrorCode::invalid_argument, "frames are not written as '", extension,
           "' files; use .png, .pgm, .ppm or .pfm (f32)");
    if (floats != pfm)
      fail(ErrorCode::invalid_argument, "a ", extension, " file holds ", pfm ? "f32" : "u8 or u16",
           " pixels, the frame is ", to_string(frame.format), "; write it as ", pfm ? ".png" : ".pfm");
    if (pfm) return io::write_file(path, io::encode_pfm_frame(checked));
    if (wanted && wanted != channels(frame.format))
      fail(ErrorCode::invalid_argument, "a ", extension, " file holds ", wanted == 1 ? "gray" : "rgb",
           " pixels, the frame is ", to_string(frame.format), "; write it as ", wanted == 1 ? ".ppm" : ".pgm",
           " or .png");
    io::write_file(path, wanted ? io::encode_pnm(checked) : io::encode_png(checked));
  });
}

FlowField read_flow(const std::filesystem::path& path) {
  return io::naming(path, [&] { return io::decode_flow(io::read_content(path)); });
}

void write_flow(const std::filesystem::path& path, const In<FlowView>& flow, bool mark_invalid) {
  io::naming(path, [&] {
    io::check_flow(flow);
    const std::string extension = io::lower_extension(path);
    if (extension == ".flo") return io::write_file(path, io::encode_flo(flow, mark_invalid));
    if (extension == ".pfm") return io::write_file(path, io::encode_pfm_flow(flow, mark_invalid));
    if (extension == ".npy") return io::write_file(path, io::encode_npy_flow(flow, mark_invalid));
    if (extension == ".png") return io::write_file(path, io::encode_kitti(flow));
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
  io::naming(path, [&] {
    io::check_disparity(disparity);
    io::check_scale(scale, false);
    const std::string extension = io::lower_extension(path);
    if (extension == ".pfm") return io::write_file(path, io::encode_pfm_disparity(disparity, mark_invalid));
    if (extension == ".npy") return io::write_file(path, io::encode_npy_disparity(disparity, mark_invalid));
    if (extension == ".png") return io::write_file(path, io::encode_png_disparity(disparity, scale));
    fail(ErrorCode::invalid_argument, "disparities are not written as '", extension,
         "' files; use .pfm, .npy or .png (16 bit)");
  });
}

Image<std::uint8_t> read_mask(const std::filesystem::path& path) {
  const FrameBuffer frame = read_frame(path);
  return io::naming(path, [&] {
    Image<std::uint8_t> mask(frame.size());
    const int count = channels(frame.format());
    const auto fill = [&]<class T>(T) {
      for (int y = 0; y < mask.size().height; ++y) {
        const auto* pixel = static_cast<const T*>(frame.row(y));
        for (int x = 0; x < mask.size().width; ++x, pixel += count)
          mask(x, y) = std::any_of(pixel, pixel + count, [](T value) { return value > 0; });
      }
    };
    const int value_bytes = bytes_per_pixel(frame.format()) / count;
    value_bytes == 1 ? fill(std::uint8_t{}) : value_bytes == 2 ? fill(std::uint16_t{}) : fill(float{});
    return mask;
  });
}

void write_mask(const std::filesystem::path& path, View<const std::uint8_t> mask) {
  io::naming(path, [&] {
    const std::string extension = io::lower_extension(path);
    if (extension != ".png" && extension != ".pgm")
      fail(ErrorCode::invalid_argument, "masks are not written as '", extension, "' files; use .png or .pgm");
    View<const std::uint8_t> rows = mask;
    rows.pitch =
        io::check_frame({mask.data, mask.width, mask.height, mask.pitch, PixelFormat::gray_u8}).pitch;
    FrameBuffer frame(mask.size(), PixelFormat::gray_u8);
    for (int y = 0; y < mask.height; ++y)
      std::transform(rows.row(y), rows.row(y) + mask.width, static_cast<std::uint8_t*>(frame.row(y)),
                     [](std::uint8_t value) { return value ? 255 : 0; });
    io::write_file(path, extension == ".pgm" ? io::encode_pnm(frame) : io::encode_png(frame));
  });
}

FileKind file_kind(const std::filesystem::path& path) {
  return io::naming(path, [&] {
    const io::InputFile file(path);
    const io::Bytes head = file.first(io::recognized_by);
    switch (io::content_of(head)) {
      case io::Content::jpeg:
      case io::Content::pnm:
        return FileKind::frame;
      case io::Content::pfm:
        return io::is_pfm_of_flow(head) ? FileKind::flow : FileKind::disparity;
      case io::Content::npy:
        // The shape is the last entry of the header, which is longer than `recognized_by`.
        return io::is_npy_of_disparity(file.first(1024)) ? FileKind::disparity : FileKind::flow;
      case io::Content::flo:
        return FileKind::flow;
      case io::Content::png:
        break;
      case io::Content::unknown:
        return FileKind::unknown;
    }
    // If the header is damaged, the reader reports it.
    try {
      return io::png_header(head).is_flow() ? FileKind::flow : FileKind::frame;
    } catch (const Error&) {
      return FileKind::frame;
    }
  });
}

}  // namespace parafield
