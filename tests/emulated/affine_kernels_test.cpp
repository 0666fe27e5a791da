// SPDX-License-Identifier: MIT
// The CUDA kernels of affine interpolation, run by emulated threads on random cases: they give the bits of
// the CPU's steps, whatever the order of the threads.
#include "emulated/emulated_cuda.hpp"
#include "steps/affine_on.hpp"

namespace parafield {
namespace {

class EmulatedAffineKernels : public testing::TestWithParam<int> {};

TEST_P(EmulatedAffineKernels, SameBits) {
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned seed = 100 * unsigned(GetParam()) + i;
    std::mt19937 random(seed);
    const auto one_of = [&](std::initializer_list<int> values) {
      return values.begin()[random() % values.size()];
    };
    const Size size{one_of({1, 2, 40, 90, 131}), one_of({1, 3, 25, 50, 70})};
    const double share = one_of({0, 1, 5, 50, 100}) / 100.0;
    AffineCase c = affine_case(size, one_of({2, 2, 3, 4, 5, 7, 9, 32}), share, seed);
    if (i % 2) c.color(one_of({0, 1, 2}), size.width / 2, size.height / 2) = NAN;
    SCOPED_TRACE(testing::Message() << "case " << seed << ": " << size.width << "x" << size.height
                                    << " stride " << c.stride << " share " << share);
    EmulatedCuda emulated(ThreadOrder(one_of({0, 1, 2})));
    const bool confidence = one_of({0, 1}) != 0;
    expect_same_result(interpolate_on(reference_target(), c, 1, confidence),
                       interpolate_with(emulated, c, confidence));
    if (HasFatalFailure()) return;
  }
}

TEST_P(EmulatedAffineKernels, LongWays) {
  // More tiles than launches: one block finishes.
  AffineCase c = affine_case({1300, 8}, 2, 0, 5);
  c.valid[GetParam() % 2 ? 0 : c.valid.size() - 1] = 1;
  EmulatedCuda emulated(ThreadOrder(GetParam() % 3));
  expect_same_result(interpolate_on(reference_target(), c, 1), interpolate_with(emulated, c));
}

INSTANTIATE_TEST_SUITE_P(Cases, EmulatedAffineKernels, testing::Range(0, 4));

}  // namespace
}  // namespace parafield
