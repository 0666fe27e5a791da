// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/matches/patch_match.hpp"

// Eight lanes have a seed. Each tries one neighbor's flow; then all share the patch of each random flow,
// since that flow depends on the best one before. The coarsest level's seeds have a warp each, and a lane a
// start.
//
// Floor: at 1242x375 and a stride of 4 there are 29140 seeds at the finest level and a third of that at the
// others. With 11 matches in each of 4 iterations, both ways, 3.5 million patches of 128 bytes are compared:
// 450 MB, which takes an H100 80 us from its second cache (5.5 TB/s) and a fifth of that from the first,
// where most of it is. The 64 instructions for a patch take 8 us. There are 29 launches, 1 to 2 us each. Not
// measured yet.

namespace parafield {
namespace {

constexpr int block_threads = 128, lanes = 8, warp = 32;
constexpr unsigned all_lanes = ~0u;

__device__ unsigned difference(std::uint64_t a, std::uint64_t b) {
  return __vsadu4(unsigned(a), unsigned(b)) + __vsadu4(unsigned(a >> 32), unsigned(b >> 32));
}

/// A seed's patch in registers, and the frame in which it looks for its match.
struct SeedPatch {
  std::uint64_t words[patch_words];

  __device__ SeedPatch(const Descriptors& descriptors, int x, int y) {
    const std::uint64_t* const from = patch_at(descriptors, x, y);
    const std::ptrdiff_t pitch = patch_pitch(descriptors);
    PF_UNROLL
    for (int i = 0; i < patch_words; ++i) words[i] = from[i / patch_side * pitch + i % patch_side];
  }
  /// Cost of the match at (x, y).
  __device__ int cost(const SeedGrid& grid, const Descriptors& descriptors, int x, int y) const {
    if (!grid.has_pixel(x, y)) return outside_cost;
    const SeedPatch other(descriptors, x, y);
    unsigned sum = 0;
    PF_UNROLL
    for (int i = 0; i < patch_words; ++i) sum += difference(words[i], other.words[i]);
    return int(sum);
  }
  __device__ int texture() const {
    unsigned sum = 0;
    PF_UNROLL
    for (int i = 0; i < patch_words; ++i) sum += difference(words[i], 0);
    return int(sum);
  }
};

/// A lane's eighth of a patch: two words that follow each other.
struct PatchPart {
  std::uint64_t words[2];

