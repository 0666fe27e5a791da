// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "files.hpp"
#include "report.hpp"
#include "serve/jobs.hpp"
#include "serve/serve.hpp"
#include "serve/uploads.hpp"

/// Requests to the server and its answers. If they hold pixels, they are packed: the length of a JSON text (4
/// bytes, little-endian), the text, then bytes. In a request, the bytes are its files, back to back, which
/// the JSON lists as "files": [{"name", "size"}, ...]. In an answer, they are planes, row by row without
/// gaps, which the JSON lists as "planes": [{"name", "type", "width", "height", "offset"}, ...], where
/// "offset" is a multiple of 4.
namespace parafield::command {

/// A request with files. It refers to the body, which must outlive it.
struct PackedRequest {
  static constexpr std::size_t most_json = 100000;  ///< bytes

  Json head;
  std::vector<Upload> files;

  /// Throws Error(format) if the body is not packed in this format.
  explicit PackedRequest(std::string_view body);
};

/// A packed answer.
class PackedAnswer {
 public:
  Json head = Json::object();

  void add(std::string_view name, View<const float> plane) { add_plane(name, "float32", plane); }
  void add(std::string_view name, View<const std::uint8_t> plane) { add_plane(name, "uint8", plane); }
  /// A picture, rgb_u8.
  void add(std::string_view name, const FrameBuffer& picture);
  std::string packed() const;

 private:
  template <class T>
  void add_plane(std::string_view name, const char* type, View<const T> plane) {
    add_rows(name, type, plane.size(), std::size_t(plane.width) * sizeof(T),
             [&](int y) { return reinterpret_cast<const char*>(plane.row(y)); });
  }
  void add_rows(std::string_view name, const char* type, Size size, std::size_t row_bytes,
                const std::function<const char*(int)>& row);

  Json planes_ = Json::array();
  std::string bytes_;
};

/// Keeps the latest results, so that the page can ask for their files later.
class ServeResults {
 public:
  using Result = std::variant<FlowField, DisparityField, MotionMask>;

  /// Keeps a result. Returns its id and the names of its files: {"id", "files": ["flow.flo", ...]}.
  Json keep(Result result);
  /// Returns the content of a file. Throws Error(file) if the result is no longer kept or has no such file,
  /// and whatever the writers throw.
  std::string file(const std::string& id, const std::string& name) const;

 private:
  static constexpr std::size_t most = 4;
  struct Kept {
    std::string id;
    std::shared_ptr<const Result> result;
  };

  mutable std::mutex mutex_;
  std::deque<Kept> kept_;
};

/// Returns unguessable random digits and letters.
std::string random_word();

/// Returns the methods and options of all tasks, the devices, scenes and limits.
Json capabilities(const ServeOptions& options);

/// Returns the frames of a file for the page to show. For a video, "start" and "count" in the head select
/// them.
PackedAnswer show_frames(const PackedRequest& request, const ServeOptions& options, ServeJobs::Job& job);

/// Returns the frames of a rendered scene that suits the task, in the format of show_frames.
PackedAnswer example_frames(const std::string& task, ServeJobs::Job& job);

/// Estimates the request's frames as "task", "method", "preset", "parameters", "options" and "device" in the
/// head say.
PackedAnswer estimate_for_page(const PackedRequest& request, const ServeOptions& options,
                               ServeResults& results, ServeJobs::Job& job);

}  // namespace parafield::command
