// SPDX-License-Identifier: MIT
// Hidden pixels: their detection against float64, and their treatment by the steps on every target.
#include "gradient/adaptive_ridge/fusion/fusion.hpp"
#include "gradient/hidden_on.hpp"

namespace parafield {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN(),
                infinite = std::numeric_limits<float>::infinity();
constexpr Size hidden_sizes[] = {{1, 1}, {1, 40}, {40, 1}, {2, 3}, {33, 17}, {160, 90}, {600, 5}};

struct Judgement {
  bool hidden;
  bool is_clear;  ///< far from the threshold
};

/// Follows a pixel's flow forth and back, in float64. The flow is finite.
Judgement judge(const HiddenCase& c, int x, int y) {
  const auto [width, height] = c.size;
  const double u = c.u[c.at(x, y)], v = c.v[c.at(x, y)];
  const bool inside = x + u >= 0 && x + u <= width - 1 && y + v >= 0 && y + v <= height - 1;
  const double to_x = std::clamp(x + u, 0.0, width - 1.0), to_y = std::clamp(y + v, 0.0, height - 1.0);
  const int left = std::clamp(int(to_x), 0, std::max(width - 2, 0)),
            top = std::clamp(int(to_y), 0, std::max(height - 2, 0));
  double back_u = 0, back_v = 0;
  bool known = true;
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i) {
      const std::size_t at = c.at(std::min(left + i, width - 1), std::min(top + j, height - 1));
      const double share = (i ? to_x - left : 1 - (to_x - left)) * (j ? to_y - top : 1 - (to_y - top));
      known &= !std::isnan(c.back_u[at]) && !std::isnan(c.back_v[at]);
      back_u += share * c.back_u[at], back_v += share * c.back_v[at];
    }
  const double far = std::hypot(u + back_u, v + back_v), tolerance = 1.5 + std::hypot(u, v) / 20;
  return {known && !(inside && far <= tolerance), !known || !inside || std::abs(far - tolerance) > 1e-3};
}

TEST(HiddenPixels, AreThoseThatDoNotComeBack) {
  int all = 0, clear = 0, hidden = 0, unknown = 0;
  for (const Size size : hidden_sizes)
    for (unsigned seed = 0; seed < 12; ++seed) {
      HiddenCase c(size, seed, false);
      for (std::size_t i = seed; i < c.back_u.size(); i += 29) c.back_u[i] = nan_value;
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const Judgement expected = judge(c, x, y);
          ++all;
          if (!expected.is_clear) continue;
          ++clear;
          hidden += expected.hidden;
          unknown += std::isnan(c.back_u[c.at(x, y)]);
          ASSERT_EQ(c.hidden(x, y), expected.hidden)
              << size.width << "x" << size.height << " seed " << seed << ": " << x << ", " << y;
        }
    }
  EXPECT_GT(clear, 0.99 * all);
  EXPECT_GT(hidden, 0.1 * all);
  EXPECT_LT(hidden, 0.9 * all);
  EXPECT_GT(unknown, 0.01 * all);
}

/// A frame whose flow and flow back are the same everywhere; the case's pixel is (10, 5).
bool is_hidden_at(float u, float v, float back_u, float back_v) {
  HiddenCase c({30, 20}, 1);
  c.u.assign(c.u.size(), u), c.v.assign(c.v.size(), v);
  c.back_u.assign(c.u.size(), back_u), c.back_v.assign(c.v.size(), back_v);
  return c.hidden(10, 5);
}