  __device__ PatchPart(const Descriptors& descriptors, int x, int y, int lane) {
    const std::uint64_t* const from =
        patch_at(descriptors, x, y) + lane / 2 * patch_pitch(descriptors) + lane % 2 * 2;
    words[0] = from[0];
    words[1] = from[1];
  }
  /// Cost of the match at (x, y), in all lanes of the seed.
  __device__ int cost(const SeedGrid& grid, const Descriptors& descriptors, int x, int y, int lane) const {
    int sum = 0;
    if (grid.has_pixel(x, y)) {
      const PatchPart other(descriptors, x, y, lane);
      sum = int(difference(words[0], other.words[0]) + difference(words[1], other.words[1]));
    }
    PF_UNROLL
    for (int step = 1; step < lanes; step *= 2) sum += __shfl_xor_sync(all_lanes, sum, step);
    return grid.has_pixel(x, y) ? sum : outside_cost;
  }
};

/// A group of lanes and its seed. Groups behind the last seed have that one, but write nothing.
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

__device__ int group_of(int size) { return (int(blockIdx.x) * block_threads + int(threadIdx.x)) / size; }

__global__ void __launch_bounds__(block_threads)
    start_matches_kernel(const __grid_constant__ MatchLevel level, int starts) {
  begin_kernel();
  const int way = int(blockIdx.y), lane = int(threadIdx.x) % warp;
  const SeedGrid grid = level.grid;
  const SeedOfGroup seed(grid, group_of(warp));
  const SeedPatch patch(level.frames[way], seed.x, seed.y);
  const Descriptors to = level.frames[1 - way];
  SeedMatch best{0, 0, patch.cost(grid, to, seed.x, seed.y)};
  int number = 0;  // of the best start; 0 is the same place
  for (int k = lane; k < starts; k += warp) {
    const SeedMatch flow = random_start(grid, seed.number, seed.x, seed.y, k);
    const int cost = patch.cost(grid, to, seed.x + flow.u, seed.y + flow.v);
    if (cost >= best.cost) continue;
    best = {flow.u, flow.v, cost};
    number = k + 1;
  }
  constexpr int numbers = 1024;
  static_assert(most_starts < numbers && outside_cost < (1 << 21));
  int least = best.cost * numbers + number;
  PF_UNROLL
  for (int step = 1; step < warp; step *= 2) least = smaller(least, __shfl_xor_sync(all_lanes, least, step));
  const int winner = least % numbers == 0 ? 0 : (least % numbers - 1) % warp;
  const int u = __shfl_sync(all_lanes, best.u, winner), v = __shfl_sync(all_lanes, best.v, winner);
  if (lane != 0 || !seed.exists) return;
  const bool same_place = least % numbers == 0;
  level.matches[way][seed.number] = {same_place ? 0 : u, same_place ? 0 : v, least / numbers};
}

__global__ void __launch_bounds__(block_threads)
    refine_matches_kernel(const __grid_constant__ MatchLevel coarser,
                          const __grid_constant__ MatchLevel level) {
  begin_kernel();
  const int way = int(blockIdx.y), lane = int(threadIdx.x) % lanes;
  const SeedGrid grid = level.grid;
  const SeedOfGroup seed(grid, group_of(lanes));
  const SeedMatch from = coarser.matches[way][coarser_seed(coarser.grid, grid, seed.column, seed.row)];
  const PatchPart part(level.frames[way], seed.x, seed.y, lane);
  const int u = 2 * from.u, v = 2 * from.v;
  const int cost = part.cost(grid, level.frames[1 - way], seed.x + u, seed.y + v, lane);
  if (lane == 0 && seed.exists) level.matches[way][seed.number] = {u, v, cost};
}

/// One iteration for the seed of eight lanes. `found`: takes the matches of that way.
__device__ void improve_seed(const SeedGrid& grid, const Descriptors& from, const Descriptors& to,
                             const SeedMatch* matches, const SeedSearch& search, SeedMatch* found, int group) {
  const int lane = int(threadIdx.x) % lanes, first_lane = int(threadIdx.x) % warp - lane;
  const SeedOfGroup seed(grid, group);
  SeedMatch best = matches[seed.number];
  const int neighbor = neighbor_of(grid, seed.column, seed.row, search.step, lane);
  const SeedMatch flow = neighbor >= 0 ? matches[neighbor] : best;
  int cost = outside_cost;
  if (flow.u != best.u || flow.v != best.v)
    cost = SeedPatch(from, seed.x, seed.y).cost(grid, to, seed.x + flow.u, seed.y + flow.v);
  static_assert(seed_neighbors == lanes);
  int least = cost * lanes + lane;
  PF_UNROLL
  for (int step = 1; step < lanes; step *= 2) least = smaller(least, __shfl_xor_sync(all_lanes, least, step));
  const int winner = first_lane + least % lanes;
  const int u = __shfl_sync(all_lanes, flow.u, winner), v = __shfl_sync(all_lanes, flow.v, winner);
  if (least / lanes < best.cost) best = {u, v, least / lanes};
  const PatchPart part(from, seed.x, seed.y, lane);
  int k = 0;
  for (int radius = search.radius; radius >= 1; radius /= 2) {
    const SeedMatch random = random_flow(best, seed.number, search.key, radius, k++);
    const int there = part.cost(grid, to, seed.x + random.u, seed.y + random.v, lane);
    if (there < best.cost) best = {random.u, random.v, there};
  }
  if (lane == 0 && seed.exists) found[seed.number] = best;
}

__global__ void __launch_bounds__(block_threads)
    improve_matches_kernel(const __grid_constant__ MatchLevel level, SeedSearch search, SeedMatch* there,
                           SeedMatch* back) {
  begin_kernel();
  const int way = int(blockIdx.y);
  improve_seed(level.grid, level.frames[way], level.frames[1 - way], level.matches[way], search,
               way == 0 ? there : back, group_of(lanes));
}

/// Seeds that one block searches in all iterations.
constexpr int few_threads = 1024, few_seeds = few_threads / lanes;

/// All iterations on a level of few seeds. A block has one way, and the matches in its shared memory: so there is no
/// launch for each iteration, and patches stay in the multiprocessor's cache.
__global__ void __launch_bounds__(few_threads) improve_few_kernel(const __grid_constant__ LevelSearch search) {
  begin_kernel();
  __shared__ SeedMatch matches[2][few_seeds];
  const int way = int(blockIdx.x), thread = int(threadIdx.x), count = search.level.grid.count();
  const bool has_seeds = thread / warp * (warp / lanes) < count;  // the warp
  if (thread < count) matches[0][thread] = search.level.matches[way][thread];
  for (int i = 0; i < search.iterations; ++i) {
    __syncthreads();
    if (has_seeds)
      improve_seed(search.level.grid, search.level.frames[way], search.level.frames[1 - way], matches[i % 2],
                   search.step(i), matches[1 - i % 2], thread / lanes);
  }
  __syncthreads();
  if (thread < count) search.matches_after(search.iterations)[way][thread] = matches[search.iterations % 2][thread];
}

__global__ void __launch_bounds__(block_threads)
    check_matches_kernel(const __grid_constant__ MatchLevel finest, int first, MatchCheck check,
                         Matches matches) {
  begin_kernel();
  const SeedOfGroup seed(finest.grid, group_of(1));
  if (!seed.exists) return;
  const SeedMatch match = finest.matches[first][seed.number];
  matches.u(seed.column, seed.row) = float(match.u);
  matches.v(seed.column, seed.row) = float(match.v);
  matches.valid(seed.column, seed.row) =
      match.cost < outside_cost &&
      SeedPatch(finest.frames[first], seed.x, seed.y).texture() >= least_patch_texture &&
      is_finite(check.luma0(seed.x, seed.y)) && is_finite(check.luma1(seed.x + match.u, seed.y + match.v)) &&
      comes_back(finest, first, seed.x, seed.y, match, check.distance2);
}

__global__ void __launch_bounds__(block_threads)
    fit_matches_kernel(const __grid_constant__ MatchLevel finest, int first, Matches matches) {
  begin_kernel();
  const SeedGrid grid = finest.grid;
  const SeedOfGroup seed(grid, group_of(1));
  if (!seed.exists || !matches.valid(seed.column, seed.row)) return;
  const auto [u, v, cost] = finest.matches[first][seed.number];
  const int x = seed.x + u, y = seed.y + v;
  if (!is_inner(grid, x, y)) return;
  const SeedPatch patch(finest.frames[first], seed.x, seed.y);
  const Descriptors to = finest.frames[1 - first];
  matches.u(seed.column, seed.row) =
      float(u) + fitted(patch.cost(grid, to, x - 1, y), cost, patch.cost(grid, to, x + 1, y));
  matches.v(seed.column, seed.row) =
      float(v) + fitted(patch.cost(grid, to, x, y - 1), cost, patch.cost(grid, to, x, y + 1));
}

/// counts[0]: the seeds that were missed so far; counts[1]: the blocks that have added theirs. The last block
/// leaves both at 0.
__global__ void __launch_bounds__(block_threads)
    find_missed_kernel(const __grid_constant__ MatchLevel level, const __grid_constant__ ComparedFlow flow,
                       unsigned* counts, int* missed) {
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
    return patch.texture() >= least_patch_texture &&
           is_missed(match.cost,
                     patch.cost(grid, level.frames[1 - flow.first], seed.x + own.u, seed.y + own.v));
  };
  const int here = __syncthreads_count(i < grid.count() && is_missed_here());
  if (threadIdx.x != 0) return;
  atomicAdd(counts, unsigned(here));
  __threadfence();
  if (atomicInc(counts + 1, gridDim.x - 1) != gridDim.x - 1) return;
  *missed = are_many_missed(int(atomicExch(counts, 0u)), grid.count());
}

/// Blocks for all seeds of a level, each with some threads, one way or both.
dim3 blocks_of(const SeedGrid& grid, int threads, unsigned ways) {
  return dim3(blocks_for(grid.count(), block_threads / threads), ways);
}

}  // namespace

