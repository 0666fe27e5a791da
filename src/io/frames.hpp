// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "io/netcdf.hpp"
#include "io/y4m.hpp"

namespace parafield::io {

/// The frames of a stream of bytes, of any format. A format that holds one image is read from streams that
/// know their size only.
class PARAFIELD_API FrameStream {
 public:
  /// `variable`: that of NetCDF files which holds the images; empty if only one may. `gray`: only the luma of Y4M
  /// is wanted.
  explicit FrameStream(ByteStream& bytes, std::string variable = {}, bool gray = false)
      : bytes_(bytes), variable_(std::move(variable)), gray_(gray) {}
  ~FrameStream();
  FrameStream(const FrameStream&) = delete;
  FrameStream& operator=(const FrameStream&) = delete;

  /// The next frame; nothing at the end, and after an error.
  std::optional<FrameBuffer> next();
  /// The same; false at the end. Of Y4M, memory of the right size and format is used again.
  bool next(FrameBuffer& frame);
  Content content() const { return content_; }             ///< of the last frame
  double rate() const { return y4m_ ? y4m_->rate() : 0; }  ///< frames a second; 0 = not known
  /// The first frame. Throws Error(format) if there is none or if more follows.
  FrameBuffer only();

 private:
  /// Content of what follows, by as many bytes as it needs: more may never come.
  Content upcoming();
  bool has_next();
  void read(FrameBuffer& frame);

  ByteStream& bytes_;
  const std::string variable_;
  const bool gray_;
  std::optional<Y4mReader> y4m_;
  std::optional<NetcdfReader> netcdf_;
  Content content_ = Content::unknown;
  std::int64_t count_ = 0;  // frames read
  bool ended_ = false;
};

}  // namespace parafield::io
