// SPDX-License-Identifier: MIT
#pragma once
// A client that sends what a test says, word for word, to a server of this machine.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <map>

#include "command/run_command.hpp"

namespace parafield::test {

struct HttpAnswer {
  int status = 0;  ///< 0: there was none
  std::map<std::string, std::string> headers;
  std::string body;

  nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
  std::string error() const {
    const nlohmann::json all = json();
    return all.is_object() ? all.value("error", "") : "";
  }
};

/// Sends the text and reads until the server closes the connection.
inline HttpAnswer talk(int port, const std::string& text) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval longest{60, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(std::uint16_t(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  HttpAnswer answer;
  std::string all;
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t count = send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += std::size_t(count);
    }
    char part[65536];
    for (ssize_t count = 0; (count = recv(connection, part, sizeof(part), 0)) > 0;)
      all.append(part, std::size_t(count));
  }
  close(connection);
  const auto end = all.find("\r\n\r\n");
  if (!all.starts_with("HTTP/1.1 ") || end == all.npos) return answer;
  answer.status = std::stoi(all.substr(9, 3));
  answer.body = all.substr(end + 4);
  std::istringstream lines(all.substr(0, end));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (const auto colon = line.find(": "); colon != line.npos)
      answer.headers[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return answer;
}

/// A file of a request: its name and its bytes.
using HttpFile = std::pair<std::string, std::string>;

/// A packed body: the length of the JSON, the JSON with the files' names and sizes, the files.
inline std::string packed_body(nlohmann::json head, const std::vector<HttpFile>& files) {
  std::string bytes;
  head["files"] = nlohmann::json::array();
  for (const auto& [name, content] : files) {
    head["files"].push_back({{"name", name}, {"size", content.size()}});
    bytes += content;
  }
  const std::string text = head.dump();
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) out += char(text.size() >> shift & 255);
  return out + text + bytes;
}

/// A packed answer, taken apart.
struct Unpacked {
  nlohmann::json head;
  std::string bytes;

  explicit Unpacked(const std::string& body) {
    if (body.size() < 4) return;
    std::size_t length = 0;
    for (int i = 3; i >= 0; --i) length = length << 8 | std::uint8_t(body[std::size_t(i)]);
    if (length > body.size() - 4) return;
    head = nlohmann::json::parse(body.substr(4, length), nullptr, false);
    bytes = body.substr(4 + length);
  }

  /// The values of a plane.
  template <class T>
  std::vector<T> plane(const std::string& name) const {
    for (const auto& one : head.value("planes", nlohmann::json::array())) {
      if (one["name"] != name) continue;
      const std::size_t count =
          std::size_t(one["width"]) * std::size_t(one["height"]) * (one["type"] == "rgb8" ? 3 : 1);
      std::vector<T> values(count);
      EXPECT_LE(std::size_t(one["offset"]) + count * sizeof(T), bytes.size()) << name;
      if (std::size_t(one["offset"]) + count * sizeof(T) > bytes.size()) return {};
      std::memcpy(values.data(), bytes.data() + std::size_t(one["offset"]), count * sizeof(T));
      return values;
    }
    ADD_FAILURE() << "there is no plane " << name;
    return {};
  }
};

}  // namespace parafield::test
