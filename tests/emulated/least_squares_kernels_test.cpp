// SPDX-License-Identifier: MIT
// The CUDA kernels of least-squares solutions, run by emulated threads, against plain loops over windows.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/least_squares/large_tiles.cuh"
#include "steps/least_squares/small_tiles.cuh"

namespace parafield {
namespace {

template <class T>
struct Plane {
  std::vector<T> values;
  View<T> view;

  explicit Plane(Size size, T value = {}) {
    const int pitch = (size.width + 15) / 16 * 16;
    values.assign(std::size_t(pitch) * std::size_t(size.height), value);
    view = {values.data(), size.width, size.height, pitch * std::ptrdiff_t(sizeof(T))};
  }
};

/// Flow and its validity.
struct Solution {
  Plane<float> u, v, confidence;
  Plane<unsigned char> valid;

  explicit Solution(Size size) : u(size, -77), v(size, -77), confidence(size, -77), valid(size, 77) {}
  FlowPlanes flow() { return {u.view, v.view}; }
  Trust trust() { return {valid.view, confidence.view}; }
  bool operator==(const Solution& other) const {
    return u.values == other.u.values && v.values == other.v.values && valid.values == other.valid.values &&
           confidence.values == other.confidence.values;
  }
};

/// Two random frames, the second about equal to the first moved by 1 px, and random flow.
struct Problem {
  Size size;
  LeastSquares p;
  bool from_coarser;
  Plane<float> frame0, frame1, u, v, coarse_u, coarse_v;

  Problem(Size size, int window, float robust, bool from_coarser, unsigned seed)
      : size(size),
        p(least_squares(window, 1e-6f, robust, 1e-5f, 0.1f)),
        from_coarser(from_coarser),
        frame0(size),
        frame1(size),
        u(size),
        v(size),
        coarse_u(half(size)),
        coarse_v(half(size)) {
    std::mt19937 random(seed);
    const auto uniform = [&](float most) { return float(random() % 4096) / 4096 * most; };
    for (float& value : frame1.values) value = uniform(255);
    for (std::size_t i = 0; i < frame0.values.size(); ++i)
      frame0.values[i] = frame1.values[(i + 1) % frame1.values.size()] + uniform(9);
    if (frame0.values.size() > 200) frame0.values[100] = NAN;
    for (Plane<float>* plane : {&u, &v, &coarse_u, &coarse_v})
      for (float& value : plane->values) value = uniform(5) - 2.5f;
  }
  static Size half(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }

  Input input() {
    return {frame0.view.data,     frame1.view.data,
            u.view.data,          v.view.data,
            size.width,           size.height,
            int(u.view.stride()), from_coarser ? FlowPlanes{coarse_u.view, coarse_v.view} : FlowPlanes{}};
  }
  Motion flow_at(int x, int y) {
    if (from_coarser) return enlarged_flow({coarse_u.view, coarse_v.view}, x, y);
    return {u.view(x, y), v.view(x, y)};
  }

  NormalEquations products(int x, int y) {
    const auto row = [&](int k) { return &frame0.view.row(clamp(y + k, 0, size.height - 1))[x]; };
    const float gx = derivative_at(frame0.view.row(y), x, size.width);
    const float gy = derivative(*row(-2), *row(-1), *row(1), *row(2));
    const auto [flow_u, flow_v] = flow_at(x, y);
    const Match match = locate(float(x) + flow_u, float(y) + flow_v, size.width, size.height);
    const float e = sample(frame1.view.data, int(frame1.view.stride()), size.width, size.height, match) -
                    frame0.view(x, y);
    return normal_equations(gx, gy, e, match.inside, flow_u, flow_v, p.robust2);
  }

