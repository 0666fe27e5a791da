// SPDX-License-Identifier: MIT
#include "scenes/passers.hpp"

#include <algorithm>

namespace parafield {
namespace {

/// Whether a point is inside a box with round corners.
bool in_box(double x, double y, double half_width, double half_height) {
  x /= half_width;
  y /= half_height;
  return x * x * x * x + y * y * y * y <= 1;
}

bool in_circle(double x, double y, double radius) { return x * x + y * y <= radius * radius; }

/// Whether a point is on a pair of legs that start at height `top` and end `apart` to both sides.
bool in_legs(double x, double y, double top, double apart, double half_width) {
  if (y < 0 || y > top) return false;
  const double off = apart * (1 - y / top);
  return std::abs(x - off) <= half_width || std::abs(x + off) <= half_width;
}

constexpr int stop_frames = 100, leaving_frame = 60;

}  // namespace

std::optional<double> Passer::gray(Point pixel) const {
  const double x = direction * (pixel.x - foot.x) / height, y = (foot.y - pixel.y) / height;
  switch (kind) {
    case Kind::walker:
      if (in_box(x, y - 0.6, 0.17, 0.22)) return light;
      if (in_circle(x, y - 0.9, 0.1) || in_legs(x, y, 0.48, 0.18 * stride, 0.075)) return other;
      return {};
    case Kind::dog:
      if (in_box(x, y - 0.6, 0.6, 0.25) || in_circle(x - 0.7, y - 0.78, 0.22)) return light;
      if (in_legs(x - 0.42, y, 0.5, 0.2 * stride, 0.09) || in_legs(x + 0.42, y, 0.5, 0.2 * stride, 0.09))
        return other;
      return {};
    case Kind::car:
      break;
  }
  if (in_circle(x - 0.75, y - 0.17, 0.17) || in_circle(x + 0.75, y - 0.17, 0.17)) return other;
  if (in_box(x + 0.1, y - 0.7, 0.55, 0.2) && y > 0.62) return other;
  if (in_box(x, y - 0.4, 1.25, 0.25) || in_box(x + 0.1, y - 0.7, 0.7, 0.3)) return light;
  return {};
}

double Passer::shadow(Point pixel, double length) const {
  const double x = (pixel.x - foot.x - 0.2 * height * length) / (1.2 * reach() * height),
               y = (pixel.y - foot.y) / (0.14 * height * length);
  const double inside = 1 - x * x - y * y;
  return inside <= 0 ? 0 : inside * inside;
}

Passers::Passers(const SceneOptions& options) : size_(options.size), key_(random_bits(options.seed, 6000)) {
  using Kind = Passer::Kind;
  Draw draw(random_bits(key_, 0));
  const double scale = std::clamp(size_.width / 640.0, 0.05, 8.0);
  const double side = draw.sign();
  const auto add = [&](Kind kind, double foot, double height, double slowest, double direction) {
    lanes_.push_back({kind, foot + draw.between(-0.01, 0.01), height * draw.between(0.9, 1.1),
                      scale * slowest * draw.between(0.9, 1.2), direction, draw.between(-0.03, 0.03),
                      draw.between(0, 1), draw.between(15, 60)});
  };
  add(Kind::walker, 0.43, 0.11, 1.6, side);
  add(Kind::car, 0.53, 0.13, 4.2, side);
  add(Kind::car, 0.64, 0.16, 5.2, -side);
  add(Kind::dog, 0.70, 0.07, 3.4, side);
  add(Kind::walker, 0.76, 0.24, 2.6, -side);
  add(Kind::walker, 0.86, 0.29, 2.2, side);
  add(Kind::walker, 0.97, 0.35, 3.0, -side);
  if (options.conditions == Conditions::leaving)
    for (const std::size_t lane : {1, 2}) {
      lanes_[lane].leaves = leaving_frame;
      lanes_[lane].start = 0;
    }
  if (options.conditions != Conditions::stopping) return;
  lanes_[2].stop = stop_frames;
  lanes_[2].start = 0.95;  // a car should stop early in the sequence
}

std::vector<Passer> Passers::at(int frame) const {
  std::vector<Passer> list;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = lanes_[i];
    Passer passer;
    passer.kind = lane.kind;
    passer.height = std::max(lane.height * size_.height, 1.0);
    const double reach = passer.reach() * passer.height + 1, way = size_.width - 1 + 2 * reach;
    const double period = way / lane.speed + lane.stop + lane.gap;
    const double waited = std::max(frame - lane.leaves, 0),
                 ahead = lane.leaves > 0 ? 0.5 * way / lane.speed : 0;
    const double time = waited + ahead + lane.start * period, number = std::floor(time / period);
    passer.key = random_bits(random_bits(key_, 1 + i), std::uint64_t(number));
    const Draw draw(passer.key);
    const double speed = lane.speed * draw.at(0, 1, 1.3);
    const double until_stop = way * draw.at(1, 0.42, 0.58) / speed, since = time - number * period;
    const double walked = speed * (since < until_stop ? since : std::max(since - lane.stop, until_stop));
    if (walked > way) continue;
    const double x = walked - reach, height = passer.height;
    passer.direction = lane.direction;
    passer.foot = {lane.direction > 0 ? x : size_.width - 1 - x,
                   size_.height * (lane.foot + lane.slope * (walked / way - 0.5))};
    passer.stride = wave(walked / (0.9 * height));
    const double side =
        (std::int64_t(number) + std::int64_t(i)) % 2 == 0 ? 1 : -1;  // bright and dark alternate
    passer.light = 120 + side * draw.at(2, 45, 85);
    passer.other = lane.kind == Passer::Kind::car ? 40 : 120 + (draw.at(3, -1, 1) < 0 ? -65 : 65);
    list.push_back(passer);
  }
  return list;
}

}  // namespace parafield
