// SPDX-License-Identifier: MIT
#pragma once
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files.hpp"
#include "options.hpp"
#include "report.hpp"

/// The frames that a command reads.
namespace parafield::command {

/// A mask of pixels that have a value: 0 where they have none. No data: all have one.
using KnownPixels = Image<std::uint8_t>;

/// --range, --variable, --input-mask, --overlay.
struct FrameOptions {
  std::string range, variable, mask, overlay;
  bool fills = false;  ///< pixels without a value are filled, and told

  void add_to(App& command);
  /// Adds --input-mask. From then on pixels without a value are filled: by the mask, by alpha, or not finite.
  void add_mask_to(App& command);
  /// Adds --overlay, too.
  void add_overlay_to(App& command);
  /// The files of masks, inputs beside the frames.
  std::vector<Path> files() const { return {mask, overlay}; }
  /// Throws UsageError.
  std::optional<ValueRange> given() const;
};

/// Reads frames of one size from files and streams, one file after the other. The next frame is read while the
/// last one is in use. All have the range of --range or, without it, the one that the first frames suggest.
class FrameSource {
 public:
  /// Reads the first `ahead` frames, or all if there are fewer. If the range found in them is not the usual one
  /// of their format, a note on stderr says so. Throws what FrameReader throws and UsageError.
  FrameSource(const std::vector<std::string>& files, const FrameOptions& options, int ahead, bool quiet);

  /// The next frame, or none at the end. `known` becomes its mask. Throws what FrameReader throws and, for a
  /// frame of another size than the first, Error(invalid_argument).
  std::optional<FrameBuffer> next(KnownPixels* known = nullptr);

  int count() const { return count_; }  ///< frames read so far
  Size size() const { return size_; }   ///< 0x0 if there is no frame
  ValueRange range() const { return *range_; }

 private:
  struct Named {
    FrameBuffer frame;
    std::string name;
    KnownPixels known;
  };
  class Files;

  std::future<std::optional<Named>> begin_to_read() const;
  bool await_one();  // false at the end

  std::shared_ptr<Files> files_;
  std::optional<ValueRange> range_;
  const bool quiet_;
  bool found_ = false;  // the range, in the first frames
  int count_ = 0;
  std::string first_name_;
  Size size_;
  std::deque<Named> waiting_;
  std::future<std::optional<Named>> coming_;
};

/// Reads `count` frames. Throws UsageError if the files have fewer or more: `who` takes that many, and `more` says
/// what can be done with others. `known` takes their masks.
std::vector<FrameBuffer> read_frames(const std::vector<std::string>& files, const FrameOptions& options,
                                     int count, bool quiet, std::string_view who = "the command",
                                     std::string_view more = "", std::vector<KnownPixels>* known = nullptr);

/// The range of a frame that names none.
ValueRange usual_range(PixelFormat format);

/// Adds range.
void add_range(Report& report, ValueRange range);

}  // namespace parafield::command
