// SPDX-License-Identifier: MIT
// Finds the range of frames from the bulk of their values.
#include "core/value_range.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace parafield {
namespace {

constexpr float of_bits[] = {255, 1023, 4095, 16383, 65535};
constexpr std::int64_t most_samples = 1 << 14;  // of a frame
constexpr int trimmed_one_in = 1000;            // values at each end
constexpr float narrow_share = 1 / 3.0f;        // of a usual range: narrower contrast is stretched
constexpr float margin = 0.25f;                 // on each side of the values, as a share of their span
constexpr float least_span = 8;                 // of 8-bit values: what spans less is noise
constexpr double least_width = 42;  // of a range of integers: steps of more than 6 of 255 cost accuracy
constexpr double most_noise = 3.5;  // of 255: standard deviation in motion detection
constexpr double far_apart = 4;     // distance from the other values, as a multiple of their span

bool is_finite(float value) { return std::abs(value) <= std::numeric_limits<float>::max(); }

/// Distance of the pixels of the grid.
int step_of(const Frame& frame) {
  int step = 1;
  while (std::int64_t((frame.width + step - 1) / step) * ((frame.height + step - 1) / step) > most_samples)
    ++step;
  return step;
}

/// How many of an 8-bit frame's values on the grid are each of 0..255.
struct Histogram {
  std::array<int, 256> counts = {};
  int count = 0;

  void add(const Frame& frame) {
    const View<const std::uint8_t> values = values_of<std::uint8_t>(frame);
    const int channels = parafield::channels(frame.format), used = std::min(channels, 3);
    const int step = step_of(frame);
    for (int y = 0; y < frame.height; y += step)
      for (int x = 0; x < frame.width; x += step)
        for (int i = 0; i < used; ++i, ++count) ++counts[values(x * channels + i, y)];
  }
  /// Returns the lowest and the highest value without one in `one_in` values at each end.
  ValueRange without(int one_in) const {
    int low = 0, high = 255;
    for (int left = count / one_in; (left -= counts[std::size_t(low)]) >= 0;) ++low;
    for (int left = count / one_in; (left -= counts[std::size_t(high)]) >= 0;) --high;
    return {float(low), float(high)};
  }
};

/// Values of frames on a grid, and their deviations from their neighbors.
struct Samples {
  std::vector<float> values, deviations;
};

/// Adds the values of a host frame on a grid of at most most_samples pixels. A value beyond all of its
/// neighbors counts as the nearest of theirs, because single hot and dead pixels say nothing about the scene.
/// The deviation is the mask of Immerkaer (1996), which has the standard deviation of white noise and cancels
/// planes and edges along the axes.
template <class T>
void take_samples(const Frame& frame, Samples& samples) {
  const View<const T> values = values_of<T>(frame);
  const int count = channels(frame.format), used = std::min(count, 3);
  const int step = step_of(frame);
  for (int y = 0; y < frame.height; y += step)
    for (int x = 0; x < frame.width; x += step)
      for (int i = 0; i < used; ++i) {
        const float value = float(values(x * count + i, y));
        if (!is_finite(value)) continue;
        float low = std::numeric_limits<float>::max(), high = std::numeric_limits<float>::lowest();
        float deviation = 4 * value;
        int neighbors = 0;
        for (int row = std::max(y - 1, 0); row <= std::min(y + 1, frame.height - 1); ++row)
          for (int column = std::max(x - 1, 0); column <= std::min(x + 1, frame.width - 1); ++column) {
            const float other = float(values(column * count + i, row));
            if ((row == y && column == x) || !is_finite(other)) continue;
            low = std::min(low, other);
            high = std::max(high, other);
            deviation += row == y || column == x ? -2 * other : other;
            ++neighbors;
          }
        samples.values.push_back(low <= high ? std::clamp(value, low, high) : value);
        if (neighbors == 8 && is_finite(deviation)) samples.deviations.push_back(std::abs(deviation) / 6);
      }
}

/// Sorted values.
struct Sorted {
  std::span<const float> values;

  std::size_t trim() const { return values.size() / trimmed_one_in; }
  float low() const { return values[trim()]; }
  float high() const { return values[values.size() - 1 - trim()]; }
  double span() const { return double(high()) - low(); }
};

/// Takes away the values at one end that are all the same and far from the others. Returns what is left.
Sorted without_one_end(Sorted all, bool lowest) {
  const auto [first, last] =
      std::equal_range(all.values.begin(), all.values.end(), lowest ? all.values[0] : all.values.back());
  const Sorted rest{lowest ? std::span(last, all.values.end()) : std::span(all.values.begin(), first)};
  if (rest.values.empty()) return all;
  const double distance =
      lowest ? double(rest.low()) - all.values[0] : double(all.values.back()) - rest.high();
  return rest.span() > 0 && distance > far_apart * rest.span() ? rest : all;
}

/// The usual range of values from `low` to `high`; {0, 0} if there is none.
ValueRange usual_range(int bytes, float low, float middle, float high) {
  if (bytes == 1) return {0, 255};
  if (bytes == 2) return {0, *std::ranges::find_if(of_bits, [&](float white) { return high <= white; })};
  // Resampling and sharpening exceed a range by less than half of it, and not with most values.
  if (low >= -1.5f && high <= 1.5f) return {low < -0.5f || middle < 0 ? -1.0f : 0.0f, 1};
  for (const float white : of_bits)
    if (middle >= 0 && low >= -white / 2 && high <= white * 1.5f) return {0, white};
  return {};
}

/// Returns the standard deviation of white noise whose absolute deviations these are, by their median.
float noise_of(std::vector<float>& deviations) {
  if (deviations.empty()) return 0;
  const auto middle = deviations.begin() + std::ptrdiff_t(deviations.size() / 2);
  std::ranges::nth_element(deviations, middle);
  return *middle / 0.6745f;
}

/// The range from `low` to `high` with a margin, at least `width` wide. Integers get whole numbers.
ValueRange stretched(int bytes, float low, float high, double width) {
  const double middle = (double(low) + high) / 2, span = double(high) - low;
  double half = std::max(span * (0.5 + margin), width / 2);
  if (bytes != 4) half = std::max(half, least_width / 2);
  if (bytes == 4) return {float(middle - half), float(middle + half)};
  return {float(std::floor(middle - half)), float(std::ceil(middle + half))};
}

bool is_range(ValueRange range) {
  return range.black < range.white && std::isnormal(255 / (range.white - range.black));
}

}  // namespace

