// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "markov/background/bits.cuh"
#include "markov/background/ghosts.hpp"

namespace parafield {

template <class Backend>
void vote_on_ghosts(Backend& cuda, const Background& background, const BinaryLabels& labels) {
  for_pixels(cuda, background.size, [=] __device__(int x, int y) {
    const auto is_moving = [=](int there_x, int there_y) { return label_at(labels, there_x, there_y) != 0; };
    background.row(y).next_vote()[x] =
        is_moving(x, y) ? std::int16_t(next_vote(background, x, y, is_moving)) : std::int16_t(0);
  });
}

PF_STEP(vote_on_ghosts<Cuda>);

}  // namespace parafield
