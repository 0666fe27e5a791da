// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/matches/patch_match.hpp"
#include "steps/matches/patches.cuh"

// Eight lanes handle one seed; only the start on the coarsest level uses a whole warp per seed. Each lane has
// one flow to try and two words of the seed's patch. Eight lanes compare a patch together: because they read
// whole rows, a warp's request touches few memory segments, and the loads of all patches that are tried
// together overlap.
//
// Lower bound: at 1242x375 with stride 4, the finest level has 29140 seeds and the other levels have a third
// of that. With 11 matches in each of 4 iterations, in both directions, 3.5 million patches of 128 bytes are
// compared. These 450 MB take an H100 80 us from its L2 cache (5.5 TB/s), and a fifth of that from the L1
// cache, which holds most of them. The 64 instructions per patch take 8 us, and 18 launches 1 to 2 us each.
namespace parafield {
namespace {

constexpr int block_threads = 128, warp = 32;

/// A group of lanes and its seed. Groups after the last seed use the last seed but write nothing.
struct SeedOfGroup {
  int number, column, row, x, y;
  bool exists;

  __device__ SeedOfGroup(const SeedGrid& grid, int group)
      : number(smaller(group, grid.count() - 1)), exists(group < grid.count()) {
    row = number / grid.columns;
    column = number - row * grid.columns;
    x = grid.x(column);
    y = grid.y(row);
  }
};

/// Warps that share the random starts of a seed.
constexpr int start_warps = 8;

/// Index of the eight lanes' seed.
__device__ int group_of_lanes() { return (int(blockIdx.x) * block_threads + int(threadIdx.x)) / patch_lanes; }

/// A block finds the best of a seed's random starts.
__global__ void __launch_bounds__(warp* start_warps)
    start_matches_kernel(const __grid_constant__ MatchLevel level, int starts) {
  begin_kernel();
  __shared__ int least_of[start_warps];
  __shared__ SeedMatch found[start_warps];
  const int way = int(blockIdx.y), thread = int(threadIdx.x), lane = thread % warp;
  const SeedGrid grid = level.grid;
  const SeedOfGroup seed(grid, int(blockIdx.x));
  const Descriptors from = level.frames[way], to = level.frames[1 - way];
  const PatchPart part = PatchParts(from, lane % patch_lanes).at(patch_place(grid, from, seed.x, seed.y));
  const PatchParts parts(to, lane % patch_lanes);
  SeedMatch best{0, 0, cost_of(part, grid, to, parts, seed.x, seed.y)};
  int number = 0;  // of the best start; 0 means the same position
  for (int first = thread - lane; first < starts; first += warp * start_warps) {
    const int k = first + lane;
    const SeedMatch flow = random_start(grid, seed.number, seed.x, seed.y, k);
    const int cost = cost_of_each<patch_lanes>(
        part, parts, k < starts ? patch_place(grid, to, seed.x + flow.u, seed.y + flow.v) : nowhere);
    if (cost >= best.cost) continue;
    best = {flow.u, flow.v, cost};
    number = k + 1;
  }
  constexpr int numbers = 1024;
  static_assert(most_starts < numbers && outside_cost < (1 << 21));
  const int own = best.cost * numbers + number;
  int least = own;
  PF_UNROLL
  for (int step = 1; step < warp; step *= 2) least = smaller(least, __shfl_xor_sync(whole_warp, least, step));
  if (lane + 1 == __ffs(int(__ballot_sync(whole_warp, least == own))))
    least_of[thread / warp] = least, found[thread / warp] = best;
  __syncthreads();
  if (thread != 0) return;
  int winner = 0;
  for (int i = 1; i < start_warps; ++i)
    if (least_of[i] < least_of[winner]) winner = i;
  level.matches[way][seed.number] = found[winner];
}

/// Matches of the previous iteration.
struct FoundMatches {
  const SeedMatch* matches;

  __device__ SeedMatch flow(int seed) const { return matches[seed]; }
  /// A seed's own match with its cost.
  template <class Cost>
  __device__ SeedMatch own(int seed, Cost) const {
    return matches[seed];
  }
};
/// Matches of the next coarser level, where a level starts.
struct CoarserMatches {
  const SeedMatch* matches;
  SeedGrid coarser, grid;

