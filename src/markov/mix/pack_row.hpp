// SPDX-License-Identifier: MIT
#pragma once
#include "core/cpu/lanes.hpp"
#include "markov/levels/rows.hpp"

// The words of a row are split into rows of bytes, with even and odd columns separate, as levels store them.
// A vector then holds the bytes of 16, 32 or 64 pixels.
namespace parafield {
namespace {

/// A row of pixels and the rows of their matches, as rows of bytes: of colors, of gradients and of the
/// census. `Channels`: 3, or 1 if all three bytes of a color are the same (MixedCosts::gray).
template <int Channels>
class MixRow {
 public:
  /// Bytes of `byte_lanes` pixels of one parity, from index i on.
  struct Pixels {
    ByteLanes bytes[2 * Channels + 3];
    Lanes factors[2];  // for weighted_sum: factors of gradients and of color
    int parity, i;
  };

  /// Splits row y. `memory`: mix_row_bytes bytes.
  MixRow(const Energy<MixedCosts>& energy, const PairUnits& units, int y, std::uint8_t* memory)
      : data_(energy.data),
        width_(energy.width),
        y_(y),
        pitch_(mix_columns(energy.grid, energy.width)),
        memory_(memory) {
    static_assert(units_of_bit == 2 * units_of_gradient);
    constexpr int most_factor = low_units / most_mix;  // highest per_mix
    static_assert(most_factor * units_of_gradient < 256 && 3 * most_factor * most_mix_weight < 256);
    const int end = data_.x0 + energy.grid.nx - 1;
    const int least = smaller(data_.x0 * data_.step, end * data_.step),
              most = larger(data_.x0 * data_.step, end * data_.step);
    first_ = least - (least & 1), last_ = width_ - 1 + most;
    for (int parity = 0; parity < 2; ++parity) {
      const std::ptrdiff_t at = y * data_.pitch + parity;
      const int count = columns(parity), pitch = pitch_;
      take_bytes(data_.frame0, at, count, a(parity));
      const std::uint32_t* const words = data_.frame0[2] + at;
      // One byte of gray counts for three.
      const int of_gradient = units.per_mix * units_of_gradient, of_color = units.per_mix * (3 / Channels);
      std::uint8_t *const gradient = factors(parity), *const color = gradient + pitch;
#pragma GCC ivdep  // scratch memory does not overlap with planes
      for (int i = 0; i < count; ++i) {
        gradient[i] = std::uint8_t(of_gradient);
        color[i] = std::uint8_t(of_color * int(words[2 * i] >> 24));
      }
      for (int i = count; i < pitch; ++i) gradient[i] = color[i] = 0;
    }
  }

  /// Splits the matches of the labels of row ly.
  void match(int ly) const {
    const std::ptrdiff_t to = (y_ + data_.y0 + ly) * data_.pitch + first_;
    for (int parity = 0; parity < 2; ++parity)
      take_bytes(data_.frame1, to + parity, (last_ - first_ - parity) / 2 + 1, b(parity));
  }

  /// Number of pixels in columns of a parity.
  int columns(int parity) const { return (width_ - parity + 1) / 2; }

  /// `byte_lanes` pixels, columns 2 i + parity from i on.
  PF_INLINE Pixels pixels(int parity, int i) const {
    Pixels of;
    PF_UNROLL
    for (int k = 0; k < 2 * Channels + 3; ++k) load(of.bytes[k], a(parity) + k * pitch_ + i);
    ByteLanes gradient, color;
    load(gradient, factors(parity) + i), load(color, factors(parity) + pitch_ + i);
    join_bytes(gradient, color, of.factors);
    of.parity = parity, of.i = i;
    return of;
  }

  /// Computes the units of label lx at these pixels, in halved order, as mixed_units does. Beyond the last
  /// column they are 0.
  PF_INLINE void find_units(const Pixels& of, int lx, Lanes (&units)[2]) const {
    const int column = of.parity + (data_.x0 + lx) * data_.step - first_;
    const std::uint8_t* const to = b(column & 1) + (column >> 1) + of.i;
    const auto match_of = [&](int k) {
      ByteLanes bytes;
      load(bytes, to + k * pitch_);
      return bytes;
    };
    // Sum of the differences of all channels; gray is one channel.
    const auto differences = [&](int first, int most) {
      ByteLanes sum = distance(of.bytes[first], match_of(first));
      PF_UNROLL
      for (int k = 1; k < Channels; ++k)
        sum = add_saturated(sum, distance(of.bytes[first + k], match_of(first + k)));
      lower_to(sum, ByteLanes{} + std::uint8_t(Channels == 1 ? most / 3 : most));
      return sum;
    };
    static_assert(most_mix_color % 3 == 0 && most_mix_gradient % 3 == 0);
    const ByteLanes color = differences(0, most_mix_color),
                    gradient = differences(Channels, most_mix_gradient);
    constexpr int census = 2 * Channels;
    const ByteLanes x = of.bytes[census] ^ match_of(census), y = of.bytes[census + 1] ^ match_of(census + 1),
                    z = of.bytes[census + 2] ^ match_of(census + 2);
    ByteLanes bits = bits_of(x ^ y ^ z, (x & y) | (z & (x ^ y)));
    lower_to(bits, ByteLanes{} + std::uint8_t(most_mix_bits));
    // A bit counts as much as two gradients, and a gradient of gray counts for three.
    const ByteLanes one = Channels == 1 ? bits + gradient : bits;
    weighted_sum(one + one + gradient, color, of.factors, units);
  }

