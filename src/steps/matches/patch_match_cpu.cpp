// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/matches/patch_match.hpp"

namespace parafield {
namespace {

constexpr int patch_bytes = 8 * patch_words;

/// The bytes of a patch, contiguous.
struct Patch {
  alignas(64) std::uint8_t bytes[patch_bytes];

  void read(const Descriptors& descriptors, int x, int y) {
    const std::uint64_t* from = patch_at(descriptors, x, y);
    const std::ptrdiff_t pitch = patch_pitch(descriptors);
    for (int row = 0; row < patch_side; ++row, from += pitch)
      __builtin_memcpy(bytes + 8 * patch_side * row, from, 8 * patch_side);
  }
  void read(const Descriptors& descriptors, const HalfPlace& place) {
    for (int i = 0; i < patch_words; ++i) {
      const std::uint64_t word = word_between(descriptors, place, i);
      __builtin_memcpy(bytes + 8 * i, &word, 8);
    }
  }
};

/// Sum of absolute differences of two patches.
int difference(const Patch& a, const Patch& b) {
  int sum = 0;
  for (int i = 0; i < patch_bytes; ++i) {
    const int difference = int(a.bytes[i]) - int(b.bytes[i]);
    sum += difference < 0 ? -difference : difference;
  }
  return sum;
}

/// Cost of a match: difference of the patch to the patch at (x, y).
int difference(const Patch& patch, const Descriptors& descriptors, int x, int y) {
  using Row = const std::uint8_t*;
  constexpr int bytes = 8 * patch_side;  // per row
  const std::ptrdiff_t pitch = 8 * patch_pitch(descriptors);
  const Row a = reinterpret_cast<Row>(patch_at(descriptors, x, y)), b = a + pitch, c = b + pitch,
            d = c + pitch;
  int sum = 0;
  const auto add = [&sum](Row row, Row other) {
    for (int i = 0; i < bytes; ++i) {
      const int difference = int(row[i]) - int(other[i]);
      sum += difference < 0 ? -difference : difference;
    }
  };
  add(patch.bytes, a);
  add(patch.bytes + bytes, b);
  add(patch.bytes + 2 * bytes, c);
  add(patch.bytes + 3 * bytes, d);
  return sum;
}

int texture(const Patch& patch) {
  int sum = 0;
  for (int i = 0; i < patch_bytes; ++i) sum += patch.bytes[i];
  return sum;
}

/// A seed, its patch, and the frame in which it searches for its match.
struct Seed {
  const SeedGrid& grid;
  const Descriptors& to;
  int number, column, row, x, y;
  Patch patch;

  Seed(const MatchLevel& level, int first, int column, int row)
      : grid(level.grid),
        to(level.frames[1 - first]),
        number(row * level.grid.columns + column),
        column(column),
        row(row),
        x(level.grid.x(column)),
        y(level.grid.y(row)) {
    patch.read(level.frames[first], x, y);
  }

