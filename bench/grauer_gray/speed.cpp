// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/study.hpp"

namespace parafield::bench {
namespace {

/// Run of belief propagation that is timed. Other parameters are the paper's.
struct Run {
  enum class Task { stereo, motion };
  Task task = Task::stereo;
  Size size;
  int range = 0;  ///< number of disparities, or max_displacement
  int levels = 5, iterations = 7, blocks = 1;

  int labels() const { return task == Task::stereo ? range : (2 * range + 1) * (2 * range + 1); }
  std::string steps() const { return fmt::format("{} x {}", levels, iterations); }
};

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

/// The run with the study's size.
Run scaled(const Study& study, Run run) {
  run.size = study.size(run.size);
  if (run.task == Run::Task::stereo) run.range = std::min(run.range, run.size.width);
  return run;
}

/// Times of a run on three pairs of rendered frames in turn, with frames and result in `memory`. NaN if the
/// device has too little memory.
Times times_of(const Study& study, const Run& run, Precision precision, Memory memory) {
  try {
    return time_in_turn({call_of(study, run, precision, memory)}, study.effort).front();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::memory) throw;
    return {NAN, NAN, NAN, NAN};
  }
}

Table peer_table(const Study& study) {
  Table table{
      "Beside a public code",
      "Belief propagation of stereo, with frames and disparities in the device's memory: smoothing (sigma "
      "1), data costs, all levels and the result are included; three pairs in turn. Messages have 32 bits "
      "(`exact`) or 16 (`fast`). Peer: a public CUDA code on an H100, with 32-bit floats (`exact`) or bf16 "
      "(`fast`); for the first size there is one figure.",
      {"size", "labels", "levels x iterations", "precision", "ms", "least ms", "peer ms (H100)"},
      {},
      {"peer ms (H100)"}};
  struct Peer {
    Size size;
    int labels;
    double ms[2];  // exact, fast
  };
  static constexpr Peer peers[] = {{{384, 288}, 16, {0.98, 0.98}},
                                   {{450, 375}, 64, {4.4, 2.9}},
                                   {{900, 750}, 128, {40.1, 24.7}},
                                   {{900, 750}, 256, {98, 85}}};
  for (const Peer& peer : peers)
    for (const Precision precision : precisions) {
      const Run run = scaled(study, {.size = peer.size, .range = peer.labels});
      const Times times = times_of(study, run, precision, memory_of(study.device));
      table.add(size_text(run.size), run.labels(), run.steps(), name_of(precision), Cell(times.median, 3),
                Cell(times.min, 3), Cell(peer.ms[std::size_t(precision)], 2));
    }
  return table;
}

Table paper_table(const Study& study) {
  Table table{
      "The paper's own runs",
      "With frames and result in the device's memory, and in the host's (transfers included; the same "
      "on a CPU). Smoothing (sigma 1), data costs and the result are included. Paper: GeForce 8800 GT, "
      "and one thread of a Xeon of 2 GHz; its figures for 512 x 512 include transfers. Rendered images "
      "of the same size replace its satellite images.",
      {"run", "size", "labels", "levels x iterations", "precision", "ms", "ms from and to the host",
       "paper: GPU ms", "with transfers", "CPU ms"},
      {},
      {"paper: GPU ms", "with transfers", "CPU ms"}};
  struct Measured {
    const char* what;
    Run run;
    double gpu, with_transfers, cpu;
  };
  using enum Run::Task;
  constexpr Size tsukuba = {384, 288}, satellite = {512, 512};
  static constexpr Measured runs[] = {
      {"Tsukuba", {stereo, tsukuba, 15, 5, 6}, 86, 330, 350},
      {"clouds, stereo", {stereo, satellite, 15, 5, 10}, NAN, 500, 1300},
      {"clouds, motion, 4 blocks", {motion, satellite, 5, 4, 10, 4}, NAN, 4500, NAN},
      {"clouds, motion, whole", {motion, satellite, 5, 5, 10}, NAN, NAN, 15000}};
  for (const Measured& measured : runs)
    for (const Precision precision : precisions) {
      const Run run = scaled(study, measured.run);
      const Times resident = times_of(study, run, precision, memory_of(study.device));
      const Times host = study.on_cuda() ? times_of(study, run, precision, Memory::host()) : Times{NAN};
      table.add(measured.what, size_text(run.size), run.labels(), run.steps(), name_of(precision),
                Cell(resident.median, 3), Cell(host.median, 3), Cell(measured.gpu, 0),
                Cell(measured.with_transfers, 0), Cell(measured.cpu, 0));
    }
  return table;
}

}  // namespace

std::vector<Table> speed_tables(const Study& study) { return {peer_table(study), paper_table(study)}; }

}  // namespace parafield::bench
