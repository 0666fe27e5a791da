// SPDX-License-Identifier: MIT
// Filling: a pyramid of means gives each pixel without a value an initial one, then sweeps of successive
// over-relaxation bring it close to the solution of Laplace's equation.
#include "parafield/masks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/unknown_bars.hpp"
#include "core/views.hpp"

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
  for_each_pixel(size, [&](int x, int y) {
    const float weight = fine.weight(x, y);
    coarse.value(x / 2, y / 2) += weight * fine.value(x, y);
    coarse.weight(x / 2, y / 2) += weight;
  });
  for_each_pixel(coarse.value.size(), [&](int x, int y) {
    float& weight = coarse.weight(x, y);
    if (weight > 0) coarse.value(x, y) /= weight;
    weight = weight > 0 ? 1.0f : 0.0f;
  });
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
  for_each_pixel(size, [&](int x, int y) {
    if (fine.weight(x, y) == 0) fine.value(x, y) = enlarged(coarse.value, x, y);
  });
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
  for_each_pixel(value.size(), [&](int x, int y) {
    if (level.weight(x, y) == 0) unknown.push_back({x, y});
  });
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
  for_each_pixel(known.size(), [&](int x, int y) {
    if (!known(x, y)) return;
    const float value = float(from(x * channels + channel, y));
    if (!std::isfinite(value))
      fail_value("pixel (", x, ", ", y, ") is ", value, ", but the mask says that it has a value");
    level.value(x, y) = value;
    level.weight(x, y) = 1;
  });
  fill_coarsely(level);
  relax(level);
  for_each_pixel(known.size(), [&](int x, int y) {
    if (known(x, y)) return;
    const float value = level.value(x, y);
    if constexpr (std::is_same_v<Sample, float>)
      to(x * channels + channel, y) = value;
    else
      to(x * channels + channel, y) =
          Sample(std::clamp(value + 0.5f, 0.0f, float(std::numeric_limits<Sample>::max())));
  });
}

/// Marks a field. erase(x, y) removes the value of a pixel; match(x, y) returns its matching position in the
/// other frame.
template <class Field, class Erase, class Find>
void mark(Field& field, MaskView known0, MaskView known1, Erase erase, Find match) {
  const Size size = field.size();
  for (const MaskView& mask : {known0, known1}) {
    if (mask) check_same_size("the field", size, "its mask", mask.size());
    check_pitch(mask, "the mask");
  }
  const auto inside = [](double at, int side) { return at > -0.5 && at < side - 0.5; };
  for_each_pixel(size, [&](int x, int y) {
    bool trusted = true;
    if (known0 && !known0(x, y)) {
      erase(x, y);
      if (field.confidence) field.confidence(x, y) = 0;
      trusted = false;
    } else if (known1) {
      const auto [to_x, to_y] = match(x, y);
      trusted = !inside(to_x, size.width) || !inside(to_y, size.height) ||
                known1(int(std::lround(to_x)), int(std::lround(to_y)));
    }
    if (!trusted && field.valid) field.valid(x, y) = 0;
  });
}

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

struct Place {
  double x, y;
};

}  // namespace

Image<std::uint8_t> known_pixels(const In<Frame>& frame) {
  check_host_frame(frame, "the frame");
  const int count = channels(frame.format);
  if (bytes_per_value(frame.format) != 4) return {};
  const View<const float> values = values_of<float>(frame);
  Image<std::uint8_t> known(frame.size());
  bool all = true;
  for_each_pixel(frame.size(), [&](int x, int y) {
    const float* const pixel = &values(count * x, y);
    known(x, y) = std::all_of(pixel, pixel + count, [](float value) { return std::isfinite(value); });
    all = all && known(x, y);
  });
  return all ? Image<std::uint8_t>() : std::move(known);
}

FrameBuffer filled(const In<Frame>& frame, const In<MaskView>& known) {
  check_host_frame(frame, "the frame");
  FrameBuffer result(frame.size(), frame.format);
  result.set_range(frame.range);
  for (int y = 0; y < frame.height; ++y)
    std::memcpy(result.row(y), static_cast<const char*>(frame.data) + y * pitch_of(frame),
                std::size_t(row_bytes(frame)));
  if (!known) return result;
  check_same_size("the frame", frame.size(), "its mask", known.size());
  check_pitch(known, "the mask");
  bool any = false, all = true;
  for_each_pixel(known.size(), [&](int x, int y) { (known(x, y) ? any : all) = known(x, y) != 0; });
  if (!any) fail_value("no pixel of the frame has a value: none is finite, or the mask is 0 everywhere");
  if (all) return result;
  const int count = channels(frame.format);
  with_value_type(frame.format, [&]<class Sample>(Sample) {
    for (int channel = 0; channel < count; ++channel)
      fill_channel(values_of<Sample>(frame), values_of<Sample>(result), known, count, channel);
  });
  return result;
}

void mark_unknown(FlowField& flow, const In<MaskView>& known0, const In<MaskView>& known1) {
  mark(
      flow, known0, known1,
      [&](int x, int y) {
        flow.u(x, y) = flow.v(x, y) = unknown;
        set_bars_unknown(flow, x, y, ErrorCause::texture);
      },
      [&](int x, int y) {
        return Place{double(x) + flow.u(x, y), double(y) + flow.v(x, y)};
      });
}

void mark_unknown(DisparityField& disparity, const In<MaskView>& known_left,
                  const In<MaskView>& known_right) {
  mark(
      disparity, known_left, known_right,
      [&](int x, int y) {
        disparity.d(x, y) = unknown;
        set_bars_unknown(disparity, x, y, ErrorCause::texture);
      },
      [&](int x, int y) {
        return Place{double(x) - disparity.d(x, y), double(y)};
      });
}

}  // namespace parafield
