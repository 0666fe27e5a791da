// SPDX-License-Identifier: MIT
#include "tasks/frame_examiner.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/unknown_bars.hpp"
#include "parafield/detection.hpp"
#include "parafield/stereo.hpp"
#include "steps/convert/convert.hpp"
#include "tasks/flow_session.hpp"

namespace parafield {
namespace {

constexpr int most_side = 64;    // px, of excerpts of whole frames
constexpr int center_side = 96;  // px
constexpr int least_side = 16;   // px; smaller excerpts say nothing
/// Side, px, of the squares that are averaged into an excerpt's pixels: enough to suppress noise.
constexpr int samples_along = 4;
/// Correlation of related frames. Unrelated frames reach 0.23, pairs with ground truth at least 0.5; see
/// tests/tasks/frames_state_test.cpp.
constexpr float related = 0.35f;
/// Correlation of adjacent pixels of texture. Noise has less than 0.05, scenes more than 0.25.
constexpr float textured = 0.15f;
/// Least contrast of a scene, 0..255, in the means and at full resolution. Noise may be smooth, too, after it
/// was filtered or compressed, but then it is weaker.
constexpr double least_contrast = 1.5, least_fine_contrast = 12;
/// Contrasts below come from rounding.
constexpr float rounding = 1e-3f;

struct Texture {
  Image<float> values;  // luma minus the mean over 5x5 pixels, divided by the contrast around
  double contrast;      // root mean square of the differences
};

/// The texture of an image, normalized so that neither light nor a few strong edges decide. Pixels outside
/// the image repeat its border.
Texture texture_of(View<const float> luma) {
  const Size size = luma.size();
  const auto mean = [&](View<const float> of, int radius, auto value) {
    Image<float> along(size), out(size);
    const float share = 1 / float(2 * radius + 1);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        float sum = 0;
        for (int i = -radius; i <= radius; ++i) sum += value(of(std::clamp(x + i, 0, size.width - 1), y));
        along(x, y) = sum * share;
      }
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        float sum = 0;
        for (int i = -radius; i <= radius; ++i) sum += along(x, std::clamp(y + i, 0, size.height - 1));
        out(x, y) = sum * share;
      }
    return out;
  };
  Image<float> texture = mean(luma, 2, [](float value) { return value; });
  double sum = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      texture(x, y) = luma(x, y) - texture(x, y);
      sum += double(texture(x, y)) * double(texture(x, y));
    }
  const Image<float> contrast2 = mean(texture, 3, [](float value) { return value * value; });
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) texture(x, y) /= std::sqrt(contrast2(x, y) + rounding * rounding);
  return {std::move(texture), std::sqrt(sum / (double(size.width) * size.height))};
}

struct FrameCorrelation {
  double ab = 0, aa = 0, bb = 0;
  void add(double a, double b) { ab += a * b, aa += a * a, bb += b * b; }
  float value() const { return aa > 0 && bb > 0 ? float(ab / std::sqrt(aa * bb)) : 0.0f; }
};

/// Correlation of adjacent pixels; 0 for a constant image.
float smoothness_of(View<const float> texture) {
  FrameCorrelation along, down;
  for (int y = 0; y + 1 < texture.height; ++y)
    for (int x = 0; x + 1 < texture.width; ++x) {
      along.add(texture(x, y), texture(x + 1, y));
      down.add(texture(x, y), texture(x, y + 1));
    }
  return 0.5f * (along.value() + down.value());
}

/// Reads rectangles of a frame: one value for each `factor` x `factor` pixels from (x0, y0) on.
Image<float> means_of(const Frame& frame, int x0, int y0, Size size, int factor) {
  Image<float> means(size);
  const int count = std::min(factor, samples_along), apart = std::max(1, factor / samples_along);
  double sum_known = 0;
  std::int64_t known = 0;
  with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        float sum = 0;
        for (int j = 0; j < count; ++j) {
          const auto* const row = row_of<Sample>(frame, y0 + y * factor + j * apart);
          for (int i = 0; i < count; ++i)
            sum += luma_of(row, x0 + x * factor + i * apart, Channels, Red, scale);
        }
        means(x, y) = sum / float(count * count);
        if (!std::isfinite(means(x, y))) continue;
        sum_known += double(means(x, y));
        ++known;
      }
  });
  const float mean = known > 0 ? float(sum_known / double(known)) : 0.0f;
  if (known < std::int64_t(size.width) * size.height)
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        if (!std::isfinite(means(x, y))) means(x, y) = mean;
  return means;
}