  __device__ SeedMatch flow(int seed) const {
    const int row = seed / grid.columns, column = seed - row * grid.columns;
    const SeedMatch from = matches[coarser_seed(coarser, grid, column, row)];
    return {2 * from.u, 2 * from.v, 0};
  }
  template <class Cost>
  __device__ SeedMatch own(int seed, Cost cost) const {
    const SeedMatch start = flow(seed);
    return {start.u, start.v, cost(start)};
  }
};

/// Tries random flows near the best one, with decreasing radius. `AtOnce` lanes try one radius each, around
/// the best flow so far. The first lane with a better flow replaces it, and all smaller radii are tried again
/// around the new best. place_after(flow): the place that the flow leads to.
template <int AtOnce, class Place>
__device__ void try_random_flows(SeedMatch& best, const SeedOfGroup& seed, const SeedSearch& search,
                                 const PatchPart& part, const PatchParts& parts, Place place_after) {
  const int lane = int(threadIdx.x) % patch_lanes, first_lane = int(threadIdx.x) % warp - lane;
  const int tries = 32 - __clz(search.radius);  // radii from `radius` down to 1
  for (int next = 0; __any_sync(whole_warp, next < tries);) {
    const int k = next + lane;
    const bool exists = lane < AtOnce && k < tries;
    const SeedMatch random = random_flow(best, seed.number, search.key, exists ? search.radius >> k : 1, k);
    const int cost = cost_of_each<AtOnce>(part, parts, exists ? place_after(random) : nowhere);
    const unsigned better = __ballot_sync(whole_warp, exists && cost < best.cost) >> first_lane & 0xffu;
    const int winner = better != 0 ? __ffs(int(better)) - 1 : 0;
    const SeedMatch found{__shfl_sync(whole_warp, random.u, winner, patch_lanes),
                          __shfl_sync(whole_warp, random.v, winner, patch_lanes),
                          __shfl_sync(whole_warp, cost, winner, patch_lanes)};
    if (better != 0) best = found;
    next += better != 0 ? winner + 1 : AtOnce;
  }
}

/// One iteration for the seed of eight lanes. `AtOnce`: number of random flows tried together. `found`:
/// receives the matches of this direction.
template <int AtOnce, class Before>
__device__ void improve_seed(const SeedGrid& grid, const Descriptors& from, const Descriptors& to,
                             const Before& before, const SeedSearch& search, SeedMatch* found, int group) {
  const int lane = int(threadIdx.x) % patch_lanes;
  const SeedOfGroup seed(grid, group);
  const PatchPart part = PatchParts(from, lane).at(patch_place(grid, from, seed.x, seed.y));
  const PatchParts parts(to, lane);
  const auto cost_at = [&](const SeedMatch& flow) {
    return cost_of(part, grid, to, parts, seed.x + flow.u, seed.y + flow.v);
  };
  SeedMatch best = before.own(seed.number, cost_at);
  const int neighbor = neighbor_of(grid, seed.column, seed.row, search.step, lane);
  const SeedMatch flow = neighbor >= 0 ? before.flow(neighbor) : best;
  const bool differs = flow.u != best.u || flow.v != best.v;
  const int cost = cost_of_each<patch_lanes>(
      part, parts, differs ? patch_place(grid, to, seed.x + flow.u, seed.y + flow.v) : nowhere);
  static_assert(seed_neighbors == patch_lanes);
  int least = cost * patch_lanes + lane;
  PF_UNROLL
  for (int step = 1; step < patch_lanes; step *= 2)
    least = smaller(least, __shfl_xor_sync(whole_warp, least, step));
  const int u = __shfl_sync(whole_warp, flow.u, least % patch_lanes, patch_lanes),
            v = __shfl_sync(whole_warp, flow.v, least % patch_lanes, patch_lanes);
  if (least / patch_lanes < best.cost) best = {u, v, least / patch_lanes};
  try_random_flows<AtOnce>(best, seed, search, part, parts, [&](const SeedMatch& random) {
    return patch_place(grid, to, seed.x + random.u, seed.y + random.v);
  });
  if (lane == 0 && seed.exists) found[seed.number] = best;
}

constexpr int few_tries = 4;  // finer levels have three

/// The first iteration on a level other than the coarsest.
__global__ void __launch_bounds__(block_threads)
    refine_matches_kernel(const __grid_constant__ MatchLevel coarser,
                          const __grid_constant__ MatchLevel level, SeedSearch search, SeedMatch* there,
                          SeedMatch* back) {
  begin_kernel();
  const int way = int(blockIdx.y);
  improve_seed<few_tries>(level.grid, level.frames[way], level.frames[1 - way],
                          CoarserMatches{coarser.matches[way], coarser.grid, level.grid}, search,
                          way == 0 ? there : back, group_of_lanes());
}

__global__ void __launch_bounds__(block_threads)
    improve_matches_kernel(const __grid_constant__ MatchLevel level, SeedSearch search, SeedMatch* there,
                           SeedMatch* back) {
  begin_kernel();
  const int way = int(blockIdx.y);
  improve_seed<few_tries>(level.grid, level.frames[way], level.frames[1 - way],
                          FoundMatches{level.matches[way]}, search, way == 0 ? there : back,
                          group_of_lanes());
}

/// Number of seeds that a single block can search in all iterations.
constexpr int few_threads = 1024, few_seeds = few_threads / patch_lanes;

/// All iterations on a level with few seeds. Each block searches one direction and keeps its matches in
/// shared memory. This saves a launch for each iteration, and the patches stay in the SM's cache.
__global__ void __launch_bounds__(few_threads)
    improve_few_kernel(const __grid_constant__ LevelSearch search) {
  begin_kernel();
  __shared__ SeedMatch matches[2][few_seeds];
  const int way = int(blockIdx.x), thread = int(threadIdx.x), count = search.level.grid.count();
  if (thread < count) matches[0][thread] = search.level.matches[way][thread];
  for (int i = 0; i < search.iterations; ++i) {
    __syncthreads();
    improve_seed<patch_lanes>(search.level.grid, search.level.frames[way], search.level.frames[1 - way],
                              FoundMatches{matches[i % 2]}, search.step(i), matches[1 - i % 2],
                              thread / patch_lanes);
  }
  __syncthreads();
  if (thread < count)
    search.matches_after(search.iterations)[way][thread] = matches[search.iterations % 2][thread];
}

/// counts[0]: number of missed seeds so far; counts[1]: number of blocks that have added theirs. The last
/// block resets both to 0.
__global__ void __launch_bounds__(block_threads)
    find_missed_kernel(const __grid_constant__ MatchLevel level, const __grid_constant__ ComparedFlow flow,
                       unsigned* counts, Condition missed) {
  begin_kernel();
  const SeedGrid grid = level.grid;
  const int i = int(blockIdx.x) * block_threads + int(threadIdx.x);
  const auto is_missed_here = [&] {
    const SeedOfGroup seed(grid, i);
    const SeedMatch match = level.matches[flow.first][seed.number];
    if (match.cost >= outside_cost ||
        !comes_back(level, flow.first, seed.x, seed.y, match, missed_check * missed_check))
      return false;
    const FlowAtSeed own = flow_at_seed(flow, seed.x, seed.y, match);
    if (!own.is_far) return false;
    const SeedPatch patch(level.frames[flow.first], seed.x, seed.y);
    if (patch.texture() < least_patch_texture) return false;
    return is_missed(match.cost, patch.cost(grid, level.frames[1 - flow.first], seed.x, seed.y, own));
  };
  const int here = __syncthreads_count(i < grid.count() && is_missed_here());
  if (threadIdx.x != 0) return;
  atomicAdd(counts, unsigned(here));
  __threadfence();
  if (atomicInc(counts + 1, gridDim.x - 1) != gridDim.x - 1) return;
  decide(missed, are_many_missed(int(atomicExch(counts, 0u)), grid.count()));
}

}  // namespace

template <class Backend>
void search_level(Backend& cuda, const LevelSearch& search) {
  const SeedGrid& grid = search.level.grid;
  if (search.is_coarsest)
    cuda.launch(start_matches_kernel, dim3(unsigned(grid.count()), 2), dim3(warp * start_warps), 0,
                search.level, random_starts(grid));
  if (search.is_coarsest && grid.count() <= few_seeds) {
    cuda.launch(improve_few_kernel, dim3(2), dim3(blocks_for(grid.count(), warp / patch_lanes) * warp), 0,
                search);
    return cuda.hold_next_for_throughput();
  }
  const dim3 blocks(blocks_for(grid.count(), block_threads / patch_lanes), 2), block(block_threads);
  for (int i = 0; i < search.iterations; ++i) {
    SeedMatch* const* const found = search.matches_after(i + 1);
    if (i == 0 && !search.starts_alone) {
      cuda.launch(refine_matches_kernel, blocks, block, 0, search.coarser, search.level, search.step(i),
                  found[0], found[1]);
      continue;
    }
    MatchLevel from = search.level;
    from.matches[0] = search.matches_after(i)[0], from.matches[1] = search.matches_after(i)[1];
    cuda.launch(improve_matches_kernel, blocks, block, 0, from, search.step(i), found[0], found[1]);
  }
}

template <class Backend>
void check_matches(Backend& cuda, const MatchLevel& finest, int first, const MatchCheck& check,
                   const Matches& matches) {
  for_pixels<block_threads, 1>(cuda, {finest.grid.count(), 1}, [=] __device__(int i, int) {
    const SeedOfGroup seed(finest.grid, i);
    const SeedMatch match = finest.matches[first][seed.number];
    matches.set(seed.column, seed.row, {float(match.u), float(match.v)});
    matches.valid(seed.column, seed.row) =
        match.cost < outside_cost &&
        SeedPatch(finest.frames[first], seed.x, seed.y).texture() >= least_patch_texture &&
        is_finite(check.luma0(seed.x, seed.y)) &&
        is_finite(check.luma1(seed.x + match.u, seed.y + match.v)) &&
        comes_back(finest, first, seed.x, seed.y, match, check.distance2);
  });
}

template <class Backend>
void prefer_flow(Backend& cuda, const MatchLevel& finest, int first, FlowPlanes flow, bool reversed,
                 const Matches& matches) {
  for_pixels<block_threads, 1>(cuda, {finest.grid.count(), 1}, [=] __device__(int i, int) {
    const SeedGrid grid = finest.grid;
    const SeedOfGroup seed(grid, i);
    const SeedMatch match = finest.matches[first][seed.number];
    const Motion motion = preferable_flow(flow, reversed, seed.x, seed.y);
    const FlowAtSeed own = compared_flow(motion.u, motion.v, match);
    const bool valid = matches.valid(seed.column, seed.row) != 0;
    if (valid && !own.is_far) return;
    const SeedPatch patch(finest.frames[first], seed.x, seed.y);
    const int cost = patch.cost(grid, finest.frames[1 - first], seed.x, seed.y, own);
    if (!is_as_good(match.cost, cost, patch.texture(), valid)) return;
    matches.set(seed.column, seed.row, motion);
    matches.valid(seed.column, seed.row) = 1;
  });
}

template <class Backend>
void fit_matches(Backend& cuda, const MatchLevel& finest, int first, const Matches& matches) {
  for_pixels<block_threads, 1>(cuda, {finest.grid.count(), 1}, [=] __device__(int i, int) {
    const SeedGrid grid = finest.grid;
    const SeedOfGroup seed(grid, i);
    if (!matches.valid(seed.column, seed.row)) return;
    const auto [u, v, cost] = finest.matches[first][seed.number];
    const int x = seed.x + u, y = seed.y + v;
    if (!is_inner(grid, x, y)) return;
    const SeedPatch patch(finest.frames[first], seed.x, seed.y);
    const Descriptors to = finest.frames[1 - first];
    matches.set(seed.column, seed.row,
                {float(u) + fitted(patch.cost(grid, to, x - 1, y), cost, patch.cost(grid, to, x + 1, y)),
                 float(v) + fitted(patch.cost(grid, to, x, y - 1), cost, patch.cost(grid, to, x, y + 1))});
  });
}

template <class Backend>
void find_missed(Backend& cuda, const MatchLevel& level, const ComparedFlow& flow, int* counts,
                 const Condition& missed) {
  cuda.launch(find_missed_kernel, dim3(blocks_for(level.grid.count(), block_threads)), dim3(block_threads), 0,
              level, flow, reinterpret_cast<unsigned*>(counts), missed);
}

PF_STEP(search_level<Cuda>);
PF_STEP(check_matches<Cuda>);
PF_STEP(prefer_flow<Cuda>);
PF_STEP(fit_matches<Cuda>);
PF_STEP(find_missed<Cuda>);

}  // namespace parafield
