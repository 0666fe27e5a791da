#include "tasks/session.hpp"

namespace parafield {

Frame checked(const Frame& frame, const char* name, Size size, const Device& device) {
  if (!frame.data) fail(ErrorCode::invalid_argument, name, " has no data");
  if (frame.size() != size)
    fail(ErrorCode::invalid_argument, name, " is ", frame.width, "x", frame.height, ", expected ", size.width,
         "x", size.height);
  Frame result = frame;
  const std::ptrdiff_t row_bytes = std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format);
  if (frame.pitch == 0) result.pitch = row_bytes;
  if (result.pitch < row_bytes)
    fail(ErrorCode::invalid_argument, name, " has a pitch of ", frame.pitch, " bytes; a row of ", frame.width,
         " ", to_string(frame.format), " pixels has ", row_bytes);
  const int sample_bytes = bytes_per_pixel(frame.format) / channels(frame.format);
  if (result.pitch % sample_bytes != 0 ||
      reinterpret_cast<std::uintptr_t>(frame.data) % std::uintptr_t(sample_bytes) != 0)
    fail(ErrorCode::invalid_argument, name, ": data and pitch (", frame.pitch, ") of ",
         to_string(frame.format), " must be multiples of ", sample_bytes, " bytes");
  if (!frame.memory.on_host() && (device.kind != Device::Kind::cuda || frame.memory.device != device.index))
    fail(ErrorCode::invalid_argument, name, " is in the memory of cuda:", frame.memory.device,
         ", the estimator runs on ", to_string(device));
  return result;
}

}  // namespace parafield
