#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "parafield/device.hpp"

/// Host and device, always inlined: what one pixel computes is written once, in functions marked so.
#if defined(__CUDACC__)
#define PF_HD __host__ __device__ __forceinline__
#else
#define PF_HD inline __attribute__((always_inline))
#endif

namespace parafield {

struct Size {
  int width = 0, height = 0;
  bool operator==(const Size&) const = default;
};

/// Non-owning 2-D image, `pitch` bytes from one row to the next. Trivially copyable; passed by value, also to
/// kernels. No data = no image.
template <class T>
struct View {
  T* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;

  PF_HD T* row(int y) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(data) + y * pitch);
  }
  PF_HD T& operator()(int x, int y) const { return row(y)[x]; }
  PF_HD operator View<const T>() const requires(!std::is_const_v<T>) { return {data, width, height, pitch}; }
  PF_HD explicit operator bool() const { return data != nullptr; }
  Size size() const { return {width, height}; }
  PF_HD std::ptrdiff_t stride() const { return pitch / std::ptrdiff_t(sizeof(T)); }
};

/// Pixel formats of a frame; channels are interleaved. Values 0..255 (u8), 0..65535 (u16), 0..255 (f32).
enum class PixelFormat { gray_u8, gray_u16, gray_f32, rgb_u8, rgb_u16, rgb_f32, bgr_u8, rgba_u8, bgra_u8 };

int channels(PixelFormat format);
int bytes_per_pixel(PixelFormat format);
const char* to_string(PixelFormat format);

/// What a user hands in: somebody's pixels, not owned. Color is read as BT.601 luma; a NaN pixel (f32) has
/// no weight and its flow is marked invalid.
struct Frame {
  const void* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;  ///< bytes from one row to the next; 0 = rows touch
  PixelFormat format = PixelFormat::gray_u8;
  Memory memory = {};  ///< where `data` lies

  Size size() const { return {width, height}; }
};

namespace detail {
struct Allocation {
  std::shared_ptr<void> data;  ///< aligned to 64 bytes, zero-filled
  std::ptrdiff_t pitch = 0;
};
/// Throws Error(invalid_argument) for a size below 1x1, Error(memory), Error(device).
Allocation allocate(std::ptrdiff_t row_bytes, int height, Memory memory);
void copy(void* to, std::ptrdiff_t to_pitch, Memory to_memory, const void* from, std::ptrdiff_t from_pitch,
          Memory from_memory, std::ptrdiff_t row_bytes, int height);
}  // namespace detail

/// Owning image in host or CUDA memory, zero-filled. Moves cheaply; copies only by `to()`.
template <class T>
class Image {
 public:
  Image() = default;
  explicit Image(Size size, Memory memory = {})
      : size_(size),
        memory_(memory),
        allocation_(detail::allocate(size.width * std::ptrdiff_t(sizeof(T)), size.height, memory)) {}
  Image(Image&&) noexcept = default;
  Image& operator=(Image&&) noexcept = default;

  Size size() const { return size_; }
  Memory memory() const { return memory_; }
  View<T> view() {
    return {static_cast<T*>(allocation_.data.get()), size_.width, size_.height, allocation_.pitch};
  }
  View<const T> view() const {
    return {static_cast<const T*>(allocation_.data.get()), size_.width, size_.height, allocation_.pitch};
  }
  operator View<T>() { return view(); }
  operator View<const T>() const { return view(); }
  explicit operator bool() const { return allocation_.data != nullptr; }
  T& operator()(int x, int y) { return view()(x, y); }  ///< host memory only
  const T& operator()(int x, int y) const { return view()(x, y); }

  /// A copy in another memory. Waits until it is there.
  Image to(Memory memory) const {
    if (!*this) return {};
    Image copy(size_, memory);
    detail::copy(copy.allocation_.data.get(), copy.allocation_.pitch, memory, allocation_.data.get(),
                 allocation_.pitch, memory_, size_.width * std::ptrdiff_t(sizeof(T)), size_.height);
    return copy;
  }

 private:
  Size size_;
  Memory memory_;
  detail::Allocation allocation_;
};

/// Owning frame: what `read_frame` and `render_scene` return. Converts to Frame wherever one is asked for.
class FrameBuffer {
 public:
  FrameBuffer() = default;
  /// Throws like Image.
  FrameBuffer(Size size, PixelFormat format, Memory memory = {});

  Frame frame() const;
  operator Frame() const { return frame(); }
  Size size() const { return size_; }
  PixelFormat format() const { return format_; }
  void* row(int y);  ///< host memory only
  const void* row(int y) const;
  FrameBuffer to(Memory memory) const;

 private:
  Size size_;
  PixelFormat format_ = PixelFormat::gray_u8;
  Image<std::uint8_t> bytes_;
};

}  // namespace parafield
