// SPDX-License-Identifier: MIT
// The functions of the C interface that need no estimator, and its errors.
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "c/c_support.hpp"
#include "c/call.hpp"
#include "c/json.hpp"
#include "parafield/boxes.hpp"
#include "parafield/heights.hpp"
#include "parafield/tracks.hpp"
#include "parafield/version.hpp"

namespace parafield {
namespace {

std::string text_from(parafield_code (*call)(char*, std::size_t, std::size_t*)) {
  std::size_t length = 0;
  EXPECT_OK(call(nullptr, 0, &length));
  std::string text(length + 1, '?');
  EXPECT_FAILS(call(text.data(), length, &length), PARAFIELD_TOO_SMALL, "with the 0 at the end");
  EXPECT_EQ(text[0], '?');
  EXPECT_OK(call(text.data(), length + 1, &length));
  EXPECT_EQ(text[length], 0);
  EXPECT_INVALID(call(text.data(), length + 1, nullptr), "is null");
  EXPECT_INVALID(call(nullptr, 1, &length), "the buffer of the text is null");
  text.resize(length);
  return text;
}

TEST(CLibrary, HasTheVersionOfTheHeaders) { EXPECT_STREQ(parafield_version(), version()); }

TEST(CLibrary, ListsDevices) {
  const std::string text = text_from(parafield_devices);
  EXPECT_TRUE(text.starts_with("{\"devices\": [{\"device\": \"cpu\", \"device_name\": \"")) << text;
  EXPECT_TRUE(contains(text, why_no_cuda().empty() ? "\"why_no_cuda\": null}" : c::json(why_no_cuda()) + "}"))
      << text;
}

TEST(CLibrary, ListsMethods) {  // a test of the command compares them with `parafield methods --json`
  const std::string text = text_from(parafield_methods);
  for (const char* part : {"{\"flow\": {\"methods\": [{\"name\": \"adaptive-ridge\"",
                           "\"options\": [{\"name\": \"fb_check\", \"type\": \"float\"",
                           "\"stereo\": {\"methods\": [{\"name\": \"belief-propagation\"",
                           "\"detection\": {\"methods\": [{\"name\": \"icm\""})
    EXPECT_TRUE(contains(text, part)) << part;
}

TEST(CLibrary, StartsDevices) {
  EXPECT_OK(parafield_start("cpu"));
  EXPECT_INVALID(parafield_start(nullptr), "the name of the device is null");
  EXPECT_INVALID(parafield_start("tpu"), "there is no device 'tpu'");
  EXPECT_FAILS(parafield_start("cuda:77"), PARAFIELD_DEVICE, "");
  EXPECT_OK(parafield_wait_for("cpu", nullptr, nullptr));
  EXPECT_INVALID(parafield_wait_for(nullptr, nullptr, nullptr), "the name of the device is null");
  EXPECT_INVALID(parafield_wait_for("cuda:0", nullptr, nullptr), "cannot be null");
}

TEST(CLibrary, KeepsTheErrorOfEachThread) {
  EXPECT_INVALID(parafield_start("mine"), "'mine'");
  std::thread([] {
    EXPECT_STREQ(parafield_error_text(), "");
    EXPECT_INVALID(parafield_start("theirs"), "'theirs'");
  }).join();
  EXPECT_OK(parafield_start("cpu"));  // success does not change the text
  EXPECT_TRUE(contains(parafield_error_text(), "'mine'"));
}

TEST(CLibrary, TurnsEveryExceptionIntoACode) {
  using c::guarded;
  const auto thrown = [](auto error) { return guarded([&] { throw error; }); };
  EXPECT_FAILS(thrown(Error(ErrorCode::format, "a")), PARAFIELD_FORMAT, "a");
  EXPECT_FAILS(thrown(Error(ErrorCode::memory, "b")), PARAFIELD_MEMORY, "b");
  EXPECT_FAILS(thrown(std::bad_alloc()), PARAFIELD_MEMORY, "cannot allocate host memory");
  EXPECT_FAILS(thrown(std::runtime_error("c")), PARAFIELD_FAILED, "c");
  EXPECT_FAILS(thrown(1), PARAFIELD_FAILED, "an unknown error");
  EXPECT_EQ(guarded([] {}), PARAFIELD_OK);
  // A long text ends before a character that does not fit.
  EXPECT_EQ(thrown(Error(ErrorCode::device, std::string(1022, 'x') + "é")), PARAFIELD_DEVICE);
  EXPECT_EQ(parafield_error_text(), std::string(1022, 'x'));
  EXPECT_EQ(thrown(Error(ErrorCode::device, std::string(1023, 'x'))), PARAFIELD_DEVICE);
  EXPECT_EQ(parafield_error_text(), std::string(1023, 'x'));
}

TEST(CLibrary, WritesJson) {
  EXPECT_EQ(c::json("a \"b\" \\ \n"), "\"a \\\"b\\\" \\\\ ?\"");
  EXPECT_EQ(c::json(0.1f), "0.1");
  EXPECT_EQ(c::json(std::numeric_limits<float>::infinity()), "null");
  EXPECT_EQ(c::json(true), "true");
  EXPECT_EQ(c::array({}), "[]");
  EXPECT_EQ(c::object({{"a", c::array({"1", "2"})}, {"b", c::json(3)}}), "{\"a\": [1, 2], \"b\": 3}");
}

TEST(CLibrary, FindsTracks) {
  const Scene scene = render_scene("translation", {.size = c_size});
  const std::vector<Track> expected =
      find_tracks(scene.frames[0], scene.frames[1], FeatureTracking{.max_features = 50}, Device::cpu());
  ASSERT_FALSE(expected.empty());
  const parafield_frame frame0 = c_frame(scene.frames[0]), frame1 = c_frame(scene.frames[1]);
  const parafield_option options[] = {{"max_features", "50"}, {"device", "cpu"}};
  std::vector<parafield_track> tracks(50);
  std::size_t count = 0;
  EXPECT_OK(parafield_find_tracks(&frame0, &frame1, options, 2, tracks.data(), tracks.size(), &count));
  ASSERT_EQ(count, expected.size());
  EXPECT_EQ(std::memcmp(tracks.data(), expected.data(), count * sizeof(Track)), 0);
  EXPECT_OK(parafield_find_tracks(&frame0, &frame1, options, 2, nullptr, 0, &count));
  EXPECT_EQ(count, expected.size());
  EXPECT_OK(parafield_find_tracks(&frame0, &frame1, nullptr, 0, nullptr, 0, &count));
  EXPECT_FAILS(
      parafield_find_tracks(&frame0, &frame1, options, 2, tracks.data(), expected.size() - 1, &count),
      PARAFIELD_TOO_SMALL, "the buffer of tracks has room for");
  EXPECT_INVALID(parafield_find_tracks(&frame0, &frame1, options, 2, nullptr, 9, &count),
                 "the buffer of tracks is null");
  EXPECT_INVALID(parafield_find_tracks(&frame0, &frame1, options, 2, nullptr, 0, nullptr), "count is null");
  EXPECT_INVALID(parafield_find_tracks(nullptr, &frame1, options, 2, nullptr, 0, &count), "frame0 is null");
  EXPECT_INVALID(parafield_find_tracks(&frame0, nullptr, options, 2, nullptr, 0, &count), "frame1 is null");
  const parafield_option wrong[] = {{"max_feature", "50"}};
  EXPECT_INVALID(parafield_find_tracks(&frame0, &frame1, wrong, 1, nullptr, 0, &count),
                 "there is no option of feature tracking 'max_feature' (did you mean 'max_features'?)");
}

TEST(CLibrary, FindsBoxes) {
  MotionMask mask(c_size);
  for (int y = 5; y < 9; ++y)
    for (int x = 10; x < 20; ++x) mask.moving(x, y) = 1;
  mask.moving(40, 30) = 1;
  parafield_field field = c_field(mask);
  parafield_box boxes[2] = {};
  std::size_t count = 0;
  EXPECT_OK(parafield_find_boxes(&field, 1, boxes, 2, &count));
  ASSERT_EQ(count, 2u);
  const parafield_box& first = boxes[0];
  EXPECT_EQ((Box{first.x, first.y, first.width, first.height, first.area}), (Box{10, 5, 10, 4, 40}));
  EXPECT_OK(parafield_find_boxes(&field, 2, boxes, 2, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_FAILS(parafield_find_boxes(&field, 1, boxes, 1, &count), PARAFIELD_TOO_SMALL,
               "has room for 1; 2 are needed");
  EXPECT_EQ(count, 2u);
  EXPECT_INVALID(parafield_find_boxes(&field, 0, boxes, 2, &count), "0");
  EXPECT_INVALID(parafield_find_boxes(&field, 1, nullptr, 2, &count), "the buffer of boxes is null");
  EXPECT_INVALID(parafield_find_boxes(&field, 1, boxes, 2, nullptr), "is null");
  EXPECT_INVALID(parafield_find_boxes(nullptr, 1, boxes, 2, &count), "the mask is null");
  field.moving = {};
  EXPECT_INVALID(parafield_find_boxes(&field, 1, boxes, 2, &count), "the mask has no plane moving");
}

TEST(CLibrary, SmoothsHeights) {
  DisparityField disparity(c_size);
  FlowField flow(c_size);
  for (int y = 0; y < c_size.height; ++y)
    for (int x = 0; x < c_size.width; ++x) {
      disparity.d(x, y) = float(x % 7);
      disparity.valid(x, y) = x != 3;
      flow.u(x, y) = flow.valid(x, y) = 1;
    }
  HeightFilter expected(c_size, {.frames = 3, .tolerance = 2});
  parafield_heights* heights = nullptr;
  ASSERT_OK(parafield_heights_create(c_size.width, c_size.height, 3, 2, &heights));
  parafield_field stereo = c_field(disparity), motion = c_field(flow);
  const std::ptrdiff_t pitch = 64 * sizeof(float);
  std::vector<float> result(64 * std::size_t(c_size.height), -1);
  for (int frame = 0; frame < 3; ++frame) {
    const Image<float> added = height_of(disparity, 0.5, 1);
    const View<const float> right = expected(added);
    ASSERT_OK(parafield_heights_add(heights, &stereo, 0.5, 1, result.data(), pitch));
    EXPECT_EQ(std::isnan(result[3]), frame == 0);  // later, a mean has moved there
    for (int y = 0; y < c_size.height; ++y) {
      EXPECT_EQ(std::memcmp(&result[std::size_t(y) * 64], right.row(y), c_size.width * sizeof(float)), 0);
      EXPECT_EQ(result[std::size_t(y) * 64 + 60], -1);
    }
    expected.move(flow);
    ASSERT_OK(parafield_heights_move(heights, &motion));
  }
  const auto add = [&](double scale, double offset) {
    return parafield_heights_add(heights, &stereo, scale, offset, result.data(), pitch);
  };
  EXPECT_INVALID(add(0, 1), "scale of heights cannot be 0");
  EXPECT_INVALID(add(std::nan(""), 1), "scale of heights cannot be");
  EXPECT_INVALID(add(1, std::nan("")), "offset of heights cannot be");
  EXPECT_INVALID(parafield_heights_add(heights, &stereo, 1, 0, nullptr, 0), "the result of heights is null");
  EXPECT_INVALID(parafield_heights_add(heights, &stereo, 1, 0, result.data(), 8),
                 "pitch of 8 bytes; a row has 192");
  EXPECT_INVALID(parafield_heights_add(heights, &motion, 1, 0, result.data(), pitch), "expected d");
  EXPECT_INVALID(parafield_heights_add(heights, nullptr, 1, 0, result.data(), pitch),
                 "the disparity field is null");
  EXPECT_INVALID(parafield_heights_add(nullptr, &stereo, 1, 0, result.data(), pitch),
                 "the filter of heights is null");
  EXPECT_INVALID(parafield_heights_move(heights, &stereo), "expected u and v");
  EXPECT_INVALID(parafield_heights_move(heights, nullptr), "the flow is null");
  EXPECT_INVALID(parafield_heights_move(nullptr, &motion), "the filter of heights is null");
  stereo.width = 40;
  EXPECT_INVALID(add(1, 0), "has 40x40 pixels, the filter of heights 48x40");
  motion.memory = PARAFIELD_CUDA;
  EXPECT_INVALID(parafield_heights_move(heights, &motion), "the flow is not in host memory");
  motion = c_field(flow);
  motion.u = {};
  EXPECT_INVALID(parafield_heights_move(heights, &motion), "the flow has");
  EXPECT_OK(parafield_heights_destroy(heights));
  EXPECT_OK(parafield_heights_destroy(nullptr));
  EXPECT_INVALID(parafield_heights_create(0, 40, 3, 2, &heights), "at least one pixel");
  EXPECT_EQ(heights, nullptr);
  EXPECT_INVALID(parafield_heights_create(48, 40, 0, 2, &heights), "frames cannot be 0");
  EXPECT_INVALID(parafield_heights_create(48, 40, 3, std::nanf(""), &heights), "tolerance cannot be nan");
  EXPECT_INVALID(parafield_heights_create(48, 40, 3, 2, nullptr), "pointer to the filter is null");
}

}  // namespace
}  // namespace parafield
