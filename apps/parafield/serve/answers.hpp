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

/// What the server answers with. Requests and answers with pixels are packed: the length of a JSON text (4
/// bytes, little-endian), the text, then bytes. A request's bytes are those of its files, one behind the
/// other; the JSON has their "files": [{"name", "size"}, ...]. An answer's are planes, row by row without
/// gaps; the JSON has their "planes": [{"name", "type", "width", "height", "offset"}, ...], with "offset" a
/// multiple of 4.
namespace parafield::command {

/// A request with files. It refers to the body, which has to outlive it.
struct PackedRequest {
  static constexpr std::size_t most_json = 100000;  ///< bytes

  Json head;
  std::vector<Upload> files;

  /// Throws Error(format) for a body that is not packed so.
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

/// The last results, for files of them that are asked for later.
class ServeResults {
 public:
  using Result = std::variant<FlowField, DisparityField, MotionMask>;

  /// Keeps a result. Returns its id and the names of its files: {"id", "files": ["flow.flo", ...]}.
  Json keep(Result result);
  /// Content of a file. Throws Error(file) for a result that is not kept or a name that it has not, and what
  /// the writers throw.
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

/// Random digits and letters that nobody can guess.
std::string random_word();

/// Methods and options of all tasks, devices, scenes and limits.
Json capabilities(const ServeOptions& options);

/// The frames of a file for the page to show: "start" and "count" in the head say which ones of a video.
PackedAnswer show_frames(const PackedRequest& request, const ServeOptions& options, ServeJobs::Job& job);

/// A rendered scene that suits the task: its frames, as show_frames has them.
PackedAnswer example_frames(const std::string& task, ServeJobs::Job& job);

/// Solves: "task", "method", "preset", "parameters", "options" and "device" in the head say how.
PackedAnswer estimate_for_page(const PackedRequest& request, const ServeOptions& options,
                               ServeResults& results, ServeJobs::Job& job);

}  // namespace parafield::command
