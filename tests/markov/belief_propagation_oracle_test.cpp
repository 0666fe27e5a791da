// SPDX-License-Identifier: MIT
// Belief propagation against its oracle: labels, sub-pixel values, confidences, and images in blocks.
#include "markov/propagation_cases.hpp"
#include "markov/reading.hpp"
#include "oracle/surfaces.hpp"
#include "textures.hpp"

namespace parafield {
namespace {

/// Share of the 5x5 pixels around (x, y) whose label differs by at most 1 from the pixel's.
double similar_share(const oracle::Labels& labels, Size size, int x, int y) {
  const auto at = [&](int px, int py) {
    return labels[std::size_t(std::clamp(py, 0, size.height - 1)) * size.width +
                  std::clamp(px, 0, size.width - 1)];
  };
  int count = 0;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) count += std::abs(at(x + i, y + j) - at(x, y)) <= 1;
  return count / 25.0;
}

int columns_of(const StereoEnergy& energy) { return energy.disparities; }
int columns_of(const DisplacementEnergy& energy) { return 2 * energy.max_displacement + 1; }

class BeliefOracle : public OnDevice {
 protected:
  template <class Task, class Energy, class Images>
  typename Task::Result solve(const Case<Energy>& c, const Images& pair) const {
    Estimator<Task> estimator(c.method, c.size, {.device = device()});
    const auto& result = estimator(pair.frame0, pair.frame1);
    estimator.synchronize();
    return result.to(Memory::host());
  }

  /// Compares a field with the oracle's beliefs(x, y), which count `per_cost` for a cost of 1. The belief of
  /// each label must be the least up to `tolerance` + 1e-5 of the costs; likewise its confidence. Counts
  /// labels that are not the oracle's.
  template <class Task, class Energy, class Beliefs>
  void expect_beliefs(const Case<Energy>& c, const typename Task::Result& result, Beliefs beliefs,
                      double per_cost, double tolerance) {
    const oracle::Labels labels = labels_of(result, c.method.energy);
    for (int y = 0; y < c.size.height; ++y)
      for (int x = 0; x < c.size.width; ++x) {
        Reading reading{beliefs(x, y), columns_of(c.method.energy)};
        for (double& belief : reading.beliefs) belief /= per_cost;
        const int label = labels[std::size_t(y) * c.size.width + x];
        const double least = reading.least(), found = reading.beliefs[std::size_t(label)];
        const double most = *std::max_element(reading.beliefs.begin(), reading.beliefs.end());
        const double near = tolerance + 1e-5 * (1 + most);
        // Costs of mix are whole multiples, so that beliefs tie and rounding decides.
        const bool ties = c.method.energy.cost.data == DataTerm::mix;
        ++pixels_, others_ += found > least + (ties ? 1e-9 * (1 + most) : 0);
        for (int lower = 0; lower < label && !ties; ++lower)
          others_ += reading.beliefs[std::size_t(lower)] == found;
        furthest_ = std::max(furthest_, found - least);
        ASSERT_LE(found, least + near) << x << ", " << y << "\n  " << c.described();
        double confidence = 0;
        if constexpr (std::is_same_v<Task, Stereo>)
          confidence = reading.margin(label) * std::pow(similar_share(labels, c.size, x, y), 2);
        else
          confidence = reading.confidence(label);
        ASSERT_NEAR(result.confidence(x, y), confidence, 2 * near)
            << x << ", " << y << "\n  " << c.described();
      }
  }

  static oracle::LabelEnergy energy_of(const auto& c, const auto& pair) {
    return oracle::energy_of(pair.frame0, pair.frame1, c.method.energy);
  }

