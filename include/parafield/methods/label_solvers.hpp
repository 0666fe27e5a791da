// SPDX-License-Identifier: MIT
#pragma once
#include <tuple>

#include "parafield/image.hpp"
#include "parafield/methods/energy.hpp"
#include "parafield/methods/precision.hpp"

namespace parafield {

// Methods that find a label field of low energy (Jodoin, Mignotte, St-Amour: Markovian energy-based computer
// vision algorithms on graphics hardware). The energy is the sum of all pixels' data costs and the smoothness
// costs of all pairs of neighbors. Each method solves any energy, but belief propagation needs 4 neighbors.
// Among labels of equal cost, the lowest is taken.

/// Energy and checks of stereo's accurate presets: several data terms, special treatment of untextured areas,
/// smoothness that is weaker across image edges, a left-right check, filling and medians.
constexpr StereoEnergy accurate_disparities() {
  StereoEnergy energy;
  energy.cost = MatchingCost{.data = DataTerm::mix, .rgb = true, .texture_aware = true};
  energy.smoothness = Smoothness{
      .beta = 0.7f, .smoothness_truncation = 4.3f, .neighbors = 4, .edge_scale = 15, .edge_floor = 0.16f};
  energy.sub_pixel = true;
  energy.checks = {.lr_check = 1, .fill = true, .color_median = 17, .final_median = 3};
  return energy;
}

// Energies of the other methods' defaults. An energy by itself (StereoEnergy{}) and each method's preset
// `paper` have the papers' parameters.

/// Disparities from a window's data costs. They are less certain than disparities by messages, which is why
/// small regions are dropped, too.
constexpr StereoEnergy windowed_disparities(int window, float sigma, float beta) {
  StereoEnergy energy = accurate_disparities();
  energy.cost.aggregation = window;
  energy.cost.aggregation_sigma = sigma;
  energy.smoothness.beta = beta;
  energy.checks.speckle = 60;
  energy.checks.final_median = 5;
  return energy;
}

/// Displacements by census transforms of smoothed frames. Smoothing lets costs have a minimum between whole
/// pixels.
constexpr DisplacementEnergy windowed_displacements(int window, float beta) {
  DisplacementEnergy energy;
  energy.max_displacement = 10;
  energy.cost = MatchingCost{.data = DataTerm::census, .aggregation = window, .presmooth = 0.7f};
  energy.smoothness = Smoothness{.beta = beta, .smoothness_truncation = 5, .neighbors = 8, .edge_scale = 15};
  energy.sub_pixel = true;
  return energy;
}

/// Whether an energy's labels are `static` and `moving`.
template <class Energy>
constexpr bool is_mask_energy =
    std::is_same_v<Energy, ChangeEnergy> || std::is_same_v<Energy, BackgroundEnergy>;

/// One energy of each type: the defaults of a method.
using Energies = std::tuple<StereoEnergy, DisplacementEnergy, BackgroundEnergy, ChangeEnergy>;

/// Takes the label of least data cost at each pixel. Smoothness only affects the reported energy.
template <class EnergyType>
struct WinnerTakesAll {
  static constexpr bool learns = std::is_same_v<EnergyType, BackgroundEnergy>;
  static constexpr std::string_view name = learns ? "winner-takes-all-background" : "winner-takes-all";
  static constexpr std::string_view help = "Takes the best label of each pixel, whatever its neighbors have.";
  static constexpr std::string_view source = "Jodoin, Mignotte, St-Amour 2005, section 3.3";
  static constexpr int frames = 2;
  using Energy = EnergyType;

  PF_PARAMETERS_OF(Energy, energy, default_energy());

 private:
  static constexpr Energy default_energy() {
    return std::get<Energy>(Energies{windowed_disparities(13, 2.6f, 0.7f), windowed_displacements(15, 8),
                                     BackgroundEnergy{.mean = 5}, ChangeEnergy{.mean = 15}});
  }
};

/// Order in which a sweep visits the pixels.
enum class SiteOrder {
  /// All pixels change together, given their neighbors' labels from the last sweep (Jodoin section 5.1). The
  /// energy can rise.
  all_at_once,
  /// Pixels are divided into colors such that neighbors never share a color: 2 colors for 4 neighbors, 4
  /// colors for 8. The colors take turns, and pixels see the newest labels. The energy cannot rise.
  colored
};
constexpr std::array<std::string_view, 2> names_of(SiteOrder) { return {"all-at-once", "colored"}; }

/// Iterated conditional modes. Each pixel takes the label of least cost, given its neighbors' labels. It
/// starts from the labels of least data cost, or from the input's start. It ends early when a sweep changes
/// nothing.
template <class EnergyType>
struct Icm {
  static constexpr bool learns = std::is_same_v<EnergyType, BackgroundEnergy>;
  static constexpr std::string_view name = learns ? "icm-background" : "icm";
  static constexpr std::string_view help = "Improves labels in sweeps, given those of the neighbors.";
  static constexpr std::string_view source = "Jodoin, Mignotte, St-Amour 2005, table 1; Besag 1986";
  static constexpr int frames = 2;
  static constexpr bool is_mask = is_mask_energy<EnergyType>;
  using Energy = EnergyType;