template <class Backend>
void start_matches(Backend& cuda, const MatchLevel& level) {
  cuda.launch(start_matches_kernel, blocks_of(level.grid, warp, 2), dim3(block_threads), 0, level,
              random_starts(level.grid));
}

template <class Backend>
void refine_matches(Backend& cuda, const MatchLevel& coarser, const MatchLevel& level) {
  cuda.launch(refine_matches_kernel, blocks_of(level.grid, lanes, 2), dim3(block_threads), 0, coarser, level);
}

template <class Backend>
void improve_matches(Backend& cuda, const MatchLevel& level, const SeedSearch& search,
                     SeedMatch* const* found) {
  cuda.launch(improve_matches_kernel, blocks_of(level.grid, lanes, 2), dim3(block_threads), 0, level, search,
              found[0], found[1]);
}

template <class Backend>
void search_level(Backend& cuda, const LevelSearch& search) {
  if (!search.is_coarsest || search.level.grid.count() > few_seeds) return search_in_steps(cuda, search);
  start_matches(cuda, search.level);
  cuda.launch(improve_few_kernel, dim3(2), dim3(few_threads), 0, search);
}

template <class Backend>
void check_matches(Backend& cuda, const MatchLevel& finest, int first, const MatchCheck& check,
                   const Matches& matches) {
  cuda.launch(check_matches_kernel, blocks_of(finest.grid, 1, 1), dim3(block_threads), 0, finest, first,
              check, matches);
}

template <class Backend>
void fit_matches(Backend& cuda, const MatchLevel& finest, int first, const Matches& matches) {
  cuda.launch(fit_matches_kernel, blocks_of(finest.grid, 1, 1), dim3(block_threads), 0, finest, first,
              matches);
}

template <class Backend>
void find_missed(Backend& cuda, const MatchLevel& level, const ComparedFlow& flow, int* counts, int* missed) {
  cuda.launch(find_missed_kernel, dim3(blocks_for(level.grid.count(), block_threads)), dim3(block_threads), 0,
              level, flow, reinterpret_cast<unsigned*>(counts), missed);
}

PF_STEP(start_matches<Cuda>);
PF_STEP(refine_matches<Cuda>);
PF_STEP(improve_matches<Cuda>);
PF_STEP(search_level<Cuda>);
PF_STEP(check_matches<Cuda>);
PF_STEP(fit_matches<Cuda>);
PF_STEP(find_missed<Cuda>);

}  // namespace parafield
