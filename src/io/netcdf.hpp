// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>

#include "io/formats.hpp"

namespace parafield::io {

bool is_netcdf(ByteSpan bytes);

/// Which images of a NetCDF file are read: see FrameSourceOptions.
struct NetcdfChoice {
  std::string variable = {}, level = {};
};

/// The images of a NetCDF file in memory: of a variable with rows and columns in any order, and possibly
/// time, in order of time and with the north up. Values are unpacked to f32; missing values are NaN.
class NetcdfImages : public Images {};

/// Opens a file, whose bytes must outlive the images. Throws Error(format), Error(invalid_argument) for a
/// variable or level that is missing or wrong, Error(unsupported) without the netCDF library.
std::unique_ptr<NetcdfImages> open_netcdf(ByteSpan bytes, const NetcdfChoice& choice);

}  // namespace parafield::io
