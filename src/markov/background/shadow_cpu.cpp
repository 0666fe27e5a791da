// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/background/chunks.hpp"
#include "markov/background/shadow.hpp"

namespace parafield {

template <class Backend>
void drop_shadows(Backend& cpu, const Background& background, const BackgroundModel& model) {
  if (!background.number(is_colored)) return;
  cpu.rows(background.size.height, [=](int y) {
    const std::uint8_t* const apart = background.row(y).apart();
    for_chunks(background.size.width, [&]<int Count>(int x0, int some) {
      const int count = Count ? Count : some;
      if (!any_from(apart + x0, count, 1)) return;
      for (int x = x0; x < x0 + count; ++x)
        if (apart[x] & is_apart) drop_shadow(background, model, x, y);
    });
  });
}

PF_STEP(drop_shadows<Cpu>);

}  // namespace parafield
