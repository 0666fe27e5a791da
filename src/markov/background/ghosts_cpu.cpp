// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/background/chunks.hpp"
#include "markov/background/ghosts.hpp"

namespace parafield {

template <class Backend>
void vote_on_ghosts(Backend& cpu, const Background& background, const BinaryLabels& labels) {
  cpu.rows(background.size.height, [=](int y) {
    const std::uint8_t* const label = labels.row(y);
    std::int16_t* const votes = background.row(y).next_vote();
    for_chunks(background.size.width, [&]<int Count>(int x0, int some) {
      const int count = Count ? Count : some;
      __builtin_memset(votes + x0, 0, std::size_t(count) * sizeof(votes[0]));
      if (!any_from(label + x0, count, 1)) return;
      for (int x = x0; x < x0 + count; ++x)
        if (label[x])
          votes[x] = std::int16_t(
              next_vote(background, x, y, [&](int x, int there) { return labels.row(there)[x] != 0; }));
    });
  });
}

PF_STEP(vote_on_ghosts<Cpu>);

}  // namespace parafield
