// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "parafield/parafield.hpp"

namespace parafield::bench {

/// A picture that a report shows.
struct Picture {
  std::string figure;  ///< of the paper, for example "Fig. 4"
  std::string caption;
  std::string file;  ///< its path in the folder of pictures
};

/// Pictures that a study draws, one file for each.
class Pictures {
 public:
  /// Makes the folder and its folder `real`, unless `folder` is empty.
  explicit Pictures(std::filesystem::path folder);

  /// False without a folder: then nothing needs to be drawn.
  bool wanted() const { return !folder_.empty(); }
  /// Writes a picture. `file`: its name without ".png"; pictures of real sequences begin with "real/".
  void add(const std::string& figure, const std::string& caption, const std::string& file,
           const In<Frame>& picture);
  /// add(what, caption, picture) for a scene, whose files begin with `prefix`.
  auto of(std::string figure, std::string scene, std::string prefix) {
    return [=, this](const std::string& what, const std::string& caption, const In<Frame>& picture) {
      add(figure, scene + ": " + caption, prefix + what, picture);
    };
  }
  const std::vector<Picture>& list() const { return list_; }

 private:
  std::filesystem::path folder_;
  std::vector<Picture> list_;
};

/// Picture of endpoint errors: black where there is none, white from `most` px on. Pixels without truth are
/// black.
FrameBuffer color_errors(const In<FlowView>& flow, const In<FlowView>& truth, float most);

/// The same for disparities.
FrameBuffer color_errors(const In<DisparityView>& disparity, const In<DisparityView>& truth, float most);

/// Colors of disparities from 0 to disparities - 1.
FrameBuffer colors_of(const In<DisparityView>& field, int disparities);

/// The frame with a yellow square on each track.
FrameBuffer with_tracks(const In<Frame>& frame, std::span<const Track> tracks);

/// Black and white picture of a mask.
FrameBuffer black_and_white(const Image<std::uint8_t>& mask);

}  // namespace parafield::bench
