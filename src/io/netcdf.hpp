// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string_view>

#include "io/formats.hpp"

namespace parafield::io {

bool is_netcdf(ByteSpan bytes);

/// The images of a NetCDF file in memory: of a variable with the dimensions rows and columns, or time, rows
/// and columns. Values are unpacked to f32; missing values are NaN.
class NetcdfImages : public Images {};

/// Opens a file, whose bytes must outlive the images. `variable` is the name of the variable, or empty if
/// only one holds images. Throws Error(format), Error(invalid_argument) for a name that is missing or wrong,
/// Error(unsupported) without the netCDF library.
std::unique_ptr<NetcdfImages> open_netcdf(ByteSpan bytes, std::string_view variable);

}  // namespace parafield::io