  Solution solved() {
    Solution result(size);
    std::vector<NormalEquations> all;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) all.push_back(products(x, y));
    const auto add = [](NormalEquations& sum, const NormalEquations& part) {
      sum.xx += part.xx, sum.xy += part.xy, sum.yy += part.yy, sum.xt += part.xt, sum.yt += part.yt;
    };
    const auto near = [&](int x, int y) {
      return all[std::size_t(clamp(y, 0, size.height - 1) * size.width + clamp(x, 0, size.width - 1))];
    };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        NormalEquations sum{};
        for (int j = -p.before; j <= p.after; ++j) {
          NormalEquations of_row = near(x - p.before, y + j);
          for (int i = 1 - p.before; i <= p.after; ++i) add(of_row, near(x + i, y + j));
          if (j == -p.before)
            sum = of_row;
          else
            add(sum, of_row);
        }
        const Motion before = flow_at(x, y);
        const auto [now_u, now_v] = solve(sum, before.u, before.v, p.alpha, size.width, size.height);
        result.u.view(x, y) = now_u, result.v.view(x, y) = now_v;
        const Match match = locate(float(x) + now_u, float(y) + now_v, size.width, size.height);
        const float residual =
            sample(frame1.view.data, int(frame1.view.stride()), size.width, size.height, match) -
            frame0.view(x, y);
        const float eigenvalue = smaller_eigenvalue(sum.xx, sum.xy, sum.yy) * p.eigenvalue_unit;
        result.confidence.view(x, y) = confidence_of(eigenvalue, residual, match.inside);
        result.valid.view(x, y) = is_trusted(eigenvalue, residual, match.inside, p);
      }
    return result;
  }
};

template <class Shape, int Window, bool Robust>
void expect_small(Problem problem, const Solution& expected, ThreadOrder order) {
  Solution result(problem.size);
  const dim3 grid(blocks_for(problem.size.width, Shape::width),
                  blocks_for(problem.size.height, Shape::height));
  EmulatedCuda(order).launch(problem.from_coarser ? least_squares_small_kernel<Shape, Window, true, Robust>
                                                  : least_squares_small_kernel<Shape, Window, false, Robust>,
                             grid, dim3(Shape::threads), 0, problem.input(), problem.p, result.flow(),
                             result.trust(), true);
  EXPECT_TRUE(result == expected) << "tiles of " << Shape::width << "x" << Shape::height;
}

template <int Window, int Strip, int Threads, bool Robust>
void expect_large(Problem problem, const Solution& expected, ThreadOrder order, int rows) {
  Solution result(problem.size);
  const dim3 grid(blocks_for(problem.size.width, tile_width), blocks_for(problem.size.height, rows));
  EmulatedCuda(order).launch(
      problem.from_coarser ? least_squares_kernel<Window, Strip, Threads, true, Robust>
                           : least_squares_kernel<Window, Strip, Threads, false, Robust>,
      grid, dim3(Threads), 0, problem.input(), problem.p, result.flow(), result.trust(), rows);
  EXPECT_TRUE(result == expected) << "tiles of " << rows << " rows, strips of " << Strip;
}

template <int Window, bool Robust>
void expect_same(std::initializer_list<Size> sizes) {
  unsigned seed = 0;
  for (const Size size : sizes)
    for (const bool from_coarser : {false, true})
      for (const ThreadOrder order : {ThreadOrder::backward, ThreadOrder::random}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", window " << Window
                                        << (from_coarser ? ", from a coarser level" : ""));
        Problem problem(size, Window, Robust ? 0.035f : 0, from_coarser, ++seed);
        const Solution expected = problem.solved();
        expect_small<TileShape<8, 8, 352, 1, 4>, Window, Robust>(problem, expected, order);
        expect_small<TileShape<16, 10, 544, 1, 5>, Window, Robust>(problem, expected, order);
        expect_small<TileShape<32, 20, 640, 2, 5>, Window, Robust>(problem, expected, order);
        expect_large<Window, 4, 512, Robust>(problem, expected, order, 8);
        expect_large<0, 1, 256, Robust>(problem, expected, order, 3);
      }
}

TEST(EmulatedLeastSquaresKernels, GiveTheBitsOfPlainLoops) {
  expect_same<11, false>({{1, 1}, {5, 4}, {33, 1}, {2, 45}, {75, 47}});
  expect_same<9, true>({{37, 23}});
  expect_same<10, false>({{38, 22}});
  expect_same<15, true>({{40, 33}});
}

}  // namespace
}  // namespace parafield
