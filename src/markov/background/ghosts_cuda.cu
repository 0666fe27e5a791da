// SPDX-License-Identifier: MIT
#include "markov/background/ghosts.hpp"
#include "markov/background/words.cuh"

namespace parafield {
namespace {

__global__ void vote_on_ghosts_kernel(const __grid_constant__ Background background, BinaryLabels labels) {
  begin_kernel();
  __shared__ PixelList moving;
  moving.clear();
  __syncthreads();
  const int x = pixels_of_thread * own_x(), y = own_y();
  if (x < background.size.width && y < background.size.height) {
    const std::uint32_t own = four_labels(labels, x, y);
    four_at(background.row(y).next_vote() + x) = {};
    each_pixel([&](int i) {
      if (own >> i & 1) moving.add(i);
    });
  }
  const auto is_moving = [&](int there_x, int there_y) { return label_at(labels, there_x, there_y) != 0; };
  moving.each([&](int x, int y) {
    background.row(y).next_vote()[x] = std::int16_t(next_vote(background, x, y, is_moving));
  });
}

}  // namespace

template <class Backend>
void vote_on_ghosts(Backend& cuda, const Background& background, const BinaryLabels& labels) {
  cuda.launch(vote_on_ghosts_kernel, pixel_grid(background.size, pixels_of_thread), pixel_block, 0,
              background, labels);
}

PF_STEP(vote_on_ghosts<Cuda>);

}  // namespace parafield
