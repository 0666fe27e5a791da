// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/boxes/boxes.hpp"

namespace parafield {
namespace {

// Regions consist of horizontal runs of pixels. One thread finds them all, because it mostly skips pixels
// that are 0.

/// A run of pixels; if it is a root, it also holds its region's box and area.
struct Run {
  int parent;  ///< an earlier run of the same region, or for a root the run itself
  int x0, x1;  ///< inclusive
  int left, right, top, bottom, area;
};

int root_run(Run* runs, int i) {
  while (runs[i].parent != i) i = runs[i].parent = runs[runs[i].parent].parent;
  return i;
}

/// Appends the runs of a row and joins them with the runs of the row above, which are `above` to `count` - 1.
/// Returns the new number of runs.
int add_row(Run* runs, int above, int count, const std::uint8_t* row, int y, int width) {
  const int first = count;
  for (int x = next_set(row, 0, width); x < width; x = next_set(row, x, width)) {
    const int x0 = x;
    while (x < width && row[x] != 0) ++x;
    runs[count] = {count, x0, x - 1, x0, x - 1, y, y, x - x0};
    while (above < first && runs[above].x1 < x0 - 1) ++above;
    for (int i = above; i < first && runs[i].x0 <= x; ++i) {
      const int a = root_run(runs, i), b = root_run(runs, count);
      runs[larger(a, b)].parent = smaller(a, b);
    }
    ++count;
  }
  return count;
}

}  // namespace

template <class Backend>
void find_regions(Backend&, View<const std::uint8_t> mask, int min_area, int* scratch, RegionList list) {
  static_assert(sizeof(Run) == ints_of_run * sizeof(int));
  Run* const runs = reinterpret_cast<Run*>(scratch);
  int above = 0, count = 0;
  for (int y = 0; y < mask.height; ++y) {
    const int first = count;
    count = add_row(runs, above, count, mask.row(y), y, mask.width);
    above = first;
  }
  for (int i = 0; i < count; ++i) {
    const int r = root_run(runs, i);
    if (r == i) continue;
    const Run& run = runs[i];
    Run& root = runs[r];
    root.left = smaller(root.left, run.x0);
    root.right = larger(root.right, run.x1);
    root.bottom = larger(root.bottom, run.top);
    root.area += run.x1 - run.x0 + 1;
  }
  int found = 0;
  for (int i = 0; i < count; ++i) {
    const Run& run = runs[i];
    if (run.parent == i && run.area >= min_area)
      list.regions[found++] = {
          mask.width * run.top + run.x0, run.left, run.top, run.right, run.bottom, run.area};
  }
  *list.count = found;
}

PF_STEP(find_regions<Cpu>);

}  // namespace parafield
