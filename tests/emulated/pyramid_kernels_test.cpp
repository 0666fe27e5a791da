// SPDX-License-Identifier: MIT
// The CUDA kernels of pyramids, run by emulated threads. From frames of every format they compute the same
// levels as the CPU's steps, bit for bit, and they keep exact copies of the frames.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "core/backend.hpp"
#include "emulated/emulated_cuda.hpp"
#include "steps/colors/colors.hpp"
#include "steps/pyramid/pyramid.hpp"

namespace parafield {
namespace {

/// Two frames of random pixels. `shift`: bytes by which rows miss the alignment of vectors.
struct PyramidCase {
  std::vector<std::uint8_t> bytes[2];
  Frame frames[2];

  PyramidCase(Size size, PixelFormat format, int shift, unsigned seed) {
    std::mt19937 random(seed);
    const std::ptrdiff_t row = std::ptrdiff_t(size.width) * bytes_per_pixel(format), pitch = row + 16 + shift;
    for (int i = 0; i < 2; ++i) {
      bytes[i].resize(std::size_t(16 + shift + pitch * size.height));
      for (std::uint8_t& byte : bytes[i]) byte = std::uint8_t(random());
      const auto start = reinterpret_cast<std::uintptr_t>(bytes[i].data());
      std::uint8_t* const data = bytes[i].data() + (16 - start % 16) % 16 + shift;
      frames[i] = {data, size.width, size.height, pitch, format, {}, {}};
      if (format != PixelFormat::gray_f32 && format != PixelFormat::rgb_f32) continue;
      for (int y = 0; y < size.height; ++y)
        for (std::ptrdiff_t x = 0; x < row / 4; ++x) {
          const float value = float(random() % 65536) / 256;
          std::memcpy(data + y * pitch + 4 * x, &value, sizeof value);
        }
    }
  }
};

/// Levels and kept frames of both, made by a backend.
struct Made {
  Workspace workspace{Memory::host()};
  Pyramid pyramids[2];
  KeptFrames kept;

  template <class Backend>
  Made(Backend& backend, const PyramidCase& of, int levels, int count) {
    const Size size = of.frames[0].size();
    kept = KeptFrames::make(workspace, size, 2);
    for (Pyramid& pyramid : pyramids)
      for (const Size level : pyramid_sizes(size, levels))
        pyramid.level[pyramid.levels++] = workspace.image<float>(level);
    for (int i = 0; i < 2; i += count) convert_and_keep(backend, of.frames + i, pyramids + i, count, i, kept);
  }
};

bool same_rows(const void* a, std::ptrdiff_t a_pitch, const void* b, std::ptrdiff_t b_pitch,
               std::size_t bytes, int rows) {
  for (int y = 0; y < rows; ++y)
    if (std::memcmp(static_cast<const char*>(a) + y * a_pitch, static_cast<const char*>(b) + y * b_pitch,
                    bytes) != 0)
      return false;
  return true;
}

class EmulatedPyramidKernels : public testing::TestWithParam<PixelFormat> {};

TEST_P(EmulatedPyramidKernels, SameBits) {
  const Device device = Device::cpu(1);
  unsigned seed = 0;
  for (const Size size : {Size{1, 1}, Size{5, 40}, Size{65, 33}, Size{212, 120},
                          Size{212, 120}})  // inner tiles, with and without alignment
    with_backend(device, [&]<class Backend>() {
      if constexpr (!Backend::is_gpu) {
        ++seed;
        const int shift = seed % 2 ? 0 : 4, levels = seed % 3 == 0 ? 3 : 6, count = seed % 4 == 3 ? 1 : 2;
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " shift " << shift);
        const PyramidCase one(size, GetParam(), shift, seed);
        Backend cpu(device, {});
        EmulatedCuda emulated(seed % 2 ? ThreadOrder::forward : ThreadOrder::random);
        const Made expected(cpu, one, levels, 2), actual(emulated, one, levels, count);
        for (int i = 0; i < 2; ++i) {
          for (int level = 0; level < expected.pyramids[i].levels; ++level) {
            const View<float> a = expected.pyramids[i].level[level], b = actual.pyramids[i].level[level];
            EXPECT_TRUE(
                same_rows(a.data, a.pitch, b.data, b.pitch, sizeof(float) * std::size_t(a.width), a.height))
                << "frame " << i << " level " << level;
          }
          const Frame &frame = one.frames[i], &kept = actual.kept.frames[i];
          EXPECT_EQ(kept.format, frame.format);
          EXPECT_EQ(kept.size(), frame.size());
          EXPECT_TRUE(same_rows(frame.data, frame.pitch, kept.data, kept.pitch,
                                std::size_t(size.width * bytes_per_pixel(frame.format)), size.height))
              << "kept frame " << i;
        }
      }
    });
}

INSTANTIATE_TEST_SUITE_P(Formats, EmulatedPyramidKernels,
                         testing::Values(PixelFormat::gray_u8, PixelFormat::gray_u16, PixelFormat::gray_f32,
                                         PixelFormat::rgb_u8, PixelFormat::rgb_u16, PixelFormat::rgb_f32,
                                         PixelFormat::bgr_u8, PixelFormat::rgba_u8, PixelFormat::bgra_u8));

}  // namespace
}  // namespace parafield
