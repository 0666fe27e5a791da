// SPDX-License-Identifier: MIT
#include "markov/background/state.hpp"

#include <cstring>
#include <sstream>

#include "core/fail.hpp"
#include "parafield/detail/text.hpp"
#include "steps/convert/convert.hpp"

namespace parafield {

std::size_t background_bytes(Size size) {
  const std::size_t pixels = std::size_t(size.width) * std::size_t(size.height);
  return pixels * (kept_planes + 2) + 4 * number_count;
}

std::vector<std::uint8_t> packed_background(const BackgroundState& state) {
  const Size size = state.run.size();
  std::vector<std::uint8_t> bytes(background_bytes(size));
  std::uint8_t* to = bytes.data();
  for (int y = 0; y < size.height; ++y)
    for (int plane = 0; plane < kept_planes; ++plane, to += size.width)
      std::memcpy(to, state.rows.view().row(y * row_planes + plane), std::size_t(size.width));
  const auto store = [&](std::uint32_t value, int count) {
    for (int i = 0; i < count; ++i) *to++ = std::uint8_t(value >> 8 * i);
  };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) store(state.run(x, y), 2);
  for (int i = 0; i < number_count; ++i) store(std::uint32_t(state.numbers(i, 0)), 4);
  return bytes;
}

BackgroundState unpacked_background(const LearnedBackground& background) {
  const Size size = background.size;
  BackgroundState state(size);
  const std::uint8_t* from = background.state.data();
  for (int y = 0; y < size.height; ++y)
    for (int plane = 0; plane < kept_planes; ++plane, from += size.width)
      std::memcpy(state.rows.view().row(y * row_planes + plane), from, std::size_t(size.width));
  const auto load = [&](int count) {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) value |= std::uint32_t(*from++) << 8 * i;
    return value;
  };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) state.run(x, y) = std::uint16_t(load(2));
  for (int i = 0; i < number_count; ++i) state.numbers(i, 0) = int(load(4));
  return state;
}

void check_background(const LearnedBackground& background, std::string_view method, Size size) {
  if (background.method != method)
    fail(ErrorCode::invalid_argument, "the background was learned by ", detail::quoted(background.method),
         ", not by ", method);
  if (background.size != size)
    fail(ErrorCode::invalid_argument, "the background has ", background.size.width, "x",
         background.size.height, " pixels, the frames have ", size.width, "x", size.height);
  if (background.state.size() != background_bytes(size))
    fail(ErrorCode::invalid_argument, "the background's state has ", background.state.size(), " bytes, not ",
         background_bytes(size));
  const BackgroundState state = unpacked_background(background);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (const int spread = state.rows(x, y * row_planes + sample_count); spread == 0)
        fail(ErrorCode::invalid_argument, "the background's state is damaged: a spread of 0 at ", x, ", ", y);
  for (const int index : {frame_number, moving_count})
    if (state.numbers(index, 0) < 0)
      fail(ErrorCode::invalid_argument, "the background's state is damaged: a count is ",
           state.numbers(index, 0));
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
