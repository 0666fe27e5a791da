// SPDX-License-Identifier: MIT
// The CUDA kernels that sweep over displacements, run by emulated threads, against sites that try every
// label.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "markov/sweep/windows.cuh"

namespace parafield {
namespace {

using Field = std::vector<Label>;

/// Two random frames, the second equal to the first moved by 2 px plus noise, and random labels.
struct Problem {
  Size size;
  Energy<Differences<1>> energy;
  std::vector<float> frames[2], edges;
  Field start;

  Problem(Size size, int side, int neighbors, bool rounds, bool has_edges, unsigned seed) : size(size) {
    std::mt19937 random(seed);
    const auto uniform = [&](float most) { return float(random() % 1000003) / 1000003 * most; };
    const int most = side / 2, pitch = size.width + 2 * most;
    for (std::vector<float>& frame : frames) frame.resize(std::size_t(pitch) * (size.height + 2 * most));
    for (float& value : frames[1]) value = rounds ? std::floor(uniform(40)) : uniform(40);
    for (std::size_t i = 0; i + 2 < frames[0].size(); ++i)
      frames[0][i] = frames[1][i + 2] + (rounds ? std::floor(uniform(5)) : uniform(5));
    const std::ptrdiff_t first = most * pitch + most;
    energy = {size.width,
              size.height,
              {side, side, -most, -most},
              {PairModel::separable, rounds ? 4.0f : 0.7f, 1e30f, neighbors},
              {},
              {{frames[0].data() + first}, {frames[1].data() + first}, pitch, -most, -most}};
    const std::size_t count = std::size_t(size.width) * size.height;
    edges.resize(4 * count);
    for (float& weight : edges) weight = 0.2f + uniform(0.8f);
    for (int j = 0; has_edges && j < neighbors / 2; ++j)
      energy.edges.forward[j] = {edges.data() + j * count, size.width, size.height, size.width * 4};
    for (std::size_t i = 0; i < count; ++i)
      start.push_back(random() % 3 > 0 ? energy.grid.label(most, most)
                                       : energy.grid.label(int(random() % side), int(random() % side)));
  }

  template <class T>
  View<T> view(Field& labels) const {
    return {labels.data(), size.width, size.height, size.width * std::ptrdiff_t(sizeof(Label))};
  }

  /// Calls use(x, y, energies of all labels).
  template <class Use>
  void for_each_site(Field& labels, Sites sites, Use use) const {
    const View<const Label> view = this->view<const Label>(labels);
    const LabelGrid grid = energy.grid;
    std::vector<float> energies(std::size_t(grid.count()));
    for (int y = sites.first_row(); y < size.height; y += sites.row_stride())
      for (int x = sites.first(y); x < size.width; x += sites.stride()) {
        const auto neighbor = [&](int k) {
          const int nx = x + neighbor_offset(k).x, ny = y + neighbor_offset(k).y;
          if (nx < 0 || ny < 0 || nx >= size.width || ny >= size.height) return Neighbor{0, 0, 0};
          const Label label = view(nx, ny);
          return Neighbor{float(grid.x(label)), float(grid.y(label)), energy.edges.weight(x, y, k)};
        };
        const auto along = [&]<bool X>(int l) {
          constexpr PairModel model = PairModel::separable;
          return energy.pair.neighbors == 4
                     ? pair_costs<model, 4, X, !X>(energy.pair, float(l), float(l), neighbor)
                     : pair_costs<model, 8, X, !X>(energy.pair, float(l), float(l), neighbor);
        };
        for (int ly = 0; ly < grid.ny; ++ly)
          for (int lx = 0; lx < grid.nx; ++lx)
            energies[std::size_t(ly * grid.nx + lx)] =
                (energy.data.row(y, lx, ly)(x) + along.template operator()<true>(lx)) +
                along.template operator()<false>(ly);
        use(x, y, energies);
      }
  }
  Label label(int index) const { return energy.grid.label(index % energy.grid.nx, index / energy.grid.nx); }

