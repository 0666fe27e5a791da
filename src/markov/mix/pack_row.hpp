// SPDX-License-Identifier: MIT
#pragma once
#include "markov/levels/rows.hpp"

// The words of a row are taken apart into rows of bytes, even and odd columns apart, as levels store them. Then a
// vector holds the bytes of 32 or 64 pixels.
namespace parafield {
namespace {

/// Rows of bytes of a frame's row: three of color, of gradients and of the census, and the weights.
struct ByteRows {
  std::uint8_t *color[3], *gradient[3], *census[3], *weight;

  ByteRows(std::uint8_t* memory, int columns, bool weights) {
    for (int i = 0; i < 3; ++i) {
      color[i] = memory + i * columns;
      gradient[i] = memory + (3 + i) * columns;
      census[i] = memory + (6 + i) * columns;
    }
    weight = weights ? memory + 9 * columns : nullptr;
  }
};

/// Takes the words of every second pixel from `first` on apart.
void take_bytes(const MixPlanes<const std::uint32_t>& planes, std::ptrdiff_t first, int count,
                const ByteRows& rows) {
  const auto take = [=](const std::uint32_t* words, std::uint8_t* const(&to)[3]) {
    std::uint8_t *const a = to[0], *const b = to[1], *const c = to[2];
#pragma GCC ivdep  // scratch memory does not overlap with planes
    for (int i = 0; i < count; ++i) {
      const std::uint32_t word = words[2 * i];
      a[i] = std::uint8_t(word), b[i] = std::uint8_t(word >> 8), c[i] = std::uint8_t(word >> 16);
    }
  };
  take(planes.color + first, rows.color);
  take(planes.gradient + first, rows.gradient);
  take(planes.census + first, rows.census);
  if (!rows.weight) return;
  const std::uint32_t* const words = planes.census + first;
  for (int i = 0; i < count; ++i) rows.weight[i] = std::uint8_t(words[2 * i] >> 24);
}

std::uint8_t difference(std::uint8_t a, std::uint8_t b, std::uint8_t most) {
  return smaller(std::uint8_t(larger(a, b) - smaller(a, b)), most);
}
/// Number of bits of a byte.
std::uint8_t bits_of(std::uint8_t byte) {
  const std::uint8_t pairs = std::uint8_t(byte - (byte >> 1 & 0x55));
  const std::uint8_t fours = std::uint8_t((pairs & 0x33) + (pairs >> 2 & 0x33));
  return std::uint8_t((fours + (fours >> 4)) & 0x0f);
}

/// Stores the units of a label at `count` pixels of a, whose matches begin at column `to` of b; the arithmetic of
/// mixed_units. `count` is a multiple of 64.
void store_units(const ByteRows& a, const ByteRows& b, int to, int count, int per_mix, std::uint16_t* out) {
  constexpr int n = 64;
  const std::uint16_t scale = std::uint16_t(per_mix);
  for (int i0 = 0; i0 < count; i0 += n) {
    const auto from_a = [=](const std::uint8_t* row) { return row + i0; };
    const auto from_b = [=](const std::uint8_t* row) { return row + i0 + to; };
    const std::uint8_t *const ac0 = from_a(a.color[0]), *const ac1 = from_a(a.color[1]),
                              *const ac2 = from_a(a.color[2]), *const ag0 = from_a(a.gradient[0]),
                              *const ag1 = from_a(a.gradient[1]), *const ag2 = from_a(a.gradient[2]),
                              *const ab0 = from_a(a.census[0]), *const ab1 = from_a(a.census[1]),
                              *const ab2 = from_a(a.census[2]), *const weights = from_a(a.weight);
    const std::uint8_t *const bc0 = from_b(b.color[0]), *const bc1 = from_b(b.color[1]),
                              *const bc2 = from_b(b.color[2]), *const bg0 = from_b(b.gradient[0]),
                              *const bg1 = from_b(b.gradient[1]), *const bg2 = from_b(b.gradient[2]),
                              *const bb0 = from_b(b.census[0]), *const bb1 = from_b(b.census[1]),
                              *const bb2 = from_b(b.census[2]);
    std::uint8_t color[n], rest[n];  // rest: in units of a gradient
    for (int i = 0; i < n; ++i) {
      constexpr std::uint8_t most = most_mix_color;
      const std::uint8_t sum =
          std::uint8_t(difference(ac0[i], bc0[i], most) + difference(ac1[i], bc1[i], most) +
                       difference(ac2[i], bc2[i], most));
      color[i] = smaller(sum, most);
    }
    for (int i = 0; i < n; ++i) {
      constexpr std::uint8_t most = most_mix_gradient;
      const std::uint8_t sum =
          std::uint8_t(difference(ag0[i], bg0[i], most) + difference(ag1[i], bg1[i], most) +
                       difference(ag2[i], bg2[i], most));
      rest[i] = smaller(sum, most);
    }
    for (int i = 0; i < n; ++i) {
      const std::uint8_t x = std::uint8_t(ab0[i] ^ bb0[i]), y = std::uint8_t(ab1[i] ^ bb1[i]),
                         z = std::uint8_t(ab2[i] ^ bb2[i]);
      const std::uint8_t odd = std::uint8_t(x ^ y ^ z), twice = std::uint8_t((x & y) | (z & (x ^ y)));
      const std::uint8_t bits = std::uint8_t(bits_of(odd) + 2 * bits_of(twice));
      constexpr std::uint8_t most = most_mix_bits;
      rest[i] = std::uint8_t(rest[i] + units_of_bit / units_of_gradient * smaller(bits, most));
    }
    std::uint16_t* const to_units = out + i0;
#pragma GCC ivdep
    for (int i = 0; i < n; ++i)
      to_units[i] = std::uint16_t(
          scale * std::uint16_t(units_of_gradient * rest[i] + std::uint16_t(weights[i] * color[i])));
  }
}

/// Stores the data costs of DataTerm::mix of row y as row `to_y` of a level: whole numbers all along, where
/// PairUnits::per_mix is not 0. `memory`: pack_scratch bytes.
void pack_mix_row(const Energy<MixedCosts>& energy, const PairUnits& units, int y,
                  const Rows<std::uint16_t>& rows, int to_y, void* memory) {
  static_assert(units_of_bit % units_of_gradient == 0);
  const LabelGrid grid = energy.grid;
  const MixedCosts& data = energy.data;
  const int columns = mix_columns(grid, energy.width);
  std::uint8_t* const bytes = static_cast<std::uint8_t*>(memory);
  const ByteRows a[2] = {{bytes, columns, true}, {bytes + 10 * columns, columns, true}},
                 b[2] = {{bytes + 20 * columns, columns, false}, {bytes + 29 * columns, columns, false}};
  // Columns of the matches: from `first` on, which is even, to `last`.
  const int end = data.x0 + grid.nx - 1;
  const int least = smaller(data.x0 * data.step, end * data.step),
            most = larger(data.x0 * data.step, end * data.step);
  const int first = least - (least & 1), last = energy.width - 1 + most;
  const std::ptrdiff_t at = y * data.pitch;
  for (int parity = 0; parity < 2; ++parity)
    take_bytes(data.a, at + parity, (energy.width - parity + 1) / 2, a[parity]);
  for (int ly = 0; ly < grid.ny; ++ly) {
    const std::ptrdiff_t to = at + (data.y0 + ly) * data.pitch + first;
    for (int parity = 0; parity < 2; ++parity)
      take_bytes(data.b, to + parity, (last - first - parity) / 2 + 1, b[parity]);
    for (int lx = 0; lx < grid.nx; ++lx)
      for (int parity = 0; parity < 2; ++parity) {
        const int column = parity + (data.x0 + lx) * data.step - first,
                  count = (energy.width - parity + 1) / 2;
        std::uint16_t* const out = rows.data(to_y, parity) + (ly * grid.nx + lx) * rows.pitch;
        store_units(a[parity], b[column & 1], column >> 1, (count + 63) / 64 * 64, units.per_mix, out);
        out[count] = 0;  // the coarser level adds it
      }
  }
}

}  // namespace
}  // namespace parafield
