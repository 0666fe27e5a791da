#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "markov/binary.cuh"
#include "markov/sweep/sweep.hpp"

// A thread a site. What its neighbours cost along x lies in shared memory for the separable model, or in registers where
// the grid is a usual one, so that a label takes one load of its data and two additions.
//
// Floor: a sweep of ICM evaluates labels x sites, at least 5 operations each (load, difference, two additions of which one
// takes the magnitude, comparison): displacements to 6 px at 1024x1024 take an H100 (29.7 T operations a second) 0.030 ms
// a sweep, the Gibbs sampler with an exponential a label about 0.096 ms. Measured (bench/results, commit ca9cc01): 0.12
// and 0.26 ms, shares of 25 % and 36 %. What is missing: the choice of a label takes three instructions more, an
// exponential twelve on units of which half are idle, each row of labels about 40 for what the neighbours cost along y,
// and the sampler makes each energy twice.
namespace parafield {
namespace {

constexpr int threads_x = 32, threads_y = 4, threads = threads_x * threads_y;

/// The neighbours of a site. Outside the image their weight is 0.
template <int Neighbors>
struct Neighborhood {
  float x[Neighbors], y[Neighbors], weight[Neighbors];
};

/// All are loaded at once, those outside from the nearest pixel: with branches each would wait for the one before.
template <int Neighbors, class Data>
__device__ Neighborhood<Neighbors> neighbors_of(const Energy<Data>& energy, View<const Label> labels, int x,
                                                int y) {
  Neighborhood<Neighbors> around;
  const int pitch = int(labels.pitch / std::ptrdiff_t(sizeof(Label)));
  const int columns[3] = {larger(x - 1, 0), x, smaller(x + 1, energy.width - 1)};
  const int rows[3] = {larger(y - 1, 0) * pitch, y * pitch, smaller(y + 1, energy.height - 1) * pitch};
  const bool columns_inside[3] = {x > 0, true, x + 1 < energy.width};
  const bool rows_inside[3] = {y > 0, true, y + 1 < energy.height};
  Label label[Neighbors];
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k)
    label[k] = labels.data[rows[neighbor_offset(k).y + 1] + columns[neighbor_offset(k).x + 1]];
  if (energy.edges.forward[0]) {
    PF_UNROLL
    for (int k = 0; k < Neighbors; ++k) {
      const View<float>& plane = energy.edges.forward[(k & 1) + 2 * (k >> 2)];
      around.weight[k] = is_forward(k)
                             ? plane(x, y)
                             : plane(columns[neighbor_offset(k).x + 1], larger(y + neighbor_offset(k).y, 0));
    }
  } else {
    PF_UNROLL
    for (int k = 0; k < Neighbors; ++k) around.weight[k] = 1;
  }
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k) {
    const bool inside = columns_inside[neighbor_offset(k).x + 1] && rows_inside[neighbor_offset(k).y + 1];
    around.x[k] = float(energy.grid.x(label[k]));
    around.y[k] = float(energy.grid.y(label[k]));
    around.weight[k] = inside ? around.weight[k] : 0.0f;
  }
  return around;
}

template <PairModel Model, int Neighbors>
__device__ float pair_costs_x(const PairCost& pair, const Neighborhood<Neighbors>& around, float lx) {
  float sum = 0;
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k) sum = fma(around.weight[k], pair.cost<Model>(lx - around.x[k], 0), sum);
  return sum;
}
template <PairModel Model, int Neighbors>
__device__ float pair_costs_y(const PairCost& pair, const Neighborhood<Neighbors>& around, float ly) {
  float sum = 0;
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k) sum = fma(around.weight[k], pair.cost<Model>(0, ly - around.y[k]), sum);
  return sum;
}
template <PairModel Model, int Neighbors>
__device__ float pair_costs(const PairCost& pair, const Neighborhood<Neighbors>& around, float lx, float ly) {
  float sum = 0;
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k)
    sum = fma(around.weight[k], pair.cost<Model>(lx - around.x[k], ly - around.y[k]), sum);
  return sum;
}

