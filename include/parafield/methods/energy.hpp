#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// How much a pixel differs from its match; before weight and truncation.
enum class DataTerm {
  absolute,  ///< |difference|, 0..255 (Jodoin eqs. 7, 8)
  squared,   ///< difference^2
  census,    ///< bits that differ of the 5x5 census transforms, 0..24
  gradient,  ///< |difference| of the horizontal derivatives (central differences) of luma
  mix        ///< (1 - exp(-census / 10)) + 0.7 (1 - exp(-absolute / 12)) + 0.5 (1 - exp(-gradient / 3))
};
constexpr std::array<std::string_view, 5> names_of(DataTerm) {
  return {"absolute", "squared", "census", "gradient", "mix"};
}

/// The data cost of matching two images: weight * min(difference, truncation), as a mean over a window.
struct MatchingCost {
  DataTerm data = DataTerm::absolute;
  bool rgb = false;
  float weight = 1;
  float truncation = 0;
  int aggregation = 1;
  float aggregation_sigma = 0;
  float presmooth = 0;
};

/// How a pair of labels costs, before weight and truncation. Labels are numbers, or vectors for displacements.
enum class SmoothnessModel {
  potts,     ///< 1 where they differ
  linear,    ///< sum of the components' |differences| (Jodoin section 3.2)
  quadratic  ///< sum of the components' differences^2
};
constexpr std::array<std::string_view, 3> names_of(SmoothnessModel) {
  return {"potts", "linear", "quadratic"};
}

/// The smoothness of a label field: over each edge between neighbors once, weight * min(model, truncation) * the edge's
/// own weight: 1, or edge_floor + (1 - edge_floor) exp(-difference / edge_scale), where the first frame's two pixels
/// differ by that much (the largest of its channels).
struct Smoothness {
  SmoothnessModel smoothness = SmoothnessModel::linear;
  float beta = 4;
  float smoothness_truncation = 0;
  int neighbors = 4;
  float edge_scale = 0;
  float edge_floor = 0.2f;
};

/// Disparities min_disparity .. min_disparity + disparities - 1 (Jodoin eqs. 8, 9): x_right = x_left - d.
struct StereoEnergy {
  int disparities = 64;
  int min_disparity = 0;
  MatchingCost cost = {.aggregation = 7};
  Smoothness smoothness = {};
  bool sub_pixel = false;
};

/// Whole displacements in [-max_displacement, max_displacement]^2 (Jodoin eq. 7 and after).
struct DisplacementEnergy {
  int max_displacement = 5;
  MatchingCost cost = {};
  Smoothness smoothness = {.neighbors = 8};
  bool sub_pixel = false;
};

/// Static or moving (Jodoin eqs. 4 to 6): (y - mean * moving)^2 / sigma^2, y = |frame1 - frame0| (of color: the mean
/// over the channels), and beta for each of the eight neighbors that differs, -beta for each that agrees; likewise
/// `temporal` for the last mask's label of the pixel. Solvers start from the first part's winner, which is also all that
/// winner-takes-all asks for. Reported energies count 2 beta for neighbors that differ and 0 for those that agree: the
/// same but for a constant.
struct ChangeEnergy {
  float mean = 12;
  float sigma = 15;
  float beta = 1;
  float temporal = 1;
  bool rgb = false;
};