  PF_PARAMETERS_OF(Energy, energy, default_energy());
  PF_PARAMETER(int, sweeps, learns ? 10 : is_mask ? 20 : 4, range(0, 20000), "Sweeps over all pixels.");
  PF_PARAMETER(SiteOrder, order, is_mask ? SiteOrder::all_at_once : SiteOrder::colored,
               "Which pixels change together. all-at-once: all pixels, given the labels of the last sweep. "
               "colored: neighbors take turns and see the newest labels.");

 private:
  static constexpr Energy default_energy() {
    return std::get<Energy>(Energies{windowed_disparities(13, 2.6f, 2), windowed_displacements(15, 8),
                                     BackgroundEnergy{}, ChangeEnergy{.mean = 11.5f}});
  }
};

/// Simulated annealing by the Gibbs sampler. A sweep updates sets of non-adjacent pixels, one set after the
/// other. The temperature falls from t_max in the first sweep to t_min in the last, by the same factor each
/// time. Random numbers depend only on seed, pixel and sweep.
template <class EnergyType>
struct Annealing {
  static constexpr bool learns = std::is_same_v<EnergyType, BackgroundEnergy>;
  static constexpr std::string_view name = learns ? "annealing-background" : "annealing";
  static constexpr std::string_view help = "Improves labels in many random sweeps. Slow.";
  static constexpr std::string_view source = "Jodoin, Mignotte, St-Amour 2005, table 1; Geman and Geman 1984";
  static constexpr int frames = 2;
  static constexpr bool is_mask = is_mask_energy<EnergyType>;
  using Energy = EnergyType;

  PF_PARAMETERS_OF(Energy, energy, default_energy());
  PF_PARAMETER(int, sweeps, is_mask ? 60 : 20, range(0, 20000), "Sweeps over all pixels.");
  PF_PARAMETER(float, t_max, is_mask ? 4 : 0.5f, range(1e-4, 1e6), "Temperature of the first sweep.");
  PF_PARAMETER(float, t_min, is_mask ? 0.1f : 0.03f, range(1e-4, 1e6), "Temperature of the last sweep.");
  PF_PARAMETER(int, seed, 1, range(0, 2147483647), "Seed of the random numbers.");

  void check_together() const {
    if (t_min > t_max)
      detail::fail_parameter(name, "t_min", detail::text_of(t_min),
                             "at most t_max, " + detail::text_of(t_max));
  }

 private:
  static constexpr Energy default_energy() {
    return std::get<Energy>(Energies{windowed_disparities(3, 0, 0.6f), windowed_displacements(15, 3),
                                     BackgroundEnergy{.beta = 0.6f, .temporal = 0.3f},
                                     ChangeEnergy{.beta = 0.6f, .temporal = 0.3f, .temporal_fades = true}});
  }
};

/// Levels of belief propagation whose smoothness follows the slopes of surfaces.
enum class Slant {
  none,
  quick,   ///< all levels but the finest two, without solving any level twice
  coarse,  ///< all levels but the finest
  all
};
constexpr std::array<std::string_view, 4> names_of(Slant) { return {"none", "quick", "coarse", "all"}; }

/// Parameters of belief propagation for surfaces that are slanted. Displacements have none.
template <class EnergyType>
struct SlantedSurfaces {
  static detail::Descriptions<> described_fields(detail::Rank<0>, const void*);
};
template <>
struct SlantedSurfaces<StereoEnergy> {
  PF_PARAMETER(
      Slant, slant, Slant::none,
      "Levels whose smoothness follows slanted surfaces. Planes are fitted to a coarse level's disparities; "
      "the next finer level then compares a disparity with the neighbor's continued along the plane. coarse: "
      "all levels but the finest; the coarse levels are solved a second time. quick: all but the finest two, "
      "each solved once. all: also the finest, which takes longer.");
};

/// Hierarchical min-sum belief propagation for energies with 4 neighbors. An iteration updates the messages
/// sent by one color of a checkerboard. The coarsest level starts without messages. Each pixel of a finer
/// level starts with the messages that its 2x2 block received as one pixel of the coarser level. Levels too
/// coarse for the image are left out (`levels_of`). The time of a message grows with the number of labels
/// and, if smoothness is quadratic, with the label difference that the truncation allows.
///
/// With precision `fast`, messages are 16-bit integers. Their unit is at least 1/7168 of the largest cost of
/// a pair of labels. Both precisions give the same bits on every device. By default, flow has no messages at
/// the finest level because they would change little there.
template <class EnergyType>
struct BeliefPropagation {
  static constexpr std::string_view name = "belief-propagation";
  static constexpr std::string_view help = "Finds labels by messages between neighbors, from coarse to fine.";
  static constexpr std::string_view source =
      "Grauer-Gray, Kambhamettu, Palaniappan 2008, sections 3 to 6; Felzenszwalb, Huttenlocher 2004";
  static constexpr int frames = 2;
  static constexpr bool is_stereo = std::is_same_v<EnergyType, StereoEnergy>;
  using Energy = EnergyType;

