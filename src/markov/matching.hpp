#pragma once
#include <optional>
#include <utility>

#include "steps/convert/convert.hpp"
#include "steps/smooth/smooth.hpp"
#include "core/fail.hpp"
#include "markov/planes/planes.hpp"
#include "markov/fields/fields.hpp"
#include "markov/match/match.hpp"
#include "markov/minimize.hpp"

namespace parafield {

/// What stereo and displacements share: label fields whose data costs compare pixels of two frames. Frames live in slots:
/// each is prepared once, and any two slots can then be solved.
template <class Backend>
class MatchingSolver {
 public:
  static constexpr int slots = 2;

  MatchingSolver(Backend& backend, Workspace& workspace, const MatchingCost& cost,
                 const Smoothness& smoothness, LabelGrid grid, bool sub_pixel, const Optimizer& optimizer,
                 EnergyReport report, Progress<Backend> progress, Size size)
      : backend_(backend),
        cost_(cost),
        smoothness_(smoothness),
        pair_(pair_cost_of(smoothness)),
        grid_(grid),
        sub_pixel_(sub_pixel),
        reports_(report != EnergyReport::none),
        optimizer_(optimizer),
        size_(size),
        window_(aggregation_window(cost)),
        taps_(gaussian_taps(cost.presmooth)),
        columns_(larger(magnitude_of(grid.x0), magnitude_of(grid.x0 + grid.nx - 1))),
        rows_(grid.ny > 1 ? larger(magnitude_of(grid.y0), magnitude_of(grid.y0 + grid.ny - 1)) : 0),
        field_(backend, workspace, size, grid, optimizer, report),
        progress_(std::move(progress)) {
    for (FrameData& frame : frames_) take_planes(frame, workspace);
    if (cost.presmooth > 0 && needs_color())
      for (View<float>& plane : unsmoothed_) plane = workspace.image<float>(size);
    if (uses_edges())
      for (int j = 0; j < smoothness.neighbors / 2; ++j) edges_.forward[j] = workspace.image<float>(size);
    if (propagates()) {
      beliefs_.emplace(backend, workspace, grid, pair_, size, optimizer.propagation, uses_edges(),
                       stores_costs());
      if (beliefs_->blocks().size() > 1 && reports_ && stores_costs())
        at_labels_.middle = workspace.image<float>(size);
    }
    if (stores_costs()) volume_ = take_volume(workspace, beliefs_ ? beliefs_->size() : size);
    costs_.middle = workspace.image<float>(size);
    costs_.before_x = workspace.image<float>(size);
    costs_.after_x = workspace.image<float>(size);
    if (grid.ny > 1) {
      costs_.before_y = workspace.image<float>(size);
      costs_.after_y = workspace.image<float>(size);
    }
    backend.reserve_scratch(larger(match_scratch(matching(0, 1, size)), smooth_scratch(taps_, size.width)));
  }

  /// Takes frames into the slots from `slot` on.
  void prepare(const Frame* frames, int slot, int count) {
    if (needs_luma()) {
      View<float> luma[slots];
      for (int i = 0; i < count; ++i) luma[i] = frames_[slot + i].luma;
      if (cost_.presmooth > 0)
        smooth(backend_, frames, taps_, luma, count);
      else
        convert(backend_, frames, luma, count);
    }
    prepare_rest(frames, frames_ + slot, count);
  }

  bool takes_start() const { return !is_winner() && !propagates(); }
  View<double> energies() const { return field_.energies(); }

  /// The field of the frame in slot `first`; the other slot has its matches, `step` times a label's x away. `start`: in
  /// the user's memory; no data of v for disparities. `main`: the solve that energies are reported of; the other one, of a
  /// check, comes after it.
  void solve(int first, int step, const View<const float>* start_u, const View<const float>* start_v,
             View<float> u, View<float> v, Trust trust, bool main) {
    progress_.begin(main ? 0 : 1);
    if (uses_edges()) find_edges(frames_[first]);
    const View<Label> labels =
        propagates() ? propagate(first, step, main) : minimize(first, step, start_u, start_v, main);
    label_values(backend_, {labels, costs_, frames_[first].known, grid_, step, sub_pixel_}, u, v, trust);
  }

 private:
  View<Label> minimize(int first, int step, const View<const float>* start_u,
                       const View<const float>* start_v, bool main) {
    const Matching matching = this->matching(first, step, size_);
    const bool one_row = grid_.ny == 1;
    Winners winners{start_u ? View<Label>{} : field_.labels(),
                    one_row && is_winner() ? costs_ : CostsAround{}};
    if (start_u)
      nearest_labels(backend_, *start_u, start_v ? *start_v : View<const float>{}, grid_, field_.labels());
    if (volume_ || winners.labels) match(backend_, matching, volume_, winners);
    View<Label> labels = field_.labels();
    if (!is_winner() || !one_row || (main && reports_))
      with_data(matching, [&]<class Data>(const Data& data) {
        const Energy<Data> energy{size_.width, size_.height, grid_, pair_, edges_, data};
        labels = field_.minimize(energy, main, progress_);
        if (!winners.costs.middle) costs_around(backend_, energy, View<const Label>(labels), costs_);
      });
    return labels;
  }