TEST(HiddenPixels, AreKnownWhereTheFlowBackIs) {
  EXPECT_FALSE(is_hidden_at(3, 2, -3, -2));
  EXPECT_TRUE(is_hidden_at(3, 2, 3, 2));
  EXPECT_FALSE(is_hidden_at(0, 0, 1.5f, 0)) << "the threshold";
  EXPECT_TRUE(is_hidden_at(0, 0, 1.51f, 0));
  EXPECT_FALSE(is_hidden_at(10, 0, -12, 0)) << "a twentieth more of its motion";
  EXPECT_TRUE(is_hidden_at(10, 0, -12.01f, 0));

  for (const float u : {3.0f, 100.0f, nan_value, infinite}) {
    EXPECT_FALSE(is_hidden_at(u, 2, nan_value, -2)) << u << ": nothing is known";
    EXPECT_FALSE(is_hidden_at(u, 2, -3, nan_value)) << u << ": nothing is known";
  }
  EXPECT_FALSE(is_hidden_at(-10, -5, 10, 5)) << "to the corner";
  EXPECT_FALSE(is_hidden_at(19, 14, -19, -14)) << "to the corner";
  for (const auto& [u, v] : {std::pair{-10.1f, 0.0f}, {19.1f, 0.0f}, {0.0f, -5.1f}, {0.0f, 14.1f}})
    EXPECT_TRUE(is_hidden_at(u, v, -u, -v)) << "leaves the frame";
  for (const float value : {nan_value, infinite, -infinite, 3e38f}) {
    EXPECT_TRUE(is_hidden_at(value, 0, 0, 0)) << value;
    EXPECT_TRUE(is_hidden_at(0, value, 0, 0)) << value;
  }
  EXPECT_TRUE(is_hidden_at(nan_value, nan_value, -3, -2));
}

class HiddenOnTarget : public OnTarget {
 protected:
  /// Calls f(backend) with a backend of the target.
  template <class F>
  static auto with_target(int threads, F f) {
    const Forced forced(GetParam());
    const Device device = GetParam().device(threads);
    return with_backend(device, [&]<class Backend>() {
      Backend backend(device, {});
      const auto active = backend.activate();
      return f(backend);
    });
  }
};

TEST_P(HiddenOnTarget, VisibleSeedsAreValid) {
  unsigned seed = 0;
  for (const Size size : hidden_sizes)
    for (const int stride : {2, 4, 7})
      for (const int threads : {1, 2, 3}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " stride " << stride);
        const HiddenCase c(size, ++seed);
        expect_visible_seeds(
            c, stride, with_target(threads, [&](auto& backend) { return visible_with(backend, c, stride); }));
      }
}

TEST_P(HiddenOnTarget, HiddenPixelsAreFilled) {
  unsigned seed = 100;
  int hidden = 0, kept = 0;
  for (const Size size : hidden_sizes)
    for (const int threads : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height);
      const HiddenCase c(size, ++seed);
      expect_filled(c, with_target(threads, [&](auto& backend) { return filled_with(backend, c); }));
      for (std::size_t i = 0; i < c.u.size(); ++i) {
        hidden += c.hidden(i);
        kept += c.hidden(i) && (std::isnan(c.filled_u[i]) || std::isnan(c.filled_v[i]));
      }
    }
  EXPECT_GT(hidden, 1000);
  EXPECT_GT(kept, 20) << "hidden, but there is nothing to take";
}

/// Inputs of the last step: flow of the case, refined a little or much.
struct FinishCase {
  HiddenCase flow;
  std::vector<float> refined_u, refined_v, frame, next, normal[3];

  FinishCase(Size size, unsigned seed) : flow(size, seed), refined_u(flow.u), refined_v(flow.v) {
    std::mt19937 random(seed);
    const auto uniform = [&] { return float(random() % 4097) / 4096; };
    for (std::size_t i = 0; i < flow.u.size(); ++i) {
      refined_u[i] += 2 * uniform() - 1, refined_v[i] += 2 * uniform() - 1;
      frame.push_back(100 + 30 * uniform()), next.push_back(100 + 30 * uniform());
      const float xx = uniform(), yy = uniform();
      normal[0].push_back(xx), normal[1].push_back((uniform() - 0.5f) * xx * yy), normal[2].push_back(yy);
    }
  }
};

struct Finished {
  std::vector<float> u, v, confidence;
  std::vector<std::uint8_t> valid;
};