  template <class Task, class Cases>
  void expect_oracle(const Cases& cases) {
    for (const auto& c : cases) {
      const RandomPair pair = c.images();
      const oracle::LabelEnergy energy = energy_of(c, pair);
      const oracle::BeliefPropagation expected(energy, c.method.levels, c.method.iterations,
                                               c.method.finest_iterations);
      expect_beliefs<Task>(
          c, solve<Task>(c, pair), [&](int x, int y) { return expected.beliefs(x, y); }, 1, 0);
      if (HasFatalFailure()) return;
    }
    report("exact");
    EXPECT_LE(others_, pixels_ / 1000);
  }

  static oracle::Units units_of(const auto& c, const oracle::LabelEnergy& energy) {
    const MatchingCost& cost = c.method.energy.cost;
    const bool mix = cost.data == DataTerm::mix, whole = mix && cost.truncation == 0 && cost.aggregation == 1;
    return {c.method.energy.smoothness, energy.values, oracle::most_cost(cost), whole ? cost.weight / 250 : 0,
            mix && cost.texture_aware ? 8.0 : 1.0};
  }

  /// Compares Precision::fast with belief propagation of rounded costs. Beliefs differ by some units, because
  /// errors of floats decide which of two units a cost is rounded to.
  template <class Task, class Cases>
  void expect_oracle_of_units(Cases cases) {
    for (auto& c : cases) {
      c.method.precision = Precision::fast;
      const RandomPair pair = c.images();
      const oracle::LabelEnergy energy = energy_of(c, pair);
      const oracle::Units units = units_of(c, energy);
      const oracle::BeliefPropagation expected(energy, c.method.levels, c.method.iterations,
                                               c.method.finest_iterations, units);
      expect_beliefs<Task>(
          c, solve<Task>(c, pair), [&](int x, int y) { return expected.beliefs(x, y); }, units.per_cost,
          4 / units.per_cost);
      if (HasFatalFailure()) return;
    }
    report("fast, of rounded costs");
    EXPECT_LE(others_, pixels_ / 100);
  }

  /// Largest error of a belief from rounded costs, in units, between two labels. A data cost errs by half a
  /// unit either way; at a coarser level by half a unit for each of its pixels. A message errs by the data
  /// cost, three messages and the pair cost.
  static double worst(int levels, int iterations, double pair) {
    double message = 0, data = 1;
    for (int k = levels - 1; k >= 0; --k)
      for (int i = 0; i < iterations; ++i) message = 3 * message + std::pow(4, k) * data + pair;
    return 4 * message + data;
  }

  /// Expects Precision::fast within the largest error of its rounding, where no data cost is limited.
  /// Iterations are few, because that error triples with each. Most labels must equal those of
  /// Precision::exact.
  template <class Task, class Cases>
  void expect_near(Cases cases) {
    int same = 0, all = 0;
    double used = 0;
    for (auto& c : cases) {
      const auto& smoothness = c.method.energy.smoothness;
      const RandomPair pair = c.images();
      const auto exact = labels_of(solve<Task>(c, pair), c.method.energy);
      c.method.precision = Precision::fast;
      const auto fast = labels_of(solve<Task>(c, pair), c.method.energy);
      for (std::size_t i = 0; i < fast.size(); ++i) same += fast[i] == exact[i], ++all;
      c.method.energy.smoothness.beta *= 4;  // data costs stay below four times the highest pair cost
      c.method.levels = 1 + int(c.seed % 2);
      c.method.iterations = 1 + int(c.seed / 2 % (c.method.levels == 1 ? 4 : 2));
      c.method.finest_iterations = -1;
      const oracle::LabelEnergy energy = energy_of(c, pair);
      const oracle::Units units = units_of(c, energy);
      const bool whole = smoothness.edge_scale == 0 && smoothness.smoothness != SmoothnessModel::quadratic;
      // The cost of a distance errs by half a unit, a slope by half a unit for each label up to the limit.
      const double labels_apart = std::min<double>(energy.labels(), units.limit / units.slope + 1);
      const double bound =
          worst(c.method.levels, c.method.iterations, whole ? 0 : labels_apart + 1) / units.per_cost;
      const oracle::BeliefPropagation expected(energy, c.method.levels, c.method.iterations,
                                               c.method.finest_iterations);
      furthest_ = 0;
      expect_beliefs<Task>(
          c, solve<Task>(c, pair), [&](int x, int y) { return expected.beliefs(x, y); }, 1, bound);
      if (HasFatalFailure()) return;
      used = std::max(used, furthest_ / bound);
    }
    std::printf("fast: %d of %d labels are those of exact; errors of beliefs reach %.2g of the bound\n", same,
                all, used);
    EXPECT_GE(same, 0.98 * all);
  }

