// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/messages/row_steps.hpp"

namespace parafield {
namespace {

constexpr int most_band_rows = 96;  // between bands, a solve can be cancelled

/// Bands of rows in which all iterations of a level run together, so that messages are loaded and stored only
/// once; 0 if the bands would not be high enough.
int bands_of(const Cpu& cpu, int height, const Iterations& iterations) {
  const int count = cpu.band_count(height, most_band_rows);
  const bool high_enough = height / count > 2 * (iterations.count + 1);
  return iterations.count > 1 && !iterations.each && high_enough ? count : 0;
}

/// Whether the iterations of a level run together with reading the finest level: see send_and_read. With more
/// iterations, the rows that this requires would not stay in a cache.
bool runs_with_reading(const Iterations& iterations) { return iterations.is_read && iterations.count <= 8; }

/// Rows of messages that send_and_read keeps: a power of 2.
int kept_rows(int iterations) {
  int rows = 4;
  while (rows < iterations + 2) rows *= 2;
  return rows;
}
/// Number of messages that send_and_read keeps over one kind of edges.
template <class Value>
std::size_t kept_count(LabelGrid grid, int width, int iterations) {
  return 2 * std::size_t(kept_rows(iterations)) * std::size_t(grid.count()) *
         std::size_t(half_pitch<Value>(width));
}
/// Bytes of scratch memory of all other steps: nine chunks of pixels per label, or level_scratch if that is
/// more. `width`: of the finest level.
template <class Value>
std::size_t step_scratch(LabelGrid grid, int width) {
  return larger(level_scratch<Value>(grid, width), 9 * level_chunk_bytes * std::size_t(grid.count()));
}

enum class BandPart { inside, seams };

/// Runs all iterations of a level in bands of rows. In a band, each iteration runs one row behind the
/// previous one, and begins and ends one row farther inside. A later call computes what is missing at the
/// seams between bands. Computes bands [begin, end) of `count`, or the seam between each of these bands and
/// the next.
template <class Value>
void send_in_bands(Cpu& cpu, const PairUnits& units, const Rows<Value>& rows, const Rows<Value>& coarser,
                   const Iterations& iterations, int count, int begin, int end, BandPart which,
                   const Beliefs& beliefs) {
  const int height = rows.level.height, n = iterations.count, passes = n + int(bool(beliefs.labels));
  const auto begin_of = [=](int band) { return Cpu::band_begin(height, count, band); };
  cpu.parts(end - begin, [&](int part, void* memory) {
    Value* const scratch = static_cast<Value*>(memory);
    ReceivedRoom<Value> room = room_behind(rows, scratch);
    // Pass i of row y: an iteration or, after the last one, the beliefs of the pixels that did not just send.
    const auto pass = [&](int i, int y) {
      if (i == n) return read_row(units, rows, iterations.last_set(), n & 1, beliefs, y, scratch);
      send_row(units, rows, coarser, iterations[i], i == n - 1 ? beliefs : Beliefs{}, y, scratch, room);
    };
    const int band = begin + part, y0 = begin_of(band), y1 = begin_of(band + 1);
    if (which == BandPart::seams) {
      for (int i = 1; i < passes; ++i)
        for (int y = y1 - i; y < y1 + i; ++y) pass(i, y);
      return;
    }
    for (int front = y0; front < y1 + passes; ++front)
      for (int i = 0; i < passes; ++i) {
        const int y = front - i;
        if (y >= (y0 == 0 ? 0 : y0 + i) && y < (y1 == height ? height : y1 - i)) pass(i, y);
      }
  });
}

/// Runs all iterations of the level after the finest one, and reads the beliefs of the finest level. The
/// messages stay in a thread's cache, because each iteration runs one row behind the previous one and only
/// the rows that this requires are kept.
template <class Data, class Value>
void send_and_read(Cpu& cpu, const Energy<Data>& energy, const PairUnits& units,
                   const PropagationLevel<Value>& finest, const PropagationLevel<Value>& level,
                   const Rows<Value>& coarser, const Iterations& iterations, const Beliefs& beliefs) {
  const int n = iterations.count, height = level.height, kept = kept_rows(n);
  cpu.bands(height, most_band_rows, [&](RowRange band, void* memory) {
    // Messages are stored after the memory of the other steps.
    Value* place =
        reinterpret_cast<Value*>(static_cast<char*>(memory) + step_scratch<Value>(units.grid, finest.width));
    const std::size_t count = kept_count<Value>(units.grid, level.width, n);
    PropagationLevel<Value> in_scratch = level;
    for (auto& edges : in_scratch.edges) edges = {place, place + count}, place += 2 * count;
    std::memset(in_scratch.edges[0].across, 0, 4 * count * sizeof(Value));
    ReceivedRoom<Value> room{place};
    const Rows<Value> rows(in_scratch, units, kept - 1);
    const auto clear_below = [&](int set) {  // the edges below the image
      std::memset(rows.down(set, height, 0), 0, 2 * rows.labels * rows.pitch * sizeof(Value));
    };
    // Each iteration runs one row behind the previous one. For its own first and last rows, a band also
    // computes some rows of its neighbors.
    for (int front = band.begin - n; front < band.end + n; ++front) {
      if (front == height - 1) clear_below(0), clear_below(1);
      for (int i = 0; i < n; ++i) {
        const int y = front - i;
        if (y >= larger(band.begin - n + i, 0) && y < smaller(band.end + n - i, height))
          send_row(units, rows, coarser, iterations[i], {}, y, static_cast<Value*>(memory), room);
      }
      if (front >= band.begin + n)
        read_blocks(energy, units, finest, rows, iterations.last_color(), beliefs, front - n, memory);
    }
  });
}

}  // namespace

template <class Backend, class Value>
std::size_t message_scratch(const Backend&, LabelGrid grid, int width, const Iterations& iterations) {
  std::size_t bytes = step_scratch<Value>(grid, width);
  if (runs_with_reading(iterations))
    bytes += sizeof(Value) * 4 * kept_count<Value>(grid, (width + 1) / 2, iterations.count) +
             4 * level_chunk_bytes * std::size_t(grid.count());
  return bytes;
}

template <class Backend>
int turns_of(const Backend& cpu, int height, const Iterations& iterations) {
  if (runs_with_reading(iterations)) return 0;
  const int bands = bands_of(cpu, height, iterations), together = cpu.threads();
  return bands > 0 ? (bands + together - 1) / together : iterations.count;
}

template <class Backend, class Value>
void send_messages(Backend& cpu, const PairUnits& units, const PropagationLevel<Value>& level,
                   const PropagationLevel<Value>& coarser_level, const Iterations& iterations, int turn,
                   const Beliefs& beliefs) {
  const Rows<Value> rows(level, units), coarser(coarser_level, units);
  if (const int bands = bands_of(cpu, level.height, iterations); bands > 0) {
    const int begin = turn * cpu.threads(), end = smaller(begin + cpu.threads(), bands);
    send_in_bands(cpu, units, rows, coarser, iterations, bands, begin, end, BandPart::inside, beliefs);
    if (end == bands)
      send_in_bands(cpu, units, rows, coarser, iterations, bands, 0, bands - 1, BandPart::seams, beliefs);
    return;
  }
  const bool reads = beliefs.labels && (iterations.each || turn == iterations.count - 1);
  cpu.few_rows(level.height, [&](RowRange part, void* memory) {
    Value* const scratch = static_cast<Value*>(memory);
    ReceivedRoom<Value> room = room_behind(rows, scratch);
    for (int y = part.begin; y < part.end; ++y)
      send_row(units, rows, coarser, iterations[turn], reads ? beliefs : Beliefs{}, y, scratch, room);
  });
  if (!reads) return;
  cpu.few_rows(level.height, [&](RowRange part, void* memory) {
    for (int y = part.begin; y < part.end; ++y)
      read_row(units, rows, iterations.last_set(), 1 - (turn & 1), beliefs, y, static_cast<Value*>(memory));
  });
}

template <class Backend, class Data, class Value>
void read_coarse_beliefs(Backend& cpu, const Energy<Data>& energy, const PairUnits& units,
                         const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarser_level,
                         const PropagationLevel<Value>& third, const Iterations& iterations,
                         const Beliefs& beliefs) {
  const Rows<Value> coarser(coarser_level, units);
  if (runs_with_reading(iterations))
    return send_and_read(cpu, energy, units, level, coarser_level, Rows<Value>(third, units), iterations,
                         beliefs);
  cpu.few_rows((level.height + 1) / 2, [&](RowRange part, void* memory) {
    for (int y = part.begin; y < part.end; ++y)
      read_blocks(energy, units, level, coarser, iterations.last_color(), beliefs, y, memory);
  });
}

PF_MESSAGE_STEPS(Cpu, float);
PF_MESSAGE_STEPS(Cpu, std::uint16_t);
PF_STEP(turns_of<Cpu>);

}  // namespace parafield
