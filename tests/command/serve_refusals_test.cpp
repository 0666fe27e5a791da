// SPDX-License-Identifier: MIT
// parafield serve: the clients and requests that it refuses.
#include <cstring>

#include "command/serve_command.hpp"

namespace parafield::test {
namespace {

using ServeRefusals = ServeCommand;

TEST_F(ServeRefusals, RefusesOtherHostsAndSites) {
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
  // The rest of a refused request is not read as another request.
  const std::string inner = "GET /api/methods HTTP/1.1\r\n" + own + "\r\n";
  const HttpAnswer refused = post("/api/estimate", inner, "Origin: http://evil.example\r\n");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body.find("HTTP/1.1"), std::string::npos) << refused.body;
}

TEST_F(ServeRefusals, HasFixedRoutesOnly) {
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

TEST_F(ServeRefusals, RefusesWhatIsTooLarge) {
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

  // Frames that are too large together.
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

TEST_F(ServeRefusals, RefusesDamagedFiles) {
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

TEST_F(ServeRefusals, ErrorsOfSettingsAreTheLibrarys) {
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

TEST_F(ServeRefusals, SaysWhatIsWrongWithItsOptions) {
  serve();
  expect_failure(1, {"serve", "--port", std::to_string(port_)},
                 {std::to_string(port_), "in use", "--port 0"});
  expect_failure(2, {"serve", "--port", "70000"}, {"--port", "0 to 65535"});
  expect_failure(2, {"serve", "--max-size", "0"}, {"--max-size", "1 to 2000"});
  expect_failure(2, {"serve", "-d", "tpu"}, {"tpu"});
}

}  // namespace
}  // namespace parafield::test