  /// Compares blocks with the oracle: data costs of the whole image, but no edges out of the block.
  template <class Task, class Cases>
  void expect_blocks(Cases cases) {
    for (auto& c : cases) {
      std::mt19937 random(c.seed);
      c.method.blocks = 2 + int(random() % 8);
      c.method.block_overlap = int(random() % 4);
      if (random() % 2) c.method.energy.cost.aggregation = 5;
      c.method.precision = c.seed % 5 == 0 ? Precision::fast : Precision::exact;
      c.method = fitted(c.method, c.size);
      const RandomPair pair = c.images();
      const oracle::LabelEnergy energy = energy_of(c, pair);
      std::optional<oracle::Units> units;
      if (c.method.precision == Precision::fast) units = units_of(c, energy);
      std::vector<std::vector<double>> beliefs(std::size_t(c.size.width) * c.size.height);
      for (const Block& block : blocks_of(c.size, c.method.blocks, c.method.block_overlap)) {
        const oracle::LabelEnergy part = part_of(energy, block.x, block.y, block.size);
        const oracle::BeliefPropagation expected(part, c.method.levels, c.method.iterations,
                                                 c.method.finest_iterations, units);
        for (int y = block.y0; y < block.y1; ++y)
          for (int x = block.x0; x < block.x1; ++x)
            beliefs[std::size_t(y) * c.size.width + x] = expected.beliefs(x - block.x, y - block.y);
      }
      const double per_cost = units ? units->per_cost : 1;
      expect_beliefs<Task>(
          c, solve<Task>(c, pair), [&](int x, int y) { return beliefs[std::size_t(y) * c.size.width + x]; },
          per_cost, units ? 4 / per_cost : 0);
      if (HasFatalFailure()) return;
    }
    report("in blocks");
    EXPECT_LE(others_, pixels_ / 100);
  }

  struct Block {
    int x, y;  // first pixel in the image
    Size size;
    int x0, y0, x1, y1;  // pixels of the image whose result is kept
  };

  /// Blocks as square as `count` allows. The last ones are moved inwards.
  static std::vector<Block> blocks_of(Size image, int count, int overlap) {
    Size kept;
    double best = 1e300;
    for (int rows = 1; rows <= count; ++rows) {
      const int columns = count / rows;
      if (columns * rows != count || columns > image.width || rows > image.height) continue;
      const double off = std::abs(std::log(double(image.width) / columns / (double(image.height) / rows)));
      if (off > best - 1e-9) continue;
      best = off;
      kept = {(image.width + columns - 1) / columns, (image.height + rows - 1) / rows};
    }
    const Size size{std::min(image.width, kept.width + 2 * overlap),
                    std::min(image.height, kept.height + 2 * overlap)};
    std::vector<Block> blocks;
    for (int y = 0; y < image.height; y += kept.height)
      for (int x = 0; x < image.width; x += kept.width)
        blocks.push_back({std::clamp(x - overlap, 0, image.width - size.width),
                          std::clamp(y - overlap, 0, image.height - size.height), size, x, y,
                          std::min(x + kept.width, image.width), std::min(y + kept.height, image.height)});
    return blocks;
  }