/// Removes bars along the borders, as in films: rows and columns that are constant in both
/// images. Their edges would correlate.
void crop_bars(View<const float>& a, View<const float>& b) {
  constexpr float constant = 3;  // 0..255
  const auto is_constant = [&](int x0, int y0, int dx, int dy, int count) {
    for (const View<const float>& image : {a, b}) {
      float least = image(x0, y0), most = least;
      for (int i = 1; i < count; ++i) {
        const float value = image(x0 + i * dx, y0 + i * dy);
        least = std::min(least, value), most = std::max(most, value);
      }
      if (most - least > constant) return false;
    }
    return true;
  };
  const int width = a.width, height = a.height;
  int top = 0, bottom = height, left = 0, right = width;
  while (bottom - top > 1 && is_constant(0, top, 1, 0, width)) ++top;
  while (bottom - top > 1 && is_constant(0, bottom - 1, 1, 0, width)) --bottom;
  while (right - left > 1 && is_constant(left, 0, 0, 1, height)) ++left;
  while (right - left > 1 && is_constant(right - 1, 0, 0, 1, height)) --right;
  if (right - left < least_side || bottom - top < least_side) return;
  // A pixel next to a bar may be a mean of both.
  if (top > 0) ++top;
  if (bottom < height) --bottom;
  if (left > 0) ++left;
  if (right < width) --right;
  for (View<const float>* image : {&a, &b})
    *image = {&(*image)(left, top), right - left, bottom - top, image->pitch};
}

}  // namespace

/// The coarse flow of excerpts of one size.
struct FrameExaminer::Matcher {
  Size size;
  std::unique_ptr<Session<Flow>> session;
};

FrameExaminer::FrameExaminer() = default;
FrameExaminer::~FrameExaminer() = default;

FrameExaminer::Excerpts FrameExaminer::excerpts_of(const Frame& frame) {
  const int factor = std::max(1, (std::max(frame.width, frame.height) + most_side - 1) / most_side);
  Excerpts excerpts;
  excerpts.whole = means_of(frame, 0, 0, {frame.width / factor, frame.height / factor}, factor);
  if (factor == 1) return excerpts;
  const Size center{std::min(center_side, frame.width), std::min(center_side, frame.height)};
  excerpts.center =
      means_of(frame, (frame.width - center.width) / 2, (frame.height - center.height) / 2, center, 1);
  return excerpts;
}

/// Correlation of the texture at matching pixels.
float FrameExaminer::correlation(const Image<float>& before, const Image<float>& after) {
  const Size size = before.size();
  auto found = std::ranges::find(matchers_, size, [](const auto& matcher) { return matcher->size; });
  if (found == matchers_.end()) {
    constexpr std::size_t most_matchers = 8;  // bars may change their width
    if (matchers_.size() == most_matchers) matchers_.erase(matchers_.begin());
    const Device cpu = Device::cpu(1);
    matchers_.push_back(
        std::make_unique<Matcher>(Matcher{size, flow_session(AdaptiveRidge{}, size, cpu, {.device = cpu})}));
    found = matchers_.end() - 1;
  }
  Image<float> brightness[2] = {Image<float>(size), Image<float>(size)};
  Frame frames[2];
  for (int i = 0; i < 2; ++i) {
    const Image<float>& texture = i == 0 ? before : after;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) brightness[i](x, y) = 128 + 40 * texture(x, y);
    frames[i] = frame_of(brightness[i].view());
  }
  const FlowField& flow = (*found)->session->call({.frames = frames}, nullptr);
  FrameCorrelation all;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const int to_x = int(std::lround(float(x) + flow.u(x, y))),
                to_y = int(std::lround(float(y) + flow.v(x, y)));
      if (to_x < 0 || to_x >= size.width || to_y < 0 || to_y >= size.height) continue;
      all.add(double(before(x, y)), double(after(to_x, to_y)));
    }
  return all.value();
}

