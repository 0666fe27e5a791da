// SPDX-License-Identifier: MIT
#include "video/ffmpeg_pixels.hpp"

#include <bit>
#include <cstdlib>
#include <utility>

#include "io/formats.hpp"
#include "io/pixels.hpp"

namespace parafield::video {
namespace {

bool has(const AVPixFmtDescriptor& format, std::uint64_t flag) { return (format.flags & flag) != 0; }

/// yuvj420p and similar names are old names of yuv420p and so on in full range.
AVPixelFormat without_range(int format) {
  constexpr std::pair<AVPixelFormat, AVPixelFormat> names[] = {{AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUV420P},
                                                               {AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUV422P},
                                                               {AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUV444P},
                                                               {AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUV440P},
                                                               {AV_PIX_FMT_YUVJ411P, AV_PIX_FMT_YUV411P}};
  for (const auto& [old, today] : names)
    if (old == format) return today;
  return AVPixelFormat(format);
}

bool is_gray(const AVPixFmtDescriptor& format) {
  return format.nb_components <= 2 && !has(format, AV_PIX_FMT_FLAG_RGB) &&
         !has(format, AV_PIX_FMT_FLAG_PAL) && !has(format, AV_PIX_FMT_FLAG_BAYER);
}

bool is_full_range(const AVFrame& picture, const AVPixFmtDescriptor& format) {
  if (picture.color_range != AVCOL_RANGE_UNSPECIFIED) return picture.color_range == AVCOL_RANGE_JPEG;
  return has(format, AV_PIX_FMT_FLAG_RGB) || is_gray(format) ||
         without_range(picture.format) != picture.format;
}

/// Whether brightness can be read directly: it is a plane of its own, or every second byte, in native byte
/// order.
bool has_luma(const AVPixFmtDescriptor& format) {
  const AVComponentDescriptor& luma = format.comp[0];
  const int bytes = luma.depth > 8 ? 2 : 1;
  constexpr std::uint64_t other = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                                  AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
  const bool native =
      bytes == 1 || has(format, AV_PIX_FMT_FLAG_BE) == (std::endian::native == std::endian::big);
  return !has(format, other) && native && luma.depth >= 8 && luma.depth <= 16 && luma.shift == 0 &&
         (luma.step == bytes || (bytes == 1 && luma.step == 2));
}

template <class T>
void read_luma(const AVFrame& picture, const AVComponentDescriptor& luma, bool full, FrameBuffer& frame) {
  const View<T> gray = values_of<T>(frame);
  const std::uint8_t* row = picture.data[luma.plane] + luma.offset;
  for (int y = 0; y < gray.height; ++y, row += picture.linesize[luma.plane]) {
    const T* from = reinterpret_cast<const T*>(row);
    if (luma.step != int(sizeof(T))) {
      for (int x = 0; x < gray.width; ++x) gray(x, y) = T(row[2 * x]);
      from = gray.row(y);
    }
    if (full && luma.depth == 8 * int(sizeof(T))) {
      if (from != gray.row(y)) std::memcpy(gray.row(y), from, sizeof(T) * std::size_t(gray.width));
    } else {
      io::expand(from, gray.width, luma.depth, full, gray.row(y));
    }
  }
}

}  // namespace

void PixelReader::read(const AVFrame& picture, int orientation, FrameBuffer& frame) {
  if (orientation == 1) return convert(picture, frame);
  convert(picture, stored_);
  io::turn(stored_, orientation, frame);
  frame.set_range(stored_.range());
}

void PixelReader::convert(const AVFrame& picture, FrameBuffer& frame) {
  const AVPixFmtDescriptor* const format = av_pix_fmt_desc_get(AVPixelFormat(picture.format));
  if (!format) fail(ErrorCode::unsupported, "its pixels are of an unknown kind");
  const bool gray = gray_ || is_gray(*format), wide = format->comp[0].depth > 8;
  io::reserve(frame, {picture.width, picture.height}, io::integer_format(!gray, wide));
  // The standards of color videos define black and white; gray videos of many bits may hold sensor data.
  frame.set_range(wide && !is_gray(*format) ? ValueRange{0, 65535} : ValueRange{});
  const bool full = is_full_range(picture, *format);
  if (!gray || !has_luma(*format))
    scale(picture, *format, gray, frame);
  else if (wide)
    read_luma<std::uint16_t>(picture, format->comp[0], full, frame);
  else
    read_luma<std::uint8_t>(picture, format->comp[0], full, frame);
}

void PixelReader::scale(const AVFrame& picture, const AVPixFmtDescriptor& format, bool gray,
                        FrameBuffer& frame) {
  const bool wide = format.comp[0].depth > 8;
  const AVPixelFormat to =
      gray ? (wide ? AV_PIX_FMT_GRAY16 : AV_PIX_FMT_GRAY8) : (wide ? AV_PIX_FMT_RGB48 : AV_PIX_FMT_RGB24);
  const Kind kind = {picture.width, picture.height, picture.format,
                     matrix_of(picture.colorspace, picture.width, picture.height),
                     is_full_range(picture, format)};
  if (!scaler_ || kind != kind_) {
    scaler_ =
        make_scaler(kind.width, kind.height, without_range(kind.format), kind.full, kind.matrix, to, true,
                    gray && !has(format, AV_PIX_FMT_FLAG_RGB) ? kind.matrix : SWS_CS_ITU601, threads_);
    kind_ = kind;
  }
  const Frame pixels = frame.frame();
  video::convert(scaler_, picture, *borrowed(pixels.data, pixels.pitch, frame.size(), to));
}

int orientation_of(const std::int32_t* matrix) {
  // x' = m[0] x + m[3] y, y' = m[1] x + m[4] y.
  const auto size = [](std::int32_t value) { return std::abs(double(value)); };
  if (size(matrix[0]) + size(matrix[4]) >= size(matrix[1]) + size(matrix[3])) {
    const bool mirrored = matrix[0] < 0, upside_down = matrix[4] < 0;
    return mirrored ? (upside_down ? 3 : 2) : upside_down ? 4 : 1;
  }
  const bool from_bottom = matrix[3] < 0, from_right = matrix[1] < 0;
  return from_bottom ? (from_right ? 7 : 6) : from_right ? 8 : 5;
}

}  // namespace parafield::video
