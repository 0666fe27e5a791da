// SPDX-License-Identifier: MIT
#include "markov/launch.cuh"
#include "markov/neighbor_counts.cuh"
#include "markov/sweep/sites.cuh"
#include "markov/sweep/windows.cuh"

// One thread per site. The separable model keeps its pair costs along x in shared memory. Displacements of
// gray frames with plain differences have their own kernels: see windows.cuh.
namespace parafield {
namespace {

/// Site of this thread, which may be outside the image.
__device__ int2 own_site(Sites sites) {
  const int column = int(blockIdx.x * threads_x + threadIdx.x),
            row = int(blockIdx.y * threads_y + threadIdx.y);
  const int y = sites.first_row() + row * sites.row_stride();
  return {sites.first(y) + column * sites.stride(), y};
}

extern __shared__ float shared[];

/// Sets the flag, once, if a thread has changed a label. All threads of the CUDA block must call this.
__device__ void set_flag(int* flag, bool changed) {
  if (__syncthreads_or(changed) && threadIdx.x == 0 && threadIdx.y == 0) *flag = 1;
}

template <PairModel Model, int Neighbors, class Data>
__global__ void __launch_bounds__(site_threads)
    icm_kernel(Energy<Data> energy, View<const Label> in, View<Label> out, Sites sites,
               const int* changed_before, int* changed) {
  begin_kernel();
  if (!*changed_before) return;
  const auto [x, y] = own_site(sites);
  bool changes = false;
  if (x < energy.width && y < energy.height) {
    float* const table = shared + threadIdx.y * threads_x + threadIdx.x;
    const Site<Model, Neighbors, Data> site(energy, in, x, y, table);
    float least = 3e38f;
    int best = 0;
    site.try_all([&](int index, float cost) {
      const bool better = cost < least;
      least = better ? cost : least;
      best = better ? index : best;
    });
    const Label now = site.label(best);
    changes = now != in(x, y);
    out(x, y) = now;
  }
  set_flag(changed, changes);
}

/// ICM for Energy::is_binary that updates all sites at once; a thread updates four sites. Memory-bound: 12
/// bytes per site, 4 us for 1024 x 1024, half of that from the L2 cache. It runs even if the previous sweep
/// changed nothing, because checking that is slower.
template <int Neighbors>
__global__ void __launch_bounds__(site_threads)
    icm_binary_kernel(Energy<StoredCosts> energy, View<const Label> in, View<Label> out) {
  begin_kernel();
  const int x0 = int(blockIdx.x * threads_x + threadIdx.x) * FourSites::count,
            y = int(blockIdx.y * threads_y + threadIdx.y);
  if (x0 >= energy.width || y >= energy.height) return;
  const Four<float> still = four_at(energy.data.volume.row(y, 0) + x0),
                    moving = four_at(energy.data.volume.row(y, 1) + x0);
  const FourSites sites = four_sites<Neighbors>(in, x0, y);
  const float pair = energy.pair.cost<PairModel::linear>(1, 0);
  Four<Label> labels;
  PF_UNROLL
  for (int i = 0; i < FourSites::count; ++i)
    labels.of[i] = Label(binary_label(still.of[i], moving.of[i], sites.ones[i], sites.all[i], pair));
  four_at(out.row(y) + x0) = labels;
}

template <PairModel Model, int Neighbors, class Data>
__global__ void __launch_bounds__(site_threads)
    gibbs_kernel(Energy<Data> energy, View<Label> labels, Sites sites, Temperature t) {
  begin_kernel();
  const auto [x, y] = own_site(sites);
  if (x >= energy.width || y >= energy.height) return;
  const LabelGrid grid = energy.grid;
  float* const table = shared + threadIdx.y * threads_x + threadIdx.x;
  float* const group_sums =
      table + (grid.ny > 1 && Model == PairModel::separable ? grid.nx : 0) * site_threads;
  const Site<Model, Neighbors, Data> site(energy, View<const Label>(labels), x, y, table);
  float least = 3e38f;
  site.try_all([&](int, float cost) { least = smaller(cost, least); });

  const int group = group_size(grid), groups = group_count(grid);
  const auto try_group = [&](int i, auto use) {
    if (grid.ny > 1)
      site.try_row(i, 0, grid.nx, use);
    else
      site.try_row(0, i * group, smaller((i + 1) * group, grid.nx), use);
  };
  float sum = 0;
  for (int i = 0; i < groups; ++i) {
    float sum_of_group = 0;
    try_group(i, [&](int, float cost) { sum_of_group += exponential((least - cost) * t.inverse); });
    sum += sum_of_group;
    group_sums[i * site_threads] = sum;
  }

  const float aim = random_number(t.key, x, y) * sum;
  int i = 0;
  while (i + 1 < groups && group_sums[i * site_threads] <= aim) ++i;
  const float before = i > 0 ? group_sums[(i - 1) * site_threads] : 0.0f;
  float sum_of_group = 0;
  int drawn = i * group;
  try_group(i, [&](int, float cost) {
    sum_of_group += exponential((least - cost) * t.inverse);
    drawn += before + sum_of_group <= aim ? 1 : 0;
  });
  labels(x, y) = site.label(smaller(drawn, grid.count() - 1));
}

template <class Data>
__global__ void terms_kernel(Energy<Data> energy, View<const Label> labels, View<float> terms) {
  begin_kernel();
  const int x = int(blockIdx.x * threads_x + threadIdx.x), y = int(blockIdx.y * threads_y + threadIdx.y);
  if (x < energy.width && y < energy.height) terms(x, y) = energy_term(energy, labels, x, y);
}

template <class Data>
__global__ void around_kernel(Energy<Data> energy, View<const Label> labels, CostsAround costs) {
  begin_kernel();
  const int x = int(blockIdx.x * threads_x + threadIdx.x), y = int(blockIdx.y * threads_y + threadIdx.y);
  if (x < energy.width && y < energy.height) store_costs_around(energy, labels(x, y), x, y, costs);
}

__global__ void clear_kernel(View<int> flags) {
  begin_kernel();
  for (int i = int(threadIdx.x); i < flags.width; i += int(blockDim.x)) flags.data[i] = i == 0;
}

const dim3 block(threads_x, threads_y);

template <class Data>
dim3 grid_of(const Energy<Data>& energy, Sites sites) {
  return {blocks_for(energy.width, threads_x * sites.stride()),
          blocks_for(energy.height, threads_y * sites.row_stride())};
}

/// Bytes of shared memory per block: each thread's table of pair costs along x, if any, and `more` floats.
std::size_t shared_bytes(const PairCost& pair, LabelGrid grid, int more) {
  const bool has_table = pair.model == PairModel::separable && grid.ny > 1;
  return std::size_t((has_table ? grid.nx : 0) + more) * site_threads * sizeof(float);
}

/// Calls f.template operator()<Side, Colors, Strips>(windows, grid) if windows.cuh has kernels for the
/// energy. Otherwise returns false.
template <class Data, class F>
bool with_windows(const Energy<Data>& energy, Sites sites, F f) {
  if constexpr (std::is_same_v<Data, Differences<1>>) {
    const Data& d = energy.data;
    const int side = energy.grid.nx;
    if (energy.pair.model != PairModel::separable || energy.grid.ny != side || d.step != 1 || d.weight != 1 ||
        d.limit < 1e30f)
      return false;
    const WindowEnergy windows = window_energy(energy);
    // In large images, blocks have several strips, which share what they load.
    const bool is_large = sites.colors == 1 && double(energy.width) * energy.height >= 1 << 19;
    return with_one_of<5, 7, 9, 11, 13>(side, [&]<int Side>() {
      const auto call = [&]<int Colors, int Strips>() {
        using Block = WindowBlock<Side, Colors, Strips>;
        f.template operator()<Side, Colors, Strips>(
            windows, dim3(blocks_for(energy.width, Block::columns * Block::step_x),
                          blocks_for(energy.height, Block::rows * Block::step_y)));
      };
      if (is_large) return call.template operator()<1, 4>();
      with_one_of<1, 2, 4>(sites.colors, [&]<int Colors>() { call.template operator()<Colors, 1>(); });
    });
  }
  return false;
}

}  // namespace

template <class Backend, class Data>
void icm_sweep(Backend& cuda, const Energy<Data>& energy, View<const Label> in, View<Label> out, Sites sites,
               View<int> changes, int sweep) {
  if constexpr (std::is_same_v<Data, StoredCosts>)
    if (energy.is_binary() && sites.colors == 1) {
      const dim3 grid(blocks_for(energy.width, threads_x * FourSites::count),
                      blocks_for(energy.height, threads_y));
      return cuda.launch(energy.pair.neighbors == 4 ? icm_binary_kernel<4> : icm_binary_kernel<8>, grid,
                         block, 0, energy, in, out);
    }
  int* const flag = changes.data + sweep;
  if (with_windows(energy, sites,
                   [&]<int Side, int Colors, int Strips>(const WindowEnergy& windows, dim3 grid) {
                     cuda.launch(icm_window_kernel<Side, Colors, Strips>, grid, dim3(site_threads), 0,
                                 windows, in, out, sites, flag, flag + 1);
                   }))
    return;
  with_model(energy.pair, [&]<PairModel Model, int Neighbors>() {
    launch_shared(cuda, icm_kernel<Model, Neighbors, Data>, grid_of(energy, sites), block,
                  shared_bytes(energy.pair, energy.grid, 0), energy, in, out, sites, flag, flag + 1);
  });
}

template <class Backend, class Data>
void gibbs_sweep(Backend& cuda, const Energy<Data>& energy, View<Label> labels, Sites sites, Temperature t) {
  if (with_windows(energy, sites,
                   [&]<int Side, int Colors, int Strips>(const WindowEnergy& windows, dim3 grid) {
                     if constexpr (Colors > 1)
                       cuda.launch(gibbs_window_kernel<Side, Colors, Strips>, grid, dim3(site_threads), 0,
                                   windows, labels, sites, t);
                   }))
    return;
  with_model(energy.pair, [&]<PairModel Model, int Neighbors>() {
    launch_shared(cuda, gibbs_kernel<Model, Neighbors, Data>, grid_of(energy, sites), block,
                  shared_bytes(energy.pair, energy.grid, group_count(energy.grid)), energy, labels, sites, t);
  });
}

template <class Backend, class Data>
void energy_terms(Backend& cuda, const Energy<Data>& energy, View<const Label> labels, View<float> terms) {
  cuda.launch(terms_kernel<Data>, grid_of(energy, {}), block, 0, energy, labels, terms);
}

template <class Backend, class Data>
void costs_around(Backend& cuda, const Energy<Data>& energy, View<const Label> labels, CostsAround costs) {
  cuda.launch(around_kernel<Data>, grid_of(energy, {}), block, 0, energy, labels, costs);
}

template <class Backend>
void clear_changes(Backend& cuda, View<int> changes) {
  cuda.launch(clear_kernel, dim3(1), dim3(256), 0, changes);
}

PF_SWEEP_STEPS(Cuda);

}  // namespace parafield
