#pragma once
#include "guided/guides/record.cuh"
#include "guided/tile/tile.cuh"

/// Which guides may matter to a tile.
namespace parafield {

constexpr int all_listed = 512;  // so few guides are listed without a look at their chunks

/// The guides that tiles are surrounded by, in whole chunks. `boxes` of the chunks: needed where they are more than all_listed.
struct Surrounding {
  const Record* record;
  int count;
  const Guides* boxes;

  __device__ Box box(int chunk) const { return chunk_box(*boxes, chunk); }
};

/// The guides of a tile that may matter, and their least exponents.
template <int Most>
struct Candidates {
  float least[Most];
  unsigned short guide[Most];
};

/// How many are picked; or all guides are, as candidates found no room.
struct Picks {
  int count;
  bool all = false;
};

/// Those picked of them, in order.
template <int Most>
struct Picked {
  unsigned short guide[Most];

  __device__ int operator()(const Picks& picks, int i) const { return picks.all ? i : guide[i]; }
};

/// What a lane knows of the least exponents that guides have for a tile: up to Most guides, those of all; of more, those of the
/// candidates. Where they do not find room, all guides count as picked, which changes no bit.
template <int Most>
struct Listing {
  int lane;
  Candidates<Most>& candidates;
  int count = 0;
  bool all = true, listed = true;
};

/// The same of never more than Most guides, in registers: of each chunk that of the lane's guide.
template <int Most>
struct RegisterListing {
  static constexpr int chunks = Most / chunk_guides, at_once = 4;

  int lane;
  int count;  // of guides
  float least[chunks];
};

/// Of the lanes with `votes`, how many come before.
__device__ inline int rank(unsigned votes, int lane) { return __popc(votes & ((1u << lane) - 1)); }

/// Of the guides that a lane has looked at.
struct Nearest {
  float least = no_feature;
  int guide = -1;
};

/// Looks at a guide and returns its least exponent.
__device__ inline float look_at(const Surrounding& guides, int i, const Box& box, Nearest& nearest) {
  const float least = least_exponent(box, guides.record[i].place());
  nearest = least < nearest.least ? Nearest{least, i} : nearest;
  return least;
}

/// Lists the guides of least exponents up to `most`; those in chunks of least exponents above it are not looked at.
template <int Most>
__device__ Nearest list_guides(Listing<Most>& listing, const Box& box, const Surrounding& guides,
                               float most) {
  const int count = guides.count, chunks = (count + chunk_guides - 1) / chunk_guides, lane = listing.lane;
  Candidates<Most>& candidates = listing.candidates;
  Nearest nearest;
  __syncwarp();
  listing.all = count <= Most;
  if (listing.all) {
#pragma unroll 2
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int i = chunk * chunk_guides + lane;
      candidates.least[i] = look_at(guides, i, box, nearest);
    }
    listing.count = count;
  } else {
    listing.count = 0;
    for (int first = 0; first < chunks; first += lanes) {
      const int chunk = smaller(first + lane, chunks - 1);
      unsigned near =
          __ballot_sync(~0u, first + lane < chunks && least_exponent(box, guides.box(chunk)) <= most);
      for (; near; near &= near - 1) {
        const int i = (first + __ffs(int(near)) - 1) * chunk_guides + lane;
        const float least = look_at(guides, i, box, nearest);
        const bool in = least <= most;
        const unsigned votes = __ballot_sync(~0u, in);
        const int at = listing.count + rank(votes, lane);
        if (in && at < Most) {
          candidates.least[at] = least;
          candidates.guide[at] = static_cast<unsigned short>(i);
        }
        listing.count += __popc(votes);
      }
    }
    listing.listed = listing.count <= Most;
  }
  __syncwarp();
  return nearest;
}
template <int Most>
__device__ Nearest list_guides(RegisterListing<Most>& listing, const Box& box, const Surrounding& guides,
                               float) {
  listing.count = guides.count;
  const int last = (guides.count - 1) / chunk_guides;
  Nearest nearest;
  PF_UNROLL
  for (int first = 0; first < listing.chunks; first += listing.at_once) {
    if (first > last) break;
    PF_UNROLL
    for (int chunk = first; chunk < first + listing.at_once; ++chunk)
      listing.least[chunk] =
          look_at(guides, smaller(chunk, last) * chunk_guides + listing.lane, box, nearest);
  }
  return nearest;
}

/// Picks of `count` places those whose guide `is_in`: in order.
template <int Most, class IsIn, class GuideAt>
__device__ int pick(int lane, int count, Picked<Most>& picked, IsIn is_in, GuideAt guide_at) {
  __syncwarp();  // what was picked before has been read
  int found = 0;
#pragma unroll 2
  for (int first = 0; first < count; first += lanes) {
    const int at = first + lane;
    const bool in = at < count && is_in(at);
    const unsigned votes = __ballot_sync(~0u, in);
    if (in) picked.guide[found + rank(votes, lane)] = static_cast<unsigned short>(guide_at(at));
    found += __popc(votes);
  }
  __syncwarp();
  return found;
}

/// Those of least exponents up to `most`.
template <int Most>
__device__ Picks pick(const Listing<Most>& listing, const Surrounding& guides, float most,
                      Picked<Most>& picked) {
  if (!listing.listed) return {guides.count, true};
  const Candidates<Most>& candidates = listing.candidates;
  return {pick(
      listing.lane, listing.count, picked, [&](int at) { return candidates.least[at] <= most; },
      [&](int at) { return listing.all ? at : candidates.guide[at]; })};
}
template <int Most>
__device__ Picks pick(const RegisterListing<Most>& listing, const Surrounding&, float most,
                      Picked<Most>& picked) {
  int found = 0;
  __syncwarp();
  PF_UNROLL
  for (int first = 0; first < listing.chunks; first += listing.at_once) {
    if (first * chunk_guides >= listing.count) break;
    PF_UNROLL
    for (int chunk = first; chunk < first + listing.at_once; ++chunk) {
      const int i = chunk * chunk_guides + listing.lane;
      const bool in = (i < listing.count) & (listing.least[chunk] <= most);
      const unsigned votes = __ballot_sync(~0u, in);
      if (in) picked.guide[found + rank(votes, listing.lane)] = static_cast<unsigned short>(i);
      found += __popc(votes);
    }
  }
  __syncwarp();
  return {found};
}

}  // namespace parafield