 private:
  static constexpr int rows_of_bytes = 2 * Channels + 3;
  std::uint8_t* a(int parity) const { return memory_ + parity * rows_of_bytes * pitch_; }
  std::uint8_t* b(int parity) const { return memory_ + (2 + parity) * rows_of_bytes * pitch_; }
  std::uint8_t* factors(int parity) const { return memory_ + (4 * rows_of_bytes + 2 * parity) * pitch_; }
  /// Splits the words of every second pixel, from `first` on, into rows of bytes.
  void take_bytes(const std::uint32_t* const (&planes)[3], std::ptrdiff_t first, int count,
                  std::uint8_t* to) const {
    const int pitch = pitch_;
    for (const std::uint32_t* const plane : planes) {
      const std::uint32_t* const words = plane + first;
      std::uint8_t *const x = to, *const y = to + pitch, *const z = to + 2 * pitch;
      if (Channels == 1 && plane != planes[2]) {
#pragma GCC ivdep  // scratch memory does not overlap with planes
        for (int i = 0; i < count; ++i) x[i] = std::uint8_t(words[2 * i]);
        to += pitch;
        continue;
      }
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const std::uint32_t word = words[2 * i];
        x[i] = std::uint8_t(word), y[i] = std::uint8_t(word >> 8), z[i] = std::uint8_t(word >> 16);
      }
      to += 3 * pitch;
    }
  }

  const MixedCosts data_;
  const int width_, y_, pitch_;
  std::uint8_t* const memory_;
  int first_, last_;  // columns of the matches; `first_` is even
};

/// Calls use.template operator()<Channels>() with the channels that the mix of two frames needs.
template <class Use>
void with_channels(const MixedCosts& mix, Use use) {
  mix.gray ? use.template operator()<1>() : use.template operator()<3>();
}

/// Stores the data costs of DataTerm::mix of row y as row `to_y` of a level, with integers only.
/// PairUnits::per_mix must not be 0. `memory`: mix_row_bytes bytes.
template <int Channels>
void pack_mix_row(const Energy<MixedCosts>& energy, const PairUnits& units, int y,
                  const Rows<std::uint16_t>& rows, int to_y, void* memory) {
  const LabelGrid grid = energy.grid;
  const MixRow<Channels> row(energy, units, y, static_cast<std::uint8_t*>(memory));
  for (int ly = 0; ly < grid.ny; ++ly) {
    row.match(ly);
    for (int parity = 0; parity < 2; ++parity) {
      const int count = row.columns(parity);
      std::uint16_t* const out = rows.data(to_y, parity) + ly * grid.nx * rows.pitch;
      for (int i = 0; i < count; i += byte_lanes) {
        const typename MixRow<Channels>::Pixels pixels = row.pixels(parity, i);
        for (int lx = 0; lx < grid.nx; ++lx) {
          Lanes found[2];
          row.find_units(pixels, lx, found);
          put_in_order(found);
          store(out + lx * rows.pitch + i, found[0]), store(out + lx * rows.pitch + i + lanes, found[1]);
        }
      }
      for (int lx = 0; lx < grid.nx; ++lx) out[lx * rows.pitch + count] = 0;  // the coarser level adds it
    }
  }
}

/// Two rows of pixels of a mix whose grid has one row of labels, in a thread's scratch memory.
template <int Channels>
class MixRows {
 public:
  /// Rows y and, with `below`, y + 1. `memory`: mix_row_bytes for two rows.
  MixRows(const Energy<MixedCosts>& energy, const PairUnits& units, int y, bool below, void* memory)
      : rows_{{energy, units, y, static_cast<std::uint8_t*>(memory)},
              {energy, units, y + int(below),
               static_cast<std::uint8_t*>(memory) + mix_row_bytes(energy.grid, energy.width)}} {
    for (const MixRow<Channels>& row : rows_) row.match(0);
  }
  const MixRow<Channels>& operator[](int j) const { return rows_[j]; }

 private:
  const MixRow<Channels> rows_[2];
};

}  // namespace
}  // namespace parafield