  /// Compares refined disparities with values from the oracle's data costs. Images are so small that no plane
  /// is fitted to more than one sample. Counts pixels that differ by more than `tolerance`.
  void expect_refined_disparities(Precision precision, double tolerance) {
    for (unsigned seed = 1; seed < 150; ++seed) {
      constexpr Size sizes[] = {{4, 4}, {3, 4}, {4, 1}, {2, 2}};
      const Size size = sizes[seed % 4];
      auto c = case_of(StereoEnergy{.disparities = size.width, .smoothness = every_smoothness()[seed % 12]},
                       size, seed);
      c.method.precision = precision;
      const RandomPair pair = c.images();
      const DisparityField whole = solve<Stereo>(c, pair);
      c.method.energy.sub_pixel = true;
      const DisparityField refined = solve<Stereo>(c, pair);
      const oracle::LabelEnergy energy = energy_of(c, pair);
      const oracle::Grid labels = oracle::tabulate(size, [&](int x, int y) { return double(whole.d(x, y)); });
      const auto rise = [&](int x, int y, int side) {
        const int label = int(labels(x, y));
        if (label == 0 || label + 1 == energy.labels()) return 0.0;
        return energy.data[std::size_t(label + side)](x, y) - energy.data[std::size_t(label)](x, y);
      };
      bool ties = false;
      oracle::Surfaces surfaces;
      surfaces.trust = surfaces.certainty = oracle::Grid(oracle::sampled(size));
      surfaces.d = oracle::tabulate(oracle::sampled(size), [&](int i, int j) {
        const oracle::CostRises rises = oracle::rises_around(labels, 2 * i, 2 * j, rise);
        const bool valid = whole.valid(2 * i, 2 * j) != 0;
        ties = ties || (valid && std::abs(std::min(rises.before, rises.after)) < 1e-3);
        surfaces.certainty(i, j) = rises.mean();
        surfaces.trust(i, j) = oracle::trust_of(valid, rises.mean());
        return labels(2 * i, 2 * j) + (valid ? rises.offset() : 0);
      });
      if (ties) continue;  // rounding decides
      surfaces.luma = oracle::Grid(surfaces.d.size, 1);
      surfaces.fit();
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const auto [offset, is_certain] = surfaces.offset(x, y, labels(x, y), tolerance);
          if (!whole.valid(x, y) || !is_certain) continue;
          ++pixels_, refined_ += offset != 0;
          const double error = std::abs(refined.d(x, y) - (labels(x, y) + offset));
          others_ += error > tolerance;
          furthest_ = std::max(furthest_, error);
        }
    }
    report("refined");
    EXPECT_GT(refined_, 20);
  }

  /// Compares sub-pixel offsets of flow with parabolas through beliefs.
  void expect_refined_flow() {
    for (auto& c : flow_cases()) {
      const RandomPair pair = c.images();
      const FlowField whole = solve<Flow>(c, pair);
      c.method.energy.sub_pixel = true;
      const FlowField refined = solve<Flow>(c, pair);
      const auto labels = labels_of(whole, c.method.energy);
      const oracle::LabelEnergy energy = energy_of(c, pair);
      const oracle::BeliefPropagation expected(energy, c.method.levels, c.method.iterations,
                                               c.method.finest_iterations);
      for (int y = 0; y < c.size.height; ++y)
        for (int x = 0; x < c.size.width; ++x) {
          const Reading reading{expected.beliefs(x, y), columns_of(c.method.energy)};
          const int label = labels[std::size_t(y) * c.size.width + x];
          if (!whole.valid(x, y)) continue;
          ++pixels_;
          const double error = 2e-5 * (1 + *std::max_element(reading.beliefs.begin(), reading.beliefs.end()));
          const auto expect = [&](double found, const Reading::Beside& beside) {
            if (beside.curvature() < 20 * error) return;                               // nearly straight
            if (std::abs(std::min(beside.before, beside.after)) < 20 * error) return;  // two labels tie
            ++refined_;
            ASSERT_NEAR(found, beside.offset(), 2 * error / beside.curvature())
                << x << ", " << y << "\n  " << c.described();
          };
          expect(refined.u(x, y) - whole.u(x, y), reading.beside_x(label));
          expect(refined.v(x, y) - whole.v(x, y), reading.beside_y(label));
          if (HasFatalFailure()) return;
        }
    }
    EXPECT_GT(refined_, pixels_ / 4);
  }

