// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parafield/fields.hpp"

/// Pairs of images from cameras that are not aligned: their calibration, the rectified views that stereo
/// needs, and points in space. Camera coordinates are x to the right, y down and z forward, from the camera's
/// center. Pixel coordinates start at (0, 0), the center of the first pixel. These are OpenCV's conventions.
namespace parafield {

/// Which formula describes a lens: OpenCV's calibrateCamera (perspective) or OpenCV's fisheye::calibrate.
enum class LensModel { perspective, fisheye };

/// Lens distortion. A perspective lens shows a ray (x, y, 1), r^2 = x^2 + y^2, at
///   x' = x g + 2 p1 x y + p2 (r^2 + 2 x^2),  y' = y g + p1 (r^2 + 2 y^2) + 2 p2 x y
///   g = (1 + k1 r^2 + k2 r^4 + k3 r^6) / (1 + k4 r^2 + k5 r^4 + k6 r^6)
/// This is ROS's plumb_bob or rational_polynomial. A fisheye lens (Kannala and Brandt's model, ROS's
/// equidistant) shows a ray at the angle t from the axis in the ray's direction, at the distance
///   t (1 + k1 t^2 + k2 t^4 + k3 t^6 + k4 t^8)
/// and p1, p2, k5 and k6 must be 0.
struct LensDistortion {
  double k1 = 0, k2 = 0, p1 = 0, p2 = 0, k3 = 0, k4 = 0, k5 = 0, k6 = 0;
  LensModel model = LensModel::perspective;
  bool operator==(const LensDistortion&) const = default;
};

/// A camera: focal lengths and principal point, px, and lens distortion.
struct CalibratedCamera {
  double fx = 0, fy = 0, cx = 0, cy = 0;
  LensDistortion distortion = {};
  bool operator==(const CalibratedCamera&) const = default;
};

/// Calibration of a stereo camera, as in OpenCV's stereoCalibrate. A point at X in the left camera's
/// coordinates is at R X + T in the right camera's. The unit of T is also the unit of everything derived from
/// it: baseline, depths and points.
struct StereoCalibration {
  CalibratedCamera left, right;
  std::array<double, 9> rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};  ///< R, row by row
  std::array<double, 3> translation = {};                        ///< T
  Size size = {};          ///< px: size of the calibrated images; 0x0 = unknown
  bool rectified = false;  ///< the images are already rectified, like Middlebury's
  /// Assumption of read_calibration that the file does not state, as text for users; empty if there is none.
  std::string assumption = {};
};

/// Distortion coefficients of a lens in OpenCV's order: k1, k2, p1, p2 and optionally k3, then k4, k5, k6,
/// then more that must be 0; of a fisheye lens k1, k2, k3, k4.
struct LensCoefficients {
  std::vector<double> values = {};
  bool is_column = false;  ///< stored as a matrix of one column, as fisheye::calibrate returns them
};

/// Sets both lenses of a calibration. Without a model, lenses with 4 coefficients each are fisheye lenses if
/// both are columns, and `assumption` says what 4 coefficients were taken for; lenses with more are
/// perspective. Throws Error(invalid_argument) for other numbers of coefficients, and Error(unsupported) for
/// thin prism or tilt coefficients (after k6) other than 0.
PARAFIELD_API void set_lenses(StereoCalibration& calibration, const LensCoefficients& left,
                              const LensCoefficients& right, std::optional<LensModel> model = {});

/// Geometry of a rectified pair. A pixel (x, y) of the left view with disparity d shows the point
///   Z = focal * baseline / (d + doffs),  X = (x - cx) Z / focal,  Y = (y - cy) Z / focal
/// in the coordinates of the rotated left camera.
struct StereoGeometry {
  double focal = 0;       ///< focal length of both views, px
  double baseline = 0;    ///< distance between the cameras, in the unit of T
  double cx = 0, cy = 0;  ///< principal point of the left view, px
  double doffs = 0;       ///< px: x of the right view's principal point minus x of the left view's
};

/// How both views are rectified.
struct Rectification {
  Size size;  ///< px: size of both views
  StereoGeometry geometry;
  /// OpenCV's R1 and R2, row by row: they map a camera's coordinates to its rectified view's coordinates.
  std::array<double, 9> left_rotation, right_rotation;
};

/// Plans the rectification of images of the given size, which may be 0x0 if the calibration has one. Each
/// camera takes half of R, both turn until the baseline is along their rows, and they get the same focal
/// length and principal point (Bouguet's method, as in OpenCV's stereoRectify with CALIB_ZERO_DISPARITY).
/// `alpha`, 0..1, chooses the part of the images that the views show: 0 = every pixel of both views is inside
/// the images, 1 = both views show the whole images. With a fisheye lens, they show at most what is up to 80
/// degrees off their axis, because a flat view cannot reach 90. A pair that is already rectified keeps its
/// cameras. Throws Error(invalid_argument) for values out of range, a size that differs from the
/// calibration's, an R that is not a rotation, or a right camera to the left of the left one, and
/// Error(unsupported) for cameras one above the other.
PARAFIELD_API Rectification plan_rectification(const StereoCalibration& calibration, Size size = {},
                                               double alpha = 0);

