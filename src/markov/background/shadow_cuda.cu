// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "markov/background/shadow.hpp"

namespace parafield {

template <class Backend>
void drop_shadows(Backend& cuda, const Background& background, const BackgroundModel& model) {
  for_pixels(cuda, background.size, [=] __device__(int x, int y) {
    if (background.number(is_colored) && background.row(y).apart()[x]) drop_shadow(background, model, x, y);
  });
}

PF_STEP(drop_shadows<Cuda>);

}  // namespace parafield