  /// Compares slanted surfaces: quality's energy, a pair of textured planes. Errors of floats decide whether
  /// some samples belong to a plane, so that a few labels differ.
  void expect_slanted(Slant slant, Precision precision) {
    int even_labels = 0;  // labels that are the same without slopes
    for (unsigned seed = 1; seed <= 4; ++seed) {
      Case<StereoEnergy> c{{}, {90 + int(seed), 61}, seed};
      c.method.energy.checks = {};
      c.method.energy.sub_pixel = false;
      c.method.energy.disparities = 34;
      c.method.surfaces.slant = slant;
      c.method.precision = precision;
      c.method.uniqueness = 0;
      RandomPair pair(c.size, seed, true, 0);
      const Texture texture(seed);
      const auto paint = [&](FloatFrame& frame, bool right) {
        for (int y = 0; y < c.size.height; ++y)
          for (int x = 0; x < c.size.width; ++x) {
            const double slope = 0.25, start = 3 + 0.12 * y;
            const double at = right ? (x + start) / (1 - slope) : x;
            for (int i = 0; i < 3; ++i)
              frame(x, y, i) = float(110 + 10 * i + 0.1 * (texture(0.7 * at + 9 * i, 0.7 * y) - 127));
          }
      };
      paint(pair.frame0, false), paint(pair.frame1, true);
      const oracle::LabelEnergy energy = energy_of(c, pair);
      const oracle::Compared compared(pair.frame0, 0, true);
      oracle::Slanted slanted{slant == Slant::all, slant != Slant::quick, c.method.energy.smoothness, {}};
      for (std::size_t i = 0; i < 3; ++i)
        slanted.color[i] = oracle::tabulate(c.size, [&](int x, int y) {
          return std::floor(std::clamp(compared.color[i](x, y), 0.0, 255.0) + 0.5);
        });
      std::optional<oracle::Units> units;
      if (precision == Precision::fast) units = units_of(c, energy);
      const oracle::BeliefPropagation expected(energy, c.method.levels, c.method.iterations,
                                               c.method.finest_iterations, units, slanted),
          even(energy, c.method.levels, c.method.iterations, c.method.finest_iterations, units);
      const oracle::Labels labels = labels_of(solve<Stereo>(c, pair), c.method.energy);
      const auto is_least = [&](const std::vector<double>& beliefs, int label) {
        return beliefs[std::size_t(label)] <= *std::min_element(beliefs.begin(), beliefs.end()) + 1e-5;
      };
      for (int y = 0; y < c.size.height; ++y)
        for (int x = 0; x < c.size.width; ++x) {
          const int label = labels[std::size_t(y) * c.size.width + x];
          ++pixels_, others_ += !is_least(expected.beliefs(x, y), label);
          even_labels += is_least(even.beliefs(x, y), label);
        }
    }
    std::printf("slanted: %d of %d labels are not the oracle's, %d not those without slopes\n", others_,
                pixels_, pixels_ - even_labels);
    EXPECT_LE(others_, pixels_ / 100);
    EXPECT_LE(even_labels, 0.97 * pixels_);
  }

  void report(const char* what) const {
    std::printf("%s: %d of %d labels are not the oracle's; their beliefs lie at most %.3g above the least\n",
                what, others_, pixels_, furthest_);
  }

  int pixels_ = 0, others_ = 0, refined_ = 0;
  double furthest_ = 0;
};

