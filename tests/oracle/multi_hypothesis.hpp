// SPDX-License-Identifier: MIT
#pragma once
// Multi-hypothesis (Kim, Hwangbo, Kanade, section 4.2): a pixel's hypotheses of flow, scored by a likelihood
// of seven dimensions.
#include <array>
#include <set>

#include "oracle/grid.hpp"

namespace parafield::oracle {

/// (x, y, r, g, b, u, v) of a feature, or of a pixel with a hypothesis of its flow.
using Seven = std::array<double, 7>;

/// Standard deviations of the seven dimensions.
inline Seven deviations(double position, double color, double flow) {
  return {position, position, color, color, color, flow, flow};
}

/// (a - b)' S^-1 (a - b) / 2 over the first `count` dimensions.
inline double half_distance(const Seven& a, const Seven& b, const Seven& sigma, int count = 7) {
  double sum = 0;
  for (std::size_t i = 0; i < std::size_t(count); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]) / (sigma[i] * sigma[i]);
  return sum / 2;
}

struct Node {
  double u, v;
};

/// Nodes of the flow space (Fig. 1), ascending by v, then u.
inline std::vector<Node> flow_nodes(const std::vector<Seven>& features, double step, bool grid) {
  std::set<std::pair<long, long>> nodes;
  for (const Seven& feature : features)
    nodes.insert({std::lrint(feature[6] / step), std::lrint(feature[5] / step)});
  if (grid && !nodes.empty()) {
    long left = nodes.begin()->second, right = left;
    for (const auto& [v, u] : nodes) left = std::min(left, u), right = std::max(right, u);
    const long top = nodes.begin()->first, bottom = nodes.rbegin()->first;
    for (long v = top; v <= bottom; ++v)
      for (long u = left; u <= right; ++u) nodes.insert({v, u});
  }
  std::vector<Node> result;
  for (const auto& [v, u] : nodes) result.push_back({double(u) * step, double(v) * step});
  return result;
}

/// Scores of a pixel's hypotheses: sums of the likelihoods over all features, relative to the sum if all
/// features agreed with the hypothesis. Likelihoods are divided by the best one, since they may underflow.
/// Likelihoods of place and color under e^-cutoff of the best one count as 0, as do likelihoods of flow under
/// e^-cutoff.
inline std::vector<double> scores(const std::vector<Seven>& features, const std::vector<Node>& nodes,
                                  Seven pixel, const Seven& sigma, double cutoff) {
  double best = 1e300, all = 0;
  for (const Seven& feature : features) best = std::min(best, half_distance(pixel, feature, sigma, 5));
  for (const Seven& feature : features) all += std::exp(best - half_distance(pixel, feature, sigma, 5));
  std::vector<double> result;
  for (const Node& node : nodes) {
    pixel[5] = node.u, pixel[6] = node.v;
    double sum = 0;
    for (const Seven& feature : features) {
      const double apart = half_distance(pixel, feature, sigma, 5) - best,
                   flow_apart = half_distance(pixel, feature, sigma) - best - apart;
      if (apart <= cutoff && flow_apart <= cutoff) sum += std::exp(-apart - flow_apart);
    }
    result.push_back(sum / all);
  }
  return result;
}

/// Mean flow of the features, weighted by their likelihoods with the hypothesis.
inline Node mean_flow(const std::vector<Seven>& features, const Node& node, Seven pixel, const Seven& sigma) {
  double best = 1e300, all = 0, u = 0, v = 0;
  pixel[5] = node.u, pixel[6] = node.v;
  for (const Seven& feature : features) best = std::min(best, half_distance(pixel, feature, sigma));
  for (const Seven& feature : features) {
    const double likelihood = std::exp(best - half_distance(pixel, feature, sigma));
    all += likelihood, u += likelihood * feature[5], v += likelihood * feature[6];
  }
  return {u / all, v / all};
}

/// Mean difference of three channels over a window that moves by a hypothesis; infinite where its middle ends
/// outside.
inline double difference(const std::array<Grid, 3>& frame0, const std::array<Grid, 3>& frame1, int window,
                         int x, int y, const Node& node) {
  const Size size = frame0[0].size;
  const auto within = [](double value, int count) { return value >= 0 && value <= count - 1; };
  if (!within(x + node.u, size.width) || !within(y + node.v, size.height)) return INFINITY;
  double sum = 0;
  for (int dy = -window / 2; dy <= window / 2; ++dy)
    for (int dx = -window / 2; dx <= window / 2; ++dx) {
      const int column = std::clamp(x + dx, 0, size.width - 1), row = std::clamp(y + dy, 0, size.height - 1);
      const double right = std::clamp(column + node.u, 0.0, size.width - 1.0),
                   down = std::clamp(row + node.v, 0.0, size.height - 1.0);
      const int x0 = int(right), y0 = int(down);
      const double a = right - x0, b = down - y0;
      for (std::size_t c = 0; c < 3; ++c) {
        const Grid& to = frame1[c];
        const double value = (1 - b) * ((1 - a) * to(x0, y0) + a * to(x0 + 1, y0)) +
                             b * ((1 - a) * to(x0, y0 + 1) + a * to(x0 + 1, y0 + 1));
        sum += std::abs(frame0[c](column, row) - value) / 3;
      }
    }
  return sum / (window * window);
}

struct Choice {
  int label = -1;
  bool valid = false;
};

/// Alg. 2 with the `most` best labels. With all labels it gives the same result as Alg. 3. `unvoted`: labels
/// of score 0 are hypotheses, too.
inline Choice first_unchanged(const std::vector<double>& scores, const std::vector<double>& differences,
                              double threshold, std::size_t most, bool unvoted) {
  std::vector<int> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = int(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return scores[std::size_t(a)] > scores[std::size_t(b)]; });
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i)
    if ((scores[std::size_t(order[i])] > 0 || unvoted) && differences[std::size_t(order[i])] < threshold)
      return {order[i], true};
  return {order.empty() ? -1 : order[0], false};
}

/// The soft form of the choice: the maximum of ln score - d / softness.
inline Choice softly_unchanged(const std::vector<double>& scores, const std::vector<double>& differences,
                               double threshold, double softness) {
  const auto worth = [&](std::size_t i) { return std::log(scores[i]) - differences[i] / softness; };
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (worth(i) > worth(best)) best = i;
  return {int(best), differences[best] < threshold};
}

}  // namespace parafield::oracle
