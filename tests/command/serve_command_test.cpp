// SPDX-License-Identifier: MIT
// parafield serve: its answers.
#include "command/serve_command.hpp"

#include <cstring>
#include <fstream>
#include <future>
#include <random>

namespace parafield::test {
namespace {

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

TEST_F(ServeCommand, NoiseIsNotValid) {
  std::mt19937 random(1);
  std::vector<std::string> pair = {path("a.pgm"), path("b.pgm")};
  for (const std::string& name : pair) {
    std::string text = "P5 96 64 255\n";
    for (int i = 0; i < 96 * 64; ++i) text += char(120 + random() % 16);
    std::ofstream(name, std::ios::binary) << text;
  }
  serve();
  for (const char* task : {"flow", "stereo"}) {
    const HttpAnswer answer =
        estimate({{"task", task}, {"method", task == std::string("flow") ? "adaptive-ridge" : "icm"}}, pair);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Unpacked result(answer.body);
    const auto valid = result.plane<std::uint8_t>("valid");
    EXPECT_EQ(std::ranges::count(valid, 0), 96 * 64) << task;
    EXPECT_NE(result.head["warnings"].dump().find("the frames have no texture"), std::string::npos)
        << result.head["warnings"];
  }
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

}  // namespace
}  // namespace parafield::test