/// Differences that are not weighed and have no limit, of displacements: what most fields of displacements ask for.
struct PlainDifferences {
  const float *frame0, *frame1;
  std::ptrdiff_t pitch;
  int x0, y0;

  struct LabelRow {
    float value;
    const float* matches;
    __device__ float operator()(int lx) const { return magnitude(value - matches[lx]); }
  };
  struct Site {
    float value;
    const float* matches;
    std::ptrdiff_t pitch;
    __device__ LabelRow row(int ly) const { return {value, matches + ly * pitch}; }
  };
  __device__ Site site(int x, int y) const {
    return {frame0[y * pitch + x], frame1 + (y + y0) * pitch + x + x0, pitch};
  }
};

/// Energies of a site's labels. `table`: the site's own column of shared memory, a float in every `threads`. Side: of a
/// square grid of labels where the compiler knows it: the table is then in registers, and loops over x are unrolled.
template <PairModel Model, int Neighbors, class Data, int Side>
struct Site {
  const Energy<Data>& energy;
  Neighborhood<Neighbors> around;
  float* table;
  typename Data::Site data;
  float own[Side > 0 ? Side : 1];

  __device__ Site(const Energy<Data>& energy, View<const Label> labels, int x, int y, float* table)
      : energy(energy),
        around(neighbors_of<Neighbors>(energy, labels, x, y)),
        table(table),
        data(energy.data.site(x, y)) {
    if constexpr (Side > 0) {
      PF_UNROLL
      for (int lx = 0; lx < Side; ++lx) own[lx] = pair_costs_x<Model>(energy.pair, around, float(lx));
    } else if constexpr (Model == PairModel::separable) {
      if (energy.grid.ny > 1)
        for (int lx = 0; lx < energy.grid.nx; ++lx)
          table[lx * threads] = pair_costs_x<Model>(energy.pair, around, float(lx));
    }
  }

  /// use(label's index, its energy) for the labels at [begin, end) of row ly of the grid, lowest first.
  template <class Use>
  __device__ void try_row(int ly, int begin, int end, Use use) const {
    const int first = ly * (Side > 0 ? Side : energy.grid.nx);
    const auto costs = data.row(ly);
    if constexpr (Side > 0) {
      const float along_y = pair_costs_y<Model>(energy.pair, around, float(ly));
      PF_UNROLL
      for (int lx = 0; lx < Side; ++lx) use(first + lx, (costs(lx) + own[lx]) + along_y);
    } else if constexpr (Model == PairModel::separable) {
      if (energy.grid.ny > 1) {
        const float along_y = pair_costs_y<Model>(energy.pair, around, float(ly));
#pragma unroll 4
        for (int lx = begin; lx < end; ++lx) use(first + lx, (costs(lx) + table[lx * threads]) + along_y);
      } else {  // one row: each is seen once, without a table
#pragma unroll 4
        for (int lx = begin; lx < end; ++lx)
          use(lx, costs(lx) + pair_costs_x<Model>(energy.pair, around, float(lx)));
      }
    } else {
#pragma unroll 4
      for (int lx = begin; lx < end; ++lx)
        use(first + lx, costs(lx) + pair_costs<Model>(energy.pair, around, float(lx), float(ly)));
    }
  }
  template <class Use>
  __device__ void try_all(Use use) const {
    const int rows = Side > 0 ? Side : energy.grid.ny;
    for (int ly = 0; ly < rows; ++ly) try_row(ly, 0, energy.grid.nx, use);
  }
  __device__ Label label(int index) const {
    const int ly = index / energy.grid.nx;
    return energy.grid.label(index - ly * energy.grid.nx, ly);
  }
};

/// The thread's site of the colour; outside the image where it has none.
__device__ int2 own_site(Sites sites) {
  const int column = int(blockIdx.x * threads_x + threadIdx.x),
            row = int(blockIdx.y * threads_y + threadIdx.y);
  const int y = sites.first_row() + row * sites.row_stride();
  return {sites.first(y) + column * sites.stride(), y};
}

extern __shared__ float shared[];

/// Tells the next sweep that this one changed something: once a block, as many writes to one place take long. All threads
/// of a block come here.
__device__ void tell(int* flag, bool changed) {
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
  tell(changed, changes);
}

