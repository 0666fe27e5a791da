// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <tuple>

#include "parafield/image.hpp"

/// Results of estimators: flow fields, disparity fields and motion masks. A field's constructor puts all
/// planes into one allocation, one after the other, with the same pitch. Therefore u and v of a flow field
/// form one array of shape (2, height, width), with strides in bytes of (pitch * height, pitch, 4).
namespace parafield {

/// Which optional planes a field has. The last three are error bars.
struct FieldPlanes {
  bool valid = true, confidence = true;
  bool covariance = false;  ///< of flow; the sigma of disparities
  bool outlier = false;     ///< both probabilities
  bool cause = false;
};

/// The main reason why the error of a pixel may be large.
enum class ErrorCause : std::uint8_t {
  fine,      ///< the error is small: flow has trace(covariance) < 0.02 px^2, disparities sigma^2 < 0.05 px^2
  texture,   ///< little texture, or noise
  boundary,  ///< the field changes around the pixel; for disparities: the views disagree around it
  inconsistent,  ///< the other frame's field does not lead back to the pixel
  hidden,        ///< it leads elsewhere: most of these pixels are hidden in the other frame
  left_frame     ///< the match is outside the other frame
};

/// Covariances of the errors of flow vectors: one symmetric 2 x 2 matrix per pixel, px^2.
template <class Plane>
struct Covariance {
  Plane xx = {}, xy = {}, yy = {};  ///< of u; of u and v; of v

  explicit operator bool() const { return bool(xx); }
};

/// A non-owning flow field: frame0(x) matches frame1(x + flow(x)).
struct FlowView {
  View<const float> u, v;               ///< px per frame, to the right and down
  View<const std::uint8_t> valid = {};  ///< 0 where flow is unknown or unreliable; no data = all valid
  View<const float> confidence = {};    ///< grows with certainty; may have no data
  Covariance<View<const float>> covariance = {};  ///< of the errors, px^2; may have no data
  View<const float> outlier = {};       ///< probability, 0..1, that the error is above 1 px; may have no data
  View<const float> outlier3 = {};      ///< probability that it is above 3 px; may have no data
  View<const std::uint8_t> cause = {};  ///< an ErrorCause; may have no data

  Size size() const { return u.size(); }
};

/// A non-owning disparity field.
struct DisparityView {
  View<const float> d;                  ///< px: x_right = x_left - d
  View<const std::uint8_t> valid = {};  ///< 0 where d is unknown or unreliable; no data = all valid
  View<const float> confidence = {};    ///< grows with certainty; may have no data
  View<const float> sigma = {};         ///< standard deviation of the error, px; may have no data
  View<const float> outlier = {};       ///< probability, 0..1, that the error is above 1 px; may have no data
  View<const float> outlier3 = {};      ///< probability that it is above 3 px; may have no data
  View<const std::uint8_t> cause = {};  ///< an ErrorCause; may have no data

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

  /// On request: covariance of each vector's error, px^2; 1e12 px^2 where nothing is known. Errors of
  /// neighbors are correlated: the mean of n pixels is worth fewer than n measurements.
  Covariance<Image<float>> covariance;
  Image<float> outlier;       ///< on request: probability, 0..1, that the error is above 1 px
  Image<float> outlier3;      ///< on request: probability that it is above 3 px
  Image<std::uint8_t> cause;  ///< on request: an ErrorCause

  FlowField() = default;
  /// Zero-filled, without error bars. Throws like Image.
  explicit FlowField(Size size, Memory memory = {}, bool has_confidence = true, bool has_valid = true)
      : FlowField(size, memory, FieldPlanes{.valid = has_valid, .confidence = has_confidence}) {}
  /// Zero-filled. Throws like Image.
  FlowField(Size size, Memory memory, FieldPlanes has) {
    detail::allocate_planes(*this, size, memory, wanted(has));
  }

