// SPDX-License-Identifier: MIT
#pragma once
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "estimation.hpp"
#include "frames.hpp"
#include "interrupt.hpp"
#include "parafield/boxes.hpp"

/// The command detect: shared by pairs and series of pictures, and by videos.
namespace parafield::command {

struct DetectOptions : EstimationOptions<Detection> {
  std::vector<std::string> frames, labels;
  std::string output, overlay, mask, boxes;
  int min_area = 0;  ///< 0 = not given
  FrameOptions reading;
  bool beside = false;

  /// Whether several masks are estimated, or the names of outputs are patterns.
  bool is_series() const { return frames.size() > 2 || has_number(output) || has_number(overlay); }
  /// Whether the input or an output is a video: reading, computing and writing overlap.
  bool is_video() const;
};

/// --boxes: a line of JSON for each mask, with the boxes of what moves.
class BoxLines {
 public:
  /// `file`: empty = none, "-" = standard output. A file is written beside and renamed by finish().
  BoxLines(const std::string& file, int min_area);
  ~BoxLines();
  BoxLines(const BoxLines&) = delete;
  BoxLines& operator=(const BoxLines&) = delete;

  /// The boxes of a mask in host memory, which are written, too. Throws Error(file).
  const std::vector<Box>& add(const Image<std::uint8_t>& moving, std::int64_t frame, double time);
  void finish();

 private:
  void write(const std::string& line);

  const std::string file_, beside_;
  const int min_area_;
  std::FILE* open_ = nullptr;
  long bytes_ = 0;  // that are written
  std::optional<BoxFinder> finder_;
  std::vector<Box> boxes_;
};

/// Draws the boxes into a picture, rgb_u8.
void draw_boxes(FrameBuffer& picture, const std::vector<Box>& boxes);

/// Counts and scores over all masks.
struct Findings {
  Size size;
  int frames = 2;
  ValueRange range;
  std::int64_t moving = 0, pixels = 0;
  MaskScores scores;
  Image<std::uint8_t> scored;       // --mask
  std::unique_ptr<BoxLines> boxes;  // --boxes, --min-area

  explicit Findings(const DetectOptions& options);
  /// Adds mask number i, which belongs to `frame`, and writes it to the files that are named.
  void add(const DetectOptions& options, std::size_t i, const MotionMask& found, const FrameBuffer& frame,
           const Path& to_output, const Path& to_overlay);
  /// Counts and scores mask number i. The boxes are those of --boxes and --min-area.
  const std::vector<Box>& take(const DetectOptions& options, std::size_t i, const MotionMask& found,
                               std::int64_t number, double time);
};

/// The frame with what moves in red, and boxes; beside the frame itself if that is asked for.
FrameBuffer overlay_of(const DetectOptions& options, const FrameBuffer& frame, const MotionMask& found,
                       const std::vector<Box>& boxes);

/// Throws UsageError unless there is a file of labels for each mask, or none at all.
void check_labels(const DetectOptions& options, std::size_t masks);

/// Detects motion in a video.
void detect_video(const DetectOptions& options);

}  // namespace parafield::command
