// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "parafield/fields.hpp"

/// Motion of a sequence in a NetCDF file. FrameReader (io.hpp) reads images from NetCDF files. Both need the
/// netCDF C library, which is loaded when it is used. A damaged file can crash that library.
namespace parafield {

/// Why NetCDF files are neither read nor written: the library was not there when parafield was built, or is
/// not there now. Empty if they are.
PARAFIELD_API std::string why_no_netcdf();

/// Options of MotionFile.
struct MotionFileOptions {
  double km_per_pixel = 0, minutes = 0;  ///< size of a pixel, time between two images; 0 = not known
  std::string start = {};        ///< time of the first image, UTC: "2017-09-06T12:00"; empty = not known
  std::string height_unit = {};  ///< "m" or "km"; empty = not known
  bool has_heights = false;
  int first_image = 1;  ///< number of the image whose motion comes first, from 1
};

/// A NetCDF-4 file of the motion of a sequence, by the CF conventions 1.8: dimensions time, y and x, from the
/// top of the image.
/// - u, v: px to the next image, to the right and down; NaN where unknown. `valid`: 1 or 0.
/// - x_wind, y_wind: m/s, to the right and up, where `km_per_pixel` and `minutes` are given.
/// - height: NaN where unknown. With a unit it is height_at_cloud_top.
/// - x, y: km, to the right and up, or px; time: minutes, where `start` is given; image: from `first_image` on
///
/// The file is written under another name and renamed by close(). It is used by one thread at a time.
class PARAFIELD_API MotionFile {
 public:
  /// Throws Error(unsupported) without the library, Error(file), and Error(invalid_argument) for options.
  MotionFile(const std::filesystem::path& path, Size size, const MotionFileOptions& options = {});
  /// Removes the file if it was not closed.
  ~MotionFile();
  MotionFile(MotionFile&&) noexcept;
  MotionFile& operator=(MotionFile&&) noexcept;

  /// Adds the motion of the next image and its heights. Throws Error(invalid_argument) for another size, and
  /// for heights that are missing or not asked for; Error(file).
  void add(const In<FlowView>& flow, View<const float> heights = {});
  /// Throws Error(file).
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parafield