  Size size() const { return u.size(); }
  Memory memory() const { return u.memory(); }
  auto planes() {
    return std::tie(u, v, valid, confidence, covariance.xx, covariance.xy, covariance.yy, outlier, outlier3,
                    cause);
  }
  auto planes() const {
    return std::tie(u, v, valid, confidence, covariance.xx, covariance.xy, covariance.yy, outlier, outlier3,
                    cause);
  }
  /// Whether each of planes() is allocated.
  static constexpr std::array<bool, 10> wanted(FieldPlanes has) {
    return {true,           true,           has.valid,   has.confidence, has.covariance,
            has.covariance, has.covariance, has.outlier, has.outlier,    has.cause};
  }
  /// A copy in another memory. Returns when it is complete.
  FlowField to(Memory memory) const { return detail::copy_of(*this, memory); }
  operator FlowView() const& {
    return {u, v, valid, confidence, {covariance.xx, covariance.xy, covariance.yy}, outlier, outlier3, cause};
  }
  operator FlowView() const&& = delete;  // the view would outlive the field
};

/// The disparities of the left image. Estimators write a disparity at every pixel, even where `valid` is 0.
struct DisparityField {
  Image<float> d;             ///< px: x_right = x_left - d
  Image<std::uint8_t> valid;  ///< 1 where the disparity is reliable, otherwise 0
  Image<float> confidence;    ///< >= 0, grows with the method's certainty; fields from files have none

  Image<float> sigma;         ///< on request: standard deviation of the error, px
  Image<float> outlier;       ///< on request: probability, 0..1, that the error is above 1 px
  Image<float> outlier3;      ///< on request: probability that it is above 3 px
  Image<std::uint8_t> cause;  ///< on request: an ErrorCause

  DisparityField() = default;
  /// Zero-filled, without error bars. Throws like Image.
  explicit DisparityField(Size size, Memory memory = {}, bool has_confidence = true, bool has_valid = true)
      : DisparityField(size, memory, FieldPlanes{.valid = has_valid, .confidence = has_confidence}) {}
  /// Zero-filled. Throws like Image.
  DisparityField(Size size, Memory memory, FieldPlanes has) {
    detail::allocate_planes(*this, size, memory, wanted(has));
  }

  Size size() const { return d.size(); }
  Memory memory() const { return d.memory(); }
  auto planes() { return std::tie(d, valid, confidence, sigma, outlier, outlier3, cause); }
  auto planes() const { return std::tie(d, valid, confidence, sigma, outlier, outlier3, cause); }
  /// Whether each of planes() is allocated.
  static constexpr std::array<bool, 7> wanted(FieldPlanes has) {
    return {true, has.valid, has.confidence, has.covariance, has.outlier, has.outlier, has.cause};
  }
  /// A copy in another memory. Returns when it is complete.
  DisparityField to(Memory memory) const { return detail::copy_of(*this, memory); }
  operator DisparityView() const& { return {d, valid, confidence, sigma, outlier, outlier3, cause}; }
  operator DisparityView() const&& = delete;  // the view would outlive the field
};

/// A motion mask.
struct MotionMask {
  Image<std::uint8_t> moving;  ///< 1 where something moves in the newer frame or has just left
  Image<std::uint8_t> valid;   ///< 0 where a frame's pixel is not finite, otherwise 1
  Image<float> confidence;     ///< >= 0: how much the opposite label would raise the pixel's own energy

  MotionMask() = default;
  /// Zero-filled. Throws like Image.
  explicit MotionMask(Size size, Memory memory = {}, bool has_confidence = true, bool has_valid = true)
      : MotionMask(size, memory, FieldPlanes{.valid = has_valid, .confidence = has_confidence}) {}
  /// Zero-filled; masks have no error bars. Throws like Image.
  MotionMask(Size size, Memory memory, FieldPlanes has) {
    detail::allocate_planes(*this, size, memory, wanted(has));
  }

  Size size() const { return moving.size(); }
  Memory memory() const { return moving.memory(); }
  auto planes() { return std::tie(moving, valid, confidence); }
  auto planes() const { return std::tie(moving, valid, confidence); }
  /// Whether each of planes() is allocated.
  static constexpr std::array<bool, 3> wanted(FieldPlanes has) { return {true, has.valid, has.confidence}; }
  /// A copy in another memory. Returns when it is complete.
  MotionMask to(Memory memory) const { return detail::copy_of(*this, memory); }
  operator MotionMaskView() const& { return {moving}; }
  operator MotionMaskView() const&& = delete;  // the view would outlive the mask
};

}  // namespace parafield
