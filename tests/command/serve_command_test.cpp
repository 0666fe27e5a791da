// SPDX-License-Identifier: MIT
// parafield serve: what it answers, and whom it refuses.
#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include "command/http_client.hpp"

namespace parafield::test {
namespace {

using nlohmann::json;

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

TEST_F(ServeCommand, GivesThePageAndTheMethods) {
  serve();
  const HttpAnswer page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(page.headers.at("Content-Type").starts_with("text/html"));
  EXPECT_EQ(page.body.find("@nonce@"), std::string::npos);
  const std::string& policy = page.headers.at("Content-Security-Policy");
  const auto nonce = policy.find("'nonce-");
  ASSERT_NE(nonce, std::string::npos) << policy;
  EXPECT_NE(page.body.find("nonce=\"" + policy.substr(nonce + 7, 32) + "\""), std::string::npos);
  EXPECT_NE(get("/").headers.at("Content-Security-Policy"), policy);

  const HttpAnswer answer = get("/api/methods");
  const json all = answer.json(), methods = run_well({"methods", "--json"}).json();
  for (const char* task : {"flow", "stereo", "detect"}) EXPECT_EQ(all[task], methods[task]) << task;
  EXPECT_EQ(all["version"], version());
  EXPECT_EQ(all["devices"][0]["device"], "cpu");
  EXPECT_EQ(all["device"], "cpu");
  EXPECT_EQ(all["max_bytes"], 200000000);
  EXPECT_EQ(all["options"]["flow"][0]["name"], "fb_check");
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"X-Content-Type-Options", "nosniff"},
                                          {"Cross-Origin-Resource-Policy", "same-origin"},
                                          {"Cache-Control", "no-store"}}) {
    EXPECT_EQ(answer.headers.at(name), value);
    EXPECT_EQ(page.headers.at(name), value);
  }
}

TEST_F(ServeCommand, EstimatesWhatTheCommandEstimates) {
  render();
  serve();
  run_well({"flow", frame0(), frame1(), "-o", path("flow.flo"), "--valid", path("valid.png"), "--preset",
            "fast", "--iterations", "4", "--fb-check", "0.5", "-d", "cpu"});
  const HttpAnswer answer = estimate({{"task", "flow"},
                                      {"method", "adaptive-ridge"},
                                      {"preset", "fast"},
                                      {"parameters", {{"iterations", "4"}}},
                                      {"options", {{"fb_check", 0.5}}}},
                                     {frame0(), frame1()});
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Unpacked flow(answer.body);
  const FlowField expected = read_flow(path("flow.flo"));
  const auto u = flow.plane<float>("u"), v = flow.plane<float>("v");
  ASSERT_EQ(u.size(), 96u * 64);
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 96; ++x) {
      ASSERT_EQ(u[std::size_t(y * 96 + x)], expected.u(x, y));
      ASSERT_EQ(v[std::size_t(y * 96 + x)], expected.v(x, y));
    }
  EXPECT_EQ(flow.head["parameters"]["iterations"], 4);
  EXPECT_GT(flow.head["milliseconds"], 0);
  EXPECT_EQ(flow.plane<std::uint8_t>("colors").size(), 3u * 96 * 64);
  EXPECT_EQ(flow.plane<std::uint8_t>("arrows").size(), 3u * 96 * 64);

  // The files of the result are those that the command writes.
  const std::string id = flow.head["result"]["id"];
  const auto file = [&](const std::string& name) { return get("/api/file?result=" + id + "&name=" + name); };
  EXPECT_EQ(file("flow.flo").body, read_text(path("flow.flo")));
  EXPECT_EQ(file("valid.png").body, read_text(path("valid.png")));
  EXPECT_EQ(file("flow.flo").headers.at("Content-Disposition"), "attachment; filename=\"flow.flo\"");
  for (const std::string name : flow.head["result"]["files"]) EXPECT_EQ(file(name).status, 200) << name;
  EXPECT_EQ(file("../../etc/passwd").status, 404);
  EXPECT_EQ(get("/api/file?result=../x&name=flow.flo").status, 404);
}

