// SPDX-License-Identifier: MIT
#include "common/pictures.hpp"

#include <algorithm>
#include <cmath>

namespace parafield::bench {
namespace {

/// Gray picture of share(x, y), each from 0 to 1.
template <class Share>
FrameBuffer gray_picture(Size size, Share share) {
  FrameBuffer picture(size, PixelFormat::gray_u8);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      static_cast<std::uint8_t*>(picture.row(y))[x] = std::uint8_t(std::lround(255 * share(x, y)));
  return picture;
}

/// An error in shares of `most`; 0 if it is not known.
double share_of(double error, float most) {
  return std::isfinite(error) ? std::min(error / double(most), 1.0) : 0;
}

}  // namespace

Pictures::Pictures(std::filesystem::path folder) : folder_(std::move(folder)) {
  if (wanted()) std::filesystem::create_directories(folder_ / "real");
}

void Pictures::add(const std::string& figure, const std::string& caption, const std::string& file,
                   const In<Frame>& picture) {
  write_frame(folder_ / (file + ".png"), picture);
  list_.push_back({figure, caption, file + ".png"});
}

FrameBuffer color_errors(const In<FlowView>& flow, const In<FlowView>& truth, float most) {
  return gray_picture(truth.size(), [&](int x, int y) {
    const double u = truth.u(x, y), v = truth.v(x, y);
    const bool known = std::abs(u) < 1e9 && std::abs(v) < 1e9;
    return known ? share_of(std::hypot(flow.u(x, y) - u, flow.v(x, y) - v), most) : 0;
  });
}

FrameBuffer color_errors(const In<DisparityView>& disparity, const In<DisparityView>& truth, float most) {
  return gray_picture(truth.size(), [&](int x, int y) {
    return truth.valid(x, y) ? share_of(std::abs(double(disparity.d(x, y)) - truth.d(x, y)), most) : 0;
  });
}

FrameBuffer colors_of(const In<DisparityView>& field, int disparities) {
  return color_disparity(field, {.min = 0, .max = float(disparities - 1)});
}

FrameBuffer with_tracks(const In<Frame>& frame, std::span<const Track> tracks) {
  const int depth = channels(frame.format);
  FrameBuffer picture({frame.width, frame.height}, PixelFormat::rgb_u8);
  for (int y = 0; y < frame.height; ++y) {
    const auto* from = static_cast<const std::uint8_t*>(frame.data) + y * frame.pitch;
    auto* to = static_cast<std::uint8_t*>(picture.row(y));
    for (int i = 0; i < 3 * frame.width; ++i) to[i] = from[depth == 3 ? i : i / 3];
  }
  constexpr std::uint8_t yellow[] = {255, 230, 0};
  for (const Track& track : tracks) {
    const int left = int(track.x) - 1, top = int(track.y) - 1;
    for (int y = std::max(top, 0); y < std::min(top + 3, frame.height); ++y)
      for (int x = std::max(left, 0); x < std::min(left + 3, frame.width); ++x)
        std::ranges::copy(yellow, static_cast<std::uint8_t*>(picture.row(y)) + 3 * x);
  }
  return picture;
}

FrameBuffer black_and_white(const Image<std::uint8_t>& mask) {
  return gray_picture(mask.size(), [&](int x, int y) { return mask(x, y) ? 1.0 : 0.0; });
}

}  // namespace parafield::bench