  int cost(int u, int v) const {
    if (!grid.has_pixel(x + u, y + v)) return outside_cost;
    return difference(patch, to, x + u, y + v);
  }
  /// Cost of a match at a place between pixels, in halves of a pixel.
  int half_cost(int u2, int v2) const {
    const HalfPlace place(2 * x + u2, 2 * y + v2);
    if (!grid.has_pixel(place.x, place.y) || !grid.has_pixel(place.x + place.right, place.y + place.below))
      return outside_cost;
    Patch between;
    between.read(to, place);
    return difference(patch, between);
  }
  /// Cost of a flow.
  int cost(const FlowAtSeed& flow) const {
    return flow_cost(
        flow, [&](int u, int v) { return cost(u, v); }, [&](int u2, int v2) { return half_cost(u2, v2); });
  }
  /// Replaces `best` by the flow if it costs less.
  void attempt(const SeedMatch& flow, SeedMatch& best) const {
    const int found = cost(flow.u, flow.v);
    if (found < best.cost) best = {flow.u, flow.v, found};
  }
};

SeedMatch started(const Seed& seed, int starts) {
  SeedMatch best{0, 0, seed.cost(0, 0)};
  for (int k = 0; k < starts; ++k)
    seed.attempt(random_start(seed.grid, seed.number, seed.x, seed.y, k), best);
  return best;
}

SeedMatch improved(const Seed& seed, const SeedMatch* matches, const SeedSearch& search) {
  SeedMatch best = matches[seed.number];
  SeedMatch tried[seed_neighbors + 1] = {best};
  int count = 1;
  for (int k = 0; k < seed_neighbors; ++k) {
    const int neighbor = neighbor_of(seed.grid, seed.column, seed.row, search.step, k);
    if (neighbor < 0) continue;
    const SeedMatch flow = matches[neighbor];
    bool is_new = true;
    for (int i = 0; i < count; ++i) is_new &= (tried[i].u != flow.u) | (tried[i].v != flow.v);
    if (!is_new) continue;
    tried[count++] = flow;
    seed.attempt(flow, best);
  }
  int k = 0;
  for (int radius = search.radius; radius >= 1; radius /= 2)
    seed.attempt(random_flow(best, seed.number, search.key, radius, k++), best);
  return best;
}

/// Sets found[way] of each seed to f(way, seed), in both directions.
template <class Backend, class F>
void for_each_seed(Backend& cpu, const MatchLevel& level, SeedMatch* const* found, F f) {
  SeedMatch *const there = found[0], *const back = found[1];
  cpu.rows(2 * level.grid.rows, [=, &level](int i) {
    const int way = i % 2, row = i / 2, columns = level.grid.columns;
    SeedMatch* const out = (way == 0 ? there : back) + std::ptrdiff_t(row) * columns;
    for (int column = 0; column < columns; ++column) out[column] = f(way, Seed(level, way, column, row));
  });
}

/// Computes the matches that a level's seeds start from.
template <class Backend>
void start_search(Backend& cpu, const LevelSearch& search) {
  const MatchLevel &level = search.level, &coarser = search.coarser;
  if (search.is_coarsest) {
    const int starts = random_starts(level.grid);
    return for_each_seed(cpu, level, level.matches,
                         [=](int, const Seed& seed) { return started(seed, starts); });
  }
  for_each_seed(cpu, level, level.matches, [&](int way, const Seed& seed) {
    const SeedMatch from =
        coarser.matches[way][coarser_seed(coarser.grid, level.grid, seed.column, seed.row)];
    return SeedMatch{2 * from.u, 2 * from.v, seed.cost(2 * from.u, 2 * from.v)};
  });
}

}  // namespace

template <class Backend>
void search_level(Backend& cpu, const LevelSearch& search) {
  start_search(cpu, search);
  for (int i = 0; i < search.iterations; ++i) {
    SeedMatch* const* const from = search.matches_after(i);
    for_each_seed(cpu, search.level, search.matches_after(i + 1),
                  [&](int way, const Seed& seed) { return improved(seed, from[way], search.step(i)); });
  }
}

template <class Backend>
void check_matches(Backend& cpu, const MatchLevel& finest, int first, const MatchCheck& check,
                   const Matches& matches) {
  cpu.pixels(finest.grid.seeds(), [&](int column, int row) {
    const Seed seed(finest, first, column, row);
    const SeedMatch match = finest.matches[first][seed.number];
    matches.set(column, row, {float(match.u), float(match.v)});
    matches.valid(column, row) = match.cost < outside_cost && texture(seed.patch) >= least_patch_texture &&
                                 is_finite(check.luma0(seed.x, seed.y)) &&
                                 is_finite(check.luma1(seed.x + match.u, seed.y + match.v)) &&
                                 comes_back(finest, first, seed.x, seed.y, match, check.distance2);
  });
}

template <class Backend>
void prefer_flow(Backend& cpu, const MatchLevel& finest, int first, FlowPlanes flow, bool reversed,
                 const Matches& matches) {
  cpu.pixels(finest.grid.seeds(), [&](int column, int row) {
    const Seed seed(finest, first, column, row);
    const SeedMatch match = finest.matches[first][seed.number];
    const Motion motion = preferable_flow(flow, reversed, seed.x, seed.y);
    const FlowAtSeed own = compared_flow(motion.u, motion.v, match);
    const bool valid = matches.valid(column, row) != 0;
    if (valid && !own.is_far) return;
    if (!is_as_good(match.cost, seed.cost(own), texture(seed.patch), valid)) return;
    matches.set(column, row, motion);
    matches.valid(column, row) = 1;
  });
}

template <class Backend>
void fit_matches(Backend& cpu, const MatchLevel& finest, int first, const Matches& matches) {
  cpu.pixels(finest.grid.seeds(), [&](int column, int row) {
    if (!matches.valid(column, row)) return;
    const Seed seed(finest, first, column, row);
    const auto [u, v, cost] = finest.matches[first][seed.number];
    if (!is_inner(finest.grid, seed.x + u, seed.y + v)) return;
    matches.set(column, row,
                {float(u) + fitted(seed.cost(u - 1, v), cost, seed.cost(u + 1, v)),
                 float(v) + fitted(seed.cost(u, v - 1), cost, seed.cost(u, v + 1))});
  });
}

template <class Backend>
void find_missed(Backend& cpu, const MatchLevel& level, const ComparedFlow& flow, int* counts,
                 const Condition& missed) {
  cpu.rows(level.grid.rows, [&, counts](int row) {
    int count = 0;
    for (int column = 0; column < level.grid.columns; ++column) {
      const Seed seed(level, flow.first, column, row);
      const SeedMatch match = level.matches[flow.first][seed.number];
      if (match.cost >= outside_cost || texture(seed.patch) < least_patch_texture ||
          !comes_back(level, flow.first, seed.x, seed.y, match, missed_check * missed_check))
        continue;
      const FlowAtSeed own = flow_at_seed(flow, seed.x, seed.y, match);
      count += own.is_far && is_missed(match.cost, seed.cost(own));
    }
    counts[row] = count;
  });
  int count = 0;
  for (int row = 0; row < level.grid.rows; ++row) count += counts[row];
  *missed.value = are_many_missed(count, level.grid.count());
}

PF_STEP(search_level<Cpu>);
PF_STEP(check_matches<Cpu>);
PF_STEP(prefer_flow<Cpu>);
PF_STEP(fit_matches<Cpu>);
PF_STEP(find_missed<Cpu>);

}  // namespace parafield
