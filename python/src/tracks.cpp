// SPDX-License-Identifier: MIT
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <atomic>

#include "cameras.hpp"
#include "estimation.hpp"
#include "interrupt.hpp"
#include "pictures.hpp"
#include "signatures.hpp"
#include "structs.hpp"

namespace parafield::python {

nb::object track_array(const std::vector<Track>& tracks) { return rows_array<float>(tracks); }

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
    fail("rotation is of type ", type_text(rotation), "; it must be a CameraRotation");
  known.rotation = nb::cast<const CameraRotation&>(rotation);
}

void bind_tracks(nb::module_& module) {
  using Camera = CameraRotation;
  nb::class_<Camera> type(
      module, "CameraRotation",
      "A camera's rotation between two frames.\n\n"
      "It turns about the axis (x, y, z), in the camera's coordinates (x to the right, y down, z forward), "
      "by the vector's length in radians. fx and fy are the focal lengths and cx, cy the principal point, "
      "px.");
  type.def(
      "__init__",
      [](Camera* self, float x, float y, float z, float fx, float fy, float cx, float cy) {
        const Camera rotation{x, y, z, fx, fy, cx, cy};
        check(rotation);
        new (self) Camera(rotation);
      },
      nb::arg("x"), nb::arg("y"), nb::arg("z"), nb::kw_only(), nb::arg("fx"), nb::arg("fy"), nb::arg("cx"),
      nb::arg("cy"));
  bind_members(type, "CameraRotation", StructField("x", &Camera::x), StructField("y", &Camera::y),
               StructField("z", &Camera::z), StructField("fx", &Camera::fx), StructField("fy", &Camera::fy),
               StructField("cx", &Camera::cx), StructField("cy", &Camera::cy));
  bind_comparison(type, [](const Camera& self) {
    return std::tuple(self.x, self.y, self.z, self.fx, self.fy, self.cx, self.cy);
  });
  define<
      "find_tracks(frame0, frame1, device, *, axes, range, channels, threads, **parameters) -> "
      "array[float32]">(
      module,
      [](nb::handle frame0, nb::handle frame1, nb::handle device, nb::handle axes, nb::handle range,
         nb::handle channels, nb::handle threads, const nb::kwargs& parameters) {
        FeatureTracking tracking;
        for (const auto [name, value] : parameters) set_by_name(tracking.name, name, value, tracking);
        check(tracking);
        const PlacedPair pair(frame0, frame1, device, threads, read_layout(axes, range, channels),
                              "find_tracks", {"frame0", "frame1"});
        std::vector<Track> tracks;
        std::atomic<bool> cancelled = false;
        const auto work = [&] {
          pair.wait();  // the features are returned in host memory, so they need the frames in any case
          tracks = find_tracks(pair.frames[0].first, pair.frames[1].first, tracking, pair.device, &cancelled);
        };
        run_without_lock(true, work, [&] { cancelled = true; });
        return track_array(tracks);
      },
      "Features of frame0 and their flow to frame1: a NumPy array N x 4 of x, y, u and v, px.\n\n"
      "Frames are as in estimate_flow. Parameters are those of FeatureTracking. Raises Error.");
}

}  // namespace parafield::python
