// SPDX-License-Identifier: MIT
#pragma once
#include "c/call.hpp"
#include "parafield/detection.hpp"
#include "parafield/flow.hpp"
#include "parafield/stereo.hpp"

/// The caller's frames and fields as types of the library. The functions throw Error(invalid_argument), and
/// Error(unsupported) like read_struct.
namespace parafield::c {

/// `name` is for messages.
Frame read_frame_struct(const parafield_frame* frame, const char* name);

/// Return a task's field that refers to the caller's planes. They also throw for planes of other tasks and
/// for a field without planes.
FlowField read_flow(const parafield_field* field, const char* name);
DisparityField read_disparity(const parafield_field* field, const char* name);
MotionMask read_mask(const parafield_field* field, const char* name);
template <class Task>
typename Task::Result read_field(const parafield_field* field, const char* name) {
  if constexpr (std::is_same_v<Task, Flow>) return read_flow(field, name);
  if constexpr (std::is_same_v<Task, Stereo>) return read_disparity(field, name);
  if constexpr (std::is_same_v<Task, Detection>) return read_mask(field, name);
}

/// A plane of the caller. Throws for a pitch smaller than a row.
template <class T>
View<T> view_of(T* data, std::ptrdiff_t pitch, Size size, const char* name) {
  const std::ptrdiff_t row = size.width * std::ptrdiff_t(sizeof(T));
  if (pitch == 0) pitch = row;
  if (pitch < row || pitch % std::ptrdiff_t(sizeof(T)) != 0 ||
      reinterpret_cast<std::uintptr_t>(data) % sizeof(T) != 0)
    fail_value(name, " has a pitch of ", pitch, " bytes; a row has ", row,
               ", and data and pitch are multiples of ", sizeof(T));
  return {data, size.width, size.height, pitch};
}

}  // namespace parafield::c
