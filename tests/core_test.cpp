// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "parafield/detail/text.hpp"
#include "parafield/parafield.hpp"
#include "targets.hpp"

namespace parafield {
namespace {

TEST(Image, IsZeroFilledAlignedAndCopies) {
  Image<float> image({5, 3});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(image.view().data) % 64, 0u);
  EXPECT_EQ(image.view().pitch % 64, 0);
  EXPECT_EQ(image(4, 2), 0);
  image(4, 2) = 7;
  const Image<float> copy = image.to(Memory::host());
  EXPECT_EQ(copy(4, 2), 7);
  EXPECT_NE(copy.view().data, image.view().data);
}

TEST(Image, WithoutPixelsIsAnError) {
  EXPECT_THROW(Image<float>({0, 3}), Error);
  EXPECT_THROW(FrameBuffer({3, -1}, PixelFormat::rgb_u8), Error);
}

TEST(Image, ThatWasMovedFromIsEmpty) {
  Image<float> image({5, 3});
  image(4, 2) = 7;
  Image<float> taken = std::move(image);
  EXPECT_EQ(image.size(), Size{});
  EXPECT_FALSE(image);
  EXPECT_EQ(taken.size(), (Size{5, 3}));
  EXPECT_EQ(taken(4, 2), 7);
  Image<float>& same = taken;
  taken = std::move(same);
  EXPECT_EQ(taken.size(), (Size{5, 3})) << "moved to itself";
  EXPECT_TRUE(taken);
  EXPECT_THROW(taken.take(image), Error);
  EXPECT_THROW(taken.take(Image<float>({5, 4})), Error);

  FlowField flow({5, 3});
  const FlowField kept = std::move(flow);
  EXPECT_EQ(flow.size(), Size{});
  EXPECT_FALSE(flow.to(Memory::host()).u);
  EXPECT_EQ(kept.size(), (Size{5, 3}));

  FrameBuffer frame({5, 3}, PixelFormat::rgb_u8);
  frame.set_range({1, 2});
  const FrameBuffer held = std::move(frame);
  EXPECT_EQ(frame.size(), Size{});
  EXPECT_EQ(frame.frame().data, nullptr);
  EXPECT_EQ(held.size(), (Size{5, 3}));
  EXPECT_EQ(held.format(), PixelFormat::rgb_u8);
  EXPECT_EQ(held.range(), (ValueRange{1, 2}));
}

TEST(View, WithoutAPitchIsAnErrorAndNoFirstRowRepeated) {
  FlowField flow({5, 3});
  const View<float> u = flow.u.view(), v = flow.v.view();
  const View<std::uint8_t> valid = flow.valid.view();
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const FlowView touching{{u.data, 5, 3}, {v.data, 5, 3}};
  EXPECT_EQ(message([&] { color_flow(touching); }),
            "the pitch of the flow field's u, 0 bytes, is less than a row of 20");
  EXPECT_EQ(message([&] { evaluate(touching, flow); }),
            "the pitch of the estimated flow's u, 0 bytes, is less than a row of 20");
  EXPECT_EQ(message([&] {
              color_flow(FlowView{u, v, {valid.data, 5, 3}});
            }),
            "the pitch of the flow field's valid plane, 0 bytes, is less than a row of 5");
  const DisparityView disparity{{u.data, 5, 3}};
  EXPECT_EQ(message([&] { depth_of(disparity, 1, 1); }),
            "the pitch of the disparity field, 0 bytes, is less than a row of 20");
  const MaskView mask{valid.data, 5, 3};
  const std::string of_mask = "the pitch of the mask, 0 bytes, is less than a row of 5";
  EXPECT_EQ(message([&] { mark_unknown(flow, mask); }), of_mask);
  const FrameBuffer frame({5, 3}, PixelFormat::gray_u8);
  EXPECT_EQ(message([&] { filled(frame, mask); }), of_mask);
  EXPECT_EQ(message([&] { overlay_mask(frame, MotionMaskView{mask}); }), of_mask);
  EXPECT_EQ(message([&] { evaluate(flow, flow, {.mask = mask}); }), of_mask);
}

TEST(Text, ShowsNothingThatATerminalWouldObey) {
  using detail::printable;
  for (const char* same : {"", "a b.png", "\u00e9\u65e5\u672c\U0001f600\u200d.png", "~!'\"\\"})
    EXPECT_EQ(printable(same), same);
  EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), "a?b?c?[31m?");
  for (const char* hidden :
       {"\u0080", "\u009b", "\u009f", "\u00ad", "\u061c", "\u200b", "\u200e", "\u200f", "\u2028", "\u202a",
        "\u202e", "\u2060", "\u2066", "\u2069", "\ufeff", "\ufffa", "\U000e0041"})
    EXPECT_EQ(printable("x" + std::string(hidden) + "y"), "x?y");
  EXPECT_EQ(printable("\x9b\xff\xc3"), "???") << "no UTF-8";
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"), "?????????")
      << "too long, surrogate, too large";
  EXPECT_EQ(printable("\xe2\x80"), "??") << "cut";
}

