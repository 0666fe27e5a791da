// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>

#include "core/views.hpp"
#include "parafield/masks.hpp"

namespace parafield {
namespace {

void check_mask(Size field, MaskView mask) {
  if (mask && mask.size() != field) fail_value("the field has ", field, " pixels, its mask ", mask.size());
  check_pitch(mask, "the mask");
}

/// Marks a field. erase(x, y) removes the value of a pixel; match(x, y) returns its matching position in the
/// other frame.
template <class Field, class Erase, class Find>
void mark(Field& field, MaskView known0, MaskView known1, Erase erase, Find match) {
  const Size size = field.size();
  check_mask(size, known0);
  check_mask(size, known1);
  const auto inside = [](double at, int side) { return at > -0.5 && at < side - 0.5; };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
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
    }
}

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

struct Place {
  double x, y;
};

}  // namespace

void mark_unknown(FlowField& flow, const In<MaskView>& known0, const In<MaskView>& known1) {
  mark(
      flow, known0, known1, [&](int x, int y) { flow.u(x, y) = flow.v(x, y) = unknown; },
      [&](int x, int y) {
        return Place{double(x) + flow.u(x, y), double(y) + flow.v(x, y)};
      });
}

void mark_unknown(DisparityField& disparity, const In<MaskView>& known_left,
                  const In<MaskView>& known_right) {
  mark(
      disparity, known_left, known_right, [&](int x, int y) { disparity.d(x, y) = unknown; },
      [&](int x, int y) {
        return Place{double(x) - disparity.d(x, y), double(y)};
      });
}

}  // namespace parafield
