// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "parafield/device.hpp"

/// Marks a function that host code and kernels call. It is always inlined. The arithmetic of one pixel is
/// written once, in functions with this mark, for the CPU and CUDA.
#if defined(__CUDACC__)
#define PF_HD __host__ __device__ __forceinline__
#else
#define PF_HD inline __attribute__((always_inline))
#endif

namespace parafield {

/// Width and height, px.
struct Size {
  int width = 0, height = 0;
  bool operator==(const Size&) const = default;
};

/// A non-owning 2-D image. It is trivially copyable; pass it by value, also to kernels. A view whose `data`
/// is null is not an image.
template <class T>
struct View {
  T* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;  ///< bytes from one row to the next; required even if rows are contiguous

  PF_HD T* row(int y) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(data) + y * pitch);
  }
  PF_HD T& operator()(int x, int y) const { return row(y)[x]; }
  PF_HD operator View<const T>() const requires(!std::is_const_v<T>) { return {data, width, height, pitch}; }
  PF_HD explicit operator bool() const { return data != nullptr; }
  Size size() const { return {width, height}; }
  /// Number of values from one row to the next.
  PF_HD std::ptrdiff_t stride() const { return pitch / std::ptrdiff_t(sizeof(T)); }
};

/// Pixel format of a frame; channels are interleaved.
enum class PixelFormat { gray_u8, gray_u16, gray_f32, rgb_u8, rgb_u16, rgb_f32, bgr_u8, rgba_u8, bgra_u8 };

PARAFIELD_API int channels(PixelFormat format);
PARAFIELD_API int bytes_per_pixel(PixelFormat format);
PARAFIELD_API int bytes_per_value(PixelFormat format);  ///< 1, 2 or 4
/// Type of a pixel's values: "8-bit", "16-bit" or "float".
PARAFIELD_API const char* depth_text(PixelFormat format);
PARAFIELD_API const char* to_string(PixelFormat format);

/// The values of black and white in a frame. Methods scale values from this range to 0..255, the unit of
/// their parameters. Values outside are scaled too, but at most one width of the range beyond it; values that
/// are farther out, such as hot pixels, count as if they were there. {0, 0} names no range: 8-bit
/// frames then have the range 0..255, and find_value_range decides the range of 16-bit and float frames.
struct ValueRange {
  float black = 0, white = 0;
  bool operator==(const ValueRange&) const = default;
};

/// A non-owning frame, the input of estimators. The brightness of a color frame is its BT.601 luma. A NaN
/// pixel (f32) has no weight, and its flow is not valid.
struct Frame {
  const void* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;  ///< bytes from one row to the next; 0 = no gap between rows
  PixelFormat format = PixelFormat::gray_u8;
  Memory memory = {};     ///< where `data` is
  ValueRange range = {};  ///< {0, 0} = found in the values; should be the same for all frames of a camera

  Size size() const { return {width, height}; }
};

/// Purpose of a range. Motion detection compares values at the same place, so noise must stay small, and
/// later frames may have more contrast than the first ones; flow and stereo need contrast.
enum class RangeUse { matching, detection };

/// Findings on the values of frames, which decide their range.
struct ValueFindings {
  ValueRange range;       ///< black and white, see find_value_range
  bool usual = true;      ///< whether that is the range of the pixel format: 0..255, or 0..65535 for u16
  ValueRange bulk = {};   ///< least and largest of the values, without the outliers
  float noise = 0;        ///< 16-bit and float: standard deviation of the noise; fine texture counts as noise
  float apart = 0;        ///< a value that many pixels have and that is far from all others
  float apart_share = 0;  ///< the share of these values, 0..1; 0 if there are none
};

