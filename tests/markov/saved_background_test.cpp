// SPDX-License-Identifier: MIT
// Errors of backgrounds that are saved and loaded.
#include <gtest/gtest.h>

#include "io/folder.hpp"
#include "markov/background/state.hpp"
#include "markov/passing_scene.hpp"
#include "parafield/parafield.hpp"

namespace parafield {
namespace {

/// The message of the error that `work` throws.
template <class Work>
std::string error_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SavedBackground, ErrorsSayWhatIsWrong) {
  const Size size{32, 20};
  MotionDetector detector(Icm<BackgroundEnergy>{}, size, {.device = Device::cpu(1)});
  EXPECT_NE(error_of([&] { detector.background(); }).find("no background has been learned"),
            std::string::npos);
  for (int t = 0; t < 3; ++t) detector.push(passing(size, t));
  const LearnedBackground good = detector.background();
  const auto start = [&](const LearnedBackground& background, const DetectionMethod& method, Size size) {
    return error_of([&] {
      MotionDetector(
          method, size,
          {.device = Device::cpu(1), .background = std::make_shared<LearnedBackground>(background)});
    });
  };
  EXPECT_EQ(start(good, Icm<BackgroundEnergy>{}, size), "");
  EXPECT_EQ(start(good, Annealing<BackgroundEnergy>{}, size),
            "the background was learned by 'icm-background', not by annealing-background");
  EXPECT_EQ(start(good, Icm<BackgroundEnergy>{}, {32, 21}),
            "the background has 32x20 pixels, the frames have 32x21");
  EXPECT_EQ(start(good, Icm<ChangeEnergy>{}, size),
            "background is for methods that learn a background, such as icm-background, not for icm");
  LearnedBackground damaged = good;
  std::ranges::fill(damaged.state, std::uint8_t(0));
  EXPECT_NE(start(damaged, Icm<BackgroundEnergy>{}, size).find("damaged"), std::string::npos);
  EXPECT_THROW(MotionDetector(Icm<ChangeEnergy>{}, size, {.device = Device::cpu(1), .freeze = true}), Error);

  // The last numbers of a state: colored_count, is_colored and shifts are among them.
  const auto with_number = [&](Number index, int value) {
    LearnedBackground changed = good;
    for (int i = 0; i < 4; ++i)
      changed.state[changed.state.size() - 4 * std::size_t(number_count - index) + std::size_t(i)] =
          std::uint8_t(std::uint32_t(value) >> 8 * i);
    return start(changed, Icm<BackgroundEnergy>{}, size);
  };
  EXPECT_EQ(with_number(shift_x, 80), "");
  EXPECT_EQ(with_number(shift_x, -96), "the background's state is damaged: a shift is -6 px");
  EXPECT_EQ(with_number(is_colored, 1), "the background's state is damaged: its number for colors is 1");
  EXPECT_EQ(with_number(moving_count, -2), "the background's state is damaged: a count is -2");
  LearnedBackground shorter = good;
  shorter.state.pop_back();
  EXPECT_NE(start(shorter, Icm<BackgroundEnergy>{}, size).find("bytes, not"), std::string::npos);
  LearnedBackground colored = good;
  colored.state.resize(background_bytes(size, true));
  Icm<BackgroundEnergy> gray;
  gray.energy.rgb = false;
  EXPECT_EQ(start(colored, gray, size),
            "the background was learned from colors, but the method's rgb is off");

  LearnedBackground dark = good;
  dark.range = {0, 1000};
  MotionDetector other(Icm<BackgroundEnergy>{}, size,
                       {.device = Device::cpu(1), .background = std::make_shared<LearnedBackground>(dark)});
  EXPECT_NE(error_of([&] { other.push(passing(size, 0)); }).find("0 (black) to 1000 (white)"),
            std::string::npos);

  const Folder folder;
  const std::filesystem::path path = folder / "background";
  write_background(path, good);
  const auto bytes = bytes_in(path);
  const auto reading = [&](auto change) {
    auto changed = bytes;
    change(changed);
    folder.with("background", changed);
    return error_of([&] { read_background(path); });
  };
  EXPECT_EQ(reading([](auto&) {}), "");
  EXPECT_NE(
      reading([](auto& all) { all[21] = '2'; }).find("its version is '2'; this program reads version 3"),
      std::string::npos);
  EXPECT_NE(reading([](auto& all) { all[0] = 'P'; }).find("not a background"), std::string::npos);
  EXPECT_NE(reading([](auto& all) { all.pop_back(); }).find("bytes after the header"), std::string::npos);
  EXPECT_NE(reading([](auto& all) { all.back() ^= 1; }).find("its checksum is"), std::string::npos);
  for (std::size_t length = 0; length < 140; ++length)
    EXPECT_NE(reading([&](auto& all) { all.resize(length); }), "") << length;
}

}  // namespace
}  // namespace parafield