TEST_F(ServeCommand, EstimatesStereoAndDetectsMotion) {
  run_well({"synth", "stereo", "-o", path("pair"), "--size", "96x64", "-q"});
  run_well({"synth", "balloons", "-o", path("still"), "--size", "96x64", "--frames", "3", "-q"});
  serve();
  const std::vector<std::string> pair = {path("pair/frame0000.png"), path("pair/frame0001.png")};
  run_well({"stereo", pair[0], pair[1], "-o", path("d.pfm"), "-d", "cpu", "-m", "winner-takes-all", "-q"});
  const HttpAnswer stereo = estimate({{"task", "stereo"}, {"method", "winner-takes-all"}}, pair);
  ASSERT_EQ(stereo.status, 200) << stereo.body;
  const Unpacked disparity(stereo.body);
  const DisparityField expected = read_disparity(path("d.pfm"));
  EXPECT_EQ(disparity.plane<float>("d")[96 * 20 + 30], expected.d(30, 20));
  EXPECT_GT(disparity.head["disparities"], 0);
  EXPECT_TRUE(disparity.head["warnings"].is_array());

  std::vector<std::string> still;
  for (int i = 0; i < 3; ++i) still.push_back(path("still/frame000" + std::to_string(i) + ".png"));
  run_well({"detect", still[0], still[1], still[2], "-o", path("mask%d.png"), "-d", "cpu", "-q"});
  const HttpAnswer detect = estimate({{"task", "detect"}, {"method", "icm"}}, still);
  ASSERT_EQ(detect.status, 200) << detect.body;
  const auto moving = Unpacked(detect.body).plane<std::uint8_t>("moving");
  const auto mask = read_mask(path("mask2.png"));
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 96; ++x) ASSERT_EQ(moving[std::size_t(y * 96 + x)], mask(x, y));
}

TEST_F(ServeCommand, ShowsFramesOfPicturesAndVideos) {
  run_well({"synth", "layers", "-o", path("scene"), "--size", "64x48", "--frames", "5", "--rgb", "-q"});
  serve();
  const Unpacked picture(frames("a.png", read_text(frame0())).body);
  EXPECT_EQ(picture.head["single"], true);
  const FrameBuffer expected = read_frame(frame0());
  const auto shown = picture.plane<std::uint8_t>("frame");
  ASSERT_EQ(shown.size(), 3u * 64 * 48);
  EXPECT_EQ(std::memcmp(&shown[3 * 64 * 7], expected.row(7), 3 * 64), 0);

  run_well({"video", path("scene/frame%04d.png"), "-o", path("film.y4m"), "-m", "lucas-kanade", "-q"});
  const Unpacked film(frames("film.y4m", read_text(path("film.y4m")), {{"start", 1}, {"count", 2}}).body);
  EXPECT_EQ(film.head["frames"].size(), 2u);
  EXPECT_EQ(film.head["single"], false);
  EXPECT_EQ(film.head["more"], true);
  EXPECT_NE(
      frames("film.y4m", read_text(path("film.y4m")), {{"start", 99}}).error().find("none from number 99"),
      std::string::npos);
  const Outcome coded =
      run({"video", path("scene/frame%04d.png"), "-o", path("film.mkv"), "-m", "lucas-kanade", "-q"});
  if (coded.code == 0) {  // with FFmpeg
    const HttpAnswer answer = frames("film.mkv", read_text(path("film.mkv")));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_GE(Unpacked(answer.body).head["frames"].size(), 3u);
  }
  EXPECT_EQ(Unpacked(get("/api/example?task=stereo").body).head["frames"].size(), 2u);
  EXPECT_EQ(get("/api/example?task=none").status, 400);
}