Frame on_host(const Frame& frame, FrameBuffer& copy) {
  if (frame.memory.on_host()) return frame;
  copy = FrameBuffer(frame.size(), frame.format);
  copy.set_range(frame.range);
  Frame there = copy;
  detail::copy(const_cast<void*>(there.data), there.pitch, there.memory, frame.data, pitch_of(frame),
               frame.memory, row_bytes(frame), frame.height);
  return there;
}

ValueFindings find_values(std::span<const Frame> frames, RangeUse use) {
  for (const Frame& frame : frames) {
    if (!frame.data || frame.width < 1 || frame.height < 1)
      fail(ErrorCode::invalid_argument, "a frame has no pixels");
    check_same_depth(frames[0], "one frame", frame, "another one");
  }
  ValueFindings found{.range = {0, 255}};
  if (frames.empty()) return found;
  const int bytes = bytes_per_value(frames[0].format);
  std::vector<FrameBuffer> copies(frames.size());
  std::vector<Frame> there;
  for (std::size_t i = 0; i < frames.size(); ++i) there.push_back(on_host(frames[i], copies[i]));
  if (bytes == 1) {  // a histogram is fast, and enough for most frames
    Histogram histogram;
    for (const Frame& frame : there) histogram.add(frame);
    found.bulk = histogram.without(trimmed_one_in);
    const ValueRange most = histogram.without(50);
    if (use == RangeUse::detection || most.white - most.black >= narrow_share * 255) return found;
  }
  Samples taken;
  for (const Frame& frame : there)
    with_value_type(frame.format, [&]<class T>(T) { take_samples<T>(frame, taken); });
  std::vector<float>& samples = taken.values;
  if (samples.empty()) return found;
  std::ranges::sort(samples);
  Sorted all{samples};
  if (bytes > 1)
    for (bool changed = true; changed;) {
      changed = false;
      for (const bool lowest : {true, false}) {
        const Sorted rest = without_one_end(all, lowest);
        const std::size_t left_out = all.values.size() - rest.values.size();
        if (left_out == 0) continue;
        const float share = float(left_out) / float(samples.size());
        if (share > found.apart_share) {
          found.apart = lowest ? all.values[0] : all.values.back();
          found.apart_share = share;
        }
        all = rest;
        changed = true;
      }
    }
  const float low = all.low(), high = all.high();
  found.bulk = {low, high};
  if (bytes > 1) found.noise = noise_of(taken.deviations);
  const ValueRange usual = usual_range(bytes, low, all.values[all.values.size() / 2], high);
  const bool keeps = bytes == 1 && all.span() < double(least_span);
  const double quiet_width = use == RangeUse::detection ? found.noise * 255.0 / most_noise : 0;
  const ValueRange own = stretched(bytes, low, high, quiet_width);
  const bool wide = !(low < high) || double(own.white) - own.black >= double(usual.white) - usual.black ||
                    all.span() >= double(narrow_share) * (double(usual.white) - usual.black);
  if (is_range(usual) && (keeps || wide))
    found.range = usual;
  else if (is_range(own) && low < high)
    found.range = own;
  found.usual = found.range == ValueRange{0, bytes == 2 ? 65535.0f : 255.0f};
  return found;
}

ValueRange find_value_range(std::span<const Frame> frames, RangeUse use) {
  return find_values(frames, use).range;
}

std::vector<std::string> value_notes(const ValueFindings& found) {
  std::vector<std::string> notes;
  const auto rounded = [](double value) { return text(std::setprecision(6), value); };
  if (!found.usual)
    notes.push_back(text(rounded(found.range.black), " is black and ", rounded(found.range.white),
                         " is white, from the bulk of the values"));
  if (found.apart_share * float(trimmed_one_in) > 1)
    notes.push_back(text(std::setprecision(3), 100 * found.apart_share, " % of the values are ",
                         rounded(found.apart),
                         ", far from all others; if they mean that a value is missing, "
                         "mark these pixels as missing"));
  return notes;
}

void give_range(std::span<Frame> frames, RangeUse use, bool stretches) {
  const auto is_unknown = [&](const Frame& frame) {
    return lacks_range(frame) || (stretches && frame.range == ValueRange{});
  };
  std::vector<Frame> unknown;
  std::ranges::copy_if(frames, std::back_inserter(unknown), is_unknown);
  if (unknown.empty()) return;
  for (std::size_t i = 1; i < frames.size(); ++i)
    check_same_depth(frames[0], "frame 0", frames[i], "frame " + std::to_string(i));
  const ValueRange range = find_value_range(unknown, use);
  for (Frame& frame : frames)
    if (is_unknown(frame)) frame.range = range;
}

}  // namespace parafield
