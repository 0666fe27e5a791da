// SPDX-License-Identifier: MIT
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <parafield/video.hpp>
#include <string>
#include <utility>
#include <vector>

#include "estimation.hpp"
#include "interrupt.hpp"
#include "pictures.hpp"
#include "signatures.hpp"

namespace parafield::python {
namespace {

using Path = std::filesystem::path;

/// Calls f with the GIL released.
template <class F>
auto unlocked(F f) {
  const nb::gil_scoped_release released;
  return f();
}

/// Iterates over the frames of a FrameSource.
class FrameIterator {
 public:
  FrameIterator(const Path& path, const std::string& variable, const std::string& level)
      : source_(wait_for_result([input = path.string(), variable, level] {
          return std::make_shared<Source>(
              FrameSource(input, {.variable = variable, .level = level, .any_size = true}));
        })) {
    warn();
  }
  nb::object next() {
    const std::optional<VideoFrame> frame = wait_for_result([source = source_] {
      const std::lock_guard lock(source->mutex);  // threads may share an iterator
      std::optional<VideoFrame> next = source->frames.next();
      for (std::string& note : source->frames.take_notes()) source->notes.push_back(std::move(note));
      return next;
    });
    warn();
    if (!frame) throw nb::stop_iteration();
    return frame_array(frame->frame);
  }

 private:
  struct Source {
    explicit Source(FrameSource of) : frames(std::move(of)), notes(frames.take_notes()) {}
    FrameSource frames;
    std::vector<std::string> notes;  // not yet reported to Python
    std::mutex mutex;
  };

  void warn() {
    std::vector<std::string> notes;
    {
      const std::lock_guard lock(source_->mutex);
      notes = std::exchange(source_->notes, {});
    }
    for (const std::string& note : notes) warn_of_file(note);
  }

  std::shared_ptr<Source> source_;
};

/// Iterates over the flow fields of a file.
class FlowIterator {
 public:
  explicit FlowIterator(const Path& path) : reader_(unlocked([&] { return FlowReader(path); })) {}
  int count() const { return reader_.count(); }
  Field<Flow> next() {
    const int index = next_++;
    if (index >= reader_.count()) throw nb::stop_iteration();
    return numpy_field<Flow>(unlocked([&] { return reader_.read(index); }));
  }

