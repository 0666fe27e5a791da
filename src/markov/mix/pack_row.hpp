// SPDX-License-Identifier: MIT
#pragma once
#include "core/cpu/lanes.hpp"
#include "markov/levels/rows.hpp"

// The words of a row are taken apart into rows of bytes, even and odd columns apart, as levels store them. Then a
// vector holds the bytes of 16, 32 or 64 pixels.
namespace parafield {
namespace {

/// A row of pixels and the rows of their matches, as rows of bytes: three of color, of gradients and of the census.
class MixRow {
 public:
  /// Takes row y apart. `memory`: mix_row_bytes.
  MixRow(const Energy<MixedCosts>& energy, const PairUnits& units, int y, std::uint8_t* memory)
      : data_(energy.data),
        grid_(energy.grid),
        width_(energy.width),
        y_(y),
        pitch_(mix_columns(energy.grid, energy.width)),
        memory_(memory) {
    static_assert(units_of_bit % units_of_gradient == 0);
    static_assert(low_units / most_mix * units_of_gradient < 128);  // weighted_sum's factors
    const int end = data_.x0 + grid_.nx - 1;
    const int least = smaller(data_.x0 * data_.step, end * data_.step),
              most = larger(data_.x0 * data_.step, end * data_.step);
    first_ = least - (least & 1), last_ = width_ - 1 + most;
    for (int parity = 0; parity < 2; ++parity) {
      const std::ptrdiff_t at = y * data_.pitch + parity;
      const int count = columns(parity);
      take_bytes(data_.a, at, count, a(parity));
      std::uint16_t* const factors = factors_of(parity);
      const std::uint32_t* const words = data_.a.census + at;
      const int per_mix = units.per_mix;
      for (int i = 0; i < count; ++i)
        factors[i] = std::uint16_t(per_mix * (units_of_gradient + int(words[2 * i] >> 24 << 8)));
      for (int i = count; i < pitch_; ++i) factors[i] = 0;
    }
  }

  /// Takes the matches of the labels of row ly apart.
  void match(int ly) const {
    const std::ptrdiff_t to = (y_ + data_.y0 + ly) * data_.pitch + first_;
    for (int parity = 0; parity < 2; ++parity)
      take_bytes(data_.b, to + parity, (last_ - first_ - parity) / 2 + 1, b(parity));
  }

  /// Number of pixels in columns of a parity.
  int columns(int parity) const { return (width_ - parity + 1) / 2; }

  /// Units of label lx at `byte_lanes` pixels, columns 2 i + parity from i on: the arithmetic of mixed_units. Beyond
  /// the last column they are 0.
  PF_INLINE void find_units(int parity, int lx, int i, Lanes (&units)[2]) const {
    const int column = parity + (data_.x0 + lx) * data_.step - first_;
    const std::uint8_t *const from = a(parity) + i, *const to = b(column & 1) + (column >> 1) + i;
    ByteLanes of_a[3], of_b[3];
    const auto load_three = [&](int first) {
      PF_UNROLL
      for (int k = 0; k < 3; ++k)
        load(of_a[k], from + (first + k) * pitch_), load(of_b[k], to + (first + k) * pitch_);
    };
    const auto differences = [&](int first, std::uint8_t most) {
      load_three(first);
      ByteLanes sum = add_saturated(add_saturated(distance(of_a[0], of_b[0]), distance(of_a[1], of_b[1])),
                                    distance(of_a[2], of_b[2]));
      lower_to(sum, ByteLanes{} + most);
      return sum;
    };
    const ByteLanes color = differences(0, most_mix_color), gradient = differences(3, most_mix_gradient);
    load_three(6);
    const ByteLanes x = of_a[0] ^ of_b[0], y = of_a[1] ^ of_b[1], z = of_a[2] ^ of_b[2];
    const ByteLanes odd = x ^ y ^ z, twice = (x & y) | (z & (x ^ y)), of_two = bits_of(twice);
    ByteLanes bits = bits_of(odd) + (of_two + of_two);
    lower_to(bits, ByteLanes{} + std::uint8_t(most_mix_bits));
    constexpr int gradients = units_of_bit / units_of_gradient;  // of a bit
    Lanes factors[2];
    load(factors[0], factors_of(parity) + i), load(factors[1], factors_of(parity) + i + lanes);
    weighted_sum(gradient + std::uint8_t(gradients) * bits, color, factors, units);
  }

