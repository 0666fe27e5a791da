#pragma once
#include "parafield/image.hpp"
#include "parafield/methods/energy.hpp"
#include "parafield/methods/precision.hpp"

namespace parafield {

// Methods that find a label field of low energy: data cost + smoothness over the pixels and their neighbors (Jodoin,
// Mignotte, St-Amour: Markovian energy-based computer vision algorithms on graphics hardware). Each solves any energy,
// belief propagation those of 4 neighbors. Where labels cost the same the lowest is taken.

/// The label of least data cost, at each pixel by itself. Smoothness counts in the reported energy alone.
template <class EnergyType>
struct WinnerTakesAll {
  static constexpr std::string_view name = "winner-takes-all";
  static constexpr std::string_view source = "Jodoin, Mignotte, St-Amour 2005, section 3.3";
  static constexpr int frames = 2;
  using Energy = EnergyType;

  Energy energy = {};
};

/// Which pixels see which labels of their neighbors while a sweep goes on.
enum class SiteOrder {
  all_at_once,  ///< the last sweep's (Jodoin section 5.1); the energy can rise
  colored  ///< the newest: pixels that are no neighbors in turn (2 colors for 4 neighbors, 4 for 8); it cannot
};
constexpr std::array<std::string_view, 2> names_of(SiteOrder) { return {"all-at-once", "colored"}; }

/// Iterated conditional modes: each pixel takes the best label, given its neighbors'. Starts from the winner of the data
/// cost, or from the start that the input gives. Ends when a sweep changes nothing.
template <class EnergyType>
struct Icm {
  static constexpr std::string_view name = "icm";
  static constexpr std::string_view source = "Jodoin, Mignotte, St-Amour 2005, table 1; Besag 1986";
  static constexpr int frames = 2;
  using Energy = EnergyType;

  Energy energy = {};
  int sweeps = 10;
  SiteOrder order = SiteOrder::all_at_once;
};

/// Simulated annealing by the Gibbs sampler, pixels that are no neighbors in turn. The temperature falls from t_max in
/// the first sweep to t_min in the last by the same factor each time. Random numbers depend on seed, pixel and sweep
/// alone.
template <class EnergyType>
struct Annealing {
  static constexpr std::string_view name = "annealing";
  static constexpr std::string_view source = "Jodoin, Mignotte, St-Amour 2005, table 1; Geman and Geman 1984";
  static constexpr int frames = 2;
  using Energy = EnergyType;

  Energy energy = {};
  int sweeps = 500;
  float t_max = 20;
  float t_min = 0.5f;
  int seed = 1;
};

/// Hierarchical min-sum belief propagation, for energies of 4 neighbors. An iteration updates the messages that one set
/// of a checkerboard sends; the coarsest level begins with none, each finer one with those that its pixels' blocks of
/// 2 x 2 have received. Levels too coarse for the image are left out (`levels_of`). A message takes time in proportion to
/// the labels; with quadratic smoothness also to how far labels can differ before the truncation is reached.
/// Precision: messages of 32-bit floats, or of 16 bits, whole multiples of at least a 7168th of the most that a pair of
/// labels can cost; the same bits on every device with both. `fast` is for truncated smoothness: where slope times labels is
/// far above the data costs and nothing truncates it, few multiples, or none, are left for the data.
/// Defaults: the paper's data and smoothness.
template <class EnergyType>
struct BeliefPropagation {
  static constexpr std::string_view name = "belief-propagation";
  static constexpr std::string_view source =
      "Grauer-Gray, Kambhamettu, Palaniappan 2008, sections 3 to 6; Felzenszwalb, Huttenlocher 2004";
  static constexpr int frames = 2;
  using Energy = EnergyType;

  Energy energy = paper_energy();
  int levels = 5;
  int iterations = 7;
  Precision precision = Precision::exact;
  int blocks = 1;
  int block_overlap = 0;
  int memory_limit = 0;

