#include "core/cpu/backend.hpp"
#include "guided/guides/guides.hpp"

namespace parafield {

template <>
void gather_guides(Cpu&, const Track* tracks, int count, bool reversed, const Colours& colours,
                   LikelihoodScale scale, const Guides& guides) {
  *guides.count = count;
  for (int i = 0; i < count; ++i) gather_guide(tracks[i], reversed, colours, scale, i, guides);
}

}  // namespace parafield