 private:
  std::uint8_t* a(int parity) const { return memory_ + parity * 9 * pitch_; }
  std::uint8_t* b(int parity) const { return memory_ + (2 + parity) * 9 * pitch_; }
  /// Factors of weighted_sum: of gradients and of color.
  std::uint16_t* factors_of(int parity) const {
    return reinterpret_cast<std::uint16_t*>(memory_ + (4 * 9 + 2 * parity) * pitch_);
  }
  /// Takes the words of every second pixel from `first` on apart.
  void take_bytes(const MixPlanes<const std::uint32_t>& planes, std::ptrdiff_t first, int count,
                  std::uint8_t* to) const {
    for (const std::uint32_t* const plane : {planes.color, planes.gradient, planes.census}) {
      const std::uint32_t* const words = plane + first;
      std::uint8_t *const x = to, *const y = to + pitch_, *const z = to + 2 * pitch_;
#pragma GCC ivdep  // scratch memory does not overlap with planes
      for (int i = 0; i < count; ++i) {
        const std::uint32_t word = words[2 * i];
        x[i] = std::uint8_t(word), y[i] = std::uint8_t(word >> 8), z[i] = std::uint8_t(word >> 16);
      }
      to += 3 * pitch_;
    }
  }

  const MixedCosts data_;
  const LabelGrid grid_;
  const int width_, y_, pitch_;
  std::uint8_t* const memory_;
  int first_, last_;  // columns of the matches; `first_` is even
};

/// Stores the data costs of DataTerm::mix of row y as row `to_y` of a level: whole numbers all along, where
/// PairUnits::per_mix is not 0. `memory`: mix_row_bytes.
void pack_mix_row(const Energy<MixedCosts>& energy, const PairUnits& units, int y,
                  const Rows<std::uint16_t>& rows, int to_y, void* memory) {
  const LabelGrid grid = energy.grid;
  const MixRow row(energy, units, y, static_cast<std::uint8_t*>(memory));
  for (int ly = 0; ly < grid.ny; ++ly) {
    row.match(ly);
    for (int lx = 0; lx < grid.nx; ++lx)
      for (int parity = 0; parity < 2; ++parity) {
        std::uint16_t* const out = rows.data(to_y, parity) + (ly * grid.nx + lx) * rows.pitch;
        const int count = row.columns(parity);
        for (int i = 0; i < count; i += byte_lanes) {
          Lanes found[2];
          row.find_units(parity, lx, i, found);
          store(out + i, found[0]), store(out + i + lanes, found[1]);
        }
        out[count] = 0;  // the coarser level adds it
      }
  }
}

/// Two rows of pixels of a mix without a second row of labels, in a thread's scratch memory.
class MixRows {
 public:
  /// Rows y and, with `below`, y + 1. `memory`: two rows' mix_row_bytes.
  MixRows(const Energy<MixedCosts>& energy, const PairUnits& units, int y, bool below, void* memory)
      : rows_{{energy, units, y, static_cast<std::uint8_t*>(memory)},
              {energy, units, y + int(below),
               static_cast<std::uint8_t*>(memory) + mix_row_bytes(energy.grid, energy.width)}} {
    for (const MixRow& row : rows_) row.match(0);
  }
  const MixRow& operator[](int j) const { return rows_[j]; }

 private:
  const MixRow rows_[2];
};

}  // namespace
}  // namespace parafield
