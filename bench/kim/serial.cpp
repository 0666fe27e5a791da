// SPDX-License-Identifier: MIT
#include "kim/serial.hpp"

#include <algorithm>
#include <cmath>

namespace parafield::bench {

Problem::Problem(const Guided& guided, const MultiHypothesis& method)
    : size(guided.frame0.size()), threshold(method.change_threshold) {
  const auto spread_of = [](float sigma) { return 1 / (2 * sigma * sigma); };
  spread = {spread_of(method.sigma_position), spread_of(method.sigma_color),
            spread_of(method.sigma_flow * method.label_step)};
  const FrameBuffer* const frames[] = {&guided.frame0, &guided.frame1};
  for (int plane = 0; plane < 6; ++plane)
    for (int y = 0; y < size.height; ++y) {
      const auto* row = static_cast<const std::uint8_t*>(frames[plane / 3]->row(y));
      for (int x = 0; x < size.width; ++x) pixels[plane].push_back(float(row[3 * x + plane % 3]));
    }
  int left = 1 << 20, right = -left, top = left, bottom = -left;
  for (const Track& track : guided.tracks) {
    const auto at = std::size_t(int(track.y) * size.width + int(track.x));
    features.push_back({track.x, track.y, pixels[0][at], pixels[1][at], pixels[2][at], track.u, track.v});
    left = std::min(left, int(std::nearbyint(track.u))),
    right = std::max(right, int(std::nearbyint(track.u)));
    top = std::min(top, int(std::nearbyint(track.v))),
    bottom = std::max(bottom, int(std::nearbyint(track.v)));
  }
  for (int v = top; v <= bottom; ++v)
    for (int u = left; u <= right; ++u) labels.push_back({float(u), float(v)});
  for (const Feature& feature : features)
    for (const Label& label : labels) votes.push_back(std::exp(-flow_distance(feature, label, spread)));
}

std::vector<Problem> problems_of(const std::vector<Guided>& inputs, const MultiHypothesis& method) {
  std::vector<Problem> problems;
  for (const Guided& input : inputs) problems.emplace_back(input, method);
  return problems;
}

Planes Problem::planes() const {
  Planes planes{{}, size.width, size.height};
  for (int i = 0; i < 6; ++i) planes.channel[i] = pixels[i].data();
  return planes;
}

namespace {

struct Computed {
  float operator()(float d) const { return std::exp(-d); }
};

template <class At>
FlowField for_each_pixel(const Problem& problem, At at) {
  FlowField flow(problem.size);
  for (int y = 0; y < problem.size.height; ++y)
    for (int x = 0; x < problem.size.width; ++x) {
      const FlowAt found = at(x, y);
      flow.u(x, y) = found.u, flow.v(x, y) = found.v, flow.valid(x, y) = found.valid;
    }
  return flow;
}

}  // namespace

FlowField interpolate_serially(const Problem& problem, Gauss gauss) {
  const Planes planes = problem.planes();
  const std::vector<float> table = gauss_table();
  const auto with = [&](const auto& function) {
    return for_each_pixel(problem, [&](int x, int y) {
      return interpolated(planes, x, y, problem.features.data(), int(problem.features.size()), problem.spread,
                          problem.threshold, function);
    });
  };
  return gauss == Gauss::computed ? with(Computed{}) : with(LookUp{table.data()});
}

FlowField vote_serially(const Problem& problem, Form form) {
  const Planes planes = problem.planes();
  const Feature* const features = problem.features.data();
  const Label* const labels = problem.labels.data();
  const int count = int(problem.features.size()), label_count = int(problem.labels.size());
  return for_each_pixel(problem, [&](int x, int y) {
    return form == Form::by_label
               ? voted_by_label(planes, x, y, features, count, labels, label_count, problem.spread,
                                problem.threshold, Computed{})
               : voted_by_product(planes, x, y, features, count, labels, problem.votes.data(), label_count,
                                  problem.spread, problem.threshold, Computed{});
  });
}

std::vector<float> gauss_table() {
  std::vector<float> table;
  for (int i = 0; i < LookUp::entries; ++i) table.push_back(float(std::exp(-i / double(LookUp::steps))));
  return table;
}

Difference difference(const FlowField& a, const FlowField& b) {
  const Size size = a.size();
  double other_valid = 0, other_flow = 0, both = 0, largest = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const bool valid_a = a.valid(x, y) != 0, valid_b = b.valid(x, y) != 0;
      other_valid += valid_a != valid_b;
      if (!valid_a || !valid_b) continue;
      const double off = std::hypot(double(a.u(x, y)) - b.u(x, y), double(a.v(x, y)) - b.v(x, y));
      ++both;
      other_flow += !(off <= 0.01);
      largest = std::isnan(off) ? 1e9 : std::max(largest, off);
    }
  return {other_valid / (double(size.width) * size.height), other_flow / std::max(both, 1.0), largest};
}

}  // namespace parafield::bench
