// SPDX-License-Identifier: MIT
#pragma once
#include <tuple>

#include "parafield/image.hpp"

/// Results of estimators: flow fields, disparity fields and motion masks. A field's constructor puts all
/// planes into one allocation, one after the other, with the same pitch. Therefore u and v of a flow field
/// form one array of shape (2, height, width), with strides in bytes of (pitch * height, pitch, 4).
namespace parafield {

/// A non-owning flow field: frame0(x) matches frame1(x + flow(x)).
struct FlowView {
  View<const float> u, v;               ///< px per frame, to the right and down
  View<const std::uint8_t> valid = {};  ///< 0 where flow is unknown or unreliable; no data = all valid
  View<const float> confidence = {};    ///< grows with certainty; may have no data

  Size size() const { return u.size(); }
};

/// A non-owning disparity field.
struct DisparityView {
  View<const float> d;                  ///< px: x_right = x_left - d
  View<const std::uint8_t> valid = {};  ///< 0 where d is unknown or unreliable; no data = all valid
  View<const float> confidence = {};    ///< grows with certainty; may have no data

  Size size() const { return d.size(); }
};

/// A non-owning motion mask.
struct MotionMaskView {
  View<const std::uint8_t> moving;  ///< not 0 where something moves

  Size size() const { return moving.size(); }
};

/// A flow field. Estimators write flow at every pixel, even where `valid` is 0.
struct FlowField {
  Image<float> u, v;          ///< px per frame, to the right and down
  Image<std::uint8_t> valid;  ///< 1 where the flow is reliable, otherwise 0
  Image<float> confidence;    ///< >= 0, grows with the method's certainty; fields from files have none

  FlowField() = default;
  /// Zero-filled. Throws like Image.
  explicit FlowField(Size size, Memory memory = {}, bool has_confidence = true, bool has_valid = true) {
    detail::allocate_planes(*this, size, memory, has_confidence, has_valid);
  }

  Size size() const { return u.size(); }
  Memory memory() const { return u.memory(); }
  auto planes() { return std::tie(u, v, valid, confidence); }
  auto planes() const { return std::tie(u, v, valid, confidence); }
  /// A copy in another memory. Returns when it is complete.
  FlowField to(Memory memory) const { return detail::copy_of(*this, memory); }
  operator FlowView() const& { return {u, v, valid, confidence}; }
  operator FlowView() const&& = delete;  // the view would outlive the field
};

/// The disparities of the left image. Estimators write a disparity at every pixel, even where `valid` is 0.
struct DisparityField {
  Image<float> d;             ///< px: x_right = x_left - d
  Image<std::uint8_t> valid;  ///< 1 where the disparity is reliable, otherwise 0
  Image<float> confidence;    ///< >= 0, grows with the method's certainty; fields from files have none

  DisparityField() = default;
  /// Zero-filled. Throws like Image.
  explicit DisparityField(Size size, Memory memory = {}, bool has_confidence = true, bool has_valid = true) {
    detail::allocate_planes(*this, size, memory, has_confidence, has_valid);
  }

  Size size() const { return d.size(); }
  Memory memory() const { return d.memory(); }
  auto planes() { return std::tie(d, valid, confidence); }
  auto planes() const { return std::tie(d, valid, confidence); }
  /// A copy in another memory. Returns when it is complete.
  DisparityField to(Memory memory) const { return detail::copy_of(*this, memory); }
  operator DisparityView() const& { return {d, valid, confidence}; }
  operator DisparityView() const&& = delete;  // the view would outlive the field
};

/// A motion mask.
struct MotionMask {
  Image<std::uint8_t> moving;  ///< 1 where something moves in the newer frame or has just left
  Image<std::uint8_t> valid;   ///< 0 where a frame's pixel is not finite, otherwise 1
  Image<float> confidence;     ///< >= 0: how much the opposite label would raise the pixel's own energy

  MotionMask() = default;
  /// Zero-filled. Throws like Image.
  explicit MotionMask(Size size, Memory memory = {}, bool has_confidence = true, bool has_valid = true) {
    detail::allocate_planes(*this, size, memory, has_confidence, has_valid);
  }

  Size size() const { return moving.size(); }
  Memory memory() const { return moving.memory(); }
  auto planes() { return std::tie(moving, valid, confidence); }
  auto planes() const { return std::tie(moving, valid, confidence); }
  /// A copy in another memory. Returns when it is complete.
  MotionMask to(Memory memory) const { return detail::copy_of(*this, memory); }
  operator MotionMaskView() const& { return {moving}; }
  operator MotionMaskView() const&& = delete;  // the view would outlive the mask
};

}  // namespace parafield
