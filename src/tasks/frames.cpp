// SPDX-License-Identifier: MIT
#include "tasks/estimator.hpp"

namespace parafield {

void check_size(Size size) {
  if (size.width < 1 || size.height < 1)
    fail(ErrorCode::invalid_argument, "frames cannot have ", size.width, "x", size.height, " pixels");
  constexpr int longest_side = 500'000;  // CUDA allows 65535 rows of blocks, and some blocks have 8 rows
  if (size.width > longest_side || size.height > longest_side ||
      std::int64_t(size.width) * size.height > most_pixels)
    fail(ErrorCode::invalid_argument, "frames of ", size.width, "x", size.height,
         " pixels are too large: at most ", longest_side, " a side and ", most_pixels, " in all");
}

Frame checked(const Frame& frame, const char* name, Size size, const Device& device) {
  if (!frame.data) fail(ErrorCode::invalid_argument, name, " has no data");
  if (frame.size() != size)
    fail(ErrorCode::invalid_argument, name, " is ", frame.width, "x", frame.height, ", expected ", size.width,
         "x", size.height);
  Frame result = frame;
  result.pitch = pitch_of(frame);
  if (result.pitch < row_bytes(frame))
    fail(ErrorCode::invalid_argument, name, " has a pitch of ", frame.pitch, " bytes; a row of ", frame.width,
         " ", to_string(frame.format), " pixels has ", row_bytes(frame));
  check_range(frame, name);
  const int sample_bytes = bytes_per_value(frame.format);
  if (result.pitch % sample_bytes != 0 ||
      reinterpret_cast<std::uintptr_t>(frame.data) % std::uintptr_t(sample_bytes) != 0)
    fail(ErrorCode::invalid_argument, name, ": data and pitch (", frame.pitch, ") of ",
         to_string(frame.format), " must be multiples of ", sample_bytes, " bytes");
  if (!frame.memory.on_host() && (device.kind != Device::Kind::cuda || frame.memory.device != device.index))
    fail(ErrorCode::invalid_argument, name, " is in the memory of cuda:", frame.memory.device,
         ", the estimator runs on ", to_string(device));
  return result;
}

void check_output(Size plane, Memory memory, std::ptrdiff_t pitch, std::ptrdiff_t value_bytes, Size size,
                  Memory expected) {
  if (plane != size)
    fail(ErrorCode::invalid_argument, "a plane of the output is ", plane.width, "x", plane.height,
         ", the frames are ", size.width, "x", size.height);
  if (memory.on_host() != expected.on_host() || (!memory.on_host() && memory.device != expected.device))
    fail(ErrorCode::invalid_argument, "a plane of the output is in ", memory.on_host() ? "host" : "CUDA",
         " memory; results are where the frames are");
  if (pitch < size.width * value_bytes || pitch % value_bytes != 0)
    fail(ErrorCode::invalid_argument, "a plane of the output has a pitch of ", pitch, " bytes; a row has ",
         size.width * value_bytes, ", and it must be a multiple of ", value_bytes);
}

static void check_start_size(Size start, Size size) {
  if (start != size)
    fail(ErrorCode::invalid_argument, "the start is ", start.width, "x", start.height, ", the frames are ",
         size.width, "x", size.height);
}
void check_start(const FlowView& start, Size size) {
  check_start_size(start.size(), size);
  check_flow(start, "the start");
}
void check_start(const DisparityView& start, Size size) {
  check_start_size(start.size(), size);
  check_disparity(start, "the start");
}
void check_start(const MotionMaskView& start, Size size) {
  check_start_size(start.size(), size);
  if (!start.moving) fail(ErrorCode::invalid_argument, "the start has no pixels");
  check_pitch(start.moving, "the start");
}

}  // namespace parafield
