// SPDX-License-Identifier: MIT
#include "parafield/heights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/views.hpp"

namespace parafield {

static constexpr float no_height = std::numeric_limits<float>::quiet_NaN();
static constexpr int most_summed = 255;

Image<float> height_of(const In<DisparityView>& disparity, double scale, double offset) {
  check_disparity(disparity, "the disparity field");
  if (!std::isfinite(scale) || scale == 0)
    fail(ErrorCode::invalid_argument, "a scale of heights cannot be ", scale,
         "; it is the height of 1 px of disparity, finite and not 0");
  if (!std::isfinite(offset))
    fail(ErrorCode::invalid_argument, "an offset of heights cannot be ", offset, "; it is finite");
  Image<float> height(disparity.size());
  for (int y = 0; y < height.size().height; ++y)
    for (int x = 0; x < height.size().width; ++x) {
      const float d = disparity.d(x, y);
      height(x, y) =
          has_value(d) && is_set(disparity.valid, x, y) ? float(scale * double(d) + offset) : no_height;
    }
  return height;
}

static void check_size(Size heights, Size other, const char* what) {
  if (heights != other)
    fail(ErrorCode::invalid_argument, what, " has ", other.width, "x", other.height,
         " pixels, the filter of heights ", heights.width, "x", heights.height);
}

HeightFilter::HeightFilter(Size size, HeightFilterOptions options)
    : options_(options), mean_(size), moved_mean_(size), count_(size), moved_count_(size) {
  if (options.frames < 1 || options.frames > most_summed)
    fail(ErrorCode::invalid_argument, "frames cannot be ", options.frames, "; heights are means of 1 to ",
         most_summed);
  if (!(options.tolerance >= 0))
    fail(ErrorCode::invalid_argument, "tolerance cannot be ", options.tolerance, "; it is 0 or above");
}

View<const float> HeightFilter::operator()(View<const float> heights) {
  const Size size = mean_.size();
  check_size(size, heights.size(), "the field of heights");
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      float& mean = mean_(x, y);
      std::uint8_t& count = count_(x, y);
      const float height = heights(x, y);
      if (options_.frames == 1) count = 0;
      if (!std::isfinite(height)) {
        if (count == 0) mean = no_height;
        continue;
      }
      if (count == 0 || std::abs(height - mean) > options_.tolerance) {
        mean = height;
        count = 1;
      } else {
        count = std::uint8_t(std::min(count + 1, options_.frames));
        mean += (height - mean) / float(count);
      }
    }
  return std::as_const(mean_).view();
}

void HeightFilter::move(const In<FlowView>& flow) {
  const Size size = mean_.size();
  check_flow(flow, "the flow field");
  check_size(size, flow.size(), "the flow field");
  for (int y = 0; y < size.height; ++y) std::fill_n(moved_count_.view().row(y), size.width, std::uint8_t(0));
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const float u = flow.u(x, y), v = flow.v(x, y);
      if (count_(x, y) == 0 || !has_value(u, v) || !is_set(flow.valid, x, y)) continue;
      const double to_x = std::floor(x + double(u) + 0.5), to_y = std::floor(y + double(v) + 0.5);
      if (!(to_x >= 0 && to_y >= 0 && to_x < size.width && to_y < size.height)) continue;
      const int i = int(to_x), j = int(to_y);
      if (moved_count_(i, j) > 0 && moved_mean_(i, j) >= mean_(x, y)) continue;
      moved_mean_(i, j) = mean_(x, y);
      moved_count_(i, j) = count_(x, y);
    }
  std::swap(mean_, moved_mean_);
  std::swap(count_, moved_count_);
}

}  // namespace parafield
