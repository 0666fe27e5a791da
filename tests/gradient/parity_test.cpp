// The same bits from every method on every device, instruction set, number of threads, size, pitch and pixel format.
#include <cstdint>
#include <functional>

#include "noise.hpp"
#include "parafield/flow.hpp"
#include "targets.hpp"

namespace parafield {
namespace {

struct Case {
  FlowMethod method;
  Size size;
  PixelFormat format;
  unsigned seed;
};

template <class Method>
std::string described(const Method& method) {
  std::string text(Method::name);
  describe(method, [&]<class T>(const T& value, const Parameter<T>& parameter) {
    text += " " + std::string(parameter.name) + "=" + detail::text_of(value);
  });
  return text;
}

std::string described(const Case& c) {
  return std::visit([](const auto& m) { return described(m); }, c.method) + ", " +
         std::to_string(c.size.width) + "x" + std::to_string(c.size.height) + " " + to_string(c.format) +
         ", seed " + std::to_string(c.seed);
}

/// A random value of each parameter within its range, but for what only makes the test long.
template <class Method>
Method random_method(std::mt19937& random) {
  Method method;
  describe(method, [&]<class T>(T& field, const Parameter<T>& parameter) {
    if (!parameter.choices.empty())
      field = parameter.choices[random() % parameter.choices.size()];
    else if constexpr (std::is_same_v<T, bool>)
      field = random() % 2;
    else if constexpr (std::is_same_v<T, int>)
      field =
          parameter.min +
          int(random() %
              unsigned(std::min(parameter.max - parameter.min, parameter.name == "iterations" ? 4 : 40) + 1));
    else if (random() % 2)
      field = parameter.min + (parameter.max - parameter.min) * std::pow(float(random() % 1000) / 1000, 4.0f);
  });
  return method;
}

std::vector<Case> cases() {
  using enum PixelFormat;
  constexpr PixelFormat formats[] = {gray_u8, gray_u16, gray_f32, rgb_u8, rgb_u16,
                                     rgb_f32, bgr_u8,   rgba_u8,  bgra_u8};
  constexpr Size sizes[] = {{1, 1}, {1, 9},   {9, 1},   {2, 2},    {3, 40},
                            {7, 5}, {33, 17}, {64, 48}, {101, 67}, {257, 130}};
  std::vector<Case> list;
  unsigned seed = 1;
  const auto add = [&](const FlowMethod& method, Size size) {
    list.push_back({method, size, formats[seed % 9], seed}), ++seed;
  };
  for_each_method<FlowMethod>([&]<class Method>(const Method&) {
    for (const Size size : sizes) {
      for (const auto& preset : presets(Method{})) add(preset.method, size);
      std::mt19937 random(seed);
      for (int i = 0; i < 6; ++i) add(random_method<Method>(random), size);
    }
    for (const auto& preset : presets(Method{})) add(preset.method, {641, 479});
    add(Method{}, {1300, 70});  // more than one tile of the CPU
  });
  if (const char* count = std::getenv("PARAFIELD_TEST_CASES")) {  // fewer, spread over the list
    std::vector<Case> some;
    for (std::size_t i = 0, n = std::strtoul(count, nullptr, 10); i < n; ++i)
      some.push_back(list[i * list.size() / n]);
    return some;
  }
  return list;
}

template <class T>
void expect_same(View<const T> a, View<const T> b, const char* plane, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) {
      const bool same =
          std::memcmp(&a(x, y), &b(x, y), sizeof(T)) == 0 || (a(x, y) != a(x, y) && b(x, y) != b(x, y));
      ASSERT_TRUE(same) << plane << " at (" << x << ", " << y << "): " << +a(x, y) << " and " << +b(x, y)
                        << "\n  " << what;
    }
}

void expect_same(const FlowField& a, const FlowField& b, const std::string& what) {
  expect_same(a.u.view(), b.u.view(), "u", what);
  expect_same(a.v.view(), b.v.view(), "v", what);
  expect_same(a.valid.view(), b.valid.view(), "valid", what);
  expect_same(a.confidence.view(), b.confidence.view(), "confidence", what);
}

/// Three frames of a case: those that `push` needs for a warm start too.
std::vector<GuardedFrame> frames_of(const Case& c, int padding, unsigned char guard) {
  std::vector<GuardedFrame> frames;
  for (int i = 0; i < 3; ++i) {
    frames.emplace_back(c.size, c.format, c.seed, 1.7f * float(i), padding, guard);
    if (c.format == PixelFormat::gray_f32) frames.back().set_nan(c.size.width / 2, c.size.height / 3);
  }
  return frames;
}

/// Flow of the first pair, of the same from a start, and of the second pair of a stream.
struct Results {
  FlowField pair, from_start, pushed;
};

Results run(const Target& target, const Case& c, int threads, int padding, unsigned char guard,
            const std::function<Frame(const Frame&)>& place, Memory memory) {
  const Forced forced(target);
  const auto frames = frames_of(c, padding, guard);
  const FlowOptions options{.fb_check = c.seed % 4 == 0 ? 0.7f : 0.0f};
  FlowEstimator estimator(c.method, c.size, target.device(threads), {}, options);
  const auto taken = [&](const FlowField& flow) {
    estimator.synchronize();
    return flow.to(Memory::host());
  };
  Results results;
  results.pair = taken(estimator(place(frames[0]), place(frames[1])));
  const FlowField start = results.pair.to(memory);
  const Frame pair[] = {place(frames[1]), place(frames[2])};
  results.from_start = taken(estimator({pair, start}));
  for (const GuardedFrame& frame : frames)
    if (const FlowField* flow = estimator.push(place(frame))) results.pushed = taken(*flow);
  return results;
}

const Frame& in_place(const Frame& frame) { return frame; }

class Parity : public OnTarget {
 protected:
  static const std::vector<Results>& expected() {
    static const std::vector<Results> results = [] {
      std::vector<Results> list;
      for (const Case& c : cases())
        list.push_back(run(reference_target(), c, 1, 0, 0, in_place, Memory::host()));
      return list;
    }();
    return results;
  }

  static void compare(const Results& results, std::size_t i, const Case& c) {
    expect_same(expected()[i].pair, results.pair, "pair: " + described(c));
    expect_same(expected()[i].from_start, results.from_start, "from a start: " + described(c));
    expect_same(expected()[i].pushed, results.pushed, "pushed: " + described(c));
  }
};

TEST_P(Parity, OfHostFrames) {
  const auto list = cases();
  for (std::size_t i = 0; i < list.size() && !HasFatalFailure(); ++i)
    compare(run(GetParam(), list[i], 1 + int(i % 3), int(i % 5) * 12, 0xff, in_place, Memory::host()), i,
            list[i]);
}

TEST_P(Parity, OfDeviceFrames) {
  if (GetParam().instruction_set) GTEST_SKIP() << "host memory is the CPU's own";
  const auto list = cases();
  for (std::size_t i = 0; i < list.size() && !HasFatalFailure(); ++i) {
    std::vector<FrameBuffer> held;
    const auto to_device = [&](const Frame& frame) {
      FrameBuffer host(frame.size(), frame.format);
      for (int y = 0; y < frame.height; ++y)
        std::memcpy(host.row(y), static_cast<const char*>(frame.data) + y * frame.pitch,
                    std::size_t(frame.width) * std::size_t(bytes_per_pixel(frame.format)));
      held.push_back(host.to(Memory::cuda()));
      return held.back().frame();
    };
    compare(run(GetParam(), list[i], 0, 0, 0, to_device, Memory::cuda()), i, list[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Parity, every_target(), target_name);

}  // namespace
}  // namespace parafield
