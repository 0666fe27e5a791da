// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/ndarray.h>

#include <algorithm>
#include <vector>

#include "fields.hpp"
#include "frames.hpp"

namespace parafield::python {

/// A frame that owns its memory and can be returned as an array. It is in the same memory as the array
/// `like`, and of the same library. There are no gaps between rows.
class NewFrame {
 public:
  /// The caller must hold the GIL. Throws Error(memory).
  NewFrame(const Array& like, Size size, PixelFormat format)
      : storage_(make_storage(like, std::size_t(row_bytes(size, format)) * std::size_t(size.height), false)),
        size_(size),
        format_(format) {}

  /// Copies the pixels of a frame of the same size and format from any memory. Returns when the copy is
  /// complete.
  void take(const Frame& frame);
  /// Returns an array that shares the memory: H x W or H x W x C, or C x H x W with `channels_first`.
  nb::object array(bool channels_first = false) const;

 private:
  static std::ptrdiff_t row_bytes(Size size, PixelFormat format) {
    return std::ptrdiff_t(size.width) * bytes_per_pixel(format);
  }

  std::shared_ptr<Storage> storage_;
  Size size_;
  PixelFormat format_;
};

/// Copies a frame in host memory into a NumPy array, H x W or H x W x C.
nb::object frame_array(const In<Frame>& frame);

/// Copies a plane of floats in host memory into a NumPy array, H x W, float32.
nb::object plane_array(View<const float> plane);

/// Copies a plane of bytes in host memory into a NumPy array, H x W, bool: true where the byte is not 0.
nb::object mask_array(const Image<std::uint8_t>& mask);

/// Copies a list of structs into a NumPy array of rows: each struct consists of `columns` values of type T.
template <class T, class Row>
nb::object rows_array(const std::vector<Row>& rows) {
  constexpr std::size_t columns = sizeof(Row) / sizeof(T);
  const auto storage = make_host_storage(std::max<std::size_t>(1, rows.size()) * sizeof(Row));
  std::ranges::copy(rows, reinterpret_cast<Row*>(storage->data));
  return array_in(storage, storage->data, nb::dtype<T>(), {rows.size(), columns}, {columns, 1});
}

/// Reads one frame in host memory. Throws Error(invalid_argument) for stacks and for frames on a device.
FrameStack read_host_frame(nb::handle object, const std::string& name, const FrameLayout& layout = {});

/// Return a picture that shows a single result in host memory.
FrameBuffer picture_of(const Field<Flow>& field);
FrameBuffer picture_of(const Field<Stereo>& field);
FrameBuffer picture_of(const Field<Detection>& field);

/// Returns a picture as the bytes of a PNG file, or None if this build has no PNG support.
nb::object png_of(const FrameBuffer& picture);

}  // namespace parafield::python
