// SPDX-License-Identifier: MIT
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "tracks.hpp"

namespace parafield::python {
namespace {

using CameraValues = std::tuple<float, float, float, float, float, float, float>;
CameraValues values_of(const CameraRotation& camera) {
  return {camera.x, camera.y, camera.z, camera.fx, camera.fy, camera.cx, camera.cy};
}

}  // namespace

nb::object track_array(const std::vector<Track>& tracks) {
  const auto storage = make_host_storage(std::max<std::size_t>(1, tracks.size()) * sizeof(Track));
  std::copy(tracks.begin(), tracks.end(), reinterpret_cast<Track*>(storage->data));
  return array_in(storage, storage->data, nb::dtype<float>(), {tracks.size(), 4}, {4, 1});
}

std::vector<Track> read_track_array(nb::handle object, const std::string& name) {
  const nb::object array = as_plane(object, name, "float32");
  const nb::object shape = array.attr("shape");
  if (nb::len(shape) != 2 || !shape[1].equal(nb::int_(4)))
    fail(name, " has the shape ", str_text(shape), "; expected N x 4: x, y, u, v");
  const auto* const first = data_of<Track>(array);
  return {first, first + nb::cast<std::size_t>(shape[0])};
}

void read_motion(nb::handle tracks, nb::handle rotation, const FrameStack& frames, Known<Flow>& known) {
  if (!tracks.is_none()) known.tracks = read_track_array(tracks, "tracks");
  if (known.tracks && !frames.array.memory.on_host()) {
    const int floats = int(4 * known.tracks->size());
    known.tracks_on_device = Image<float>({std::max(1, floats), 1}, frames.array.memory);
    if (floats > 0)
      detail::copy(known.tracks_on_device.view().data, floats * 4, frames.array.memory, known.tracks->data(),
                   floats * 4, Memory::host(), floats * 4, 1);
  }
  if (rotation.is_none()) return;
  if (!nb::isinstance<CameraRotation>(rotation))
    fail("rotation is of type ", type_text(rotation), "; it has to be a CameraRotation");
  known.rotation = nb::cast<const CameraRotation&>(rotation);
}

void bind_tracks(nb::module_& module) {
  nb::class_<CameraRotation>(
      module, "CameraRotation",
      "A camera's turn from one frame to the next.\n\n"
      "It turns about the axis (x, y, z), in the camera's coordinates (x to the right, y down, z forward), "
      "by the vector's length in radians. fx and fy are the focal lengths and cx, cy the principal point, "
      "px.")
      .def(
          "__init__",
          [](CameraRotation* self, float x, float y, float z, float fx, float fy, float cx, float cy) {
            const CameraRotation rotation{x, y, z, fx, fy, cx, cy};
            check(rotation);
            new (self) CameraRotation(rotation);
          },
          nb::arg("x"), nb::arg("y"), nb::arg("z"), nb::kw_only(), nb::arg("fx"), nb::arg("fy"),
          nb::arg("cx"), nb::arg("cy"))
      .def_ro("x", &CameraRotation::x)
      .def_ro("y", &CameraRotation::y)
      .def_ro("z", &CameraRotation::z)
      .def_ro("fx", &CameraRotation::fx)
      .def_ro("fy", &CameraRotation::fy)
      .def_ro("cx", &CameraRotation::cx)
      .def_ro("cy", &CameraRotation::cy)
      .def("__repr__",
           [](const CameraRotation& self) {
             const auto text = [](float value) { return detail::text_of(value); };
             return "CameraRotation(" + text(self.x) + ", " + text(self.y) + ", " + text(self.z) +
                    ", fx=" + text(self.fx) + ", fy=" + text(self.fy) + ", cx=" + text(self.cx) +
                    ", cy=" + text(self.cy) + ")";
           })
      .def(
          "__eq__",
          [](const CameraRotation& self, nb::handle other) {
            return nb::isinstance<CameraRotation>(other) &&
                   values_of(self) == values_of(nb::cast<const CameraRotation&>(other));
          },
          nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__", [](const CameraRotation& self) { return nb::hash(nb::cast(values_of(self))); })
      .def("__getstate__", [](const CameraRotation& self) { return values_of(self); })
      .def("__setstate__", [](CameraRotation& self, const CameraValues& values) {
        const auto [x, y, z, fx, fy, cx, cy] = values;
        new (&self) CameraRotation{x, y, z, fx, fy, cx, cy};
      });
  module.def(
      "find_tracks",
      [](nb::handle frame0, nb::handle frame1, nb::handle device, nb::handle axes, nb::handle range,
         nb::handle channels, nb::handle threads, const nb::kwargs& parameters) {
        FeatureTracking tracking;
        for (const auto [name, value] : parameters) set_by_name(tracking.name, name, value, tracking);
        check(tracking);
        const FrameLayout layout = read_layout(axes, range, channels);
        FrameStack frames[] = {read_frames(frame0, "frame0", layout), read_frames(frame1, "frame1", layout)};
        for (const FrameStack& frame : frames)
          if (frame.stacked) fail(frame.array.name, " is a stack; find_tracks takes single frames");
        match(frames, layout);
        const int count = read_threads(threads);
        const Device chosen = device_for(read_device(device, count), count, frames[0]);
        if (!frames[0].array.memory.on_host()) {
          // The call returns features in host memory, so it must wait for the frames in any case.
          const Device own = Device::cuda(frames[0].array.memory.device);
          Timer wait(own, Stream{frames[0].array.stream});
          const nb::gil_scoped_release released;
          wait.start();
          wait.stop();
        }
        std::vector<Track> tracks;
        {
          const nb::gil_scoped_release released;
          tracks = find_tracks(frames[0].first, frames[1].first, tracking, chosen);
        }
        return track_array(tracks);
      },
      nb::arg("frame0").none(), nb::arg("frame1").none(), nb::arg("device") = nb::none(), nb::kw_only(),
      nb::arg("axes") = nb::none(), nb::arg("range") = nb::none(), nb::arg("channels") = nb::none(),
      nb::arg("threads") = nb::none(), nb::arg("parameters"),
      nb::sig("def find_tracks(frame0: typing.Any, frame1: typing.Any, device: str | None = None, *, axes: "
              "typing.Literal[\"hw\", \"hwc\", \"chw\"] | None = None, range: tuple[float, float] | None = "
              "None, channels: typing.Literal[\"rgb\", \"bgr\"] | None = None, threads: int | None = None, "
              "**parameters: bool | int | float | str) -> numpy.typing.NDArray[numpy.float32]"),
      "Features of frame0 and their flow to frame1: an array N x 4 of x, y, u and v, px.\n\n"
      "Frames are as in estimate_flow. The array is NumPy's. Parameters are those of FeatureTracking. Raises "
      "Error.");
}

}  // namespace parafield::python
