// SPDX-License-Identifier: MIT
#pragma once
#include "markov/messages/pixel.cuh"

/// Message passing for quadratic costs, or when a warp's lanes cannot hold all labels. A CUDA block computes
/// each pixel's messages in place, one line of the label grid at a time.
namespace parafield {
namespace {

/// Value plus `steps` times the slope.
__device__ float along(float slope, int steps, float value) { return fma(slope, float(steps), value); }
__device__ int along(int slope, int steps, int value) { return value + slope * steps; }

/// Line of labels: a row or a column of the grid.
template <class Value>
struct Line {
  Value *h, *up;      // `h`: values; `up`: scratch memory of the same size and layout
  int stride, count;  // values from one label to the next; number of labels
};

/// Lower envelope for linear costs, by one thread.
template <class Value>
__device__ void lower_line(const Line<Value>& line, Sum<Value> slope) {
  Sum<Value> least = line.h[0];
  for (int i = 0; i < line.count; ++i) {
    least = smaller(least, along(-slope, i, Sum<Value>(line.h[i * line.stride])));
    line.up[i * line.stride] = Value(along(slope, i, least));
  }
  const int last = line.count - 1;
  least = along(slope, last, Sum<Value>(line.h[last * line.stride]));
  for (int i = last; i >= 0; --i) {
    Value& value = line.h[i * line.stride];
    least = smaller(least, along(slope, i, Sum<Value>(value)));
    value = smaller(line.up[i * line.stride], Value(along(-slope, i, least)));
  }
}

/// Lower envelope for linear costs, by all threads of the CUDA block. `scan`: a value for each thread.
template <class Value>
__device__ void lower_line_together(const Line<Value>& line, Sum<Value> slope, Sum<Value>* scan) {
  const int thread = int(threadIdx.x), count = int(blockDim.x);
  const int each = (line.count + count - 1) / count;
  const int begin = smaller(line.count, thread * each), end = smaller(line.count, begin + each);
  const Sum<Value> far = Sum<Value>(1 << 30);
  Sum<Value> before = far, after = far;
  for (int i = begin; i < end; ++i) {
    before = smaller(before, along(-slope, i, Sum<Value>(line.h[i])));
    after = smaller(after, along(slope, i, Sum<Value>(line.h[i])));
  }
  // Least value of all threads before this one (toward = -1), or after it (1).
  const auto exclusive = [&](Sum<Value> own, int toward) {
    scan[thread] = own;
    for (int step = 1; step < count; step *= 2) {
      __syncthreads();
      const int from = thread + toward * step;
      const Sum<Value> other = from >= 0 && from < count ? scan[from] : far;
      __syncthreads();
      scan[thread] = smaller(scan[thread], other);
    }
    __syncthreads();
    const int from = thread + toward;
    const Sum<Value> result = from >= 0 && from < count ? scan[from] : far;
    __syncthreads();
    return result;
  };
  before = exclusive(before, -1);
  after = exclusive(after, 1);
  for (int i = begin; i < end; ++i) {
    before = smaller(before, along(-slope, i, Sum<Value>(line.h[i])));
    line.up[i] = Value(along(slope, i, before));
  }
  for (int i = end - 1; i >= begin; --i) {
    after = smaller(after, along(slope, i, Sum<Value>(line.h[i])));
    line.h[i] = smaller(line.up[i], Value(along(-slope, i, after)));
  }
}

enum class Lines { rows, columns };

/// Lower envelopes for quadratic costs along the rows or the columns of the grid, by all threads.
template <class Value>
__device__ void lower_quadratic(Value* h, Value* spare, const PairUnits& units, Lines lines, float slope,
                                Value limit) {
  const LabelGrid grid = units.grid;
  const bool down = lines == Lines::columns;
  const int labels = grid.count(), stride = down ? grid.nx : 1, count = down ? grid.ny : grid.nx;
  for (int label = int(threadIdx.x); label < labels; label += int(blockDim.x)) {
    const int at = down ? label / grid.nx : label % grid.nx;
    Value least = h[label];
    for (int other = larger(0, at - units.reach); other <= smaller(count - 1, at + units.reach); ++other)
      least = smaller(
          least, raised(h[label + (other - at) * stride], slope, limit, float((at - other) * (at - other))));
    spare[label] = least;
  }
  __syncthreads();
  for (int label = int(threadIdx.x); label < labels; label += int(blockDim.x)) h[label] = spare[label];
  __syncthreads();
}

/// Calls combine(thread, other) for pairs of threads until thread 0 has the values of all. All threads of the
/// CUDA block must call this.
template <class Combine>
__device__ void reduce_block(Combine combine) {
  const int thread = int(threadIdx.x);
  __syncthreads();
  for (int step = int(blockDim.x) / 2; step > 0; step /= 2) {
    if (thread < step) combine(thread, thread + step);
    __syncthreads();
  }
}

/// Belief of a label, from the messages that a pixel has received.
template <class Value>
struct BeliefOf {
  const Value *data, *in[4];
  bool has_received;

