// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/hidden/hidden.hpp"

namespace parafield {
namespace {

/// Calls f(x, y, hidden) for each pixel of a row.
template <class F>
void for_hidden(const FlowPlanes& flow, const FlowPlanes& back, int y, F f) {
  constexpr int chunk = 256;
  int hidden[chunk];  // same width as the floats it is computed from, which lets the loop vectorize
  const int width = flow.u.width, height = flow.u.height, pitch = int(back.u.stride());
  const float *const u = flow.u.row(y), *const v = flow.v.row(y), *const back_u = back.u.data,
                     *const back_v = back.v.data;
  for (int x0 = 0; x0 < width; x0 += chunk) {
    const int count = smaller(chunk, width - x0);
    for (int i = 0; i < count; ++i)
      hidden[i] = is_hidden(u[x0 + i], v[x0 + i], back_u, back_v, pitch, width, height, x0 + i, y);
    for (int i = 0; i < count; ++i) f(x0 + i, hidden[i] != 0);
  }
}

}  // namespace

template <class Backend>
void take_visible(Backend& cpu, FlowPlanes flow, FlowPlanes back, const Matches& matches) {
  cpu.rows(matches.grid.rows, [=](int row) {
    for (int column = 0; column < matches.grid.columns; ++column) {
      const int x = matches.grid.x(column), y = matches.grid.y(row);
      matches.u(column, row) = flow.u(x, y), matches.v(column, row) = flow.v(x, y);
      matches.valid(column, row) = !is_hidden(flow, back, x, y);
    }
  });
}

template <class Backend>
void fill_hidden(Backend& cpu, FlowPlanes flow, FlowPlanes back, FlowPlanes filled) {
  cpu.rows(flow.u.height, [=](int y) {
    const float *const from_u = filled.u.row(y), *const from_v = filled.v.row(y);
    float *const u = flow.u.row(y), *const v = flow.v.row(y);
    for_hidden(flow, back, y, [=](int x, bool hidden) {
      const bool takes = hidden & (from_u[x] == from_u[x]) & (from_v[x] == from_v[x]);
      u[x] = takes ? from_u[x] : u[x];
      v[x] = takes ? from_v[x] : v[x];
    });
  });
}

PF_STEP(take_visible<Cpu>);
PF_STEP(fill_hidden<Cpu>);

}  // namespace parafield