TEST(Text, QuotesValuesThatNeedIt) {
  for (const char* plain : {"3", "-0.5", "1e-6", "640x480", "1,2,3"})
    EXPECT_EQ(detail::value_text(plain), plain);
  EXPECT_EQ(detail::value_text(""), "''");
  EXPECT_EQ(detail::value_text(" 3"), "' 3'");
  EXPECT_EQ(detail::value_text("a\nb"), "'a?b'");
  EXPECT_EQ(detail::value_text(std::string(50, 'x')), "'" + std::string(40, 'x') + "...'");
  EXPECT_EQ(detail::quoted("3"), "'3'");
}

TEST(Device, IsParsed) {
  EXPECT_EQ(parse_device("cpu", 3), Device::cpu(3));
  EXPECT_EQ(parse_device("cuda"), Device::cuda(0));
  EXPECT_EQ(parse_device("cuda:2"), Device::cuda(2));
  EXPECT_EQ(parse_device("auto").kind, Device::best().kind);
  for (const char* bad : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:1"})
    EXPECT_THROW(parse_device(bad), Error) << bad;
}

class InstructionSets : public OnTarget {};

TEST_P(InstructionSets, AForcedOneIsCompiledForAndRuns) {
  if (!GetParam().instruction_set) GTEST_SKIP() << "only of the CPU";
  const Forced forced(GetParam());
  EXPECT_EQ(describe_device(Device::cpu()).instruction_set, GetParam().instruction_set);
}
INSTANTIATE_TEST_SUITE_P(Targets, InstructionSets, every_target(), target_name);

TEST(InstructionSet, ThatDoesNotExistIsAnError) {
  const Forced forced({"wrong", "v9"});
  EXPECT_THROW(describe_device(Device::cpu()), Error);
  EXPECT_THROW(FlowEstimator(LucasKanade{}, {8, 8}, {.device = Device::cpu()}), Error);
}

TEST(Device, ThatIsMissingIsAnError) {
  EXPECT_THROW(describe_device(Device::cuda(99)), Error);
  EXPECT_THROW(FlowEstimator(LucasKanade{}, {8, 8}, {.device = Device::cuda(99)}), Error);
  EXPECT_THROW(Image<float>({8, 8}, Memory::cuda(99)), Error);
  int streams[2];
  EXPECT_THROW(wait_for(Device::cuda(99), {&streams[0]}, {&streams[1]}), Error);
}

TEST(Device, StreamsThatWaitAreNotNull) {
  wait_for(Device::cpu(), {}, {});
  int stream;
  EXPECT_THROW(wait_for(Device::cuda(), {&stream}, {}), Error);
  EXPECT_THROW(wait_for(Device::cuda(), {}, {&stream}), Error);
}

}  // namespace
}  // namespace parafield