TEST_F(ServeCommand, RefusesOtherHostsAndSites) {
  serve();
  const auto with_host = [&](const std::string& lines) {
    return talk(port_, "GET /api/methods HTTP/1.1\r\n" + lines + "\r\n");
  };
  const std::string port = ":" + std::to_string(port_), own = "Host: " + host() + "\r\n";
  EXPECT_EQ(with_host("Host: localhost" + port + "\r\n").status, 200);
  EXPECT_EQ(with_host("Host: LOCALHOST" + port + "\r\n").status, 200);
  for (const std::string& lines :
       {std::string("Host: evil.example\r\n"), "Host: evil.example" + port + "\r\n",
        std::string("Host: localhost\r\n"), std::string("Host: 127.0.0.1:1\r\n"), std::string(),
        own + "Host: evil.example\r\n"}) {
    const HttpAnswer answer = with_host(lines);
    EXPECT_TRUE(answer.status == 403 || answer.status == 400) << lines << answer.status;
    EXPECT_EQ(answer.body.find("adaptive-ridge"), std::string::npos) << lines;
  }
  EXPECT_EQ(get("/", "Origin: http://" + host() + "\r\n").status, 200);
  EXPECT_EQ(get("/", "Sec-Fetch-Site: none\r\n").status, 200);
  EXPECT_EQ(get("/", "Sec-Fetch-Site: same-origin\r\n").status, 200);
  for (const char* header :
       {"Origin: http://evil.example", "Origin: null", "Origin: https://localhost",
        "Origin: http://127.0.0.1:1", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"}) {
    const HttpAnswer answer = get("/api/methods", std::string(header) + "\r\n");
    EXPECT_EQ(answer.status, 403) << header;
    EXPECT_NE(answer.error(), "") << header;
    EXPECT_EQ(post("/api/estimate", packed_body({}, {}), std::string(header) + "\r\n").status, 403) << header;
  }
  // The rest of a refused request is no request of its own.
  const std::string inner = "GET /api/methods HTTP/1.1\r\n" + own + "\r\n";
  const HttpAnswer refused = post("/api/estimate", inner, "Origin: http://evil.example\r\n");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body.find("HTTP/1.1"), std::string::npos) << refused.body;
}

TEST_F(ServeCommand, HasFixedRoutesOnly) {
  serve();
  for (const char* target :
       {"/../../etc/passwd", "/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/page.html", "/api",
        "/api/file", "/api/file?result=/etc&name=passwd", "/api/../etc/passwd", "/."}) {
    const HttpAnswer answer = get(target);
    EXPECT_TRUE(answer.status == 404 || answer.status == 400) << target << ' ' << answer.status;
    EXPECT_EQ(answer.body.find("root:"), std::string::npos) << target;
    EXPECT_NE(answer.error(), "") << target << ": " << answer.body;
  }
  EXPECT_EQ(post("/none", "some text").status, 404);
  const int long_path = get("/" + std::string(8000, 'a')).status,
            too_long = get("/" + std::string(20000, 'a')).status;
  EXPECT_EQ(long_path, 404);
  EXPECT_EQ(too_long, 414);
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"}) {
    const HttpAnswer answer =
        talk(port_, std::string(method) + " / HTTP/1.1\r\nHost: " + host() + "\r\n\r\n");
    EXPECT_TRUE(answer.status == 405 || answer.status == 400) << method << ' ' << answer.status;
  }
  EXPECT_EQ(talk(port_, "nonsense\r\n\r\n").status, 400);
  EXPECT_EQ(get("/").status, 200);
}

TEST_F(ServeCommand, RefusesWhatIsTooLarge) {
  serve({"--max-size", "1", "--max-pixels", "1"});
  const std::string large(1500000, 'x');
  const HttpAnswer answer = frames("large.png", large);
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.error().find("1 MB"), std::string::npos) << answer.body;
  std::string chunks;
  for (int i = 0; i < 30; ++i) chunks += "c350\r\n" + std::string(0xc350, 'x') + "\r\n";
  const HttpAnswer chunked =
      talk(port_, "POST /api/frames HTTP/1.1\r\nHost: " + host() +
                      "\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
                      chunks + "0\r\n\r\n");
  EXPECT_EQ(chunked.status, 413);

  // Frames that are too many together.
  run_well({"synth", "zoom", "-o", path("wide"), "--size", "1000x900", "-q"});
  const HttpAnswer together = estimate({{"task", "detect"}, {"method", "icm"}},
                                       std::vector<std::string>(12, path("wide/occluded0000.png")));
  EXPECT_EQ(together.status, 400);
  EXPECT_NE(together.error().find("12 frames of 1000x900 pixels are more than 10 million"), std::string::npos)
      << together.body;

  // A small file of a large picture.
  run_well({"synth", "zoom", "-o", path("large"), "--size", "1100x1000", "-q"});
  run_well({"color", path("large/flow0000.flo"), "-o", path("large.jpg")});
  for (const char* file : {"large.jpg", "large/occluded0000.png"}) {
    const HttpAnswer pixels = frames(file, read_text(path(file)));
    EXPECT_EQ(pixels.status, 400);
    EXPECT_NE(pixels.error().find("1100x1000 pixels are more than 1 million"), std::string::npos)
        << pixels.body;
  }
}

