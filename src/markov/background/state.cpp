// SPDX-License-Identifier: MIT
#include "markov/background/state.hpp"

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/fail.hpp"
#include "markov/background/shift.hpp"
#include "parafield/detail/text.hpp"
#include "steps/convert/convert.hpp"

namespace parafield {

namespace {

/// Calls f(row) for each row of an image that is kept: `gray` of the first planes of each image row and, with
/// colors, `colors` of the planes from `first_color` on.
template <class F>
void for_kept(int height, int planes, int gray, int first_color, int colors, F f) {
  for (int y = 0; y < height; ++y) {
    for (int i = 0; i < gray; ++i) f(y * planes + i);
    for (int i = 0; i < colors; ++i) f(y * planes + first_color + i);
  }
}
template <class F>
void for_kept_rows(int height, bool has_colors, bool colored, F f) {
  for_kept(height, has_colors ? color_planes : gray_planes, kept_planes, gray_planes,
           colored ? kept_color_planes : 0, f);
}
template <class F>
void for_kept_words(int height, bool has_colors, bool colored, F f) {
  for_kept(height, has_colors ? color_words : gray_words, kept_words, gray_words,
           colored ? kept_color_words : 0, f);
}

}  // namespace

std::size_t background_bytes(Size size, bool colored) {
  const std::size_t pixels = std::size_t(size.width) * std::size_t(size.height);
  const int bytes = kept_planes + 2 * kept_words + (colored ? kept_color_planes + 2 * kept_color_words : 0);
  return pixels * std::size_t(bytes) + 4 * number_count;
}

std::vector<std::uint8_t> packed_background(const BackgroundState& state) {
  const int width = state.rows.size().width,
            height = state.rows.size().height / (state.colors ? color_planes : gray_planes);
  const bool colored = state.numbers(is_colored, 0) != 0;
  std::vector<std::uint8_t> bytes(background_bytes({width, height}, colored));
  std::uint8_t* to = bytes.data();
  for_kept_rows(height, state.colors, colored, [&](int row) {
    std::memcpy(to, state.rows.view().row(row), std::size_t(width));
    to += width;
  });
  const auto store = [&](std::uint32_t value, int count) {
    for (int i = 0; i < count; ++i) *to++ = std::uint8_t(value >> 8 * i);
  };
  for_kept_words(height, state.colors, colored, [&](int row) {
    for (int x = 0; x < width; ++x) store(state.words(x, row), 2);
  });
  for (int i = 0; i < number_count; ++i) store(std::uint32_t(state.numbers(i, 0)), 4);
  return bytes;
}

BackgroundState unpacked_background(const LearnedBackground& background, bool colors) {
  const int width = background.size.width, height = background.size.height;
  BackgroundState state(background.size, colors);
  const bool colored = background.state.size() == background_bytes(background.size, true);
  const std::uint8_t* from = background.state.data();
  for_kept_rows(height, colors, colored, [&](int row) {
    std::memcpy(state.rows.view().row(row), from, std::size_t(width));
    from += width;
  });
  const auto load = [&](int count) {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) value |= std::uint32_t(*from++) << 8 * i;
    return value;
  };
  for_kept_words(height, colors, colored, [&](int row) {
    for (int x = 0; x < width; ++x) state.words(x, row) = std::uint16_t(load(2));
  });
  for (int i = 0; i < number_count; ++i) state.numbers(i, 0) = int(load(4));
  return state;
}

void check_background(const LearnedBackground& background, std::string_view method, Size size, bool colors) {
  if (background.method != method)
    fail(ErrorCode::invalid_argument, "the background was learned by ", detail::quoted(background.method),
         ", not by ", method);
  if (background.size != size)
    fail(ErrorCode::invalid_argument, "the background has ", background.size.width, "x",
         background.size.height, " pixels, the frames have ", size.width, "x", size.height);
  const std::size_t bytes = background.state.size();
  const bool colored = bytes == background_bytes(size, true);
  if (!colored && bytes != background_bytes(size, false))
    fail(ErrorCode::invalid_argument, "the background's state has ", bytes, " bytes, not ",
         background_bytes(size, false), " (gray) or ", background_bytes(size, true), " (color)");
  if (colored && !colors)
    fail(ErrorCode::invalid_argument, "the background was learned from colors, but the method's rgb is off");
  const BackgroundState state = unpacked_background(background, colors);
  const auto fail_damaged = [](auto... what) {
    fail(ErrorCode::invalid_argument, "the background's state is damaged: ", what...);
  };
  const int planes = colors ? color_planes : gray_planes;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (const int spread = state.rows(x, y * planes); spread == 0)
        fail_damaged("a spread of 0 at ", x, ", ", y);
  for (const Number index : {frame_number, moving_count, colored_count})
    if (const int count = state.numbers(index, 0); count < 0) fail_damaged("a count is ", count);
  for (const Number index : {shift_x, shift_y})
    if (const int shift = state.numbers(index, 0); std::abs(shift) > 16 * most_shift)
      fail_damaged("a shift is ", shift / 16.0, " px");
  if (const int flag = state.numbers(is_colored, 0); flag != int(colored))
    fail_damaged("its number for colors is ", flag);
}

ValueRange special_range(const Frame& frame) {
  Frame usual = frame;
  usual.range = {};
  const ValueRange range = range_of(frame);
  return range == range_of(usual) ? ValueRange{} : range;
}

std::string range_text(ValueRange range) {
  if (range == ValueRange{}) return "the usual one of their format";
  std::ostringstream text;
  text << range.black << " (black) to " << range.white << " (white)";
  return text.str();
}

}  // namespace parafield
