// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string_view>

#include "io/formats.hpp"

namespace parafield::io {

bool is_netcdf(ByteSpan bytes);

/// Images of a NetCDF file in memory: a variable of two dimensions, rows and columns, or of three, of which
/// the first is time. Values are unpacked to f32; those that are missing are NaN.
class NetcdfReader {
 public:
  /// The bytes have to outlive the reader. `variable`: its name, or empty if only one holds images. Throws
  /// Error(format), Error(invalid_argument) for the name, Error(unsupported) without the netCDF library.
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
