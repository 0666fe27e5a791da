// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <thread>

#include "command/http_client.hpp"

namespace parafield::test {

using nlohmann::json;

/// Tests that talk to a server of their own.
class ServeCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
#ifndef PARAFIELD_HAS_HTTPLIB
    expect_failure(1, {"serve", "--port", "0"}, {"cpp-httplib", "libcpp-httplib-dev"});
    GTEST_SKIP() << "the build has no cpp-httplib";
#endif
  }
  void TearDown() override {
    if (server_ > 0) stop(SIGKILL);
    CommandTest::TearDown();
  }

  /// Starts a server at a free port.
  void serve(const Words& more = {}) {
    server_ = start(join({"serve", "--port", "0", "-d", "cpu", "--threads", "1", "-q"}, more));
    std::string said;
    for (int i = 0; i < 600 && !said.ends_with("/\n"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      said = output_so_far();
    }
    ASSERT_TRUE(said.starts_with("http://127.0.0.1:")) << said;
    port_ = std::stoi(said.substr(17));
  }
  Outcome stop(int signal) {
    kill(server_, signal);
    return finish(std::exchange(server_, -1));
  }

  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  HttpAnswer get(const std::string& target, const std::string& headers = {}) const {
    return talk(port_, "GET " + target + " HTTP/1.1\r\nHost: " + host() + "\r\n" + headers + "\r\n");
  }
  HttpAnswer post(const std::string& target, const std::string& body, const std::string& headers = {}) const {
    return talk(port_, "POST " + target + " HTTP/1.1\r\nHost: " + host() +
                           "\r\nContent-Type: application/octet-stream\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
  }
  HttpAnswer frames(const std::string& name, const std::string& content, json head = json::object()) const {
    return post("/api/frames", packed_body(std::move(head), {{name, content}}));
  }
  HttpAnswer estimate(json head, const std::vector<std::string>& files, const std::string& job = "") const {
    std::vector<HttpFile> contents;
    for (const std::string& file : files)
      contents.emplace_back(std::filesystem::path(file).filename(), read_text(file));
    return post("/api/estimate?job=" + job, packed_body(std::move(head), contents));
  }

  int port_ = 0;

 private:
  pid_t server_ = -1;
};

}  // namespace parafield::test