/// Finds the range of frames in the bulk of their values, so that a few hot or dead pixels and values that
/// stand for missing ones do not decide it. The bulk is the values of a grid of at most 16384 pixels per
/// frame, without the lowest and the highest 0.1 %. NaN and infinite values are ignored, and a pixel that is
/// brighter or darker than all its neighbors counts as the nearest of them. In 16-bit and float frames, a
/// value that many pixels have is left out if its distance from all others is more than four times their
/// span. The range is the usual one of the bulk:
/// - u8: 0..255.
/// - u16: 0 to the largest value of 8, 10, 12, 14 or 16 bits: the first that the bulk does not exceed.
/// - f32: the first of 0..1, -1..1, 0..255 and 0 to the largest value of 10, 12, 14 or 16 bits that the
///   bulk fits. It may exceed it by half its width, since resampling can overshoot.
///
/// If the bulk spans less than a third of that range, as for a thermal camera, or fits none, its own
/// span plus a quarter of it on each side is the range; for integers it is at least 42 values wide. The
/// contrast of 8-bit frames is only stretched if it spans at least 8 values. For motion detection, 8-bit
/// frames keep 0..255, and the range of others is wide enough that the noise scales to 3.5 or less.
///
/// Frames may be in any memory. Frames in a device's memory must be complete: the call does not know the
/// stream that writes them. The result has the same bits wherever they are. Throws Error(invalid_argument)
/// for a frame without pixels, and if the frames differ in depth (8 bits, 16 bits, float).
PARAFIELD_API ValueFindings find_values(std::span<const Frame> frames, RangeUse use = RangeUse::matching);
/// Returns the range that find_values finds.
PARAFIELD_API ValueRange find_value_range(std::span<const Frame> frames, RangeUse use = RangeUse::matching);

/// Notes for users about what was found, as sentences without a period: the range if it is not the pixel
/// format's, and a value far from all others.
PARAFIELD_API std::vector<std::string> value_notes(const ValueFindings& found);

namespace detail {
struct Allocation {
  std::shared_ptr<void> data;  ///< aligned to 64 bytes, zero-filled
  std::ptrdiff_t pitch = 0;
};
/// Allocates rows of bytes. Throws Error(invalid_argument) for a size below 1x1, Error(memory),
/// Error(device).
PARAFIELD_API Allocation allocate(std::ptrdiff_t row_bytes, std::ptrdiff_t rows, Memory memory);
/// Copies rows of bytes from one memory to another. Returns when the copy is complete.
PARAFIELD_API void copy(void* to, std::ptrdiff_t to_pitch, Memory to_memory, const void* from,
                        std::ptrdiff_t from_pitch, Memory from_memory, std::ptrdiff_t row_bytes, int height);
/// Throws Error(invalid_argument) unless an image of size `from` can be copied to an image of `size`.
PARAFIELD_API void check_copy(Size size, Size from);
}  // namespace detail

/// An image in host or CUDA memory. It owns its memory, which starts zero-filled, or refers to memory that
/// someone else keeps alive. Moves are cheap and leave the source without pixels, with size 0x0. Only `to()`
/// and `take()` copy pixels.
template <class T>
class Image {
 public:
  using Value = T;

  Image() = default;
  /// Allocates an image. Throws Error(invalid_argument) for a size below 1x1, Error(memory), Error(device).
  explicit Image(Size size, Memory memory = {})
      : Image(size, memory, detail::allocate(size.width * std::ptrdiff_t(sizeof(T)), size.height, memory)) {}
  /// Refers to existing memory, which `owner` keeps alive. Without an owner, the memory must outlive the
  /// image.
  Image(View<T> view, Memory memory, const std::shared_ptr<void>& owner = {})
      : Image(view.size(), memory, {std::shared_ptr<void>(owner, view.data), view.pitch}) {}
  /// Refers to part of an allocation.
  Image(Size size, Memory memory, detail::Allocation allocation)
      : size_(size), memory_(memory), allocation_(std::move(allocation)) {}
  Image(Image&& from) noexcept { *this = std::move(from); }
  Image& operator=(Image&& from) noexcept {
    size_ = std::exchange(from.size_, {});
    memory_ = from.memory_;
    allocation_ = std::exchange(from.allocation_, {});
    return *this;
  }

  Size size() const { return size_; }
  Memory memory() const { return memory_; }
  View<T> view() {
    return {static_cast<T*>(allocation_.data.get()), size_.width, size_.height, allocation_.pitch};
  }
  View<const T> view() const {
    return {static_cast<const T*>(allocation_.data.get()), size_.width, size_.height, allocation_.pitch};
  }
  operator View<T>() & { return view(); }
  operator View<const T>() const& { return view(); }
  operator View<const T>() const&& = delete;  // the view would outlive the image
  explicit operator bool() const { return allocation_.data != nullptr; }
  T& operator()(int x, int y) { return view()(x, y); }  ///< host memory only
  const T& operator()(int x, int y) const { return view()(x, y); }

  /// A copy in another memory. Returns when it is complete.
  Image to(Memory memory) const {
    if (!*this) return {};
    Image copy(size_, memory);
    copy.take(*this);
    return copy;
  }
  /// Copies the pixels of an image of the same size. Returns when the copy is complete. Throws
  /// Error(invalid_argument) for another size.
  void take(const Image& from) {
    detail::check_copy(size_, from.size_);
    detail::copy(allocation_.data.get(), allocation_.pitch, memory_, from.allocation_.data.get(),
                 from.allocation_.pitch, from.memory_, size_.width * std::ptrdiff_t(sizeof(T)), size_.height);
  }

