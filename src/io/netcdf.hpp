// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string_view>

#include "io/formats.hpp"

namespace parafield::io {

bool is_netcdf(ByteSpan bytes);

/// The images of a NetCDF file in memory: of a variable with the dimensions rows and columns, or time, rows
/// and columns. Values are unpacked to f32; missing values are NaN.
class NetcdfReader {
 public:
  /// The bytes must outlive the reader. `variable` is the name of the variable, or empty if only one holds
  /// images. Throws Error(format), Error(invalid_argument) for a name that is missing or wrong,
  /// Error(unsupported) without the netCDF library.
  NetcdfReader(ByteSpan bytes, std::string_view variable);
  ~NetcdfReader();
  NetcdfReader(NetcdfReader&&) noexcept;
  NetcdfReader& operator=(NetcdfReader&&) noexcept;

  bool has_next() const;
  FrameBuffer next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parafield::io
