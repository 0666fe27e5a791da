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

/// The command detect: declarations shared by image pairs, image series and videos.
namespace parafield::command {

struct DetectOptions : EstimationOptions<Detection> {
  std::vector<std::string> frames, labels;
  std::string output, overlay, mask, boxes;
  int min_area = 0;  ///< 0 = not given
  FrameOptions reading;
  bool beside = false;

  void expand() { expand_names(frames); }
  /// -o and --overlay.
  std::vector<Output> series() const {
    return {{"-o", output, {".png", ".pgm"}}, {"--overlay", overlay, picture_extensions}};
  }
  /// Returns whether several masks are estimated, or the output names are patterns.
  bool is_series() const { return frames.size() > 2 || has_number(output) || has_number(overlay); }
  /// Returns whether the input or an output is a video, in which case reading, computing and writing overlap.
  bool is_video() const;
  /// Returns whether results go to standard output.
  bool prints_results() const { return output == "-" || overlay == "-" || boxes == "-"; }
  /// The input files except --mask.
  std::vector<Path> inputs() const {
    std::vector<Path> all(frames.begin(), frames.end());
    all.insert(all.end(), labels.begin(), labels.end());
    return all;
  }
  Output boxes_file() const { return {"--boxes", boxes == "-" ? "" : boxes, {}}; }
};

/// --boxes: one line of JSON per mask, with the bounding boxes of moving regions.
class BoxLines {
 public:
  /// `file`: "" writes nothing, "-" writes to standard output. A file is written under a temporary name,
  /// which finish() changes to `file`.
  BoxLines(const std::string& file, int min_area);
  ~BoxLines();
  BoxLines(const BoxLines&) = delete;
  BoxLines& operator=(const BoxLines&) = delete;

  /// Finds and writes the boxes of a mask in host memory, and returns them. Throws Error(file).
  const std::vector<Box>& add(const Image<std::uint8_t>& moving, std::int64_t frame, double time);
  void finish();

 private:
  void write(const std::string& line);

  const std::string file_, beside_;
  const int min_area_;
  std::FILE* open_ = nullptr;
  std::optional<WhileWriting> whole_;  // the file is complete, or removed
  long bytes_ = 0;                     // bytes written so far
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
  std::vector<std::string> notes = {};  // on the frames
  std::int64_t moving = 0, pixels = 0;
  MaskScores scores;
  Image<std::uint8_t> scored;       // --mask
  std::unique_ptr<BoxLines> boxes;  // --boxes, --min-area

  explicit Findings(const DetectOptions& options);
  /// Adds mask number i, which belongs to `frame`, and writes it to the files that are named.
  void add(const DetectOptions& options, std::size_t i, const MotionMask& found, const FrameBuffer& frame,
           const Path& to_output, const Path& to_overlay);
  /// Adds the share that moves, the scores, and the files. `energies` may be empty.
  void add_to(Report& report, const DetectOptions& options, const std::vector<double>& energies) const;
  /// Counts and scores mask number i. Returns its boxes, or none without --boxes and --min-area.
  const std::vector<Box>& take(const DetectOptions& options, std::size_t i, const MotionMask& found,
                               std::int64_t number, double time);
};

/// Returns the frame with moving pixels in red and with boxes, next to the plain frame if --beside is given.
FrameBuffer overlay_of(const DetectOptions& options, const FrameBuffer& frame, const MotionMask& found,
                       const std::vector<Box>& boxes);

/// Throws UsageError if there are label files, but not one for each mask.
void check_labels(const DetectOptions& options, std::size_t masks);

/// Whether the method compares frames with a learned background, not with the frame before.
bool has_background(const DetectionMethod& method);

/// Detects motion in a video.
void detect_video(const DetectOptions& options);

}  // namespace parafield::command