TEST_P(BeliefOracle, AgreesForDisparities) { expect_oracle<Stereo>(stereo_cases()); }
TEST_P(BeliefOracle, AgreesForDisplacements) { expect_oracle<Flow>(flow_cases()); }

TEST_P(BeliefOracle, AgreesForDisparitiesInUnits) { expect_oracle_of_units<Stereo>(stereo_cases()); }
TEST_P(BeliefOracle, AgreesForDisplacementsInUnits) { expect_oracle_of_units<Flow>(flow_cases()); }

TEST_P(BeliefOracle, AgreesInUnitsWhereMatchesOutsideCostMost) {
  expect_oracle_of_units<Stereo>(high_truncation_cases(StereoEnergy{.disparities = 12}));
  expect_oracle_of_units<Flow>(high_truncation_cases(DisplacementEnergy{.max_displacement = 3}));
}

TEST_P(BeliefOracle, RoundingOfDisparitiesIsBounded) { expect_near<Stereo>(stereo_cases()); }
TEST_P(BeliefOracle, RoundingOfDisplacementsIsBounded) { expect_near<Flow>(flow_cases()); }

TEST_P(BeliefOracle, AgreesForDisparitiesInBlocks) { expect_blocks<Stereo>(stereo_cases()); }
TEST_P(BeliefOracle, AgreesForDisplacementsInBlocks) { expect_blocks<Flow>(flow_cases()); }

TEST_P(BeliefOracle, AgreesForSlantedSurfaces) { expect_slanted(Slant::coarse, Precision::exact); }
TEST_P(BeliefOracle, AgreesForSlantedSurfacesSentOnce) { expect_slanted(Slant::quick, Precision::fast); }
TEST_P(BeliefOracle, AgreesForSlantedSurfacesOnAllLevels) { expect_slanted(Slant::all, Precision::exact); }
TEST_P(BeliefOracle, AgreesForSlantedSurfacesInUnits) { expect_slanted(Slant::all, Precision::fast); }

TEST_P(BeliefOracle, AgreesForSubPixelDisparities) {
  expect_refined_disparities(Precision::exact, 1e-3);
  EXPECT_EQ(others_, 0);
}
TEST_P(BeliefOracle, AgreesForSubPixelDisparitiesInUnits) {
  expect_refined_disparities(Precision::fast, 0.02);
  EXPECT_LE(others_, pixels_ / 20);
}
TEST_P(BeliefOracle, AgreesForSubPixelDisplacements) { expect_refined_flow(); }

/// With the paper's parameters.
TEST_P(BeliefOracle, AgreesOnAScene) {
  const Size size{61, 43};
  const Scene scene = render_scene("layers", {.size = size});
  const struct { Frame frame0, frame1; } pair{scene.frames[0], scene.frames[1]};
  const auto expect = [&]<class Task>(auto c) {
    const oracle::LabelEnergy energy = energy_of(c, pair);
    const oracle::BeliefPropagation expected(energy, c.method.levels, c.method.iterations,
                                             c.method.finest_iterations);
    EXPECT_EQ(expected.levels(), 5);
    expect_beliefs<Task>(
        c, solve<Task>(c, pair), [&](int x, int y) { return expected.beliefs(x, y); }, 1, 0);
  };
  auto disparities = preset<BeliefPropagation<StereoEnergy>>("paper");
  disparities.energy.disparities = 15;
  disparities.energy.min_disparity = -7;
  expect.template operator()<Stereo>(Case<StereoEnergy>{disparities, size, 0});
  auto displacements = preset<BeliefPropagation<DisplacementEnergy>>("paper");
  displacements.energy.max_displacement = 2;
  expect.template operator()<Flow>(Case<DisplacementEnergy>{displacements, size, 0});
  report("scene");
  EXPECT_LE(others_, pixels_ / 1000);
}

INSTANTIATE_TEST_SUITE_P(Devices, BeliefOracle, every_device(), device_name);

}  // namespace
}  // namespace parafield