/// Options of a Rectifier.
struct RectifierOptions {
  std::optional<Device> device = {};  ///< default: Device::best()
  Stream stream = {};                 ///< CUDA: the stream to use; default: the rectifier's own
  double alpha = 0;                   ///< see plan_rectification
  /// Views to make instead of plan_rectification's, such as R and P of ROS's camera_info. Their size must be
  /// the images' size; alpha is ignored.
  std::optional<Rectification> plan = {};
};

/// Both rectified views, gray_f32 or rgb_f32, in the value range of the frames. Pixels outside the image are
/// NaN, which estimators treat as unknown.
struct RectifiedPair {
  FrameBuffer left, right;
};

/// Where rectified views show a part of their images: 1, otherwise 0. It is in host memory.
struct RectifiedRegion {
  Image<std::uint8_t> left, right;
};

/// Undistorts and rectifies pairs of frames. It computes the source position of each pixel once and samples
/// the frames there by linear interpolation. Every device gives the same bits. Use it from one thread at a
/// time.
class PARAFIELD_API Rectifier {
 public:
  /// Makes a rectifier for frames of the given size, which may be 0x0 if the calibration or the plan has one.
  /// Throws like plan_rectification, Error(invalid_argument) for a plan of another size, without focal length
  /// or whose rotations are none, Error(device), Error(memory).
  explicit Rectifier(const StereoCalibration& calibration, Size size = {},
                     const RectifierOptions& options = {});
  ~Rectifier();
  Rectifier(Rectifier&&) noexcept;
  Rectifier& operator=(Rectifier&&) noexcept;

  /// Returns both views, in the same kind of memory as the frames; they are valid until the next call. Frames
  /// may have any format, both gray or both in color, and must both be in host memory or both on the device.
  /// With frames on a CUDA device, the call returns before the views are complete: use them on the stream, or
  /// call synchronize() first. Throws Error(invalid_argument) for other frames, Error(device), Error(memory).
  const RectifiedPair& operator()(const In<Frame>& left, const In<Frame>& right);

  const Rectification& plan() const;
  const RectifiedRegion& region() const;
  Stream stream() const;
  void synchronize();  ///< waits until the views of the last call are complete

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How well the rows of a stereo pair are aligned, measured from tracked features. dy is the row of a match
/// in the right image minus its row in the left image, px. With fewer than `least_tracks` tracks, all other
/// values are NaN.
struct RowAlignment {
  static constexpr int least_tracks = 20;

  int tracks = 0;           ///< number of tracks used
  double median_dy = 0;     ///< px
  double median_error = 0;  ///< median of |dy|, px
  double error_90 = 0;      ///< 90 % of the tracks have a smaller |dy|, px
  double above_1 = 0;       ///< share of the tracks, 0..1, with |dy| > 1 px
  double rotation = 0;      ///< degrees by which the right image is rotated against the left one, clockwise
  double scale = 0;         ///< share by which the right image is taller than the left one
  double least_disparity = 0;    ///< px: 5 % of the tracks have a smaller disparity
  double largest_disparity = 0;  ///< px: 5 % of the tracks have a larger disparity
};

/// Measures the alignment of two frames of the same size from features that are tracked from the left one to
/// the right one and back. Tracks whose dy is an outlier from the plane dy = a + b x + c y are not used.
/// Memory and device are as for find_tracks. Every device gives the same results. Throws like find_tracks.
PARAFIELD_API RowAlignment measure_row_alignment(const In<Frame>& left, const In<Frame>& right,
                                                 const std::optional<Device>& device = {});

/// A point in space and its color.
struct ColorPoint {
  float x, y, z;
  std::uint8_t red, green, blue;
  float sigma_z = std::numeric_limits<float>::quiet_NaN();  ///< standard deviation of z; NaN = unknown
};

/// Converts a disparity field to points, row by row, in the unit of the baseline and with the colors of the
/// left view. If the field has a sigma, points have sigma_z = z^2 / (focal * baseline) * sigma; x and y are
/// proportional to z, so their errors are the same share of it. Pixels that are not valid or not finite, or where d + doffs is not above 0, yield no point.
/// Colors are scaled to 0..255 by the frame's range; a color that is not finite becomes black. Both inputs
/// must be in host memory. Throws Error(invalid_argument) for different sizes, or a focal length or baseline
/// that is not above 0.
PARAFIELD_API std::vector<ColorPoint> points_of(const In<DisparityView>& disparity, const In<Frame>& left,
                                                const StereoGeometry& geometry);

}  // namespace parafield
