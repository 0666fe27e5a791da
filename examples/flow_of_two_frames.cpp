// SPDX-License-Identifier: MIT
// Flow of two frames in five lines, a picture of it, and its error.
//   flow_of_two_frames [PICTURE.png [FRAME0 FRAME1]]
#include <iostream>
#include <parafield/parafield.hpp>

int main(int count, char** arguments) try {
  const parafield::Scene scene = parafield::render_scene("layers");
  const parafield::FrameBuffer frame0 =
      count > 3 ? parafield::read_frame(arguments[2]) : scene.frames[0].to({});
  const parafield::FrameBuffer frame1 =
      count > 3 ? parafield::read_frame(arguments[3]) : scene.frames[1].to({});
  const parafield::FlowField flow = parafield::estimate_flow(frame0, frame1);
  if (count > 1) parafield::write_frame(arguments[1], parafield::color_flow(flow));

  const int x = flow.size().width / 2, y = flow.size().height / 2;
  std::cout << "flow at (" << x << ", " << y << "): (" << flow.u(x, y) << ", " << flow.v(x, y) << ") px\n";
  if (count <= 3) {
    const parafield::FlowScores scores = parafield::evaluate(flow, scene.flow[0]);
    std::cout << "average angular error " << scores.aae << " degrees, endpoint error " << scores.epe
              << " px\n";
    return scores.epe < 0.5 ? 0 : 1;
  }
} catch (const parafield::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
