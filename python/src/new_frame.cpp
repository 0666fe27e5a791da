// SPDX-License-Identifier: MIT
#include "new_frame.hpp"

#include <nanobind/ndarray.h>

namespace parafield::python {
namespace {

std::ptrdiff_t row_bytes(Size size, PixelFormat format) {
  return std::ptrdiff_t(size.width) * bytes_per_pixel(format);
}

}  // namespace

NewFrame::NewFrame(const Array& like, Size size, PixelFormat format)
    : storage_(make_storage(like, std::size_t(row_bytes(size, format)) * std::size_t(size.height), false)),
      size_(size),
      format_(format) {}

void NewFrame::take(const Frame& frame) {
  const std::ptrdiff_t row = row_bytes(size_, format_);
  detail::copy(storage_->data, row, storage_->memory, frame.data, frame.pitch ? frame.pitch : row,
               frame.memory, row, size_.height);
}

nb::object NewFrame::array(bool channels_first) const {
  const int count = channels(format_), value = bytes_per_pixel(format_) / count;
  const nb::dlpack::dtype type = value == 1   ? nb::dtype<std::uint8_t>()
                                 : value == 2 ? nb::dtype<std::uint16_t>()
                                              : nb::dtype<float>();
  const auto height = std::size_t(size_.height), width = std::size_t(size_.width);
  const std::int64_t row = std::int64_t(size_.width) * count;
  if (channels_first)
    return array_in(storage_, storage_->data, type, {std::size_t(count), height, width}, {1, row, count});
  if (count == 1) return array_in(storage_, storage_->data, type, {height, width}, {row, 1});
  return array_in(storage_, storage_->data, type, {height, width, std::size_t(count)}, {row, count, 1});
}

}  // namespace parafield::python