  PF_PARAMETERS_OF(Energy, energy, default_energy());
  PF_PARAMETER(int, levels, is_stereo ? 6 : 5, range(1, 12),
               "Number of levels. The finest has the size of the images.");
  PF_PARAMETER(int, iterations, is_stereo ? 4 : 3, range(1, 10000),
               "Iterations on each level. Each updates the messages from one color of the checkerboard.");
  PF_PARAMETER(int, finest_iterations, is_stereo ? 3 : 0, range(-1, 10000),
               "Finest level's iterations, -1 = as many. With 0, its pixels read the messages of the next "
               "level, which takes much less time and memory.");
  PF_PARAMETERS_OF(SlantedSurfaces<Energy>, surfaces, default_surfaces());
  PF_PARAMETER(Precision, precision, Precision::fast,
               "Precision of messages. exact: 32-bit floats. fast: 16-bit integers, in about half the time. "
               "Use fast with truncated smoothness: without truncation, if beta times the number of labels "
               "is far above the data costs, the data costs are lost in rounding.");
  PF_PARAMETER(
      float, uniqueness, is_stereo ? 1 : 0, range(0, 1e6),
      "Smallest margin of a valid label. The margin is the extra cost of the best non-adjacent label.");
  PF_PARAMETER(int, blocks, 0, range(0, 4096),
               "Blocks of the image, 0 = as memory allows. They are solved one after the other, which saves "
               "memory (section 6). With 0, as few blocks as fit are used. Their margins are wide enough to "
               "give the result of a single block, or as wide as fits.");
  PF_PARAMETER(
      int, block_overlap, 0, range(0, 4096, "px"),
      "Margin around each block. It is solved with the block and then dropped. All blocks together must have "
      "at most 32 times the pixels of the image. With blocks = 0, this is the smallest margin.");
  PF_PARAMETER(int, memory_limit, 0, range(0, 1 << 30, "MiB"),
               "Memory limit for costs and messages, 0 = all. This means all free memory or, on a CPU with a "
               "given number of blocks, all memory of the machine.");

  void check_together() const {
    if (const int neighbors = energy.smoothness.neighbors; neighbors != 4)
      detail::fail_parameter(name, "neighbors", detail::text_of(neighbors), "4");
    if constexpr (is_stereo)
      if (surfaces.slant != Slant::none && energy.smoothness.smoothness == SmoothnessModel::quadratic)
        detail::fail_parameter(name, "slant", detail::text_of(surfaces.slant),
                               "none with quadratic smoothness");
  }

  /// The energy of Grauer-Gray's sections 3 to 6.
  static constexpr Energy paper_energy() {
    Energy energy;
    energy.cost = MatchingCost{.weight = 0.07f, .truncation = 15, .presmooth = 1};
    energy.smoothness = Smoothness{.beta = 1, .smoothness_truncation = 1.7f, .neighbors = 4};
    return energy;
  }

 private:
  static constexpr SlantedSurfaces<Energy> default_surfaces() {
    if constexpr (is_stereo)
      return {.slant = Slant::coarse};
    else
      return {};
  }
  static constexpr Energy default_energy() {
    if constexpr (is_stereo) {
      return accurate_disparities();
    } else {
      // Weak smoothness lets labels blend, and the parabola finds the flow between them.
      Energy energy = windowed_displacements(15, 0.08f);
      energy.smoothness = Smoothness{
          .beta = 0.08f, .smoothness_truncation = 40, .neighbors = 4, .edge_scale = 15, .edge_floor = 0.1f};
      return energy;
    }
  }
};

/// Number of levels that belief propagation uses for an image or a block: at most `levels`, and only as many
/// as fit its size. The coarsest level's longer side has at least 2 px, if the image's has.
PARAFIELD_API int levels_of(int levels, Size size);

/// Size of belief propagation's blocks, including overlaps. Throws Error(invalid_argument) if the image
/// cannot be divided into this many blocks, if the overlap is negative, or if it is so large that all blocks
/// together have more than 32 times the image's pixels.
PARAFIELD_API Size block_size(Size image, int blocks, int overlap);

/// Number of levels that belief propagation uses for an image: as many as fit its blocks. With blocks = 0,
/// this is the number for a single block.
template <class EnergyType>
int levels_of(const BeliefPropagation<EnergyType>& method, Size image) {
  return levels_of(method.levels,
                   block_size(image, method.blocks > 0 ? method.blocks : 1, method.block_overlap));
}

/// A method that minimizes an energy.
template <class Method>
concept LabelMethod = requires {
  typename Method::Energy;
};

}  // namespace parafield
