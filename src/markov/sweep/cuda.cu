#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "markov/neighbor_counts.cuh"
#include "markov/sweep/sites.cuh"

// One thread for each site. For the separable model its pair costs along x are kept in shared memory, or in
// registers for usual grids of labels, so that a label takes one load of its data and two additions.
//
// Floor: a sweep of ICM evaluates labels x sites, with at least 5 operations each (load, difference, two
// additions, one of them of a magnitude, comparison). For displacements up to 6 px at 1024x1024 an H100
// (29.7e12 operations a second) takes 0.030 ms a sweep; the Gibbs sampler, with an exponential for each
// label, about 0.096 ms. Measured (bench/results, commit ca9cc01): 0.12 and 0.26 ms, so 25 % and 36 % of the
// peak. The rest goes into: three more instructions to choose a label; twelve for an exponential, on units
// that are half idle; about 40 for the pair costs along y of each row of labels; and the sampler computes
// each energy twice.
namespace parafield {
namespace {

/// Site of this thread; outside the image if there is none for it.
__device__ int2 own_site(Sites sites) {
  const int column = int(blockIdx.x * threads_x + threadIdx.x),
            row = int(blockIdx.y * threads_y + threadIdx.y);
  const int y = sites.first_row() + row * sites.row_stride();
  return {sites.first(y) + column * sites.stride(), y};
}

extern __shared__ float shared[];

/// Sets the flag if a thread has changed a label. A CUDA block writes once, as many writes to one address are
/// slow. All threads of the CUDA block must call this.
__device__ void set_flag(int* flag, bool changed) {
  if (__syncthreads_or(changed) && threadIdx.x == 0 && threadIdx.y == 0) *flag = 1;
}

template <PairModel Model, int Neighbors, class Data, int Side = 0>
__global__ void __launch_bounds__(threads)
    icm_kernel(Energy<Data> energy, View<const Label> in, View<Label> out, Sites sites,
               const int* changed_before, int* changed) {
  begin_kernel();
  if (!*changed_before) return;
  const auto [x, y] = own_site(sites);
  bool changes = false;
  if (x < energy.width && y < energy.height) {
    float* const table = shared + threadIdx.y * threads_x + threadIdx.x;
    const Site<Model, Neighbors, Data, Side> site(energy, in, x, y, table);
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

/// ICM of all sites at once for Energy::is_binary; a thread updates four sites. Bound by memory: 12 bytes for
/// each site (8 of costs, a label in, a label out), 4 us for 1024 x 1024 from memory, about half of that from
/// the L2 cache. It does not look whether the last sweep has changed anything: if not, this one changes
/// nothing either, and looking takes longer.
template <int Neighbors>
__global__ void __launch_bounds__(threads)
    icm_binary_kernel(Energy<StoredCosts> energy, View<const Label> in, View<Label> out) {
  begin_kernel();
  const int x0 = int(blockIdx.x * threads_x + threadIdx.x) * FourSites::count,
            y = int(blockIdx.y * threads_y + threadIdx.y);
  if (x0 >= energy.width || y >= energy.height) return;
  const float4 still = *reinterpret_cast<const float4*>(energy.data.volume.row(y, 0) + x0),
               moving = *reinterpret_cast<const float4*>(energy.data.volume.row(y, 1) + x0);
  const FourSites sites = four_sites<Neighbors>(in, x0, y);
  const float pair = energy.pair.cost<PairModel::linear>(1, 0);
  const auto label = [&](int i, float cost0, float cost1) {
    return static_cast<unsigned short>(binary_label(cost0, cost1, sites.ones[i], sites.all[i], pair));
  };
  *reinterpret_cast<ushort4*>(out.row(y) + x0) =
      make_ushort4(label(0, still.x, moving.x), label(1, still.y, moving.y), label(2, still.z, moving.z),
                   label(3, still.w, moving.w));
}

template <PairModel Model, int Neighbors, class Data, int Side = 0>
__global__ void __launch_bounds__(threads)
    gibbs_kernel(Energy<Data> energy, View<Label> labels, Sites sites, Temperature t) {
  begin_kernel();
  const auto [x, y] = own_site(sites);
  if (x >= energy.width || y >= energy.height) return;
  const LabelGrid grid = energy.grid;
  float* const table = shared + threadIdx.y * threads_x + threadIdx.x;
  float* const group_sums =
      table + (Side == 0 && grid.ny > 1 && Model == PairModel::separable ? grid.nx : 0) * threads;
  const Site<Model, Neighbors, Data, Side> site(energy, View<const Label>(labels), x, y, table);
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
    group_sums[i * threads] = sum;
  }

  const float aim = random_number(t.key, x, y) * sum;
  int i = 0;
  while (i + 1 < groups && group_sums[i * threads] <= aim) ++i;
  const float before = i > 0 ? group_sums[(i - 1) * threads] : 0.0f;
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

template <class... Parameters, class... Arguments>
void launch_sites(Cuda& cuda, void (*kernel)(Parameters...), dim3 grid, std::size_t floats,
                  const Arguments&... arguments) {
  const std::size_t bytes = floats * threads * sizeof(float);
  if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
  cuda.launch(kernel, grid, block, bytes, arguments...);
}

/// Floats of shared memory for each thread: its table of pair costs along x.
std::size_t table_floats(const PairCost& pair, LabelGrid grid) {
  return pair.model == PairModel::separable && grid.ny > 1 ? std::size_t(grid.nx) : 0;
}

/// Calls f.template operator()<Neighbors, Side>(energy) and returns true if the differences are plain and the
/// grid of labels is one of the usual ones.
template <class F>
bool with_plain(const Energy<Differences<1>>& energy, F f) {
  const Differences<1>& d = energy.data;
  const int side = energy.grid.nx;
  if (energy.pair.model != PairModel::separable || energy.grid.ny != side || d.step != 1 || d.weight != 1 ||
      d.limit < 1e30f)
    return false;
  const Energy<PlainDifferences> plain{energy.width, energy.height,
                                       energy.grid,  energy.pair,
                                       energy.edges, {d.frame0[0], d.frame1[0], d.pitch, d.x0, d.y0}};
  return with_one_of<5, 7, 9, 11, 13>(side, [&]<int Side>() {
    energy.pair.neighbors == 4 ? f.template operator()<4, Side>(plain)
                               : f.template operator()<8, Side>(plain);
  });
}

}  // namespace

template <class Backend, class Data>
void icm_sweep(Backend& cuda, const Energy<Data>& energy, View<const Label> in, View<Label> out, Sites sites,
               Changes changes, int sweep) {
  if constexpr (std::is_same_v<Data, StoredCosts>)
    if (energy.is_binary() && sites.colors == 1) {
      const dim3 grid(blocks_for(energy.width, threads_x * FourSites::count),
                      blocks_for(energy.height, threads_y));
      return cuda.launch(energy.pair.neighbors == 4 ? icm_binary_kernel<4> : icm_binary_kernel<8>, grid,
                         block, 0, energy, in, out);
    }
  if constexpr (std::is_same_v<Data, Differences<1>>)
    if (with_plain(energy, [&]<int Neighbors, int Side>(const Energy<PlainDifferences>& plain) {
          launch_sites(cuda, icm_kernel<PairModel::separable, Neighbors, PlainDifferences, Side>,
                       grid_of(energy, sites), 0, plain, in, out, sites, changes.flags.data + sweep,
                       changes.flags.data + sweep + 1);
        }))
      return;
  with_model(energy.pair, [&]<PairModel Model, int Neighbors>() {
    launch_sites(cuda, icm_kernel<Model, Neighbors, Data>, grid_of(energy, sites),
                 table_floats(energy.pair, energy.grid), energy, in, out, sites, changes.flags.data + sweep,
                 changes.flags.data + sweep + 1);
  });
}

template <class Backend, class Data>
void gibbs_sweep(Backend& cuda, const Energy<Data>& energy, View<Label> labels, Sites sites, Temperature t) {
  if constexpr (std::is_same_v<Data, Differences<1>>)
    if (with_plain(energy, [&]<int Neighbors, int Side>(const Energy<PlainDifferences>& plain) {
          launch_sites(cuda, gibbs_kernel<PairModel::separable, Neighbors, PlainDifferences, Side>,
                       grid_of(energy, sites), Side, plain, labels, sites, t);
        }))
      return;
  with_model(energy.pair, [&]<PairModel Model, int Neighbors>() {
    launch_sites(cuda, gibbs_kernel<Model, Neighbors, Data>, grid_of(energy, sites),
                 table_floats(energy.pair, energy.grid) + std::size_t(group_count(energy.grid)), energy,
                 labels, sites, t);
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

template <>
void clear_changes(Cuda& cuda, Changes changes) {
  cuda.launch(clear_kernel, dim3(1), dim3(256), 0, changes.flags);
}

#define PF_SWEEPS(Data)                                                                                     \
  template void icm_sweep(Cuda&, const Energy<Data>&, View<const Label>, View<Label>, Sites, Changes, int); \
  template void gibbs_sweep(Cuda&, const Energy<Data>&, View<Label>, Sites, Temperature);                   \
  template void energy_terms(Cuda&, const Energy<Data>&, View<const Label>, View<float>);                   \
  template void costs_around(Cuda&, const Energy<Data>&, View<const Label>, CostsAround);

PF_SWEEPS(StoredCosts)
PF_SWEEPS(Differences<1>)
PF_SWEEPS(Differences<3>)
template void energy_terms(Cuda&, const Energy<KnownCosts>&, View<const Label>, View<float>);

}  // namespace parafield
