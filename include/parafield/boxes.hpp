// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parafield/image.hpp"

/// Bounding boxes of what moves: of the connected regions of a mask. Every device finds the same boxes.
namespace parafield {

/// The bounding box of a region: pixels that are not 0, joined with their 8 neighbors.
struct Box {
  int x = 0, y = 0;           ///< its upper left pixel
  int width = 0, height = 0;  ///< px
  int area = 0;               ///< number of the region's pixels
  bool operator==(const Box&) const = default;
};

/// Options of find_boxes and BoxFinder.
struct BoxOptions {
  int min_area = 1;  ///< px, >= 1; smaller regions have no box
  /// Not given: where the mask is; of a BoxFinder Device::best(). A mask in host memory may be given to any
  /// device, one in a device's memory only to that device.
  std::optional<Device> device = {};
  Stream stream = {};  ///< CUDA: the stream to work on, as a MotionDetector's; not given: its own
};

/// Finds the boxes of masks of one size, without taking memory for each. It is used by one thread at a time.
class PARAFIELD_API BoxFinder {
 public:
  /// Throws Error(invalid_argument) for a size that no frame can have and for a `min_area` below 1,
  /// Error(device), Error(memory).
  explicit BoxFinder(Size size, const BoxOptions& options = {});
  ~BoxFinder();
  BoxFinder(BoxFinder&&) noexcept;
  BoxFinder& operator=(BoxFinder&&) noexcept;

  /// Boxes of a mask, as of MotionMask::moving, in the order of the first pixels of their regions, row by row.
  /// They are there until the next call. The call waits for the device. Throws Error(invalid_argument) for
  /// another size and for a mask in the memory of another device.
  std::span<const Box> operator()(const Image<std::uint8_t>& mask);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One-shot form. Throws like the finder.
PARAFIELD_API std::vector<Box> find_boxes(const Image<std::uint8_t>& mask, const BoxOptions& options = {});

}  // namespace parafield
