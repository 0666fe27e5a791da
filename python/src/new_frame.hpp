// SPDX-License-Identifier: MIT
#pragma once
#include "frames.hpp"
#include "storage.hpp"

namespace parafield::python {

/// A frame in memory of its own, which becomes an array. It lies where the array `like` does, and is of its
/// library. Rows have no gap between them.
class NewFrame {
 public:
  /// Needs Python's lock. Throws Error(memory).
  NewFrame(const Array& like, Size size, PixelFormat format);

  /// Copies the pixels of a frame of the same size and format, in any memory. Returns when the copy is
  /// complete.
  void take(const Frame& frame);
  /// H x W or H x W x C; with `channels_first` C x H x W, a view of the same memory.
  nb::object array(bool channels_first = false) const;

 private:
  std::shared_ptr<Storage> storage_;
  Size size_;
  PixelFormat format_;
};

}  // namespace parafield::python
