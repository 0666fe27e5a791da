// SPDX-License-Identifier: MIT
#pragma once
#include "frames.hpp"
#include "storage.hpp"

namespace parafield::python {

/// A frame that owns its memory and can be returned as an array. It is in the same memory as the array
/// `like`, and of the same library. There are no gaps between rows.
class NewFrame {
 public:
  /// The caller must hold the GIL. Throws Error(memory).
  NewFrame(const Array& like, Size size, PixelFormat format);

  /// Copies the pixels of a frame of the same size and format from any memory. Returns when the copy is
  /// complete.
  void take(const Frame& frame);
  /// Returns an array that shares the memory: H x W or H x W x C, or C x H x W with `channels_first`.
  nb::object array(bool channels_first = false) const;

 private:
  std::shared_ptr<Storage> storage_;
  Size size_;
  PixelFormat format_;
};

}  // namespace parafield::python