/// `wanted`: on CUDA a flag on the device; null = none. `judges`: by judge_flow alone, which knows no hidden
/// pixels.
template <class Backend>
Finished finished_with(Backend& backend, const FinishCase& c, const int* wanted, bool judges = false) {
  Workspace workspace(backend.memory());
  const Size size = c.flow.size;
  const auto plane = [&](const std::vector<float>& values) {
    return stored(backend, workspace, size, values);
  };
  const std::size_t count = c.flow.u.size();
  RefinedMatches matched{{plane(c.flow.u), plane(c.flow.v)},
                         {plane(c.refined_u), plane(c.refined_v)},
                         {plane(c.flow.back_u), plane(c.flow.back_v)},
                         plane(c.frame),
                         plane(c.next),
                         {plane(c.normal[0]), plane(c.normal[1]), plane(c.normal[2]), {}, {}, {}},
                         15,
                         nullptr};
  if (Backend::is_gpu && wanted) {
    int* const flag = workspace.array<int>(1);
    copy_to(backend, flag, wanted, sizeof *wanted);
    backend.synchronize();
    matched.wanted = flag;
  }
  const std::vector<float> before(count, -77);
  const FlowPlanes flow{plane(before), plane(before)};
  const Trust trust{stored(backend, workspace, size, std::vector<std::uint8_t>(count, 77)), plane(before)};
  for (int i = 0; i < 2; ++i)  // on CUDA recorded, then replayed
    backend.replay({}, [&] {
      finish_matched(backend, matched, flow, trust);
      if (judges)
        judge_flow(backend, matched.frame, matched.next, matched.normal, {flow}, matched.max_residual, trust);
    });
  return {values_of(backend, flow.u), values_of(backend, flow.v), values_of(backend, trust.confidence),
          values_of(backend, trust.valid)};
}

TEST_P(HiddenOnTarget, HiddenPixelsAreNotTrusted) {
  unsigned seed = 200;
  int hidden = 0, valid = 0, distrusted = 0;
  for (const Size size : hidden_sizes)
    for (const int threads : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height);
      const FinishCase c(size, ++seed);
      const int yes = 1;
      const Finished found =
                         with_target(threads, [&](auto&backend) { return finished_with(backend, c, &yes); }),
                     judged = with_target(
                         threads, [&](auto&backend) { return finished_with(backend, c, nullptr, true); });
      HiddenCase kept = c.flow;
      for (std::size_t i = 0; i < kept.u.size(); ++i) {
        const Motion motion = kept_near({c.flow.u[i], c.flow.v[i]}, {c.refined_u[i], c.refined_v[i]});
        kept.u[i] = motion.u, kept.v[i] = motion.v;
      }
      for (std::size_t i = 0; i < kept.u.size(); ++i) {
        expect_same_value(kept.u[i], found.u[i], i);
        expect_same_value(kept.v[i], found.v[i], i);
        const bool is_seen = !kept.hidden(i);
        ASSERT_EQ(found.confidence[i], is_seen ? judged.confidence[i] : 0) << i;
        ASSERT_EQ(found.valid[i], is_seen ? judged.valid[i] : 0) << i;
        hidden += !is_seen, valid += found.valid[i], distrusted += judged.valid[i] && !is_seen;
      }
    }
  EXPECT_GT(hidden, 1000);
  EXPECT_GT(valid, 1000);
  EXPECT_GT(distrusted, 200) << "alike, but hidden";
}

TEST_P(HiddenOnTarget, OnCudaNothingIsWrittenThatIsNotWanted) {
  if (GetParam().instruction_set) GTEST_SKIP() << "the CPU decides before the step";
  const FinishCase c({70, 40}, 5);
  const int no = 0;
  const Finished found = with_target(1, [&](auto& backend) { return finished_with(backend, c, &no); });
  for (std::size_t i = 0; i < found.u.size(); ++i) {
    ASSERT_EQ(found.u[i], -77);
    ASSERT_EQ(found.confidence[i], -77);
    ASSERT_EQ(found.valid[i], 77);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, HiddenOnTarget, every_target(), target_name);

}  // namespace
}  // namespace parafield