 private:
  static constexpr Energy paper_energy() {
    Energy energy;
    energy.cost = {.weight = 0.07f, .truncation = 15, .presmooth = 1};
    energy.smoothness = {.beta = 1, .smoothness_truncation = 1.7f, .neighbors = 4};
    return energy;
  }
};

/// How many of belief propagation's levels an image (or block) has room for: the coarsest is at least 2 px long.
PARAFIELD_API int levels_of(int levels, Size size);

/// The size of belief propagation's blocks, with their overlaps. Throws Error(invalid_argument) for an image that cannot
/// be divided into so many, or an overlap below 0.
PARAFIELD_API Size block_size(Size image, int blocks, int overlap);

/// How many levels belief propagation uses for an image: those that its blocks have room for.
template <class EnergyType>
int levels_of(const BeliefPropagation<EnergyType>& method, Size image) {
  return levels_of(method.levels, block_size(image, method.blocks, method.block_overlap));
}

template <class Method>
concept LabelMethod = requires {
  typename Method::Energy;
};

template <LabelMethod Method, class Visitor>
void describe(Method& method, Visitor&& visit) {
  describe(method.energy, visit);
  if constexpr (requires { method.sweeps; })
    visit(method.sweeps, Parameter<int>{"sweeps", 0, 20000, "", "sweeps over all pixels"});
  if constexpr (requires { method.order; })
    visit(method.order, Parameter<SiteOrder>{"order", SiteOrder::all_at_once, SiteOrder::colored, "",
                                             "pixels all at once, or pixels that are no neighbors in turn"});
  if constexpr (requires { method.t_max; }) {
    visit(method.t_max, Parameter<float>{"t_max", 1e-4f, 1e6f, "", "temperature of the first sweep"});
    visit(method.t_min, Parameter<float>{"t_min", 1e-4f, 1e6f, "", "temperature of the last sweep"});
    visit(method.seed, Parameter<int>{"seed", 0, 2147483647, "", "of the random numbers"});
  }
  if constexpr (requires { method.precision; }) {
    visit(method.levels, Parameter<int>{"levels", 1, 12, "", "levels, the finest of the images' size"});
    visit(method.iterations,
          Parameter<int>{"iterations", 1, 10000, "",
                         "updates of messages at each level, of one set of the checkerboard each"});
    visit(
        method.precision,
        Parameter<Precision>{"precision", Precision::exact, Precision::fast, "",
                             "messages of 32-bit floats, or of 16 bits in about half the time: for truncated "
                             "smoothness; without, slope x labels far above the data costs loses the data"});
    visit(method.blocks, Parameter<int>{"blocks", 1, 4096, "",
                                        "the image is solved as so many blocks, each by itself, which takes "
                                        "less memory (section 6)"});
    visit(method.block_overlap,
          Parameter<int>{"block_overlap", 0, 4096, "px",
                         "blocks reach so far over their borders, and only what lies within is kept"});
    visit(method.memory_limit,
          Parameter<int>{
              "memory_limit", 0, 1 << 30, "MiB",
              "most memory for data costs and messages; 0 = what a GPU has free, or all of the machine"});
  }
}

/// Of a mask: the paper's model.
template <LabelMethod Method>
std::array<Preset<Method>, 1> presets(const Method&) {
  return {{{"paper", Method{}, "the paper's model"}}};
}

/// Of disparities and displacements: also several data terms, with smoothness that image edges weaken.
template <LabelMethod Method>
requires requires(Method method) { method.energy.cost; }
std::array<Preset<Method>, 2> presets(const Method&) {
  constexpr bool flow = requires(Method method) { method.energy.max_displacement; };
  Method accurate;
  accurate.energy.cost = {.data = DataTerm::mix, .rgb = true};
  accurate.energy.smoothness = {.beta = 0.6f, .smoothness_truncation = 5, .neighbors = 4, .edge_scale = 15};
  accurate.energy.sub_pixel = flow;
  int& window = accurate.energy.cost.aggregation;
  if constexpr (requires { accurate.order; }) {
    accurate.order = SiteOrder::colored;
    accurate.sweeps = 30;
    accurate.energy.smoothness.beta = flow ? 0.6f : 1.2f;
    window = flow ? 11 : 7;
  } else if constexpr (requires { accurate.t_max; }) {
    accurate.t_max = 1;
    accurate.t_min = 0.05f;
    window = flow ? 3 : 1;
  } else if constexpr (requires { accurate.precision; }) {
    accurate.iterations = 8;
    if constexpr (flow) {  // weak: where labels blend, the parabola finds what lies between them
      accurate.energy.smoothness.beta = 0.015f;
      accurate.energy.smoothness.smoothness_truncation = 40;
      accurate.energy.smoothness.edge_floor = 0.1f;
      accurate.energy.cost.presmooth = 0.6f;
      window = 13;
    }
  } else {
    window = 13;
    accurate.energy.cost.aggregation_sigma = 2.6f;
  }
  return {{{"paper", Method{}, "the paper's model"},
           {"accurate", accurate, "several data terms; smoothness is weaker across image edges"}}};
}

}  // namespace parafield
