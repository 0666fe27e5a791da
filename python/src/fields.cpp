// SPDX-License-Identifier: MIT
#include "fields.hpp"

#include <cstring>
#include <vector>

namespace parafield::python {
namespace {

/// Copies the planes between fields of the same size, planes and number of frames.
template <class Task>
void copy_planes(const Field<Task>& source, Field<Task>& to) {
  Field<Task> from;
  static_cast<Planes&>(from) = source;
  const std::size_t pixels = std::size_t(from.pixels()) * std::size_t(from.count);
  std::vector<const void*> arrays;
  from.each_array([&](const auto* array, int) { arrays.push_back(array); });
  auto next = arrays.begin();
  to.each_array([&]<class T>(T* array, int planes) {
    const void* const values = *next++;
    if (values) std::memcpy(array, values, pixels * sizeof(T) * std::size_t(planes));
  });
}

/// Returns the field with its planes in `storage`, which must hold a copy of the field's storage.
template <class Task>
Field<Task> moved_to(const std::shared_ptr<Storage>& storage, const Field<Task>& field) {
  Field<Task> moved;
  static_cast<Planes&>(moved) = field;
  const std::ptrdiff_t distance = storage->data - field.storage->data;
  moved.each_array([&]<class T>(T*& pointer, int) {
    if (pointer) pointer = reinterpret_cast<T*>(reinterpret_cast<char*>(pointer) + distance);
  });
  moved.storage = storage;
  return moved;
}

bool has_covariance(const FlowField& flow) { return bool(flow.covariance); }
bool has_covariance(const DisparityField& disparity) { return bool(disparity.sigma); }

}  // namespace

template <class Task>
Field<Task> on_host(const Field<Task>& field) {
  if (field.storage->memory.on_host()) return field;
  return moved_to(copy_to_host(*field.storage), field);
}

template <class Task>
Field<Task> copied(const Field<Task>& field) {
  if (!field.storage->memory.on_host())
    return field.storage->array ? moved_to(copy_on_device(*field.storage), field) : on_host(field);
  Array like;
  like.library = field.storage->library;
  like.object = field.storage->like;
  Field<Task> copy =
      field_in<Task>(make_storage(like, bytes_of_results<Task>(field.size, field.count, field.has()), false),
                     field.size, field.count, field.stacked, field.has());
  copy_planes(field, copy);
  return copy;
}

template <class Task>
Field<Task> numpy_field(const typename Task::Result& result) {
  Field<Task> field =
      host_field<Task>(result.size(), {.confidence = bool(result.confidence),
                                       .covariance = has_covariance(result),
                                       .outlier = bool(result.outlier) && bool(result.outlier3),
                                       .cause = bool(result.cause)});
  typename Task::Result planes = field.result(0);
  detail::for_each_plane(result, planes, [](const auto& from, auto& to) {
    if (from && to) to.take(from);
  });
  if (!result.valid) std::memset(field.valid, 1, std::size_t(field.pixels()));
  return field;
}

template Field<Flow> on_host(const Field<Flow>&);
template Field<Stereo> on_host(const Field<Stereo>&);
template Field<Detection> on_host(const Field<Detection>&);
template Field<Flow> copied(const Field<Flow>&);
template Field<Stereo> copied(const Field<Stereo>&);
template Field<Detection> copied(const Field<Detection>&);
template Field<Flow> numpy_field<Flow>(const FlowField&);
template Field<Stereo> numpy_field<Stereo>(const DisparityField&);

}  // namespace parafield::python