TEST_F(ServeCommand, RefusesDamagedFiles) {
  render();
  serve();
  const std::string png = read_text(frame0());
  std::string huge = png, short_length = packed_body({}, {{"a.png", png}});
  for (int i = 16; i < 24; ++i) huge[std::size_t(i)] = '\x7f';
  short_length.resize(short_length.size() - 10);
  const std::vector<HttpFile> damaged = {{"cut.png", png.substr(0, png.size() / 2)},
                                         {"head.png", png.substr(0, 20)},
                                         {"text.png", "this is no picture"},
                                         {"huge.png", huge},
                                         {"none.png", ""},
                                         {"list.m3u8", "#EXTM3U\n#EXTINF:1,\n/etc/passwd\n"},
                                         {"list.txt", "ffconcat version 1.0\nfile '/etc/passwd'\n"},
                                         {"film.mp4", std::string("\0\0\0\x18"
                                                                  "ftypisom",
                                                                  12) +
                                                          std::string(100, 'x')},
                                         {"data.nc", "CDF\1" + std::string(100, '\0')}};
  for (const auto& [name, content] : damaged) {
    const HttpAnswer answer = frames(name, content);
    EXPECT_EQ(answer.status, 400) << name << answer.body;
    EXPECT_TRUE(answer.error().starts_with(name)) << answer.body;
    EXPECT_EQ(answer.body.find("/proc"), std::string::npos) << answer.body;
  }
  for (const std::string& body :
       {std::string(), std::string("\xff\xff\xff\xff{}"), std::string(4, '\0'), std::string("\2\0\0\0[]", 6),
        short_length, packed_body({}, {{"a", "b"}}) + "more"})
    EXPECT_EQ(post("/api/frames", body).status, 400);
  EXPECT_EQ(post("/api/frames", packed_body({}, {})).status, 400);
  EXPECT_EQ(post("/api/frames", "", "Content-Encoding: gzip\r\n").status, 415);
  const std::string form = "Content-Type: multipart/form-data; boundary=x\r\n";
  EXPECT_EQ(talk(port_,
                 "POST /api/frames HTTP/1.1\r\nHost: " + host() + "\r\n" + form + "Content-Length: 0\r\n\r\n")
                .status,
            415);
  EXPECT_EQ(get("/api/methods").status, 200);
}

TEST_F(ServeCommand, ErrorsOfSettingsAreTheLibrarys) {
  render();
  run_well({"synth", "translation", "-o", path("other"), "--size", "80x64", "-q"});
  serve();
  const auto error = [&](json head, const std::vector<std::string>& files) {
    const HttpAnswer answer = estimate(std::move(head), files);
    EXPECT_EQ(answer.status, 400) << answer.body;
    return answer.error();
  };
  const std::vector<std::string> pair = {frame0(), frame1()};
  const auto has = [](const std::string& text, const std::string& word) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  };
  has(error({{"task", "none"}}, pair), "flow, stereo, detect");
  has(error({{"task", "flow"}, {"method", "horn"}}, pair), "adaptive-ridge");
  has(error({{"task", "flow"}, {"method", "icm"}, {"preset", "best"}}, pair), "accurate");
  has(error({{"task", "flow"}, {"method", "icm"}, {"parameters", {{"sweeps", "-1"}}}}, pair), "sweeps");
  has(error({{"task", "flow"}, {"method", "icm"}, {"parameters", {{"swoops", "1"}}}}, pair), "swoops");
  has(error({{"task", "flow"}, {"method", "adaptive-ridge"}, {"device", "tpu"}}, pair), "tpu");
  has(error({{"task", "flow"}, {"method", "adaptive-ridge"}}, {frame0()}), "two frames");
  has(error({{"task", "flow"}, {"method", "adaptive-ridge"}, {"preset", "sequence"}}, pair), "5");
  const std::string sizes =
      error({{"task", "flow"}, {"method", "adaptive-ridge"}}, {frame0(), path("other/frame0001.png")});
  has(sizes, "96x64");
  has(sizes, "frame0001.png");
}

