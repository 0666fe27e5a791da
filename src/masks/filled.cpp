// SPDX-License-Identifier: MIT
// Pixels without a value are filled in two steps: a pyramid of means gives each an initial value, then sweeps
// of successive over-relaxation bring it close to the solution of Laplace's equation.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/views.hpp"
#include "parafield/masks.hpp"

namespace parafield {
namespace {

struct Level {
  Image<float> value, weight;  ///< weight: 1 where the value is known

  explicit Level(Size size) : value(size), weight(size) {}
};

/// Means of the known pixels in each block of 2x2.
Level halved(const Level& fine) {
  const Size size = fine.value.size();
  Level coarse({(size.width + 1) / 2, (size.height + 1) / 2});
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const float weight = fine.weight(x, y);
      coarse.value(x / 2, y / 2) += weight * fine.value(x, y);
      coarse.weight(x / 2, y / 2) += weight;
    }
  for (int y = 0; y < coarse.value.size().height; ++y)
    for (int x = 0; x < coarse.value.size().width; ++x) {
      float& weight = coarse.weight(x, y);
      if (weight > 0) coarse.value(x, y) /= weight;
      weight = weight > 0 ? 1.0f : 0.0f;
    }
  return coarse;
}

/// Bilinear interpolation of the coarse level, which has a value at every pixel, at a pixel of the fine one.
float enlarged(View<const float> coarse, int x, int y) {
  const auto around = [](int i, int last, int& first, int& second) {
    first = i / 2;
    second = std::clamp(i % 2 ? first + 1 : first - 1, 0, last);
  };
  int x0, x1, y0, y1;
  around(x, coarse.width - 1, x0, x1);
  around(y, coarse.height - 1, y0, y1);
  const float near = 0.75f * coarse(x0, y0) + 0.25f * coarse(x1, y0),
              far = 0.75f * coarse(x0, y1) + 0.25f * coarse(x1, y1);
  return 0.75f * near + 0.25f * far;
}

/// Gives every pixel of weight 0 a value from coarser levels.
void fill_coarsely(Level& fine) {
  const Size size = fine.value.size();
  if (size.width == 1 && size.height == 1) return;
  Level coarse = halved(fine);
  fill_coarsely(coarse);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (fine.weight(x, y) == 0) fine.value(x, y) = enlarged(coarse.value, x, y);
}

/// Sweeps over the pixels of weight 0 and moves each toward the mean of its neighbors.
void relax(Level& level) {
  constexpr int sweeps = 40;
  constexpr float over = 1.6f;
  struct Position {
    int x, y;
  };
  std::vector<Position> unknown;
  const View<float> value = level.value;
  for (int y = 0; y < value.height; ++y)
    for (int x = 0; x < value.width; ++x)
      if (level.weight(x, y) == 0) unknown.push_back({x, y});
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (const auto [x, y] : unknown) {
      float sum = 0;
      int count = 0;
      const auto add = [&](int i, int j) {
        if (i < 0 || j < 0 || i >= value.width || j >= value.height) return;
        sum += value(i, j);
        ++count;
      };
      add(x - 1, y), add(x + 1, y), add(x, y - 1), add(x, y + 1);
      if (count > 0) value(x, y) += over * (sum / float(count) - value(x, y));
    }
}

/// Fills one channel of interleaved samples.
template <class Sample>
void fill_channel(View<const Sample> from, View<Sample> to, View<const std::uint8_t> known, int channels,
                  int channel) {
  Level level(known.size());
  for (int y = 0; y < known.height; ++y)
    for (int x = 0; x < known.width; ++x) {
      if (!known(x, y)) continue;
      const float value = float(from(x * channels + channel, y));
      if (!std::isfinite(value))
        fail_value("pixel (", x, ", ", y, ") is ", value, ", and the mask calls it known");
      level.value(x, y) = value;
      level.weight(x, y) = 1;
    }
  fill_coarsely(level);
  relax(level);
  for (int y = 0; y < known.height; ++y)
    for (int x = 0; x < known.width; ++x) {
      if (known(x, y)) continue;
      const float value = level.value(x, y);
      if constexpr (std::is_same_v<Sample, float>)
        to(x * channels + channel, y) = value;
      else
        to(x * channels + channel, y) =
            Sample(std::clamp(value + 0.5f, 0.0f, float(std::numeric_limits<Sample>::max())));
    }
}

/// Calls f(sample) with a value of the type of the frame's samples.
template <class F>
void with_sample(PixelFormat format, F f) {
  const int bytes = bytes_per_pixel(format) / channels(format);
  if (bytes == 1) f(std::uint8_t());
  if (bytes == 2) f(std::uint16_t());
  if (bytes == 4) f(float());
}

void check_frame(const Frame& frame) {
  if (!frame.data || frame.width < 1 || frame.height < 1) fail_value("the frame has no pixels");
  if (!frame.memory.on_host()) fail_value("the frame is not in host memory");
}

}  // namespace

Image<std::uint8_t> known_pixels(const In<Frame>& frame) {
  check_frame(frame);
  const int count = channels(frame.format);
  if (bytes_per_pixel(frame.format) != 4 * count) return {};
  const View<const float> values = values_of<float>(frame);
  Image<std::uint8_t> known(frame.size());
  bool all = true;
  for (int y = 0; y < frame.height; ++y)
    for (int x = 0; x < frame.width; ++x) {
      const float* const pixel = &values(count * x, y);
      known(x, y) = std::all_of(pixel, pixel + count, [](float value) { return std::isfinite(value); });
      all = all && known(x, y);
    }
  return all ? Image<std::uint8_t>() : std::move(known);
}

FrameBuffer filled(const In<Frame>& frame, const In<MaskView>& known) {
  check_frame(frame);
  FrameBuffer result(frame.size(), frame.format);
  result.set_range(frame.range);
  for (int y = 0; y < frame.height; ++y)
    std::memcpy(result.row(y), static_cast<const char*>(frame.data) + y * pitch_of(frame),
                std::size_t(row_bytes(frame)));
  if (!known) return result;
  if (known.size() != frame.size())
    fail_value("the frame has ", frame.size(), " pixels, its mask ", known.size());
  check_pitch(known, "the mask");
  bool any = false, all = true;
  for (int y = 0; y < known.height; ++y)
    for (int x = 0; x < known.width; ++x) (known(x, y) ? any : all) = known(x, y) != 0;
  if (!any) fail_value("no pixel of the frame has a value: none is finite, or the mask is 0 everywhere");
  if (all) return result;
  const int count = channels(frame.format);
  with_sample(frame.format, [&]<class Sample>(Sample) {
    for (int channel = 0; channel < count; ++channel)
      fill_channel(values_of<Sample>(frame), values_of<Sample>(result), known, count, channel);
  });
  return result;
}

}  // namespace parafield