FramesState FrameExaminer::compare(const Excerpts& before, const Excerpts& after) {
  View<const float> a = before.whole, b = after.whole;
  if (a.size() != b.size() || a.width < least_side || a.height < least_side) return FramesState::unknown;
  crop_bars(a, b);
  const Texture means[] = {texture_of(a), texture_of(b)};
  if (means[0].contrast < rounding || means[1].contrast < rounding) return FramesState::no_texture;
  FrameCorrelation same;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) same.add(double(means[0].values(x, y)), double(means[1].values(x, y)));
  if (same.value() > related || correlation(means[0].values, means[1].values) > related)
    return FramesState::usable;
  const auto is_scene = [](const Texture& texture, double least) {
    return texture.contrast > least && smoothness_of(texture.values) > textured;
  };
  bool scene[] = {is_scene(means[0], least_contrast), is_scene(means[1], least_contrast)};
  if (before.center && after.center && !(scene[0] && scene[1])) {
    // Fine texture looks like noise in the means, but not at full resolution.
    const Texture fine[] = {texture_of(before.center), texture_of(after.center)};
    if (correlation(fine[0].values, fine[1].values) > related) return FramesState::usable;
    for (int i = 0; i < 2; ++i) scene[i] = scene[i] || is_scene(fine[i], least_fine_contrast);
  }
  return scene[0] && scene[1] ? FramesState::cut : FramesState::no_texture;
}

FramesState FrameExaminer::compare(const Frame& before, const Frame& after) {
  return compare(excerpts_of(before), excerpts_of(after));
}

FramesState FrameExaminer::next(const Frame& frame) {
  Excerpts excerpts = excerpts_of(frame);
  const FramesState state = last_ ? compare(*last_, excerpts) : FramesState::unknown;
  last_ = std::move(excerpts);
  return state;
}

FramesState worst(FramesState a, FramesState b) { return std::max(a, b); }

FramesState examine_frames(std::span<const Frame> frames) {
  FrameExaminer examiner;
  FramesState state = FramesState::unknown;
  for (const Frame& frame : frames) {
    if (!frame.memory.on_host()) return FramesState::unknown;
    state = worst(state, examiner.next(checked(frame, "a frame", frames[0].size(), Device::cpu())));
  }
  return state;
}

std::string text_of(FramesState state) {
  switch (state) {
    case FramesState::no_texture:
      return "the frames have no texture, only noise or nothing at all; no result is reliable";
    case FramesState::cut:
      return "the frames show different scenes (a cut); no result is reliable";
    default:
      return {};
  }
}

void FramesFindings::add(FramesState state, std::int64_t number) {
  if (state == FramesState::cut) cuts.push_back(number);
  if (state == FramesState::no_texture) ++without_texture;
}

static void clear(Image<std::uint8_t>& plane) {
  for (int y = 0; plane && y < plane.size().height; ++y)
    std::fill_n(plane.view().row(y), plane.size().width, std::uint8_t(0));
}

template <class Task>
FramesState withhold(typename Task::Result& result, FramesState state,
                     const typename Task::Options& options) {
  const FramesState counts = relevant<Task>(state);
  if constexpr (requires { options.min_confidence; })
    if (options.min_confidence == 0) return counts;
  if (counts < FramesState::no_texture) return counts;
  if constexpr (requires { result.moving; }) clear(result.moving);
  clear(result.valid);
  if constexpr (requires { result.cause; }) {
    const ErrorCause cause = counts == FramesState::cut ? ErrorCause::hidden : ErrorCause::texture;
    for_each_pixel(result.size(), [&](int x, int y) { set_bars_unknown(result, x, y, cause); });
  }
  return counts;
}
template FramesState withhold<Flow>(FlowField&, FramesState, const FlowOptions&);
template FramesState withhold<Stereo>(DisparityField&, FramesState, const StereoOptions&);
template FramesState withhold<Detection>(MotionMask&, FramesState, const DetectionOptions&);

}  // namespace parafield
