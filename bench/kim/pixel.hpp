// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/image.hpp"

/// The paper's computations for a pixel, written plainly, for the serial functions and kernels of the study.
namespace parafield::bench {

/// A feature: position and flow in px, colors 0..255.
struct Feature {
  float x, y, red, green, blue, u, v;
};

struct Label {
  float u, v;
};

/// 1 / (2 sigma^2) of each kind of distance.
struct Spread {
  float position, color, flow;
};

/// Two frames as planes.
struct Planes {
  const float* channel[6];  ///< red, green, blue of the first frame, then of the second
  int width, height;

  PF_HD float of(int which, int x, int y) const { return channel[which][y * width + x]; }
};

struct FlowAt {
  float u, v;
  bool valid;
};

PF_HD float square(float value) { return value * value; }

/// Negative logarithm of the likelihood in five dimensions (eqs. 1 to 3).
PF_HD float distance(const Planes& frames, int x, int y, const Feature& feature, const Spread& spread) {
  return spread.position * (square(float(x) - feature.x) + square(float(y) - feature.y)) +
         spread.color *
             (square(frames.of(0, x, y) - feature.red) + square(frames.of(1, x, y) - feature.green) +
              square(frames.of(2, x, y) - feature.blue));
}

/// Negative logarithm of the likelihood in the two dimensions of flow.
PF_HD float flow_distance(const Feature& feature, const Label& label, const Spread& spread) {
  return spread.flow * (square(feature.u - label.u) + square(feature.v - label.v));
}

/// Distance of the nearest feature. Likelihoods are relative to it; otherwise most are too small for floats.
PF_HD float least_distance(const Planes& frames, int x, int y, const Feature* features, int count,
                           const Spread& spread) {
  float least = 1e30f;
  for (int i = 0; i < count; ++i) {
    const float d = distance(frames, x, y, features[i], spread);
    least = d < least ? d : least;
  }
  return least;
}

/// Test of change: mean difference of the channels, bilinear in frame 1.
PF_HD bool is_unchanged(const Planes& frames, int x, int y, float u, float v, float threshold) {
  const float to_x = float(x) + u, to_y = float(y) + v;
  if (!(to_x >= 0 && to_y >= 0 && to_x <= float(frames.width - 1) && to_y <= float(frames.height - 1)))
    return false;
  const int x0 = int(to_x), y0 = int(to_y), x1 = x0 + (x0 + 1 < frames.width),
            y1 = y0 + (y0 + 1 < frames.height);
  const float right = to_x - float(x0), down = to_y - float(y0);
  float sum = 0;
  for (int c = 0; c < 3; ++c) {
    const float upper = frames.of(3 + c, x0, y0) * (1 - right) + frames.of(3 + c, x1, y0) * right,
                lower = frames.of(3 + c, x0, y1) * (1 - right) + frames.of(3 + c, x1, y1) * right,
                difference = frames.of(c, x, y) - (upper * (1 - down) + lower * down);
    sum += difference < 0 ? -difference : difference;
  }
  return sum / 3 < threshold;
}

/// Alg. 1. gauss(d) is e^-d.
template <class Gauss>
PF_HD FlowAt interpolated(const Planes& frames, int x, int y, const Feature* features, int count,
                          const Spread& spread, float threshold, const Gauss& gauss) {
  const float least = least_distance(frames, x, y, features, count, spread);
  float weight = 0, u = 0, v = 0;
  for (int i = 0; i < count; ++i) {
    const float w = gauss(distance(frames, x, y, features[i], spread) - least);
    weight += w;
    u += w * features[i].u;
    v += w * features[i].v;
  }
  u /= weight, v /= weight;
  return {u, v, is_unchanged(frames, x, y, u, v, threshold)};
}

/// Best label so far of those that pass the test, and of all (Alg. 3). Labels with a score of 0 are tested,
/// too.
struct Best {
  float score = -1, any_score = -1;
  Label label = {0, 0}, any = {0, 0};

  PF_HD void meet(const Planes& frames, int x, int y, float other, const Label& with, float threshold) {
    if (other > any_score) any_score = other, any = with;
    if (other > score && is_unchanged(frames, x, y, with.u, with.v, threshold)) score = other, label = with;
  }
  PF_HD FlowAt flow() const {
    return score >= 0 ? FlowAt{label.u, label.v, true} : FlowAt{any.u, any.v, false};
  }
};

/// Alg. 3 as the paper writes it: likelihoods in seven dimensions for each label.
template <class Gauss>
PF_HD FlowAt voted_by_label(const Planes& frames, int x, int y, const Feature* features, int count,
                            const Label* labels, int label_count, const Spread& spread, float threshold,
                            const Gauss& gauss) {
  const float least = least_distance(frames, x, y, features, count, spread);
  Best best;
  for (int k = 0; k < label_count; ++k) {
    float score = 0;
    for (int i = 0; i < count; ++i)
      score += gauss(distance(frames, x, y, features[i], spread) - least +
                     flow_distance(features[i], labels[k], spread));
    best.meet(frames, x, y, score, labels[k], threshold);
  }
  return best.flow();
}

constexpr int most_labels = 32;

/// The same scores as products: the likelihood of a feature in five dimensions, computed once, times its
/// votes, which are the same at every pixel.
template <class Gauss>
PF_HD void score_by_product(const Planes& frames, int x, int y, const Feature* features, int count,
                            const float* votes, int label_count, const Spread& spread, const Gauss& gauss,
                            float (&scores)[most_labels]) {
  const float least = least_distance(frames, x, y, features, count, spread);
  for (int k = 0; k < most_labels; ++k) scores[k] = 0;
  for (int i = 0; i < count; ++i) {
    const float w = gauss(distance(frames, x, y, features[i], spread) - least);
    for (int k = 0; k < label_count; ++k) scores[k] += w * votes[i * label_count + k];
  }
}

template <class Gauss>
PF_HD FlowAt voted_by_product(const Planes& frames, int x, int y, const Feature* features, int count,
                              const Label* labels, const float* votes, int label_count, const Spread& spread,
                              float threshold, const Gauss& gauss) {
  float scores[most_labels];
  score_by_product(frames, x, y, features, count, votes, label_count, spread, gauss, scores);
  Best best;
  for (int k = 0; k < label_count; ++k) best.meet(frames, x, y, scores[k], labels[k], threshold);
  return best.flow();
}

/// Table of e^-d, read at the nearest entry; 0 past its end.
struct LookUp {
  static constexpr int entries = 1024;
  static constexpr float end = 16, steps = entries / end;
  const float* table;

  PF_HD float operator()(float d) const {
    const int i = int(d * steps + 0.5f);
    return i < entries ? table[i] : 0.0f;
  }
};

}  // namespace parafield::bench
