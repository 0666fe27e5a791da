// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "io/netcdf.hpp"
#include "io/y4m.hpp"

namespace parafield::io {

/// The frames of a stream of bytes, of any format. A format that holds one image is read from streams that
/// know their size only.
class FrameStream {
 public:
  /// `variable`: that of NetCDF files which holds the images; empty if only one may.
  explicit FrameStream(ByteStream& bytes, std::string variable = {})
      : bytes_(bytes), variable_(std::move(variable)) {}

  /// The next frame; nothing at the end, and after an error.
  std::optional<FrameBuffer> next();
  /// The first frame. Throws Error(format) if there is none or if more follows.
  FrameBuffer only();

 private:
  /// Content of what follows, by as many bytes as it needs: more may never come.
  Content upcoming();
  bool has_next();
  FrameBuffer read();

  ByteStream& bytes_;
  const std::string variable_;
  std::optional<Y4mReader> y4m_;
  std::optional<NetcdfReader> netcdf_;
  Content content_ = Content::unknown;
  std::int64_t count_ = 0;  // frames read
  bool ended_ = false;
};

}  // namespace parafield::io