  View<Label> propagate(int first, int step, bool main) {
    const View<Label> labels = field_.labels();
    const bool whole = beliefs_->blocks().size() == 1, each = whole && main && field_.records_sweeps();
    const Size size = beliefs_->size();
    for (const Block& block : beliefs_->blocks()) {
      const Matching matching = this->matching(first, step, size, block.x, block.y);
      if (volume_) match(backend_, matching, volume_, {});
      EdgeWeights edges;
      for (int j = 0; j < 2; ++j) edges.forward[j] = part_of(edges_.forward[j], block.x, block.y, size);
      with_data(matching, [&]<class Data>(const Data& data) {
        const Energy<Data> energy{size.width, size.height, grid_, pair_, edges, data};
        const auto record = [&](int i) {
          if (main && whole && reports_) field_.record(energy, labels, each ? i : 0);
        };
        beliefs_->solve(block, energy, labels, costs_, each, record, progress_);
        if (main && at_labels_.middle)
          costs_around(backend_, energy, View<const Label>(part_of(labels, block.x, block.y, size)),
                       {part_of(at_labels_.middle, block.x, block.y, size)});
      });
    }
    if (main && reports_ && !whole) record_blocks(matching(first, step, size_), labels);
    return labels;
  }

  /// The energy of a field that was solved in blocks.
  void record_blocks(const Matching& matching, View<const Label> labels) {
    const auto record = [&]<class Data>(const Data& data) {
      field_.record(Energy<Data>{size_.width, size_.height, grid_, pair_, edges_, data}, labels, 0);
    };
    at_labels_.middle ? record(KnownCosts{at_labels_.middle}) : with_data(matching, record);
  }

  /// The planes of a frame; those not needed have no data.
  struct FrameData {
    View<float> luma, color[3], gradient;
    View<std::uint32_t> census;
    View<std::uint8_t> known;
  };

  static int magnitude_of(int value) { return value < 0 ? -value : value; }
  bool propagates() const { return optimizer_.kind == Optimizer::Kind::belief_propagation; }
  bool is_winner() const { return optimizer_.kind == Optimizer::Kind::winner_takes_all; }
  /// Whether anything asks for smoothness, and image edges weaken it.
  bool uses_edges() const { return smoothness_.edge_scale > 0 && (!is_winner() || reports_); }
  bool compares(DataTerm term) const { return cost_.data == term || cost_.data == DataTerm::mix; }
  bool differs() const { return compares(DataTerm::absolute) || cost_.data == DataTerm::squared; }
  bool needs_color() const { return (cost_.rgb && differs()) || uses_edges(); }
  bool needs_luma() const {
    return (!cost_.rgb && differs()) || compares(DataTerm::census) || compares(DataTerm::gradient);
  }
  /// Absolute differences are as soon made as read; other costs are stored for solvers that ask for them often.
  bool is_lazy() const { return cost_.data == DataTerm::absolute && cost_.aggregation == 1; }
  bool stores_costs() const { return !is_lazy() && (!is_winner() || grid_.ny > 1 || reports_); }

  /// A plane with room around it for every match: all of them have one pitch.
  template <class T>
  View<T> take_plane(Workspace& workspace) {
    const View<T> whole = workspace.image<T>({size_.width + 2 * columns_, size_.height + 2 * rows_});
    pitch_ = whole.pitch / std::ptrdiff_t(sizeof(T));
    return {&whole.row(rows_)[columns_], size_.width, size_.height, whole.pitch};
  }

  void take_planes(FrameData& frame, Workspace& workspace) {
    if (needs_luma()) frame.luma = take_plane<float>(workspace);
    if (needs_color())
      for (View<float>& plane : frame.color) plane = take_plane<float>(workspace);
    if (compares(DataTerm::census)) frame.census = take_plane<std::uint32_t>(workspace);
    if (compares(DataTerm::gradient)) frame.gradient = take_plane<float>(workspace);
    frame.known = workspace.image<std::uint8_t>(size_);
  }

  Volume take_volume(Workspace& workspace, Size size) {
    const std::int64_t rows = std::int64_t(size.height) * grid_.count();
    if (rows > (1 << 30))
      fail(ErrorCode::memory, "data costs of ", grid_.count(), " labels at ", size.width, "x", size.height,
           " pixels take ", rows * size.width * 4 / (1 << 20), " MiB");
    const View<float> all = workspace.image<float>({size.width, int(rows)});
    return {all.data, all.pitch / std::ptrdiff_t(sizeof(float)), grid_.count()};
  }

