// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "markov/background/shift.hpp"
#include "markov/background/words.cuh"
#include "steps/convert/convert.hpp"

namespace parafield {
namespace {

/// Four pixels of a frame's row, the last one repeated beyond its end. They are loaded as words if the row
/// begins at a multiple of a word.
template <class Sample, int Channels>
struct FourPixels {
  static constexpr int count = pixels_of_thread * Channels;
  static constexpr int word_count = count * int(sizeof(Sample)) / 4;
  Sample samples[count];

  __device__ FourPixels(const Sample* row, int x, int width) {
    const Sample* const from = row + x * Channels;
    if (x + pixels_of_thread <= width && reinterpret_cast<std::uintptr_t>(from) % 4 == 0) {
      std::uint32_t words[word_count];
      PF_UNROLL
      for (int i = 0; i < word_count; ++i) words[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
      __builtin_memcpy(samples, words, sizeof(words));
    } else {
      PF_UNROLL
      for (int i = 0; i < count; ++i)
        samples[i] = row[smaller(x + i / Channels, width - 1) * Channels + i % Channels];
    }
  }
};

/// Converts four pixels of a frame's row, from (x, y) on.
template <class Sample, int Channels, int Red>
__device__ void store_bytes(const Frame& frame, Scale scale, const FrameBytes& to, int x, int y) {
  const FourPixels<Sample, Channels> pixels(row_of<Sample>(frame, y), x, to.luma.width);
  const auto store = [&](View<std::uint8_t> plane, auto value_of) {
    std::uint32_t word = 0;
    each_pixel([&](int i) { put_byte(word, i, luma_byte(value_of(i))); });
    word_at(plane.row(y) + x) = word;
  };
  store(to.luma, [&](int i) { return luma_of(pixels.samples, i, Channels, Red, scale); });
  if (!to.blue.data) return;
  store(to.blue, [&](int i) { return channel_of(pixels.samples, i, 2, Channels, Red, scale); });
  store(to.red, [&](int i) { return channel_of(pixels.samples, i, 0, Channels, Red, scale); });
}

/// blockIdx.z: index of the frame.
__global__ void frame_bytes_kernel(Frame frame0, Frame frame1, FrameBytes bytes0, FrameBytes bytes1) {
  begin_kernel();
  const Frame frame = blockIdx.z == 0 ? frame0 : frame1;
  const FrameBytes to = blockIdx.z == 0 ? bytes0 : bytes1;
  const int x = pixels_of_thread * own_x(), y = own_y();
  if (x >= to.luma.width || y >= to.luma.height) return;
  with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    store_bytes<Sample, Channels, Red>(frame, scale, to, x, y);
  });
}

__global__ void clear_numbers_kernel(Background background) {
  begin_kernel();
  for (int i = 0; i < number_count; ++i) background.numbers.data[i] = 0;
  for (int i = 0; i < sum_count; ++i) background.sums.data[i] = 0;
}

__global__ void begin_background_kernel(SeenFrame frame, Background background) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  bool colored = false;
  if (x < background.size.width && y < background.size.height) colored = begin_pixel(background, frame, x, y);
  const int count = __popc(__ballot_sync(~0u, colored));
  if (threadIdx.x == 0 && count > 0) atomicAdd(background.numbers.data + colored_count, count);
}

__global__ void begin_mask_kernel(View<const std::uint8_t> mask, Background background) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  if (x == 0 && y == 0) background.numbers.data[had_frame] = 1;
  if (x < mask.width && y < mask.height) background.row(y).before()[x] = mask(x, y) ? was_moving : 0;
}

}  // namespace

template <class Backend>
void frame_bytes(Backend& cuda, const Frame* frames, const FrameBytes* bytes, int count) {
  const int last = count - 1;
  cuda.launch_input(frame_bytes_kernel, pixel_grid(bytes[0].luma.size(), pixels_of_thread, count),
                    pixel_block, frames[0], frames[last], bytes[0], bytes[last]);
}

template <class Backend>
void begin_background(Backend& cuda, const SeenFrame& frame, const Background& background) {
  cuda.launch(clear_numbers_kernel, dim3(1), dim3(1), 0, background);
  cuda.launch(begin_background_kernel, pixel_grid(background.size), pixel_block, 0, frame, background);
}

template <class Backend>
void begin_mask(Backend& cuda, View<const std::uint8_t> mask, const Background& background) {
  cuda.launch_input(begin_mask_kernel, pixel_grid(mask.size()), pixel_block, mask, background);
}

PF_STEP(frame_bytes<Cuda>);
PF_STEP(begin_background<Cuda>);
PF_STEP(begin_mask<Cuda>);

}  // namespace parafield
