// SPDX-License-Identifier: MIT
#include "parafield/image.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>

#include "core/cuda/runtime.hpp"
#include "core/fail.hpp"
#include "core/host_memory.hpp"
#include "core/views.hpp"

namespace parafield {
namespace detail {

Allocation allocate(std::ptrdiff_t row_bytes, std::ptrdiff_t rows, Memory memory) {
  if (row_bytes < 1 || rows < 1)
    fail(ErrorCode::invalid_argument, "an image needs at least one pixel; asked for ", rows, " rows of ",
         row_bytes, " bytes");
  constexpr std::ptrdiff_t alignment = 64;
  const std::ptrdiff_t pitch = (row_bytes + alignment - 1) / alignment * alignment;
  if (pitch > std::numeric_limits<std::ptrdiff_t>::max() / rows)
    fail(ErrorCode::memory, "an image of ", rows, " rows of ", row_bytes, " bytes is larger than any memory");
  const std::size_t bytes = std::size_t(pitch) * rows;
  if (memory.kind == Memory::Kind::cuda)
    return {{cuda::allocate(bytes, memory.device),
             [device = memory.device](void* data) { cuda::release(data, device); }},
            pitch};
  if (memory.kind == Memory::Kind::pinned)
    return {{cuda::allocate_pinned(bytes), cuda::release_pinned}, pitch};
  void* const data = allocate_host(bytes);
  if (!data) fail(ErrorCode::memory, "cannot allocate ", bytes, " bytes for an image");
  return {{data, [bytes](void* released) { release_host(released, bytes); }}, pitch};
}

void copy(void* to, std::ptrdiff_t to_pitch, Memory to_memory, const void* from, std::ptrdiff_t from_pitch,
          Memory from_memory, std::ptrdiff_t row_bytes, int height) {
  if (!to_memory.on_host() || !from_memory.on_host())
    return cuda::copy(to_memory.on_host() ? from_memory.device : to_memory.device, to, to_pitch, from,
                      from_pitch, row_bytes, height);
  for (int y = 0; y < height; ++y)
    std::memcpy(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch,
                std::size_t(row_bytes));
}

void check_copy(Size size, Size from) {
  if (from != size)
    fail(ErrorCode::invalid_argument, "the image has ", size.width, "x", size.height,
         " pixels, the one to copy ", from.width, "x", from.height);
}

}  // namespace detail

namespace {

struct FormatInfo {
  const char* name;
  int channels, value_bytes;
};
FormatInfo info_of(PixelFormat format) {
  constexpr FormatInfo formats[] = {{"gray_u8", 1, 1}, {"gray_u16", 1, 2}, {"gray_f32", 1, 4},
                                    {"rgb_u8", 3, 1},  {"rgb_u16", 3, 2},  {"rgb_f32", 3, 4},
                                    {"bgr_u8", 3, 1},  {"rgba_u8", 4, 1},  {"bgra_u8", 4, 1}};
  return std::size_t(format) < std::size(formats) ? formats[int(format)] : FormatInfo{"?", 3, 1};
}

}  // namespace

int channels(PixelFormat format) { return info_of(format).channels; }
int bytes_per_pixel(PixelFormat format) { return channels(format) * bytes_per_value(format); }
int bytes_per_value(PixelFormat format) { return info_of(format).value_bytes; }
const char* depth_text(PixelFormat format) {
  const int bytes = bytes_per_value(format);
  return bytes == 1 ? "8-bit" : bytes == 2 ? "16-bit" : "float";
}
const char* to_string(PixelFormat format) { return info_of(format).name; }

FrameBuffer::FrameBuffer(Size size, PixelFormat format, Memory memory) : size_(size), format_(format) {
  if (size.width < 1 || size.height < 1 ||
      size.width > std::numeric_limits<int>::max() / bytes_per_pixel(format))
    fail(ErrorCode::invalid_argument, "a frame cannot have ", size.width, "x", size.height, " pixels");
  bytes_ = Image<std::uint8_t>({size.width * bytes_per_pixel(format), size.height}, memory);
}

Frame FrameBuffer::frame() const {
  const auto view = bytes_.view();
  return {view.data, size_.width, size_.height, view.pitch, format_, bytes_.memory(), range_};
}

void* FrameBuffer::row(int y) { return bytes_.view().row(y); }
const void* FrameBuffer::row(int y) const { return bytes_.view().row(y); }

FrameBuffer FrameBuffer::to(Memory memory) const {
  FrameBuffer copy;
  copy.size_ = size_;
  copy.format_ = format_;
  copy.range_ = range_;
  copy.bytes_ = bytes_.to(memory);
  return copy;
}

}  // namespace parafield
