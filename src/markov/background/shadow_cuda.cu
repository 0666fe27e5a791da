// SPDX-License-Identifier: MIT
#include "markov/background/shadow.hpp"
#include "markov/background/words.cuh"

namespace parafield {
namespace {

__global__ void drop_shadows_kernel(const __grid_constant__ Background background, BackgroundModel model) {
  begin_kernel();
  const int x = pixels_of_thread * own_x(), y = own_y();
  if (x >= background.size.width || y >= background.size.height || !background.number(is_colored)) return;
  const std::uint32_t apart = word_at(background.row(y).apart() + x);
  each_pixel([&](int i) {
    if ((byte_of(apart, i) & is_apart) && x + i < background.size.width)
      drop_shadow(background, model, x + i, y);
  });
}

}  // namespace

template <class Backend>
void drop_shadows(Backend& cuda, const Background& background, const BackgroundModel& model) {
  cuda.launch(drop_shadows_kernel, pixel_grid(background.size, pixels_of_thread), pixel_block, 0, background,
              model);
}

PF_STEP(drop_shadows<Cuda>);

}  // namespace parafield
