// SPDX-License-Identifier: MIT
#include "serve/answers.hpp"

#include <sys/random.h>

#include <cstring>

namespace parafield::command {
namespace {

[[noreturn]] void fail_request(const std::string& why) {
  throw Error(ErrorCode::format, "the request is damaged: " + why);
}

std::uint32_t number_at(std::string_view bytes) {
  std::uint32_t number = 0;
  for (int i = 3; i >= 0; --i) number = number << 8 | std::uint8_t(bytes[std::size_t(i)]);
  return number;
}

}  // namespace

PackedRequest::PackedRequest(std::string_view body) {
  if (body.size() < 4 || number_at(body) > body.size() - 4) fail_request("its JSON is not whole");
  const std::size_t length = number_at(body);
  if (length > most_json) fail_request(fmt::format("its JSON has {} bytes; at most {}", length, most_json));
  head = Json::parse(body.substr(4, length), nullptr, false);
  if (!head.is_object()) fail_request("it has no JSON object");
  body.remove_prefix(4 + length);
  const auto listed = head.find("files");
  if (listed == head.end() || !listed->is_array()) return;
  for (const Json& one : *listed) {
    if (!one.is_object() || !one.contains("name") || !one["name"].is_string() || !one.contains("size") ||
        !one["size"].is_number_unsigned())
      fail_request("a file has a name and a size");
    const auto size = one["size"].get<std::uint64_t>();
    if (size > body.size())
      fail_request(fmt::format("a file has {} bytes, and {} are left", size, body.size()));
    files.push_back({one["name"].get<std::string>(), body.substr(0, size)});
    body.remove_prefix(size);
  }
  if (!body.empty()) fail_request(fmt::format("{} bytes are left after its files", body.size()));
}

void PackedAnswer::add(std::string_view name, const FrameBuffer& picture) {
  add_rows(name, "rgb8", picture.size(), std::size_t(picture.size().width) * 3,
           [&](int y) { return static_cast<const char*>(picture.row(y)); });
}

void PackedAnswer::add_rows(std::string_view name, const char* type, Size size, std::size_t row_bytes,
                            const std::function<const char*(int)>& row) {
  planes_.push_back({{"name", name},
                     {"type", type},
                     {"width", size.width},
                     {"height", size.height},
                     {"offset", bytes_.size()}});
  bytes_.reserve(bytes_.size() + row_bytes * std::size_t(size.height) + 3);
  for (int y = 0; y < size.height; ++y) bytes_.append(row(y), row_bytes);
  bytes_.resize((bytes_.size() + 3) / 4 * 4);
}

std::string PackedAnswer::packed() const {
  Json all = head;
  all["planes"] = planes_;
  std::string text = all.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 3) / 4 * 4, ' ');
  std::string out;
  out.reserve(4 + text.size() + bytes_.size());
  for (int shift = 0; shift < 32; shift += 8) out += char(text.size() >> shift & 255);
  return out.append(text).append(bytes_);
}

std::string random_word() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != ssize_t(sizeof(bytes)))
    throw Error(ErrorCode::file, "the system has no random numbers");
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

Json capabilities(const ServeOptions& options) {
  Json all = methods_report().json;
  all.erase("command");
  all["version"] = version();
  const auto add_options = [&](const char* task, const std::vector<ParameterValue>& parameters) {
    all["options"][task] = Json::array();
    for (const ParameterValue& each : parameters) all["options"][task].push_back(parameter_json(each));
  };
  add_options("flow", parameters_of(FlowOptions{}));
  add_options("stereo", parameters_of(StereoOptions{}));
  add_options("detect", parameters_of(DetectionOptions{}));
  all["devices"] = devices_report().json["devices"];
  all["device"] = options.device.name;
  all["formats"] = served_formats;
  all["max_bytes"] = options.bytes();
  all["max_pixels"] = options.pixels();
  return all;
}

}  // namespace parafield::command
