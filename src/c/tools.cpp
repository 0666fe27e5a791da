// SPDX-License-Identifier: MIT
// The functions of the C interface that need no estimator: tracks, boxes, heights.
#include "c/fields.hpp"
#include "c/options.hpp"
#include "parafield/boxes.hpp"
#include "parafield/heights.hpp"
#include "parafield/tracks.hpp"

using namespace parafield;
using namespace parafield::c;

static_assert(sizeof(parafield_track) == sizeof(Track) && sizeof(parafield_box) == sizeof(Box));

struct parafield_heights {
  std::atomic<bool> used = false;
  HeightFilter filter;
  Size size;
};

namespace parafield::c {
namespace {

/// The values, which have the same fields in C.
template <class To, class From>
std::span<const To> as(std::span<const From> values) {
  return {reinterpret_cast<const To*>(values.data()), values.size()};
}

/// Checks a field that host code reads.
template <class Field>
const Field& checked_on_host(const Field& field, Size size, const char* name) {
  if (!field.memory().on_host()) fail_value(name, " is not in host memory");
  if (field.size() != size)
    fail_value(name, " has ", field.size().width, "x", field.size().height, " pixels, the filter of heights ",
               size.width, "x", size.height);
  return field;
}

}  // namespace
}  // namespace parafield::c

parafield_code parafield_find_tracks(const parafield_frame* frame0, const parafield_frame* frame1,
                                     const parafield_option* options, int32_t option_count,
                                     parafield_track* tracks, size_t capacity, size_t* count) {
  return guarded([&] {
    given(count, "the pointer to the count");
    FeatureTracking tracking;
    NamedOptions named(options, option_count);
    const std::optional<Device> device = named.take_device();
    named.set_parameters(tracking.name, {"device", "threads"}, tracking);
    const std::vector<Track> found = find_tracks(read_frame_struct(frame0, "frame0"),
                                                 read_frame_struct(frame1, "frame1"), tracking, device);
    write_values(as<parafield_track>(std::span(found)), tracks, capacity, count, "the buffer of tracks");
  });
}

parafield_code parafield_find_boxes(const parafield_field* mask, int32_t min_area, parafield_box* boxes,
                                    size_t capacity, size_t* count) {
  return guarded([&] {
    const MotionMask read = read_mask(mask, "the mask");
    if (!read.moving) fail_value("the mask has no plane moving");
    const std::vector<Box> found = find_boxes(read.moving, {.min_area = min_area});
    write_values(as<parafield_box>(std::span(found)), boxes, capacity, count, "the buffer of boxes");
  });
}

parafield_code parafield_heights_create(int32_t width, int32_t height, int32_t frames, float tolerance,
                                        parafield_heights** heights) {
  return guarded([&] {
    given(heights, "the pointer to the filter") = nullptr;
    const Size size{width, height};
    *heights = new parafield_heights{.filter = HeightFilter(size, {.frames = frames, .tolerance = tolerance}),
                                     .size = size};
  });
}

parafield_code parafield_heights_destroy(parafield_heights* heights) {
  return guarded([&] { destroy(heights, "the filter of heights"); });
}

parafield_code parafield_heights_add(parafield_heights* heights, const parafield_field* disparity,
                                     double scale, double offset, float* result, ptrdiff_t result_pitch) {
  return guarded([&] {
    auto& [used, filter, size] = given(heights, "the filter of heights");
    const Use use(used, "the filter of heights");
    const char* const name = "the disparity field";
    const DisparityField field = read_disparity(disparity, name);
    const View<float> to =
        view_of(&given(result, "the result of heights"), result_pitch, size, "the result of heights");
    const Image<float> added = height_of(checked_on_host(field, size, name), scale, offset);
    const View<const float> means = filter(added);
    for (int y = 0; y < size.height; ++y) std::copy_n(means.row(y), size.width, to.row(y));
  });
}

parafield_code parafield_heights_move(parafield_heights* heights, const parafield_field* flow) {
  return guarded([&] {
    auto& [used, filter, size] = given(heights, "the filter of heights");
    const Use use(used, "the filter of heights");
    const FlowField field = read_flow(flow, "the flow");
    filter.move(checked_on_host(field, size, "the flow"));
  });
}
