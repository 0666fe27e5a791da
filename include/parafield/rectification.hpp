// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "parafield/fields.hpp"

/// Pairs of images from cameras that are not aligned: their calibration, the rectified views that stereo
/// needs, and points in space. Coordinates of a camera are x to the right, y down and z forward, from its
/// center. Pixels are counted from (0, 0), the center of the first one. These are OpenCV's conventions.
namespace parafield {

/// Distortion of a lens, as OpenCV's calibrateCamera gives it. A ray (x, y, 1), r^2 = x^2 + y^2, is seen at
///   x' = x g + 2 p1 x y + p2 (r^2 + 2 x^2),  y' = y g + p1 (r^2 + 2 y^2) + 2 p2 x y
///   g = (1 + k1 r^2 + k2 r^4 + k3 r^6) / (1 + k4 r^2 + k5 r^4 + k6 r^6)
struct LensDistortion {
  double k1 = 0, k2 = 0, p1 = 0, p2 = 0, k3 = 0, k4 = 0, k5 = 0, k6 = 0;
  bool operator==(const LensDistortion&) const = default;
};

/// A camera: its focal lengths and principal point, px, and its lens.
struct CalibratedCamera {
  double fx = 0, fy = 0, cx = 0, cy = 0;
  LensDistortion distortion = {};
  bool operator==(const CalibratedCamera&) const = default;
};

/// Calibration of a stereo camera, as OpenCV's stereoCalibrate gives it. A point at X from the left camera is
/// at R X + T from the right one. T has the unit of everything that follows from it: baseline, depths,
/// points.
struct StereoCalibration {
  CalibratedCamera left, right;
  std::array<double, 9> rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};  ///< R, row by row
  std::array<double, 3> translation = {};                        ///< T
  Size size = {};          ///< of the images that were calibrated, px; 0x0 = not known
  bool rectified = false;  ///< the images are rectified already, as Middlebury's are
};

/// Geometry of a rectified pair. A pixel (x, y) of the left view with disparity d shows the point
///   Z = focal * baseline / (d + doffs),  X = (x - cx) Z / focal,  Y = (y - cy) Z / focal
/// from the left camera, after its rotation.
struct StereoGeometry {
  double focal = 0;       ///< focal length of both views, px
  double baseline = 0;    ///< distance of the cameras
  double cx = 0, cy = 0;  ///< principal point of the left view, px
  double doffs = 0;       ///< principal point of the right view - that of the left, px to the right
};

/// How both views are rectified.
struct Rectification {
  Size size;  ///< of both views, px
  StereoGeometry geometry;
  /// OpenCV's R1 and R2, row by row: a point at X from a camera is at R X from its rectified one.
  std::array<double, 9> left_rotation, right_rotation;
};

/// Plans the rectification of images of a size, which may be 0x0 if the calibration has one. Each camera
/// takes half of R, both turn until the baseline is along their rows, and they get one focal length and one
/// principal point (Bouguet's method, as OpenCV's stereoRectify with CALIB_ZERO_DISPARITY). `alpha` says how
/// much they show: 0 = all pixels of both views lie in the images, 1 = both views show the whole images,
/// between = in between. A pair that is rectified already keeps its cameras. Throws Error(invalid_argument)
/// for values out of range, another size than that of the calibration, an R that is no rotation, or a right
/// camera to the left of the left one, and Error(unsupported) for cameras one above the other.
PARAFIELD_API Rectification plan_rectification(const StereoCalibration& calibration, Size size = {},
                                               double alpha = 0);

/// Options of a Rectifier.
struct RectifierOptions {
  std::optional<Device> device = {};  ///< not given: Device::best()
  Stream stream = {};                 ///< CUDA: the stream to work on; not given: the rectifier's own
  double alpha = 0;                   ///< as plan_rectification takes it
};

/// Both rectified views, gray_f32 or rgb_f32, in the range of the frames. Pixels that show nothing of the
/// image are NaN: for estimators they are unknown.
struct RectifiedPair {
  FrameBuffer left, right;
};

/// Where rectified views show something of their images: 1, otherwise 0. It lies in host memory.
struct RectifiedRegion {
  Image<std::uint8_t> left, right;
};

/// Undistorts and rectifies pairs of frames. Tables of the places where each pixel looks are made once;
/// frames are read there by linear interpolation. Every device gives the same bits. It is used by one thread
/// at a time.
class PARAFIELD_API Rectifier {
 public:
  /// For frames of a size, which may be 0x0 if the calibration has one. Throws like plan_rectification,
  /// Error(device), Error(memory).
  explicit Rectifier(const StereoCalibration& calibration, Size size = {},
                     const RectifierOptions& options = {});
  ~Rectifier();
  Rectifier(Rectifier&&) noexcept;
  Rectifier& operator=(Rectifier&&) noexcept;

  /// Both views, in the memory of the frames, as they are until the next call. Frames are of any format, both
  /// gray or both in color, in host memory or the device's. With frames on a CUDA device the call returns
  /// before the views are complete: they are ready for work on the stream. Throws Error(invalid_argument).
  const RectifiedPair& operator()(const In<Frame>& left, const In<Frame>& right);

  const Rectification& plan() const;
  const RectifiedRegion& region() const;
  Stream stream() const;
  void synchronize();  ///< waits until the views of the last call are complete

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How well the rows of a stereo pair are aligned, from tracks of features. dy is the row of a match in the
/// right image - its row in the left one, px. All but `tracks` are NaN where there are fewer than
/// `least_tracks`.
struct RowAlignment {
  static constexpr int least_tracks = 20;

  int tracks = 0;           ///< number of tracks that are used
  double median_dy = 0;     ///< px
  double median_error = 0;  ///< median of |dy|, px
  double error_90 = 0;      ///< 90 % of the tracks have a smaller |dy|, px
  double above_1 = 0;       ///< share of the tracks with |dy| > 1 px
  double rotation = 0;      ///< degrees by which the right image is turned, clockwise, against the left one
  double scale = 0;         ///< by how much more rows the right image is taller than the left one, as a share
  double least_disparity = 0;    ///< 5 % of the tracks have a smaller disparity, px
  double largest_disparity = 0;  ///< 5 % of the tracks have a larger disparity, px
};

/// Measures the alignment of a pair of frames of one size from features that are tracked from the left one to
/// the right one and back. Tracks whose dy does not fit the plane dy = a + b x + c y of the others are not
/// used. Memory and device are as for find_tracks. Every device gives the same. Throws like find_tracks.
PARAFIELD_API RowAlignment measure_row_alignment(const In<Frame>& left, const In<Frame>& right,
                                                 const std::optional<Device>& device = {});

/// A point in space and its color.
struct ColorPoint {
  float x, y, z;
  std::uint8_t red, green, blue;
};

/// The points of a disparity field, row by row, in the unit of the baseline, with the colors of the left
/// view. Pixels that are not valid or not finite, or where d + doffs is not above 0, give none. A frame's
/// values become 0..255 by its range; a color that is not finite is black. Both are in host memory. Throws
/// Error(invalid_argument) for other sizes, or a focal length or baseline that is not above 0.
PARAFIELD_API std::vector<ColorPoint> points_of(const In<DisparityView>& disparity, const In<Frame>& left,
                                                const StereoGeometry& geometry);

}  // namespace parafield