  static View<std::uint32_t> words(View<float> plane) {
    return {reinterpret_cast<std::uint32_t*>(plane.data), plane.width, plane.height, plane.pitch};
  }

  void prepare_rest(const Frame* frames, FrameData* data, int count) {
    constexpr std::uint32_t nan = 0x7fc00000;  // differs from everything by NaN, which no limit lets through
    Planes planes[slots];
    View<std::uint8_t> known[slots];
    for (int i = 0; i < count; ++i) {
      if (needs_color()) convert_colors(frames[i], data[i]);
      if (needs_luma()) planes[i].add(words(data[i].luma), nan);
      if (needs_color())
        for (const View<float>& plane : data[i].color) planes[i].add(words(plane), nan);
      known[i] = data[i].known;
    }
    clean(backend_, planes, known, count);
    for (int i = 0; i < count; ++i) {
      if (data[i].census) {
        census(backend_, View<const float>(data[i].luma), data[i].census);
        planes[i].add(data[i].census, no_census);
      }
      if (data[i].gradient) {
        central_differences(backend_, View<const float>(data[i].luma), data[i].gradient);
        planes[i].add(words(data[i].gradient), nan);
      }
    }
    if (columns_ > 0 || rows_ > 0) extend(backend_, planes, count, columns_, rows_, cost_.truncation == 0);
  }

  void convert_colors(const Frame& frame, const FrameData& data) {
    convert_color(backend_, frame, cost_.presmooth > 0 ? unsmoothed_ : data.color);
    if (cost_.presmooth == 0) return;
    smooth(backend_, unsmoothed_, taps_, data.color, 2);
    smooth(backend_, unsmoothed_ + 2, taps_, data.color + 2, 1);
  }

  void find_edges(const FrameData& frame) {
    View<const float> planes[3];
    for (int i = 0; i < 3; ++i) planes[i] = frame.color[i];
    edge_weights(backend_, planes, 3, smoothness_.edge_scale, smoothness_.edge_floor, edges_);
  }

  /// From pixel (x, y) on.
  static PixelPlanes planes_of(const FrameData& frame, int x, int y) {
    const auto at = [=](const auto& plane) { return plane ? &plane(x, y) : nullptr; };
    return {at(frame.luma),
            {at(frame.color[0]), at(frame.color[1]), at(frame.color[2])},
            at(frame.gradient),
            at(frame.census)};
  }

  /// Of a part of the image.
  Matching matching(int first, int step, Size size, int x = 0, int y = 0) const {
    return {.frame0 = planes_of(frames_[first], x, y),
            .frame1 = planes_of(frames_[1 - first], x, y),
            .width = size.width,
            .height = size.height,
            .pitch = pitch_,
            .grid = grid_,
            .step = step,
            .term = cost_.data,
            .color = cost_.rgb,
            .weight = cost_.weight,
            .limit = cost_.truncation > 0 ? cost_.truncation : 1e30f,
            .window = window_,
            .left = x,
            .above = y,
            .right = size_.width - x - size.width,
            .below = size_.height - y - size.height};
  }

  /// use(data cost of the energy): stored, or made when asked for.
  template <class Use>
  void with_data(const Matching& m, Use use) {
    if (volume_) return use(StoredCosts{volume_, grid_.nx});
    if (!cost_.rgb)
      return use(Differences<1>{
          {m.frame0.luma}, {m.frame1.luma}, m.pitch, grid_.x0, grid_.y0, m.step, m.weight, m.limit});
    use(Differences<3>{{m.frame0.color[0], m.frame0.color[1], m.frame0.color[2]},
                       {m.frame1.color[0], m.frame1.color[1], m.frame1.color[2]},
                       m.pitch,
                       grid_.x0,
                       grid_.y0,
                       m.step,
                       m.weight,
                       m.limit});
  }

  Backend& backend_;
  const MatchingCost cost_;
  const Smoothness smoothness_;
  const PairCost pair_;
  const LabelGrid grid_;
  const bool sub_pixel_, reports_;
  const Optimizer optimizer_;
  const Size size_;
  const Window window_;
  const Taps taps_;
  const int columns_, rows_;  // of room around the planes
  std::ptrdiff_t pitch_ = 0;
  FrameData frames_[slots];
  View<float> unsmoothed_[3];
  EdgeWeights edges_;
  Volume volume_;
  CostsAround costs_, at_labels_;
  std::optional<BeliefField<Backend>> beliefs_;
  LabelField<Backend> field_;
  Progress<Backend> progress_;
};

}  // namespace parafield
