#pragma once
#include "parafield/methods/energy.hpp"

namespace parafield {

// Methods that find a label field of low energy: data cost + smoothness over the pixels and their neighbours (Jodoin,
// Mignotte, St-Amour: Markovian energy-based computer vision algorithms on graphics hardware). Each solves any energy.
// Where labels cost the same the lowest is taken.

/// The label of least data cost, at each pixel by itself. Smoothness counts in the reported energy alone.
template <class EnergyType>
struct WinnerTakesAll {
  static constexpr std::string_view name = "winner-takes-all";
  static constexpr std::string_view source = "Jodoin, Mignotte, St-Amour 2005, section 3.3";
  static constexpr int frames = 2;
  using Energy = EnergyType;

  Energy energy = {};
};

/// Which pixels see which labels of their neighbours while a sweep goes on.
enum class SiteOrder {
  all_at_once,  ///< the last sweep's (Jodoin section 5.1); the energy can rise
  colored  ///< the newest: pixels that are no neighbours in turn (2 colours for 4 neighbours, 4 for 8); it cannot
};
constexpr std::array<std::string_view, 2> names_of(SiteOrder) { return {"all-at-once", "colored"}; }

/// Iterated conditional modes: each pixel takes the best label, given its neighbours'. Starts from the winner of the data
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

/// Simulated annealing by the Gibbs sampler, pixels that are no neighbours in turn. The temperature falls from t_max in
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
                                             "pixels all at once, or pixels that are no neighbours in turn"});
  if constexpr (requires { method.t_max; }) {
    visit(method.t_max, Parameter<float>{"t_max", 1e-4f, 1e6f, "", "temperature of the first sweep"});
    visit(method.t_min, Parameter<float>{"t_min", 1e-4f, 1e6f, "", "temperature of the last sweep"});
    visit(method.seed, Parameter<int>{"seed", 0, 2147483647, "", "of the random numbers"});
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
  } else {
    window = 13;
    accurate.energy.cost.aggregation_sigma = 2.6f;
  }
  return {{{"paper", Method{}, "the paper's model"},
           {"accurate", accurate, "several data terms; smoothness is weaker across image edges"}}};
}

}  // namespace parafield
