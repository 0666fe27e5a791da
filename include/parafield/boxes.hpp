// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parafield/image.hpp"

/// Bounding boxes of moving objects: of the connected regions of a mask. Every device finds the same boxes.
namespace parafield {

/// The bounding box of a region: a set of nonzero pixels that are connected through their 8 neighbors.
struct Box {
  int x = 0, y = 0;           ///< px: the upper left pixel
  int width = 0, height = 0;  ///< px
  int area = 0;               ///< number of pixels in the region
  bool operator==(const Box&) const = default;
};

/// Options of find_boxes and BoxFinder.
struct BoxOptions {
  int min_area = 1;  ///< px, >= 1; smaller regions are ignored
  /// Default: find_boxes runs where the mask is, on one CPU thread if it is in host memory; a BoxFinder runs
  /// on Device::best(). A mask in host memory works with any device, a mask in a device's memory only with
  /// that device.
  std::optional<Device> device = {};
  Stream stream = {};  ///< CUDA: the stream to use, such as a MotionDetector's; default: a stream of its own
};

/// Finds the boxes of many masks of the same size and reuses its memory. Use it from one thread at a time.
class PARAFIELD_API BoxFinder {
 public:
  /// Throws Error(invalid_argument) for a size that no estimator accepts or a `min_area` below 1,
  /// Error(device), Error(memory).
  explicit BoxFinder(Size size, const BoxOptions& options = {});
  ~BoxFinder();
  BoxFinder(BoxFinder&&) noexcept;
  BoxFinder& operator=(BoxFinder&&) noexcept;

  /// Returns the boxes of a mask, for example MotionMask::moving, ordered by the first pixel of their regions
  /// in row order. The boxes are valid until the next call. The call waits for the device. Throws
  /// Error(invalid_argument) for a mask of another size or in the memory of another device.
  std::span<const Box> operator()(const Image<std::uint8_t>& mask);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Finds the boxes of a single mask. Throws like BoxFinder.
PARAFIELD_API std::vector<Box> find_boxes(const Image<std::uint8_t>& mask, const BoxOptions& options = {});

}  // namespace parafield