/// Two labels, stored costs, all sites at once, edges that weigh the same: bound by memory (8 bytes of costs, a label in
/// and out: 12 bytes a site, 4 us for 1024 x 1024 from memory, about half from the L2 cache). A thread makes four sites.
/// Does not look whether the last sweep has changed anything: nothing would change again, and looking takes longer.
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

/// f.template operator()<Model, Neighbors>() for what an energy asks for at run time.
template <class F>
void with_model(const PairCost& pair, F f) {
  const auto with_pair = [&]<PairModel Model>() {
    pair.neighbors == 4 ? f.template operator()<Model, 4>() : f.template operator()<Model, 8>();
  };
  switch (pair.model) {
    case PairModel::separable:
      return with_pair.template operator()<PairModel::separable>();
    case PairModel::linear:
      return with_pair.template operator()<PairModel::linear>();
    case PairModel::quadratic:
      return with_pair.template operator()<PairModel::quadratic>();
  }
}

template <class... Parameters, class... Arguments>
void launch_sites(Cuda& cuda, void (*kernel)(Parameters...), dim3 grid, std::size_t floats,
                  const Arguments&... arguments) {
  const std::size_t bytes = floats * threads * sizeof(float);
  if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
  cuda.launch(kernel, grid, block, bytes, arguments...);
}

std::size_t table_floats(const PairCost& pair, LabelGrid grid) {
  return pair.model == PairModel::separable && grid.ny > 1 ? std::size_t(grid.nx) : 0;
}

/// Calls f.template operator()<Neighbors, Side>(energy) where an energy's differences are plain and its grid is one of
/// the usual ones, and tells whether it did.
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
  const auto with_side = [&]<int Side>() {
    energy.pair.neighbors == 4 ? f.template operator()<4, Side>(plain)
                               : f.template operator()<8, Side>(plain);
    return true;
  };
  switch (side) {
    case 5:
      return with_side.template operator()<5>();
    case 7:
      return with_side.template operator()<7>();
    case 9:
      return with_side.template operator()<9>();
    case 11:
      return with_side.template operator()<11>();
    case 13:
      return with_side.template operator()<13>();
    default:
      return false;
  }
}

template <class Data>
void icm(Cuda& cuda, const Energy<Data>& energy, View<const Label> in, View<Label> out, Sites sites,
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

template <class Data>
void gibbs(Cuda& cuda, const Energy<Data>& energy, View<Label> labels, Sites sites, Temperature t) {
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

}  // namespace

template <>
void clear_changes(Cuda& cuda, Changes changes) {
  cuda.launch(clear_kernel, dim3(1), dim3(256), 0, changes.flags);
}

#define PF_SWEEPS_OF(Data)                                                                                   \
  template <>                                                                                                \
  void icm_sweep(Cuda& cuda, const Energy<Data>& energy, View<const Label> in, View<Label> out, Sites sites, \
                 Changes changes, int sweep) {                                                               \
    icm(cuda, energy, in, out, sites, changes, sweep);                                                       \
  }                                                                                                          \
  template <>                                                                                                \
  void gibbs_sweep(Cuda& cuda, const Energy<Data>& energy, View<Label> labels, Sites sites, Temperature t) { \
    gibbs(cuda, energy, labels, sites, t);                                                                   \
  }                                                                                                          \
  template <>                                                                                                \
  void energy_terms(Cuda& cuda, const Energy<Data>& energy, View<const Label> labels, View<float> terms) {   \
    cuda.launch(terms_kernel<Data>, grid_of(energy, {}), block, 0, energy, labels, terms);                   \
  }                                                                                                          \
  template <>                                                                                                \
  void costs_around(Cuda& cuda, const Energy<Data>& energy, View<const Label> labels, CostsAround costs) {   \
    cuda.launch(around_kernel<Data>, grid_of(energy, {}), block, 0, energy, labels, costs);                  \
  }

PF_SWEEPS_OF(StoredCosts)
PF_SWEEPS_OF(Differences<1>)
PF_SWEEPS_OF(Differences<3>)

}  // namespace parafield
