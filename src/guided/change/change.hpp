#pragma once
#include "steps/warp/warp.hpp"
#include "guided/likelihood.hpp"

/// Whether a pixel has the same color in the second frame, where a hypothesis of its flow says that it is there.
namespace parafield {

struct ChangeTest {
  float threshold;
  int window;  ///< side, odd
};

/// Where a turning camera moves what is far away: a pixel p to H p.
struct Homography {
  float of[9];

  PF_HD Motion flow(float x, float y) const {
    const float w = fma(of[6], x, fma(of[7], y, of[8]));
    const float right = fma(of[0], x, fma(of[1], y, of[2])), down = fma(of[3], x, fma(of[4], y, of[5]));
    const float behind = w > 0 ? 0.0f : __builtin_nanf("");
    return {right / w - x + behind, down / w - y + behind};
  }
};

/// What is tested and where it is said. `turn` is in the backend's memory; null = none. No `valid`, no test.
struct HypothesisTest {
  Colors frame0, frame1;
  ChangeTest change;
  const Homography* turn;
  View<std::uint8_t> valid;
};

/// valid: whether a pixel's flow passes, which is whether the window around it, moved by that flow, differs by less than the
/// threshold and its middle ends inside the second frame. Where it fails and `turn` passes, that is the flow. Flow that is NaN
/// fails, and becomes 0.
template <class Backend>
void test_change(Backend& backend, const HypothesisTest& test, FlowPlanes flow);

PF_HD float known(float flow) { return flow == flow ? flow : 0.0f; }

}  // namespace parafield
