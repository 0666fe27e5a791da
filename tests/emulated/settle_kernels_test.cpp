// SPDX-License-Identifier: MIT
// The CUDA kernels of matches that settle and of hidden pixels, run by emulated threads on random cases: they
// give the bits of the CPU's steps, whatever the order of the threads.
#include "emulated/emulated_cuda.hpp"
#include "gradient/hidden_on.hpp"
#include "gradient/settle_on.hpp"

namespace parafield {
namespace {

class EmulatedSettleKernels : public testing::TestWithParam<int> {
 protected:
  EmulatedSettleKernels() : random_(unsigned(GetParam())) {}
  int one_of(std::initializer_list<int> values) { return values.begin()[random_() % values.size()]; }
  Size random_size() { return {one_of({1, 2, 40, 90, 131}), one_of({1, 3, 25, 50, 70})}; }
  ThreadOrder random_order() { return ThreadOrder(one_of({0, 1, 2})); }

 private:
  std::mt19937 random_;
};

TEST_P(EmulatedSettleKernels, MatchesSettle) {
  int changed = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned seed = 100 * unsigned(GetParam()) + i;
    SettleCase c = settle_case(random_size(), one_of({2, 2, 3, 4, 5, 7, 32}), seed);
    if (i % 2) spoil(c, unsigned(one_of({2, 20, 200})), seed);
    SCOPED_TRACE(testing::Message() << "case " << seed << ": " << c.size.width << "x" << c.size.height
                                    << " stride " << c.stride);
    EmulatedCuda emulated(random_order());
    const Settled found = settle_with(emulated, c);
    expect_same_settled(settle_on(reference_target(), c, 1), found);
    changed += changes(c, found);
  }
  EXPECT_GT(changed, 0);
}

TEST_P(EmulatedSettleKernels, HiddenPixels) {
  for (unsigned i = 0; i < 12; ++i) {
    const unsigned seed = 100 * unsigned(GetParam()) + i;
    const HiddenCase c(random_size(), seed);
    const int stride = one_of({2, 3, 4, 7});
    SCOPED_TRACE(testing::Message() << "case " << seed << ": " << c.size.width << "x" << c.size.height
                                    << " stride " << stride);
    EmulatedCuda emulated(random_order());
    expect_visible_seeds(c, stride, visible_with(emulated, c, stride));
    expect_filled(c, filled_with(emulated, c));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, EmulatedSettleKernels, testing::Range(0, 4));

}  // namespace
}  // namespace parafield