template <class Energy, class Visitor>
requires std::is_same_v<std::remove_const_t<Energy>, MatchingCost>
void describe(Energy& cost, Visitor&& visit) {
  static constexpr std::array odd_sides{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
  visit(cost.data, Parameter<DataTerm>{"data", DataTerm::absolute, DataTerm::mix, "",
                                       "how much a pixel differs from its match, intensities 0 to 255"});
  visit(cost.rgb,
        Parameter<bool>{"rgb", false, true, "",
                        "absolute and squared differences as means over the channels, not of luma"});
  visit(cost.weight, Parameter<float>{"weight", 1e-6f, 1e6f, "", "weight of the data cost"});
  visit(cost.truncation,
        Parameter<float>{"truncation", 0, 1e6f, "",
                         "the most that a pixel can differ from its match, and what a match outside the "
                         "image differs by; 0 = no limit, and outside the nearest pixel stands in"});
  visit(cost.aggregation,
        Parameter<int>{"aggregation", 1, 31, "px",
                       "side of the square window that data costs are averaged over: odd", odd_sides});
  visit(cost.aggregation_sigma,
        Parameter<float>{"aggregation_sigma", 0, 10, "px", "sigma of a gaussian in that window; 0 = a box"});
  visit(cost.presmooth,
        Parameter<float>{"presmooth", 0, 5, "px", "sigma of a gaussian over both images; 0 = none"});
}

template <class Energy, class Visitor>
requires std::is_same_v<std::remove_const_t<Energy>, Smoothness>
void describe(Energy& energy, Visitor&& visit) {
  static constexpr std::array neighborhoods{4, 8};
  visit(energy.smoothness,
        Parameter<SmoothnessModel>{"smoothness", SmoothnessModel::potts, SmoothnessModel::quadratic, "",
                                   "what two neighbors' labels cost"});
  visit(energy.beta, Parameter<float>{"beta", 0, 1e6f, "", "weight of the smoothness"});
  visit(energy.smoothness_truncation,
        Parameter<float>{"smoothness_truncation", 0, 1e6f, "",
                         "the most that a pair of labels can cost, before the weight; 0 = no limit"});
  visit(energy.neighbors,
        Parameter<int>{"neighbors", 4, 8, "", "neighbors of a pixel: 4, or 8 with the diagonal ones",
                       neighborhoods});
  visit(energy.edge_scale,
        Parameter<float>{"edge_scale", 0, 1e4f, "",
                         "smoothness is weakened between pixels that differ: edge_floor + "
                         "(1 - edge_floor) exp(-difference / edge_scale); 0 = everywhere the same"});
  visit(energy.edge_floor, Parameter<float>{"edge_floor", 0, 1, "", "what is left of it at strong edges"});
}

template <class Energy, class Visitor>
requires std::is_same_v<std::remove_const_t<Energy>, StereoEnergy>
void describe(Energy& energy, Visitor&& visit) {
  visit(energy.disparities, Parameter<int>{"disparities", 1, 4096, "", "number of disparities"});
  visit(energy.min_disparity,
        Parameter<int>{"min_disparity", -4096, 4096, "px", "the least of them; x_right = x_left - d"});
  describe(energy.cost, visit);
  describe(energy.smoothness, visit);
  visit(energy.sub_pixel,
        Parameter<bool>{"sub_pixel", false, true, "", "refine by a parabola through three data costs"});
}

template <class Energy, class Visitor>
requires std::is_same_v<std::remove_const_t<Energy>, DisplacementEnergy>
void describe(Energy& energy, Visitor&& visit) {
  visit(energy.max_displacement,
        Parameter<int>{"max_displacement", 1, 100, "px", "longest displacement in x and in y"});
  describe(energy.cost, visit);
  describe(energy.smoothness, visit);
  visit(energy.sub_pixel, Parameter<bool>{"sub_pixel", false, true, "",
                                          "refine by parabolas through three data costs in x and in y"});
}

template <class Energy, class Visitor>
requires std::is_same_v<std::remove_const_t<Energy>, ChangeEnergy>
void describe(Energy& energy, Visitor&& visit) {
  visit(energy.mean, Parameter<float>{"mean", 0, 255, "", "expected difference where something moves (m_p)"});
  visit(energy.sigma, Parameter<float>{"sigma", 0.01f, 1000, "", "deviation of the differences"});
  visit(energy.beta, Parameter<float>{"beta", 0, 1000, "", "weight of the eight neighbors"});
  visit(energy.temporal, Parameter<float>{"temporal", 0, 1000, "", "weight of the last mask; 0 = not used"});
  visit(energy.rgb,
        Parameter<bool>{"rgb", false, true, "", "differences as means over the channels, not of luma"});
}

}  // namespace parafield