 private:
  Size size_;
  Memory memory_;
  detail::Allocation allocation_;
};

namespace detail {

/// Allocates the planes of a field that are wanted, in one allocation with one pitch.
template <class Field, std::size_t Count>
void allocate_planes(Field& field, Size size, Memory memory, const std::array<bool, Count>& wanted) {
  const auto planes = field.planes();
  static_assert(Count == std::tuple_size_v<decltype(field.planes())>);
  /// Calls f(plane) for each plane to allocate.
  const auto for_each_wanted = [&](auto f) {
    std::size_t index = 0;
    const auto visit = [&](auto& plane) {
      if (wanted[index++]) f(plane);
    };
    std::apply([&](auto&... plane) { (visit(plane), ...); }, planes);
  };
  std::ptrdiff_t widest = 0, count = 0;
  for_each_wanted([&]<class T>(Image<T>&) {
    widest = widest < std::ptrdiff_t(sizeof(T)) ? std::ptrdiff_t(sizeof(T)) : widest;
    ++count;
  });
  const Allocation all = allocate(size.width * widest, size.height * count, memory);
  std::ptrdiff_t offset = 0;
  for_each_wanted([&]<class T>(Image<T>& plane) {
    plane = Image<T>(size, memory, {{all.data, static_cast<char*>(all.data.get()) + offset}, all.pitch});
    offset += all.pitch * size.height;
  });
}

/// Calls f(plane, other plane) for each pair of corresponding planes of two fields.
template <class Field, class Other, class F>
void for_each_plane(Field& field, Other& other, F f) {
  const auto planes = field.planes();
  const auto others = other.planes();
  [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::get<I>(planes), std::get<I>(others)), ...); }
  (std::make_index_sequence<std::tuple_size_v<decltype(field.planes())>>{});
}

/// Copies a field to another memory, without the planes that the field lacks.
template <class Field>
Field copy_of(const Field& field, Memory memory) {
  if (field.size() == Size{}) return {};
  Field copy;
  allocate_planes(
      copy, field.size(), memory,
      std::apply([](const auto&... plane) { return std::array{bool(plane)...}; }, field.planes()));
  for_each_plane(field, copy, [](const auto& from, auto& to) {
    if (from) to.take(from);
  });
  return copy;
}

}  // namespace detail

/// Type of a parameter that a function uses only during the call. It accepts a T (Frame, FlowView) or an
/// owner of one (FrameBuffer, FlowField), including a temporary owner. Elsewhere, a temporary owner does not
/// convert to T, because the T would outlive it.
template <class T>
struct In : T {
  In(const T& value) : T(value) {}
  template <class Owner>
  requires(std::is_convertible_v<const Owner&, T>) In(const Owner& owner) : T(static_cast<T>(owner)) {}
  template <class... Fields>
  requires(sizeof...(Fields) > 1) In(const Fields&... fields) : T{fields...} {}  // {data, width, height}
};

/// An owning frame, as returned by `read_frame` and `render_scene`. It converts to Frame, and it moves like
/// Image.
class PARAFIELD_API FrameBuffer {
 public:
  FrameBuffer() = default;
  /// Allocates a zero-filled frame. Throws like Image.
  FrameBuffer(Size size, PixelFormat format, Memory memory = {});
  FrameBuffer(FrameBuffer&& from) noexcept { *this = std::move(from); }
  FrameBuffer& operator=(FrameBuffer&& from) noexcept {
    size_ = std::exchange(from.size_, {});
    format_ = from.format_;
    range_ = from.range_;
    bytes_ = std::move(from.bytes_);
    return *this;
  }

  Frame frame() const;
  operator Frame() const& { return frame(); }
  operator Frame() const&& = delete;  // the frame would outlive its pixels
  Size size() const { return size_; }
  PixelFormat format() const { return format_; }
  ValueRange range() const { return range_; }
  void set_range(ValueRange range) { range_ = range; }
  void* row(int y);  ///< host memory only
  const void* row(int y) const;
  FrameBuffer to(Memory memory) const;

 private:
  Size size_;
  PixelFormat format_ = PixelFormat::gray_u8;
  ValueRange range_;
  Image<std::uint8_t> bytes_;
};

}  // namespace parafield
