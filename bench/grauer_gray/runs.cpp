// SPDX-License-Identifier: MIT
#include "grauer_gray/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/scenes.hpp"

namespace parafield::bench {
namespace {

template <class Task, class Energy>
Call call_of(const Study& study, const Run& run, Precision precision, Memory memory, Energy energy,
             Layers (*render)(Size, int, bool), std::initializer_list<int> ranges) {
  std::vector<FrameBuffer> frames;
  for (const int range : ranges) {
    Layers layers = render(run.size, std::max(1, range), false);
    frames.push_back(std::move(layers.frame0));
    frames.push_back(std::move(layers.frame1));
  }
  auto method = preset<BeliefPropagation<Energy>>("paper");
  method.energy = energy;
  method.levels = run.levels;
  method.iterations = run.iterations;
  method.precision = precision;
  method.blocks = run.blocks;
  return pair_call<Task>(method, study.device, std::move(frames), memory);
}

Call call_of(const Study& study, const Run& run, Precision precision, Memory memory) {
  const int range = run.range;
  if (run.task == Run::Task::stereo) {
    StereoEnergy energy = preset<BeliefPropagation<StereoEnergy>>("paper").energy;
    energy.disparities = range;
    return call_of<Stereo>(study, run, precision, memory, energy, render_stereo,
                           {range, range * 3 / 4, range / 2});
  }
  DisplacementEnergy energy = preset<BeliefPropagation<DisplacementEnergy>>("paper").energy;
  energy.max_displacement = range;
  return call_of<Flow>(study, run, precision, memory, energy, render_motion, {range, range - 1, range - 2});
}

}  // namespace

std::string Run::steps() const { return fmt::format("{} x {}", levels, iterations); }

Run scaled(const Study& study, Run run) {
  run.size = study.size(run.size);
  if (run.task == Run::Task::stereo) run.range = std::min(run.range, run.size.width);
  return run;
}

Times times_of(const Study& study, const Run& run, Precision precision, Memory memory) {
  try {
    return time_in_turn({call_of(study, run, precision, memory)}, study.effort).front();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::memory) throw;
    return {NAN, NAN, 0};
  }
}

}  // namespace parafield::bench
