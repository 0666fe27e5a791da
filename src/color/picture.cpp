// SPDX-License-Identifier: MIT
#include "color/picture.hpp"

#include <cmath>
#include <cstring>

#include "color/letters.hpp"
#include "core/value_range.hpp"
#include "parafield/color.hpp"

namespace parafield {
FrameBuffer to_rgb(const Frame& given, const char* what) {
  check_host_frame(given, what);
  check_range(given, what);
  Frame frame = given;
  give_range({&frame, 1});
  const int count = channels(frame.format);
  const bool blue_first = frame.format == PixelFormat::bgr_u8 || frame.format == PixelFormat::bgra_u8;
  const ValueRange range = range_of(frame);
  const float gain = 255 / (range.white - range.black);
  FrameBuffer picture(frame.size(), PixelFormat::rgb_u8);
  const View<std::uint8_t> values = values_of<std::uint8_t>(picture);
  with_value_type(frame.format, [&]<class T>(T value) {
    for_each_pixel(frame.size(), [&](int x, int y) {
      const char* const pixel =
          static_cast<const char*>(frame.data) + y * pitch_of(frame) + x * count * std::ptrdiff_t(sizeof(T));
      for (int i = 0; i < 3; ++i) {
        const int channel = count == 1 ? 0 : blue_first ? 2 - i : i;
        std::memcpy(&value, pixel + channel * sizeof(T), sizeof(T));  // the pitch may be any number of bytes
        const float level = (float(value) - range.black) * gain;
        values(3 * x + i, y) = std::uint8_t(level > 0 ? std::min(level, 255.0f) + 0.5f : 0);
      }
    });
  });
  return picture;
}

int text_width(std::string_view text, int size) { return int(text.size()) * 6 * size; }

void write_text(FrameBuffer& picture, std::string_view text, int left, int top, int size) {
  const auto fill = [&](int x0, int y0, int width, int height, double level, double coverage) {
    const Size room = picture.size();
    for (int y = std::max(y0, 0); y < std::min(y0 + height, room.height); ++y)
      for (int x = std::max(x0, 0); x < std::min(x0 + width, room.width); ++x)
        blend(static_cast<std::uint8_t*>(picture.row(y)) + 3 * x, {level, level, level}, coverage);
  };
  fill(left - size, top - size, text_width(text, size) + size, 9 * size, 255, 0.75);
  for (std::size_t i = 0; i < text.size(); ++i)
    for (int x = 0; x < 5; ++x)
      for (int y = 0; y < 7; ++y)
        if (letters[std::size_t(text[i] - ' ')][std::size_t(x)] >> y & 1)
          fill(left + size * (int(i) * 6 + x), top + size * y, size, size, 20, 1);
}

FrameBuffer beside(const In<Frame>& left, const In<Frame>& right) {
  const FrameBuffer halves[] = {to_rgb(left, "the left picture"), to_rgb(right, "the right picture")};
  const Size size = left.size();
  check_same_size("the left picture", size, "the right one", right.size());
  FrameBuffer both({2 * size.width, size.height}, PixelFormat::rgb_u8);
  const auto row_bytes = std::size_t(3) * std::size_t(size.width);
  for (int y = 0; y < size.height; ++y)
    for (const std::size_t half : {0u, 1u})
      std::memcpy(static_cast<char*>(both.row(y)) + half * row_bytes, halves[half].row(y), row_bytes);
  return both;
}

}  // namespace parafield
