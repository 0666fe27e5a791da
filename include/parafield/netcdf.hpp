// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "parafield/fields.hpp"

/// Motion of a sequence in a NetCDF file. FrameSource (video.hpp) reads images from NetCDF files. Both need
/// the netCDF C library, which is loaded on first use. A damaged file can crash that library.
namespace parafield {

/// Why NetCDF files cannot be read or written: the library was missing when parafield was built, or it cannot
/// be loaded now. Empty if they can.
PARAFIELD_API std::string why_no_netcdf();

/// Options of MotionFile.
struct MotionFileOptions {
  double km_per_pixel = 0, minutes = 0;  ///< size of a pixel, time between two images; 0 = unknown
  std::string start = {};        ///< time of the first image, UTC: "2017-09-06T12:00"; empty = unknown
  std::string height_unit = {};  ///< "m" or "km"; empty = unknown
  bool has_heights = false;
  bool has_bars = false;  ///< the flow has a covariance and the probability of outliers
  int first_image = 1;    ///< number, counted from 1, of the image whose motion comes first
};

/// A NetCDF-4 file of the motion of a sequence, following the CF conventions 1.8. Its dimensions are time, y
/// and x, from the top of the image. Variables:
/// - u, v: px to the next image, to the right and down; NaN where unknown. `valid`: 1 or 0.
/// - x_wind, y_wind: m/s, to the right and up, if `km_per_pixel` and `minutes` are given.
/// - with `has_bars`, u_sigma and v_sigma (px) and x_wind_sigma and y_wind_sigma (m/s): standard deviations;
///   outlier: probability that the error of the motion is above 1 px.
/// - height: NaN where unknown. With a unit, its standard name is height_at_cloud_top.
/// - x, y: km, to the right and up, or px; time: minutes, if `start` is given; image: number from
///   `first_image`.
///
/// The file is written under a temporary name and renamed by close(). Use it from one thread at a time.
class PARAFIELD_API MotionFile {
 public:
  /// Throws Error(unsupported) without the library, Error(file), and Error(invalid_argument) for a size or an
  /// option that is not allowed.
  MotionFile(const std::filesystem::path& path, Size size, const MotionFileOptions& options = {});
  /// Discards the file if it was not closed.
  ~MotionFile();
  MotionFile(MotionFile&&) noexcept;
  MotionFile& operator=(MotionFile&&) noexcept;

  /// Leaves out images whose motion is unknown.
  void skip(int images);
  /// Adds the motion of the next image, and its heights if `has_heights` is set. Throws
  /// Error(invalid_argument) for another size, for heights that are missing or unexpected, and for error bars
  /// that are missing; Error(file).
  void add(const In<FlowView>& flow, View<const float> heights = {});
  /// Completes the file and gives it its name. Throws Error(file).
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parafield