  Field icm(Field labels, Sites sites) const {
    Field now = labels;
    for_each_site(labels, sites, [&](int x, int y, const std::vector<float>& energies) {
      const auto least = std::min_element(energies.begin(), energies.end());
      now[std::size_t(y * size.width + x)] = label(int(least - energies.begin()));
    });
    return now;
  }
  Field gibbs(Field labels, Sites sites, Temperature t) const {
    const int group = energy.grid.nx;
    for_each_site(labels, sites, [&](int x, int y, const std::vector<float>& energies) {
      const float least = *std::min_element(energies.begin(), energies.end());
      const int count = int(energies.size());
      float sum = 0;
      /// Calls use(the sum with each label).
      const auto add_labels = [&](auto use) {
        float of_group = 0;
        sum = 0;
        for (int i = 0; i < count; ++i) {
          of_group += exponential((least - energies[std::size_t(i)]) * t.inverse);
          use(sum + of_group);
          if ((i + 1) % group == 0) sum += of_group, of_group = 0;
        }
      };
      add_labels([](float) {});
      const float aim = random_number(t.key, x, y) * sum;
      int drawn = 0;
      add_labels([&](float up_to) { drawn += up_to <= aim ? 1 : 0; });
      labels[std::size_t(y * size.width + x)] = label(smaller(drawn, count - 1));
    });
    return labels;
  }
};

template <int Side, int Colors, int Strips>
void expect_same(const Problem& problem, ThreadOrder order) {
  EmulatedCuda cuda(order);
  using Block = WindowBlock<Side, Colors, Strips>;
  const WindowEnergy energy = window_energy(problem.energy);
  const dim3 grid(blocks_for(problem.size.width, Block::columns * Block::step_x),
                  blocks_for(problem.size.height, Block::rows * Block::step_y));
  const int changed_before = 1;
  for (int color = 0; color < Colors; ++color) {
    const Sites sites{Colors, color};
    Field in = problem.start, out = in;
    int changed = 0;
    cuda.launch(icm_window_kernel<Side, Colors, Strips>, grid, dim3(site_threads), 0, energy,
                problem.view<const Label>(in), problem.view<Label>(out), sites, &changed_before, &changed);
    EXPECT_EQ(out, problem.icm(in, sites));
    EXPECT_EQ(changed != 0, out != in);
    if constexpr (Colors > 1)
      for (const float inverse : {1e-4f, 0.04f, 0.3f, 1.0f, 4.0f, 1000.0f}) {
        const Temperature t{inverse, scrambled(unsigned(color) + 1)};
        Field labels = in;
        cuda.launch(gibbs_window_kernel<Side, Colors, Strips>, grid, dim3(site_threads), 0, energy,
                    problem.view<Label>(labels), sites, t);
        EXPECT_EQ(labels, problem.gibbs(in, sites, t)) << "1 / temperature " << inverse;
      }
  }
}

template <int Side>
void expect_same_for(Size size) {
  unsigned seed = 0;
  for (const int neighbors : {4, 8})
    for (const bool rounds : {true, false})
      for (const bool has_edges : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << size.width << "x" << size.height << ", side " << Side << ", neighbors " << neighbors
                     << (rounds ? ", rounded" : "") << (has_edges ? ", edges" : ""));
        const Problem problem(size, Side, neighbors, rounds, has_edges, ++seed);
        const ThreadOrder order = has_edges ? ThreadOrder::backward : ThreadOrder::random;
        expect_same<Side, 1, 1>(problem, order);
        expect_same<Side, 1, 4>(problem, order);
        neighbors == 4 ? expect_same<Side, 2, 1>(problem, order) : expect_same<Side, 4, 1>(problem, order);
      }
}

TEST(EmulatedWindowKernels, ChooseTheLabelsOfSitesThatTryAll) {
  expect_same_for<5>({37, 35});
  expect_same_for<13>({33, 18});
  expect_same_for<9>({1, 3});
}

}  // namespace
}  // namespace parafield
