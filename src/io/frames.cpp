// SPDX-License-Identifier: MIT
#include "io/frames.hpp"

#include <utility>

namespace parafield::io {
namespace {

/// Some programs write line ends between frames.
void skip_space(ByteStream& bytes) {
  constexpr int most = 1 << 16;
  for (int count = 0; bytes.look() >= 0 && is_space(std::uint8_t(bytes.look())); ++count) {
    if (count == most) fail_format("no frame in the ", most, " bytes before byte ", bytes.position());
    bytes.advance();
  }
}

bool is_stream_format(Content content) {
  return content == Content::pnm || content == Content::pfm || content == Content::y4m;
}

}  // namespace

FrameStream::~FrameStream() = default;

Content FrameStream::upcoming() {
  // All formats that cannot be read from a pipe may need more bytes.
  for (const std::size_t count : {std::size_t(3), std::size_t(10), bytes_.left() ? recognized_by : 10})
    if (const Content content = content_of(bytes_.peek(count)); content != Content::unknown) return content;
  return Content::unknown;
}

bool FrameStream::has_next() {
  if (images_) return images_->has_next();
  if (y4m_ && !starts_with(bytes_.peek(5), "YUV4M")) return y4m_->has_next();
  if (count_ > 0 && !is_stream_format(content_)) return false;
  if (count_ > 0) skip_space(bytes_);
  if (count_ > 0 && bytes_.look() < 0) return false;
  content_ = upcoming();
  y4m_.reset();
  if (content_ == Content::netcdf && bytes_.left()) {
    images_ = open_netcdf(bytes_.mapped_rest(), choice_);
    return images_->has_next();
  }
  if (content_ == Content::tiff && bytes_.left()) {
    images_ = open_tiff(bytes_.rest());
    return true;
  }
  if (content_ != Content::y4m) return true;
  y4m_.emplace(bytes_, gray_);
  if (y4m_->interlaced()) note_ = "it is interlaced; its rows are read as they are stored";
  return y4m_->has_next();
}

void FrameStream::read(FrameBuffer& frame) {
  if (y4m_) return y4m_->next(frame);
  frame = [&] {
    if (images_) return images_->next();
    if (content_ == Content::pnm) return read_pnm(bytes_);
    if (content_ == Content::pfm) return read_pfm(bytes_);
    const Format* const format = format_of(content_);
    const bool has_images = content_ == Content::netcdf || content_ == Content::tiff;
    if (!has_images && (!format || !format->decode || count_ > 0))
      fail_content(bytes_.peek(recognized_by), "an image",
                   bytes_.left() && count_ == 0
                       ? "PNG, JPEG, TIFF, BMP, WebP, EXR, PGM, PPM, PFM, .npy or Y4M"
                       : "PGM, PPM, PFM or Y4M",
                   bytes_.what());
    if (!bytes_.left())
      fail_unsupported(format->name, " cannot be read from a pipe; PGM, PPM, PFM and Y4M can");
    const ByteSpan bytes = bytes_.rest();
    FrameBuffer decoded = format->decode(bytes);
    if (format->note) note_ = format->note(bytes);
    return decoded;
  }();
}

bool FrameStream::next(FrameBuffer& frame) {
  if (std::exchange(ended_, true)) return false;
  try {
    if (!has_next()) return false;
    read(frame);
    ended_ = false;
    ++count_;
    return true;
  } catch (const Error& error) {
    const bool has_more = images_ && images_->has_next();
    const std::int64_t number = ++count_;
    ended_ = !images_ || !images_->goes_on() || (number == 1 && !has_more);
    if (bytes_.left() && number == 1 && !y4m_ && !has_more && !(images_ && content_ == Content::netcdf))
      throw;
    fail(error.code(), "frame ", number, ": ", error.what());
  }
}

std::optional<FrameBuffer> FrameStream::next() {
  std::optional<FrameBuffer> frame(std::in_place);
  if (!next(*frame)) frame.reset();
  return frame;
}

FrameBuffer FrameStream::only() {
  std::optional<FrameBuffer> frame = next();
  if (!frame) fail_format("holds no frame");
  if (images_ ? !images_->has_next() : !is_stream_format(content_)) return std::move(*frame);
  if (images_) {
    next();  // throws if the file is damaged
    fail_format("holds more than one frame; FrameSource reads one after the other");
  }
  if (!y4m_) skip_space(bytes_);
  if (bytes_.look() < 0) return std::move(*frame);
  if (y4m_ ? y4m_->has_next() : is_stream_format(upcoming()))
    fail_format("holds more than one frame; FrameSource reads one after the other");
  const auto [width, height] = frame->size();
  fail_format(bytes_.left() ? text(bytes_.left().value(), " ") : "", "bytes follow the last of ", width, "x",
              height, " pixels");
}

FrameBuffer decode_frame(ByteSpan bytes) {
  ByteStream stream(bytes);
  return FrameStream(stream).only();
}

}  // namespace parafield::io
