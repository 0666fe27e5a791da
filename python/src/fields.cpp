// SPDX-License-Identifier: MIT
#include "fields.hpp"

#include <cstring>

namespace parafield::python {
namespace {

/// Copies the planes between fields of the same size and number of frames.
template <class Task>
void copy_planes(const Field<Task>& from, Field<Task>& to) {
  const std::size_t pixels = std::size_t(from.pixels()) * std::size_t(from.count);
  if (from.values) std::memcpy(to.values, from.values, pixels * 4 * from.components);
  if (from.confidence) std::memcpy(to.confidence, from.confidence, pixels * 4);
  if (from.moving) std::memcpy(to.moving, from.moving, pixels);
  if (from.valid) std::memcpy(to.valid, from.valid, pixels);
}

/// Returns the field with its planes in `storage`, which must hold a copy of the field's storage.
template <class Task>
Field<Task> moved_to(const std::shared_ptr<Storage>& storage, const Field<Task>& field) {
  Field<Task> moved;
  static_cast<Planes&>(moved) = field;
  const std::ptrdiff_t distance = storage->data - field.storage->data;
  const auto move = [&]<class T>(T*& pointer) {
    if (pointer) pointer = reinterpret_cast<T*>(reinterpret_cast<char*>(pointer) + distance);
  };
  move(moved.values);
  move(moved.confidence);
  move(moved.moving);
  move(moved.valid);
  moved.storage = storage;
  return moved;
}

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
  Field<Task> copy = field_in<Task>(
      make_storage(like, bytes_of_results<Task>(field.size, field.count, field.confidence, field.valid),
                   false),
      field.size, field.count, field.stacked, field.confidence, field.valid);
  copy_planes(field, copy);
  return copy;
}

template <class Task>
Field<Task> numpy_field(const typename Task::Result& result) {
  Field<Task> field = host_field<Task>(result.size(), bool(result.confidence));
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
