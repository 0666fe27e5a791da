// SPDX-License-Identifier: MIT
#include "c/fields.hpp"

#include <utility>

namespace parafield::c {
namespace {

Memory memory_of(std::int32_t kind, std::int32_t device, const char* name) {
  if (kind < PARAFIELD_HOST || kind > PARAFIELD_CUDA)
    fail_value(name, ": memory cannot be ", kind,
               "; it is PARAFIELD_HOST, PARAFIELD_PINNED or PARAFIELD_CUDA");
  if (device < 0 || (kind != PARAFIELD_CUDA && device != 0))
    fail_value(name, ": device cannot be ", device,
               kind == PARAFIELD_CUDA ? "; it is 0 or above" : " for host memory");
  return {Memory::Kind(kind), device};
}

/// A field of the caller, whose planes are taken one by one.
class Planes {
 public:
  Planes(const parafield_field* field, const char* name)
      : field_(read_struct(field, name)),
        name_(name),
        memory_(memory_of(field_.memory, field_.device, name)) {
    if (field_.width < 1 || field_.height < 1)
      fail_value(name, " cannot have ", field_.width, "x", field_.height, " pixels");
  }

  template <class T>
  Image<T> take(parafield_plane parafield_field::*member, const char* plane) {
    const parafield_plane asked = std::exchange(field_.*member, {});
    if (!asked.data) return {};
    any_ = true;
    const std::string name = std::string(name_) + ": plane " + plane;
    const View<T> view =
        view_of(static_cast<T*>(asked.data), asked.pitch, {field_.width, field_.height}, name.c_str());
    return Image<T>(view, memory_);
  }

  /// Throws for a field without planes, and for planes that have not been taken.
  void check_taken(const char* wanted) const {
    if (!any_) fail_value(name_, " has no plane: expected ", wanted);
    for (const parafield_plane& plane :
         {field_.u, field_.v, field_.d, field_.moving, field_.valid, field_.confidence})
      if (plane.data) fail_value(name_, " has a plane of another task: expected ", wanted);
  }

 private:
  parafield_field field_;
  const char* name_;
  Memory memory_;
  bool any_ = false;
};

}  // namespace

Frame read_frame_struct(const parafield_frame* frame, const char* name) {
  const parafield_frame given = read_struct(frame, name);
  if (given.format < PARAFIELD_GRAY_U8 || given.format > PARAFIELD_BGRA_U8)
    fail_value(name, ": format cannot be ", given.format,
               "; allowed: PARAFIELD_GRAY_U8 to PARAFIELD_BGRA_U8, 0 to ", int(PARAFIELD_BGRA_U8));
  if (given.reserved != 0) fail_value(name, ": reserved cannot be ", given.reserved, "; it must be 0");
  return {given.data,
          given.width,
          given.height,
          given.pitch,
          PixelFormat(given.format),
          memory_of(given.memory, given.device, name),
          {given.black, given.white}};
}

FlowField read_flow(const parafield_field* field, const char* name) {
  Planes planes(field, name);
  FlowField flow;
  flow.u = planes.take<float>(&parafield_field::u, "u");
  flow.v = planes.take<float>(&parafield_field::v, "v");
  flow.valid = planes.take<std::uint8_t>(&parafield_field::valid, "valid");
  flow.confidence = planes.take<float>(&parafield_field::confidence, "confidence");
  planes.check_taken("u and v, and optionally valid and confidence");
  return flow;
}

DisparityField read_disparity(const parafield_field* field, const char* name) {
  Planes planes(field, name);
  DisparityField disparity;
  disparity.d = planes.take<float>(&parafield_field::d, "d");
  disparity.valid = planes.take<std::uint8_t>(&parafield_field::valid, "valid");
  disparity.confidence = planes.take<float>(&parafield_field::confidence, "confidence");
  planes.check_taken("d, and optionally valid and confidence");
  return disparity;
}

MotionMask read_mask(const parafield_field* field, const char* name) {
  Planes planes(field, name);
  MotionMask mask;
  mask.moving = planes.take<std::uint8_t>(&parafield_field::moving, "moving");
  mask.valid = planes.take<std::uint8_t>(&parafield_field::valid, "valid");
  mask.confidence = planes.take<float>(&parafield_field::confidence, "confidence");
  planes.check_taken("moving, and optionally valid and confidence");
  return mask;
}

}  // namespace parafield::c
