#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "scenes/dye.hpp"
#include "scenes/noise.hpp"

namespace parafield {

/// A mountain valley that winds along z, without end, under a sky. Scene units: the camera flies 1 above the
/// valley's floor. x to the right, z ahead, height up. + - * / and sqrt only: the same bits on every machine.
class Landscape {
 public:
  static constexpr double highest = 5.2;  ///< no terrain is above

  /// `finest`: the least spacing of texture that will be asked for, in scene units (at depth 1).
  Landscape(std::uint64_t seed, double finest);

  /// Reads along a path, whose last surroundings it remembers.
  class Reader {
   public:
    explicit Reader(const Landscape& landscape)
        : landscape_(&landscape), ground_(landscape.ground_.size()), clouds_(landscape.clouds_.size()) {}

    /// Where the middle of the valley is.
    double middle(double z) { return middle_width * middle_(landscape_->middle_, z, 0); }
    double height(double x, double z);
    struct Ground {
      double gray, snow;  ///< in full light; 1 = snow, 0 = none
    };
    /// With no structure finer than `footprint`, which is the size of a pixel there.
    Ground ground(double x, double z, double height, double footprint);
    /// Gray level of the sky in the direction (x, up, 1), likewise.
    double sky(double x, double up, double footprint);
    /// The color of ground without snow, likewise: woods, and rock mostly above.
    Tint bare_ground(double x, double z, double height, double footprint);

   private:
    const Landscape* landscape_;
    Octave::Reader middle_, woods_;
    std::array<Octave::Reader, 5> relief_;
    std::vector<Octave::Reader> ground_, clouds_;
  };

 private:
  static constexpr double middle_width = 3;

  Octave middle_, woods_;
  std::array<Octave, 5> relief_;
  std::vector<Octave> ground_, clouds_;  // the coarsest first
};

}  // namespace parafield