  __device__ BeliefOf(const Value* data, Value* const (&in)[4], bool has_received)
      : data(data), in{in[0], in[1], in[2], in[3]}, has_received(has_received) {}
  __device__ float operator()(int label) const {
    const auto at = [&](int k) { return has_received ? Sum<Value>(in[k][label]) : Sum<Value>(0); };
    return float((Sum<Value>(data[label]) + (at(0) + at(2))) + (at(1) + at(3)));
  }
};

/// Stores the label of least belief(label), and the beliefs or data costs around it. `scan`: two values for
/// each thread.
template <class BeliefFunction, class Value>
__device__ void read_pixel_together(BeliefFunction belief, const Value* data, int x, int y,
                                    const PairUnits& units, const Beliefs& beliefs, float* scan) {
  if (x < beliefs.x0 || x >= beliefs.x1 || y < beliefs.y0 || y >= beliefs.y1) return;
  const LabelGrid grid = units.grid;
  const int thread = int(threadIdx.x), count = int(blockDim.x);
  int* const labels = reinterpret_cast<int*>(scan + count);
  scan[thread] = 3.2e38f, labels[thread] = 1 << 30;
  for (int label = thread; label < grid.count(); label += count)
    if (const float value = belief(label); value < scan[thread]) scan[thread] = value, labels[thread] = label;
  reduce_block([=](int to, int from) {
    const float other = scan[from];
    const int label = labels[from];
    if (other < scan[to] || (other == scan[to] && label < labels[to])) scan[to] = other, labels[to] = label;
  });
  const int best = labels[0];
  const float least = scan[0];
  __syncthreads();
  if (beliefs.costs.margin) {  // find the least belief among labels not adjacent to the best one
    float rest = most_margin;
    for (int label = thread; label < grid.count(); label += count)
      if (!is_beside(grid, label, best)) rest = smaller(rest, belief(label));
    scan[thread] = rest;
    reduce_block([=](int to, int from) { scan[to] = smaller(scan[to], scan[from]); });
  }
  if (thread > 0) return;
  if (beliefs.costs.margin)
    beliefs.costs.margin(x, y) =
        scan[0] < most_margin ? (scan[0] - least) * (1 / units.per_cost) : most_margin;
  const int ly = best / grid.nx, lx = best - ly * grid.nx;
  beliefs.labels(x, y) = grid.label(lx, ly);
  store_costs_around(beliefs.costs, grid, lx, ly, x, y, [&](int at_x, int at_y) {
    const int label = at_y * grid.nx + at_x;
    return (beliefs.data_costs ? float(data[label]) : belief(label)) * (1 / units.per_cost);
  });
}

/// Runs an iteration. Shared memory: four values for each thread, then a value for each label.
template <class Value>
__global__ void send_long_kernel(PairUnits units, int values, PropagationLevel<Value> level,
                                 PropagationLevel<Value> coarser, Iteration iteration, Beliefs beliefs) {
  begin_kernel();
  extern __shared__ char line_memory[];
  const LabelGrid grid = units.grid;
  const int labels = grid.count(), thread = int(threadIdx.x), count = int(blockDim.x);
  float* const scan = reinterpret_cast<float*>(line_memory);
  Value* const spare = reinterpret_cast<Value*>(scan + 4 * count);
  int x, y;
  if (!find_pixel(level.width, iteration.color, int(blockIdx.x), x, y)) return;
  const bool has_received = iteration.from != Iteration::From::nothing;
  const Value* const data = level.data + (std::ptrdiff_t(y) * level.width + x) * values;
  Value *in[4], *here[4], *out[4];
  find_received(level, coarser, iteration, x, y, values, in);
  find_edges(level, 0, x, y, values, here);
  find_edges(level, iteration.last ? 1 : 0, x, y, values, out);
  if (beliefs.labels) {
    read_pixel_together(BeliefOf<Value>(data, in, has_received), data, x, y, units, beliefs, scan);
    __syncthreads();  // thread 0 may still read messages that all threads overwrite below
  }

  const bool has_neighbor[4] = {x > 0, y > 0, x + 1 < level.width, y + 1 < level.height};
  float least[4] = {3.2e38f, 3.2e38f, 3.2e38f, 3.2e38f};
  for (int label = thread; label < labels; label += count) {
    Value received[4], made[4];
    PF_UNROLL
    for (int k = 0; k < 4; ++k) received[k] = has_received ? in[k][label] : Value(0);
    const Value d = data[label];
    const Value with_row = Value(d + (received[0] + received[2])),
                with_column = Value(d + (received[1] + received[3]));
    made[0] = Value(with_column + received[2]), made[2] = Value(with_column + received[0]);
    made[1] = Value(with_row + received[3]), made[3] = Value(with_row + received[1]);
    PF_UNROLL
    for (int k = 0; k < 4; ++k) {
      least[k] = smaller(least[k], float(made[k]));
      if (!has_neighbor[k]) continue;
      if (iteration.keeps) here[k][label] = received[k];
      out[k][label] = made[k];
    }
  }
  PF_UNROLL
  for (int k = 0; k < 4; ++k) scan[4 * thread + k] = least[k];
  reduce_block([=](int to, int from) {
    PF_UNROLL
    for (int k = 0; k < 4; ++k) scan[4 * to + k] = smaller(scan[4 * to + k], scan[4 * from + k]);
  });
  PF_UNROLL
  for (int k = 0; k < 4; ++k) least[k] = scan[k];
  __syncthreads();

  PF_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (!has_neighbor[k]) continue;
    const float weight = edge_weight_at(level, k, x, y), unrounded = weight * units.slope;
    const Sum<Value> slope = Sum<Value>(PairUnits::value_of<Value>(unrounded));
    const Value limit = PairUnits::value_of<Value>(weight * units.limit);
    Value* const h = out[k];
    if (units.quadratic) {
      lower_quadratic(h, spare, units, Lines::rows, unrounded, limit);
      if (grid.ny > 1) lower_quadratic(h, spare, units, Lines::columns, unrounded, limit);
    } else if (grid.ny == 1) {
      lower_line_together(Line<Value>{h, spare, 1, labels}, slope, reinterpret_cast<Sum<Value>*>(scan));
    } else {
      for (int ly = thread; ly < grid.ny; ly += count)
        lower_line(Line<Value>{h + ly * grid.nx, spare + ly * grid.nx, 1, grid.nx}, slope);
      __syncthreads();
      for (int lx = thread; lx < grid.nx; lx += count)
        lower_line(Line<Value>{h + lx, spare + lx, grid.nx, grid.ny}, slope);
    }
    __syncthreads();
    for (int label = thread; label < labels; label += count)
      h[label] = smaller(Value(h[label] - Value(least[k])), limit);
    if (!level.rise[0]) continue;
    const Rise<Value> rise = Rise<Value>::of(level.rise_at(k, x, y), Value(slope), limit);
    __syncthreads();
    for (int label = thread; label < labels; label += count) spare[label] = h[label];
    __syncthreads();
    for (int label = thread; label < labels; label += count) {
      const int from = label - rise.shift;
      h[label] = rising_message(rise, limit, message_at(spare, labels, Value(slope), limit, from),
                                message_at(spare, labels, Value(slope), limit, from - 1));
    }
    __syncthreads();
  }
}

/// Reads beliefs. Shared memory: two values for each thread.
template <class Value>
__global__ void read_long_kernel(PairUnits units, int values, PropagationLevel<Value> level, int set,
                                 int color, Beliefs beliefs) {
  begin_kernel();
  extern __shared__ char line_memory[];
  int x, y;
  if (!find_pixel(level.width, color, int(blockIdx.x), x, y)) return;
  Value* in[4];
  find_edges(level, set, x, y, values, in);
  const Value* const data = level.data + (std::ptrdiff_t(y) * level.width + x) * values;
  read_pixel_together(BeliefOf<Value>(data, in, true), data, x, y, units, beliefs,
                      reinterpret_cast<float*>(line_memory));
}

/// Reads the beliefs of a pixel from the coarser level, if there is one. Shared memory: two values for each
/// thread.
template <class Value>
__global__ void read_long_coarse_kernel(PairUnits units, int values, PropagationLevel<Value> level,
                                        PropagationLevel<Value> coarser, int coarser_color, Beliefs beliefs) {
  begin_kernel();
  extern __shared__ char line_memory[];
  const int y = int(blockIdx.x) / level.width, x = int(blockIdx.x) - y * level.width;
  const bool has_received = coarser.data != nullptr;
  Value* in[4] = {};
  if (has_received)
    find_edges(coarser, ((x / 2 + y / 2) & 1) == coarser_color ? 0 : 1, x / 2, y / 2, values, in);
  const Value* const data = level.data + (std::ptrdiff_t(y) * level.width + x) * values;
  read_pixel_together(
      [=, &in](int label) {
        const auto at = [&](int k) { return has_received ? Sum<Value>(in[k][label]) : Sum<Value>(0); };
        return float(Sum<Value>(data[label]) + ((at(0) + at(2)) + (at(1) + at(3))));
      },
      data, x, y, units, beliefs, reinterpret_cast<float*>(line_memory));
}

}  // namespace
}  // namespace parafield
