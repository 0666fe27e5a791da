// SPDX-License-Identifier: MIT
// Reads pictures from a stream, a folder or a pattern as a video.
#include <utility>

#include "core/views.hpp"
#include "io/frames.hpp"
#include "parafield/io.hpp"
#include "video/names.hpp"
#include "video/source.hpp"

namespace parafield::video {
namespace {

template <class T>
FrameBuffer gray_of(const FrameBuffer& frame, PixelFormat format) {
  FrameBuffer gray(frame.size(), format);
  const View<const T> from = values_of<T>(frame.frame());
  const View<T> to = values_of<T>(gray);
  constexpr float round = std::is_integral_v<T> ? 0.5f : 0;
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x) {
      const T* const rgb = from.row(y) + 3 * x;
      to(x, y) = T(0.299f * float(rgb[0]) + 0.587f * float(rgb[1]) + 0.114f * float(rgb[2]) + round);
    }
  gray.set_range(frame.range());
  return gray;
}

class StreamSource : public Source {
 public:
  StreamSource(std::unique_ptr<io::ByteStream> bytes, bool gray)
      : bytes_(std::move(bytes)), frames_(*bytes_, {}, gray), gray_(gray) {
    names_frames = true;
  }

  bool next(VideoFrame& frame) override {
    if (!frames_.next(frame.frame)) return false;
    if (gray_) make_gray(frame.frame);
    if (count_ == 0) {
      const bool y4m = frames_.content() == io::Content::y4m;
      info.format = y4m ? "y4m" : "pictures";
      info.rate = frames_.rate() > 0 ? frames_.rate() : usual_rate;
    }
    frame.time = double(count_++) / info.rate;
    return true;
  }

 private:
  std::unique_ptr<io::ByteStream> bytes_;
  io::FrameStream frames_;
  const bool gray_;
  std::int64_t count_ = 0;
};

/// Pictures in separate files: file(0), file(1)...
template <class File>
class PictureSource : public Source {
 public:
  PictureSource(std::int64_t count, File file, bool gray) : file_(std::move(file)), gray_(gray) {
    info.rate = usual_rate;
    info.frames = count;
    info.duration = double(count) / usual_rate;
    info.format = "pictures";
  }

  bool next(VideoFrame& frame) override {
    if (next_ == info.frames) return false;
    frame.frame = read_frame(file_(next_));
    if (gray_) make_gray(frame.frame);
    frame.time = double(next_++) / usual_rate;
    return true;
  }

 private:
  const File file_;
  const bool gray_;
  std::int64_t next_ = 0;
};

}  // namespace

void make_gray(FrameBuffer& frame) {
  if (frame.format() == PixelFormat::rgb_u8) frame = gray_of<std::uint8_t>(frame, PixelFormat::gray_u8);
  if (frame.format() == PixelFormat::rgb_u16) frame = gray_of<std::uint16_t>(frame, PixelFormat::gray_u16);
  if (frame.format() == PixelFormat::rgb_f32) frame = gray_of<float>(frame, PixelFormat::gray_f32);
}

std::unique_ptr<Source> open_stream(std::unique_ptr<io::ByteStream> bytes, bool gray) {
  return std::make_unique<StreamSource>(std::move(bytes), gray);
}

std::unique_ptr<Source> open_folder(const std::string& folder, bool gray) {
  auto pictures = pictures_in(folder);
  const auto count = std::int64_t(pictures.size());
  auto file = [pictures = std::move(pictures)](std::int64_t i) { return pictures[std::size_t(i)]; };
  return std::make_unique<PictureSource<decltype(file)>>(count, std::move(file), gray);
}

std::unique_ptr<Source> open_pattern(const std::string& name, bool gray) {
  const Pattern pattern = pattern_of(name).value();
  const auto [first, last] = numbers_of(pattern);
  auto file = [pattern, first = first](std::int64_t i) { return pattern.file(first + i); };
  return std::make_unique<PictureSource<decltype(file)>>(last - first + 1, std::move(file), gray);
}

}  // namespace parafield::video