TEST_F(ServeCommand, WorksOnTwoRequestsAndCancels) {
  render("translation", "320x240");
  serve();
  const std::vector<std::string> pair = {frame0(), frame1()};
  const json slow = {{"task", "flow"}, {"method", "annealing"}, {"parameters", {{"sweeps", "10000"}}}};
  const json fast = {{"task", "flow"}, {"method", "lucas-kanade"}};
  auto first = std::async(std::launch::async, [&] { return estimate(fast, pair); });
  auto second = std::async(std::launch::async, [&] { return estimate(fast, pair); });
  EXPECT_EQ(first.get().status, 200);
  EXPECT_EQ(second.get().status, 200);

  auto long_one = std::async(std::launch::async, [&] { return estimate(slow, pair, "long"); });
  const auto doing = [&](const std::string& job) {
    const json answer = get("/api/progress?job=" + job).json();
    return answer.is_object() ? answer["doing"].get<std::string>() : "";
  };
  const auto await = [&](const std::string& job, const std::string& what) {
    for (int i = 0; i < 1000 && doing(job) != what; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(doing(job), what) << job;
  };
  await("long", "solving");
  auto waits = std::async(std::launch::async, [&] { return estimate(fast, pair, "waits"); });
  auto gives_up = std::async(std::launch::async, [&] { return estimate(fast, pair, "gives-up"); });
  await("waits", "waiting");
  await("gives-up", "waiting");
  EXPECT_EQ(get("/api/methods").status, 200);
  EXPECT_EQ(post("/api/cancel?job=gives-up", "").json()["cancelled"], true);
  EXPECT_EQ(gives_up.get().status, 204);
  EXPECT_EQ(doing("waits"), "waiting");
  EXPECT_EQ(estimate(fast, pair, "waits").status, 400);  // the name is in use
  EXPECT_EQ(post("/api/cancel?job=long", "").json()["cancelled"], true);
  EXPECT_EQ(long_one.get().status, 204);
  EXPECT_EQ(waits.get().status, 200);
  EXPECT_EQ(post("/api/cancel?job=long", "").json()["cancelled"], false);
}

TEST_F(ServeCommand, TakesFewRequestsAtOnce) {
  render("translation", "320x240");
  serve();
  const json slow = {{"task", "flow"}, {"method", "annealing"}, {"parameters", {{"sweeps", "10000"}}}};
  std::vector<std::future<HttpAnswer>> all;
  for (int i = 0; i < 5; ++i)
    all.push_back(std::async(std::launch::async, [&, i] {
      return estimate(slow, {frame0(), frame1()}, "job" + std::to_string(i));
    }));
  int busy = 0;
  for (int i = 0; i < 3000 && busy == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (auto& one : all)
      if (one.valid() && one.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
        EXPECT_EQ(one.get().status, 503);
        ++busy;
      }
  }
  EXPECT_EQ(busy, 1);
  for (int i = 0; i < 5; ++i) post("/api/cancel?job=job" + std::to_string(i), "");
  for (auto& one : all) {
    if (!one.valid()) continue;
    EXPECT_EQ(one.get().status, 204);
  }
}

TEST_F(ServeCommand, CtrlCEndsItAtOnce) {
  render("translation", "320x240");
  for (const bool works : {false, true}) {
    serve();
    std::future<HttpAnswer> answer;
    if (works) {
      answer = std::async(std::launch::async, [&] {
        return estimate({{"task", "flow"}, {"method", "annealing"}, {"parameters", {{"sweeps", "10000"}}}},
                        {frame0(), frame1()}, "long");
      });
      while (get("/api/progress?job=long").json().is_null())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(stop(SIGINT).code, 130);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    if (answer.valid()) {
      EXPECT_EQ(answer.get().status, 0);
    }
  }
}

TEST_F(ServeCommand, SaysWhatIsWrongWithItsOptions) {
  serve();
  expect_failure(1, {"serve", "--port", std::to_string(port_)},
                 {std::to_string(port_), "in use", "--port 0"});
  expect_failure(2, {"serve", "--port", "70000"}, {"--port", "0 to 65535"});
  expect_failure(2, {"serve", "--max-size", "0"}, {"--max-size", "1 to 2000"});
  expect_failure(2, {"serve", "-d", "tpu"}, {"tpu"});
}

}  // namespace
}  // namespace parafield::test
