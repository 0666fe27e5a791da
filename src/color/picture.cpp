// SPDX-License-Identifier: MIT
#include "color/picture.hpp"

#include <cmath>
#include <cstring>

#include "color/letters.hpp"
#include "core/views.hpp"
#include "parafield/color.hpp"

namespace parafield {
namespace {

/// Copies a row as rgb_u8. `order` has the channel indices of red, green and blue.
template <class T>
void copy_row(const char* from, int width, int channels, std::array<int, 3> order, ValueRange range,
              std::uint8_t* to) {
  const float gain = 255 / (range.white - range.black);
  for (int x = 0; x < width; ++x, from += channels * sizeof(T))
    for (const int channel : order) {
      T value;
      std::memcpy(&value, from + channel * sizeof(T), sizeof(T));
      const float level = (float(value) - range.black) * gain;
      *to++ = std::uint8_t(level > 0 ? std::min(level, 255.0f) + 0.5f : 0);
    }
}

}  // namespace

FrameBuffer to_rgb(const Frame& frame, const char* what) {
  if (!frame.data || frame.width < 1 || frame.height < 1) fail_value(what, " has no pixels");
  if (!frame.memory.on_host()) fail_value(what, " is not in host memory; pictures are drawn there");
  check_range(frame, what);
  const int count = channels(frame.format), bytes = bytes_per_pixel(frame.format);
  const bool blue_first = frame.format == PixelFormat::bgr_u8 || frame.format == PixelFormat::bgra_u8;
  const std::array<int, 3> order = count == 1   ? std::array{0, 0, 0}
                                   : blue_first ? std::array{2, 1, 0}
                                                : std::array{0, 1, 2};
  const auto copy = bytes / count == 1   ? copy_row<std::uint8_t>
                    : bytes / count == 2 ? copy_row<std::uint16_t>
                                         : copy_row<float>;
  FrameBuffer picture(frame.size(), PixelFormat::rgb_u8);
  for (int y = 0; y < frame.height; ++y)
    copy(static_cast<const char*>(frame.data) + y * pitch_of(frame), frame.width, count, order,
         range_of(frame), static_cast<std::uint8_t*>(picture.row(y)));
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
  if (right.size() != size)
    fail_value("the left picture has ", size, " pixels, the right one ", right.size(),
               "; they should have one size");
  FrameBuffer both({2 * size.width, size.height}, PixelFormat::rgb_u8);
  const auto row_bytes = std::size_t(3) * std::size_t(size.width);
  for (int y = 0; y < size.height; ++y)
    for (const std::size_t half : {0u, 1u})
      std::memcpy(static_cast<char*>(both.row(y)) + half * row_bytes, halves[half].row(y), row_bytes);
  return both;
}

}  // namespace parafield