 private:
  FlowReader reader_;
  std::atomic<int> next_ = 0;  // threads may share an iterator
};

/// Converts arrays of points and colors, N x 3 each, and standard deviations, N, to points of the library.
/// Points are white if `colors` is None.
std::vector<ColorPoint> read_points(nb::handle points, nb::handle colors, nb::handle sigma) {
  const nb::object places = as_plane(points, "points", "float32");
  const auto check = [](const nb::object& array, const char* name, nb::handle rows) {
    const nb::object shape = array.attr("shape");
    if (nb::len(shape) != 2 || !shape[1].equal(nb::int_(3)) || !(rows.is_none() || shape[0].equal(rows)))
      fail(name, " has the shape ", str_text(shape), "; expected ", rows.is_none() ? "N" : str_text(rows),
           " x 3");
  };
  check(places, "points", nb::none());
  const auto count = nb::cast<std::size_t>(places.attr("shape")[0]);
  std::vector<ColorPoint> all(count, {0, 0, 0, 255, 255, 255});
  const float* const place = data_of<float>(places);
  for (std::size_t i = 0; i < count; ++i)
    all[i].x = place[3 * i], all[i].y = place[3 * i + 1], all[i].z = place[3 * i + 2];
  if (!sigma.is_none()) {
    const nb::object deviations = as_plane(sigma, "sigma", "float32"), shape = deviations.attr("shape");
    if (nb::len(shape) != 1 || !shape[0].equal(nb::int_(count)))
      fail("sigma has the shape ", str_text(shape), "; expected ", count, ", one for each point");
    for (std::size_t i = 0; i < count; ++i) all[i].sigma_z = data_of<float>(deviations)[i];
  }
  if (colors.is_none()) return all;
  const nb::object given =
      with_name("colors", [&] { return nb::module_::import_("numpy").attr("asarray")(colors); });
  if (str_text(given.attr("dtype")) != "uint8")
    fail("colors has values of type ", str_text(given.attr("dtype")), "; expected uint8, 0 to 255");
  const nb::object plane = as_plane(given, "colors", "uint8");
  check(plane, "colors", nb::cast(count));
  const auto* const color = data_of<std::uint8_t>(plane);
  for (std::size_t i = 0; i < count; ++i)
    all[i].red = color[3 * i], all[i].green = color[3 * i + 1], all[i].blue = color[3 * i + 2];
  return all;
}

/// Binds readers and writers of calibrations, depths and points.
void bind_stereo_files(nb::module_& module) {
  define<"read_calibration(path, second: str | os.PathLike[str] | None = None) -> StereoCalibration">(
      module,
      [](const Path& path, const std::optional<Path>& second) {
        const StereoCalibration read =
            unlocked([&] { return read_calibration(path, second.value_or(Path())); });
        if (!read.assumption.empty()) warn_of_pair(str_text(nb::cast(path)) + ": " + read.assumption);
        return read;
      },
      "The calibration of a stereo camera: YAML of OpenCV or ROS, or calib.txt of Middlebury or "
      "KITTI.\n\n"
      "OpenCV's file has K1, D1, K2, D2, R and T, as FileStorage writes them. `second` is a file with the "
      "values that the first one lacks, such as extrinsics.yml. ROS has a camera_info for each camera: both "
      "files are needed. D of 4 values in a column, without a distortion_model in the file, is a fisheye "
      "lens; a PairWarning says what 4 values were taken for.");
  define<"write_depth(path, depth, scale: float = 1000) -> None">(
      module,
      [](const Path& path, nb::handle depth, float scale) {
        const Field<Stereo> plane = field_from<Stereo>({{depth, "depth"}});
        const DepthLoss loss = unlocked([&] { return write_depth(path, plane.result(0).d.view(), scale); });
        if (loss.lost > 0)
          warn_of_range(str_text(nb::cast(path)) + ": " + std::to_string(loss.lost) + " of " +
                        std::to_string(loss.known) +
                        " depths do not fit into 16 bits and are stored as 0; the "
                        "scale is " +
                        str_text(nb::float_(scale)));
      },
      "Writes depths, H x W, in the format of the extension: .pfm and .npy store them unchanged, .png stores "
      "depth * scale in 16 bits: by default millimeters of depths in meters. A RangeWarning says how many "
      "depths do not fit.");
  define<"write_points(path, points, colors = None, sigma = None) -> None">(
      module,
      [](const Path& path, nb::handle points, nb::handle colors, nb::handle sigma) {
        const std::vector<ColorPoint> all = read_points(points, colors, sigma);
        unlocked([&] { write_points(path, all); });
      },
      "Writes points, N x 3, and their colors, N x 3 (uint8), as a binary .ply file. Without colors they are "
      "white. `sigma`, N, are the standard deviations of z.");
}

}  // namespace

void bind_files(nb::module_& module) {
  nb::class_<FrameIterator>(module, "FrameIterator",
                            "Frames of a file, a folder, a video or a pipe: see read_frames.")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __iter__(self) -> FrameIterator"))
      .def("__next__", &FrameIterator::next,
           nb::sig("def __next__(self) -> numpy.typing.NDArray[typing.Any]"));
  define<"read_frames(path, variable: str | None = None, level: str | None = None) -> FrameIterator">(
      module,
      [](const Path& path, const std::optional<std::string>& variable,
         const std::optional<std::string>& level) {
        return new FrameIterator(path, variable.value_or(""), level.value_or(""));
      },
      "An iterator over the frames of a file, a folder, a pattern like frame%04d.png, a video, a camera, a "
      "pipe or "
      "standard input (\"-\").\n\n"
      "NetCDF, TIFF, Y4M, PGM, PPM and PFM files may hold many frames, as may videos, if the package was "
      "built "
      "with "
      "FFmpeg. Each frame is an array as in read_frame. `variable` names the NetCDF variable with the "
      "images, if "
      "several could be meant; `level` chooses a value of its axes other than time, as \"850\" or "
      "\"level=850,member=2\". NetCDF images come in order of time, with the north up.");
  module.def("why_no_netcdf", &why_no_netcdf,
             "The reason why NetCDF files cannot be read; empty if they can.\n\n"
             "xarray can read and write them, too: see parafield.xarray.");
  define<"read_frame(path) -> numpy.typing.NDArray[typing.Any]">(
      module,
      [](const Path& path) {
        const auto [frame, note] = wait_for_result([path] {
          std::string text;
          FrameBuffer read = read_frame(path, &text);
          return std::pair(std::move(read), text);
        });
        if (!note.empty()) warn_of_file(note);
        return frame_array(frame);
      },
      "A frame: H x W or H x W x 3 (RGB), uint8, uint16 or float32.\n\n"
      "Formats: PNG, JPEG, TIFF, BMP, WebP, EXR, PGM, PPM, PFM, .npy, NetCDF and Y4M with one frame.");
  define<"write_frame(path, frame) -> None">(
      module,
      [](const Path& path, nb::handle frame) {
        const FrameStack picture = read_host_frame(frame, "frame");
        unlocked([&] { write_frame(path, picture.first); });
      },
      "Writes a frame in the format of the extension: .png, .jpg, .pgm, .ppm or .pfm.\n\n"
      "No writer of this package leaves a half-written file.");
  define<"read_flow(path) -> FlowField">(
      module, [](const Path& path) { return numpy_field<Flow>(unlocked([&] { return read_flow(path); })); },
      "Reads a flow field from .flo, PFM, .npy (H x W x 2), .npz or KITTI's PNG. Its confidence is None.\n\n"
      "An .npz file has the arrays u and v, or flow, and perhaps valid. read_flows reads one of several "
      "fields.");
  nb::class_<FlowIterator>(module, "FlowIterator", "Flow fields of a file: see read_flows.")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __iter__(self) -> FlowIterator"))
      .def("__len__", &FlowIterator::count, "The number of fields in the file.")
      .def("__next__", &FlowIterator::next, nb::sig("def __next__(self) -> FlowField"));
  define<"read_flows(path) -> FlowIterator">(
      module, [](const Path& path) { return new FlowIterator(path); },
      "An iterator over the flow fields of a file. An .npz file of parafield-extract may hold several, the "
      "other "
      "formats of read_flow hold one.");
  define<"write_flow(path, flow, *, mark_invalid: bool = False) -> None">(
      module,
      [](const Path& path, nb::handle flow, bool mark_invalid) {
        const Field<Flow> field = field_of<Flow>(flow, "flow");
        unlocked([&] { write_flow(path, field.result(0), mark_invalid); });
      },
      "Writes a flow field in the format of the extension: .flo, .pfm, .npy or .png (KITTI).\n\n"
      "`flow` is a FlowField or an array H x W x 2. With `mark_invalid`, invalid flow is written as unknown "
      "(1e10 in .flo, otherwise NaN).");
  define<"read_disparity(path, scale: float = 0) -> DisparityField">(
      module,
      [](const Path& path, float scale) {
        return numpy_field<Stereo>(unlocked([&] { return read_disparity(path, scale); }));
      },
      "Reads a disparity field from PFM, .npy, .npz (the array disparity or d) or a gray PNG. Its confidence "
      "is "
      "None.\n\n"
      "`scale` is the value of 1 px in a PNG; 0 means 256 for 16 bits (KITTI). An 8-bit PNG needs it.");
  define<"write_disparity(path, disparity, scale: float = 256, *, mark_invalid: bool = False) -> None">(
      module,
      [](const Path& path, nb::handle disparity, float scale, bool mark_invalid) {
        const Field<Stereo> field = field_of<Stereo>(disparity, "disparity");
        unlocked([&] { write_disparity(path, field.result(0), scale, mark_invalid); });
      },
      "Writes disparities in the format of the extension: .pfm, .npy or .png (disparity * scale in 16 "
      "bits).");
  define<"read_mask(path) -> array[bool_]">(
      module,
      [](const Path& path) { return mask_array(wait_for_result([path] { return read_mask(path); })); },
      "Reads a mask, H x W: true where any channel of the file's pixel is above 0.");
  define<"write_mask(path, mask) -> None">(
      module,
      [](const Path& path, nb::handle mask) {
        const Field<Detection> field = field_of<Detection>(mask, "mask");
        unlocked([&] { write_mask(path, field.result(0).moving.view()); });
      },
      "Writes a mask (.png or .pgm): 255 where it is true, otherwise 0. `mask` is a MotionMask or an array H "
      "x W.");
  define<"missing_part(path) -> str">(
      module, [](const Path& path) { return unlocked([&] { return missing_part(path); }); },
      "What the structure of a video file lacks: its end, or the index of an MP4 or MOV file. Empty for a "
      "whole file, and for containers whose size is unknown.");
  define<"read_tracks(path) -> array[float32]">(
      module, [](const Path& path) { return track_array(unlocked([&] { return read_tracks(path); })); },
      "Reads tracks from a text file: an array N x 4 of x, y, u and v, px.");
  define<"write_tracks(path, tracks) -> None">(
      module,
      [](const Path& path, nb::handle tracks) {
        const std::vector<Track> values = read_track_array(tracks, "tracks");
        unlocked([&] { write_tracks(path, values); });
      },
      "Writes tracks, N x 4, as text: the line x,y,u,v, then one line for each track.");
  define<"read_alpha(path) -> array[bool_] | None">(
      module,
      [](const Path& path) -> nb::object {
        const Image<std::uint8_t> alpha = unlocked([&] { return read_alpha(path); });
        return alpha ? mask_array(alpha) : nb::none();
      },
      "The alpha channel of a PNG, WebP or TIFF file, H x W: false where alpha is 0. None if the file has no "
      "alpha or several images.\n\n"
      "filled() and mark_unknown() accept it: pixels that are false have no value.");
  bind_stereo_files(module);
}

}  // namespace parafield::python
