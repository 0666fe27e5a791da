// SPDX-License-Identifier: MIT
#pragma once
#include <optional>

#include "core/solver.hpp"
#include "markov/block_propagation.hpp"
#include "markov/match/match.hpp"
#include "markov/minimize.hpp"
#include "markov/mix/words.hpp"
#include "markov/planes/planes.hpp"
#include "markov/values/values.hpp"
#include "steps/average/average.hpp"
#include "steps/convert/convert.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {

/// Base of the solvers of label fields whose data costs compare the pixels of two frames, for stereo and
/// optical flow. Each of the two slots holds a frame; either frame can be matched with the other.
template <class Solver, class Backend>
class MatchingSolver : public SolverBase<Solver> {
 public:
  static constexpr int slots = 2;

  /// Prepares `count` frames in the slots from `slot` on.
  void prepare(const Frame* frames, int slot, int count) {
    find_gray(frames, slot, count);
    take_values(frames, frames_ + slot, count);
    prepare_rest(frames_ + slot, count);
  }

  /// Prepares a pair of a video. If it follows the last one, its frames are averaged with the means that the slots
  /// hold.
  void prepare_next(const Frame* pair, bool follows) {
    if (!averages()) return prepare(pair, 0, slots);
    const bool were_gray[slots] = {frames_[0].gray, frames_[1].gray};
    find_gray(pair, 0, slots);
    if (!follows || were_gray[0] != frames_[0].gray || were_gray[1] != frames_[1].gray) {
      take_values(pair, frames_, slots);
      begin_average(backend_, counts_, slots);
    } else {
      FramePlanes fresh[slots];
      AveragedPlanes planes[slots];
      for (int i = 0; i < slots; ++i) {
        fresh[i] = frames_[i];
        fresh[i].luma = fresh_[i].luma;
        for (int j = 0; j < 3; ++j) fresh[i].color[j] = fresh_[i].color[j];
        planes[i].count = counts_[i];
        planes[i].add(fresh[i].luma, frames_[i].luma);
        for (int j = 0; j < 3 && needs_color() && !luma_is_all(frames_[i]); ++j)
          planes[i].add(fresh[i].color[j], frames_[i].color[j]);
      }
      take_values(pair, fresh, slots);
      find_changes(backend_, planes, changes_, slots);
      smooth(backend_, changes_, averaging_taps_, smooth_changes_, slots);
      average(backend_, planes, smooth_changes_, noise_, slots);
    }
    prepare_rest(frames_, slots);
  }
  bool averages() const { return noise_ > 0; }

  /// Words of the colors of the frame in a slot: see mix.hpp. Empty if SolverOptions did not ask for them.
  View<const std::uint32_t> colors(int slot) const { return frames_[slot].mix.color; }
  /// Margins of the last solve, empty if the method has none: see CostsAround.
  View<const float> margins() const { return costs_.margin; }

  bool takes_start() const { return !is_winner() && !propagates(); }
  View<double> energies() const {
    View<double> all = field_.energies();
    if (blocks().count > 1) all.width = smaller(all.width, 1);  // that of the result
    return all;
  }
  SolvedBlocks blocks() const { return beliefs_ ? beliefs_->used() : SolvedBlocks{}; }

 protected:
  template <class Method>
  MatchingSolver(Backend& backend, Workspace& workspace, const Method& method, LabelGrid grid, Size size,
                 const SolverOptions& options)
      : backend_(backend),
        cost_(method.energy.cost),
        smoothness_(method.energy.smoothness),
        pair_(pair_cost_of(smoothness_)),
        grid_(grid),
        sub_pixel_(method.energy.sub_pixel),
        reports_(options.energies != EnergyReport::none),
        colors_(options.colors),
        optimizer_(optimizer_of(method)),
        uniqueness_(uniqueness_of(method)),
        noise_(noise_of(method)),
        size_(size),
        window_(aggregation_window(cost_)),
        taps_(gaussian_taps(cost_.presmooth)),
        columns_(even(larger(magnitude_of(grid.x0), magnitude_of(grid.x0 + grid.nx - 1)))),
        rows_(grid.ny > 1 ? larger(magnitude_of(grid.y0), magnitude_of(grid.y0 + grid.ny - 1)) : 0),
        field_(backend, workspace, size, grid, optimizer_, options.energies),
        progress_(backend, options.progress, options.both_ways ? 2 : 1) {
    for (FramePlanes& frame : frames_) take_planes(frame, workspace);
    for (int i = 0; i < slots && averages(); ++i) {
      take_value_planes(fresh_[i], workspace);
      for (View<float>* plane : {&counts_[i], &changes_[i], &smooth_changes_[i]})
        *plane = workspace.image<float>(size);
    }
    if (cost_.presmooth > 0 && needs_color())
      for (View<float>& plane : unsmoothed_) plane = workspace.image<float>(size);
    if (uses_edges())
      for (int j = 0; j < smoothness_.neighbors / 2; ++j) edges_.forward[j] = workspace.image<float>(size);
    for (int j = 0; j < 2 && flattens() && propagates(); ++j) edges_.used[j] = workspace.image<float>(size);
    if (propagates()) {
      PropagationPlan plan = optimizer_.propagation;
      plan.demands.most_cost = most_cost();
      if (is_lazy() && mixes() && cost_.truncation == 0) plan.demands.cost_step = cost_.weight * mix_unit;
      if (flattens()) plan.demands.most_weight = most_growth;
      plan.weighted = uses_edges();
      plan.has_flatness = flattens();
      beliefs_.emplace(backend, workspace, grid, pair_, size, plan, stores_costs());
      if (grid.ny == 1 || uniqueness_ > 0) costs_.margin = workspace.image<float>(size);
      if (beliefs_->blocks().size() > 1 && reports_ && stores_costs())
        at_labels_.middle = workspace.image<float>(size);
    }
    if (stores_costs()) volume_ = take_volume(workspace, beliefs_ ? beliefs_->size() : size);
    for (View<float>* plane : {&costs_.middle, &costs_.before_x, &costs_.after_x})
      *plane = workspace.image<float>(size);
    if (grid.ny > 1)
      for (View<float>* plane : {&costs_.before_y, &costs_.after_y}) *plane = workspace.image<float>(size);
    backend.reserve_scratch(
        larger(larger(match_scratch(matching(0, 1, size)), smooth_scratch(taps_, size.width)),
               word_scratch(size.width)));
  }

  /// Finds the field of the frame in slot `first`. A label of value (x, y) moves a pixel by (x * step, y) px.
  /// `start_u`, `start_v`: the user's, or null. `fine`: see label_values. `main`: this is no second solve of a
  /// check; energies are reported.
  void solve_field(int first, int step, const View<const float>* start_u, const View<const float>* start_v,
                   View<float> u, View<float> v, View<float> fine, Trust trust, bool main) {
    progress_.begin(main ? 0 : 1);
    if (uses_edges()) find_edges(frames_[first]);
    const View<Label> labels =
        propagates() ? propagate(first, step, main) : minimize(first, step, start_u, start_v, main);
    label_values(backend_, {labels, costs_, frames_[first].known, grid_, step, sub_pixel_, uniqueness_}, u, v,
                 fine, trust);
  }

 private:
  /// Solves by sweeps, or takes the winners.
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
        if (!winners.costs.middle) costs_around(backend_, energy, labels, costs_);
      });
    return labels;
  }

  /// Solves by belief propagation.
  View<Label> propagate(int first, int step, bool main) {
    const View<Label> labels = field_.labels();
    const bool whole = beliefs_->blocks().size() == 1, each = whole && main && field_.records_sweeps();
    const Size size = beliefs_->size();
    for (const Block& block : beliefs_->blocks()) {
      const Matching matching = this->matching(first, step, size, block.x, block.y);
      if (volume_) match(backend_, matching, volume_, {});
      EdgeWeights edges;
      for (int j = 0; j < 2; ++j) edges.forward[j] = part_of(edges_.forward[j], block.x, block.y, size);
      for (int j = 0; j < 2; ++j) edges.used[j] = part_of(edges_.used[j], block.x, block.y, size);
      edges.flatness = part_of(edges_.flatness, block.x, block.y, size);
      if (is_lazy() && mixes()) {
        const MixedCosts data{matching.frame0.mix, matching.frame1.mix, matching.pitch, grid_.x0, grid_.y0,
                              matching.step,       matching.weight,     matching.limit, is_gray()};
        const Energy<MixedCosts> energy{size.width, size.height, grid_, pair_, edges, data};
        beliefs_->solve(
            block, energy, labels, costs_, false, [](int) {}, progress_);
        continue;
      }
      with_data(matching, [&]<class Data>(const Data& data) {
        const Energy<Data> energy{size.width, size.height, grid_, pair_, edges, data};
        const auto record = [&](int i) {
          if (main && whole && reports_) field_.record(energy, labels, each ? i : 0);
        };
        beliefs_->solve(block, energy, labels, costs_, each, record, progress_);
        if (main && at_labels_.middle)
          costs_around(backend_, energy, part_of(labels, block.x, block.y, size),
                       {part_of(at_labels_.middle, block.x, block.y, size)});
      });
    }
    if (main && reports_ && !whole) record_blocks(matching(first, step, size_), labels);
    return labels;
  }

  /// Records the energy of a field that was solved in blocks.
  void record_blocks(const Matching& matching, View<const Label> labels) {
    const auto record = [&]<class Data>(const Data& data) {
      field_.record(Energy<Data>{size_.width, size_.height, grid_, pair_, edges_, data}, labels, 0);
    };
    at_labels_.middle ? record(KnownCosts{at_labels_.middle}) : with_data(matching, record);
  }

  /// Planes of a frame. One that is not needed is empty.
  struct FramePlanes {
    View<float> luma, color[3], gradient, flatness;
    View<std::uint32_t> census;
    WordViews mix;
    View<std::uint8_t> known;
    bool gray = false;  // the frame has no colors; not known on CUDA
  };

  template <class Method>
  static float uniqueness_of(const Method& method) {
    if constexpr (requires { method.uniqueness; }) return method.uniqueness;
    return 0;
  }
  template <class Method>
  static float noise_of(const Method& method) {
    if constexpr (requires { method.energy.noise; }) return method.energy.noise;
    return 0;
  }
  static int magnitude_of(int value) { return value < 0 ? -value : value; }
  /// Rows of matches are read from an even column on.
  static int even(int value) { return value + (value & 1); }
  bool propagates() const { return optimizer_.kind == Optimizer::Kind::belief_propagation; }
  bool is_winner() const { return optimizer_.kind == Optimizer::Kind::winner_takes_all; }
  bool mixes() const { return cost_.data == DataTerm::mix; }
  /// Whether the mix sees no colors.
  bool is_gray() const { return !cost_.rgb || (frames_[0].gray && frames_[1].gray); }
  /// Whether areas without texture are treated apart.
  bool flattens() const { return mixes() && cost_.texture_aware; }
  /// Whether the smoothness is used at all, and it differs from edge to edge.
  bool uses_edges() const {
    return (smoothness_.edge_scale > 0 || (flattens() && propagates())) && (!is_winner() || reports_);
  }
  bool compares_levels() const { return cost_.data == DataTerm::absolute || cost_.data == DataTerm::squared; }
  /// Whether luma and colors come from one pass over the frames.
  bool converts_at_once() const { return needs_luma() && needs_color() && cost_.presmooth == 0; }
  /// Whether a frame has no planes of colors, as its luma would be all of them.
  bool luma_is_all(const FramePlanes& frame) const { return frame.gray && converts_at_once(); }
  View<float> color_of(const FramePlanes& frame, int i) const {
    return luma_is_all(frame) ? frame.luma : frame.color[i];
  }
  bool has_words() const { return mixes() || colors_; }
  bool needs_color() const {
    return (cost_.rgb && (compares_levels() || mixes())) || uses_edges() || colors_;
  }
  bool needs_luma() const { return !(cost_.rgb && compares_levels()) || colors_ || averages(); }
  /// Whether data costs are computed when they are read, which takes no longer than to load them. Belief
  /// propagation reads them once, so that it computes those of `mix`, too.
  bool is_lazy() const {
    if (cost_.aggregation > 1) return false;
    return cost_.data == DataTerm::absolute || (mixes() && propagates() && !reports_);
  }
  /// The highest data cost that there can be, infinity if there is no limit.
  float most_cost() const {
    const float limit = cost_.truncation > 0 ? cost_.truncation : 1e30f;
    return cost_.weight * smaller(limit, most_difference(cost_.data));
  }
  /// Whether data costs are stored: for solvers that read them often.
  bool stores_costs() const { return !is_lazy() && (!is_winner() || grid_.ny > 1 || reports_); }

  /// Takes a plane with room around it for every match. All planes have the same pitch.
  template <class T>
  View<T> take_plane(Workspace& workspace) {
    const View<T> whole = workspace.image<T>({size_.width + 2 * columns_, size_.height + 2 * rows_});
    pitch_ = whole.stride();
    return {&whole.row(rows_)[columns_], size_.width, size_.height, whole.pitch};
  }

  void take_value_planes(FramePlanes& frame, Workspace& workspace) {
    if (needs_luma()) frame.luma = take_plane<float>(workspace);
    if (needs_color())
      for (View<float>& plane : frame.color) plane = take_plane<float>(workspace);
  }
  void take_planes(FramePlanes& frame, Workspace& workspace) {
    take_value_planes(frame, workspace);
    if (cost_.data == DataTerm::census) frame.census = take_plane<std::uint32_t>(workspace);
    if (cost_.data == DataTerm::gradient) frame.gradient = take_plane<float>(workspace);
    if (has_words())
      for (View<std::uint32_t>* plane : {&frame.mix.color, &frame.mix.gradient, &frame.mix.census})
        *plane = take_plane<std::uint32_t>(workspace);
    if (flattens()) frame.flatness = workspace.image<float>(size_);
    frame.known = workspace.image<std::uint8_t>(size_);
  }

  Volume take_volume(Workspace& workspace, Size size) {
    const std::int64_t rows = std::int64_t(size.height) * grid_.count();
    if (rows > (1 << 30))
      fail(ErrorCode::memory, "data costs of ", grid_.count(), " labels at ", size.width, "x", size.height,
           " px take ", rows * size.width * 4 / (1 << 20), " MiB; use fewer labels");
    const View<float> all = workspace.image<float>({size.width, int(rows)});
    return {all.data, all.stride(), grid_.count()};
  }

  static View<std::uint32_t> words(View<float> plane) {
    return {reinterpret_cast<std::uint32_t*>(plane.data), plane.width, plane.height, plane.pitch};
  }

  /// Finds out which frames have no colors.
  void find_gray(const Frame* frames, int slot, int count) {
    if constexpr (!Backend::is_gpu)
      for (int i = 0; i < count; ++i) frames_[slot + i].gray = channels(frames[i].format) == 1;
  }

  /// Takes luma and colors, and which pixels are known.
  void take_values(const Frame* frames, FramePlanes* data, int count) {
    if (converts_at_once()) {
      KnownPlanes to[slots];
      for (int i = 0; i < count; ++i) {
        to[i] = {data[i].luma, {data[i].color[0], data[i].color[1], data[i].color[2]}, data[i].known};
        if (luma_is_all(data[i]))
          for (View<float>& plane : to[i].color) plane = {};
      }
      return convert_known(backend_, frames, to, count);
    }
    if (needs_luma()) {
      View<float> luma[slots];
      for (int i = 0; i < count; ++i) luma[i] = data[i].luma;
      if (cost_.presmooth > 0)
        smooth_luma(backend_, frames, taps_, luma, count);
      else
        convert(backend_, frames, luma, count);
    }
    Planes planes[slots];
    View<std::uint8_t> known[slots];
    for (int i = 0; i < count; ++i) {
      if (needs_color()) convert_colors(frames[i], data[i]);
      planes[i] = values_of(data[i]);
      known[i] = data[i].known;
    }
    clean(backend_, planes, known, count);
  }

  Planes values_of(const FramePlanes& data) const {
    constexpr std::uint32_t nan = 0x7fc00000;  // any difference from it is NaN, which becomes the limit
    Planes planes;
    if (needs_luma()) planes.add(words(data.luma), nan);
    if (needs_color() && !luma_is_all(data))
      for (const View<float>& plane : data.color) planes.add(words(plane), nan);
    return planes;
  }

  /// Prepares all planes but luma and colors.
  void prepare_rest(FramePlanes* data, int count) {
    constexpr std::uint32_t nan = 0x7fc00000;
    Planes planes[slots];
    for (int i = 0; i < count; ++i) planes[i] = values_of(data[i]);
    for (int i = 0; i < count; ++i) {
      if (data[i].census) {
        census(backend_, data[i].luma, data[i].census);
        planes[i].add(data[i].census, no_census);
      }
      if (data[i].gradient) {
        central_differences(backend_, data[i].luma, data[i].gradient);
        planes[i].add(words(data[i].gradient), nan);
      }
    }
    if (has_words()) find_words(data, planes, count);
    if (columns_ > 0 || rows_ > 0) extend(backend_, planes, count, columns_, rows_, cost_.truncation == 0);
  }

  /// What the mix of a frame is made of.
  MixSource source_of(const FramePlanes& frame) const {
    if (luma_is_all(frame) || (mixes() && !cost_.rgb)) return {{frame.luma}};
    return {{frame.luma, frame.color[0], frame.color[1], frame.color[2]}};
  }
  /// Finds the words of frames. They become the planes that have room for every match.
  void find_words(const FramePlanes* data, Planes* planes, int count) {
    MixSource sources[slots];
    View<float> luma[slots], flatness[slots];
    WordViews words[slots];
    for (int i = 0; i < count; ++i) {
      sources[i] = source_of(data[i]);
      luma[i] = data[i].luma;
      flatness[i] = data[i].flatness;
      words[i] = data[i].mix;
      if (!mixes()) continue;
      planes[i] = {};
      planes[i].add(words[i].color, 0);
      planes[i].add(words[i].gradient, 0);
      planes[i].add(words[i].census, no_census);
    }
    if (flattens()) find_flatness(backend_, luma, texture_taps_, flatness, count);
    mix_words(backend_, sources, flatness, flat_taps_, words, count);
  }

  void convert_colors(const Frame& frame, const FramePlanes& data) {
    convert_color(backend_, frame, cost_.presmooth > 0 ? unsmoothed_ : data.color);
    if (cost_.presmooth == 0) return;
    smooth(backend_, unsmoothed_, taps_, data.color, 2);
    smooth(backend_, unsmoothed_ + 2, taps_, data.color + 2, 1);
  }

  void find_edges(const FramePlanes& frame) {
    View<const float> planes[3];
    for (int i = 0; i < 3; ++i) planes[i] = color_of(frame, i);
    if (flattens() && propagates()) edges_.flatness = frame.flatness;
    const bool same = smoothness_.edge_scale == 0;  // all weights are 1
    edge_weights(backend_, planes, 3, same ? 1 : smoothness_.edge_scale, same ? 1 : smoothness_.edge_floor,
                 edges_);
  }

  /// Planes of a frame from pixel (x, y) on.
  ComparedPlanes planes_of(const FramePlanes& frame, int x, int y) const {
    const auto at = [=](const auto& plane) { return plane ? &plane(x, y) : nullptr; };
    return {at(frame.luma),
            {at(color_of(frame, 0)), at(color_of(frame, 1)), at(color_of(frame, 2))},
            at(frame.gradient),
            at(frame.census),
            {at(frame.mix.color), at(frame.mix.gradient), at(frame.mix.census)}};
  }

  /// Matching of a part of the image, from pixel (x, y) on.
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

  /// Calls use(data) with the energy's data cost: stored, or computed when it is read.
  template <class Use>
  void with_data(const Matching& m, Use use) {
    if (volume_) return use(StoredCosts{volume_, grid_.nx});
    const auto lazily = [&](auto data) {
      data.pitch = m.pitch, data.x0 = grid_.x0, data.y0 = grid_.y0, data.step = m.step;
      data.weight = m.weight, data.limit = m.limit;
      use(data);
    };
    const float *const *const a = m.frame0.color, *const *const b = m.frame1.color;
    cost_.rgb ? lazily(Differences<3>{{a[0], a[1], a[2]}, {b[0], b[1], b[2]}})
              : lazily(Differences<1>{{m.frame0.luma}, {m.frame1.luma}});
  }

  Backend& backend_;
  const MatchingCost cost_;
  const Smoothness smoothness_;
  const PairCost pair_;
  const LabelGrid grid_;
  const bool sub_pixel_, reports_, colors_;
  const Optimizer optimizer_;
  const float uniqueness_, noise_;
  const Size size_;
  const Window window_;
  const Taps taps_;
  const Taps texture_taps_ = gaussian_taps(texture_sigma), flat_taps_ = gaussian_taps(flat_sigma),
             averaging_taps_ = gaussian_taps(averaging_sigma);
  const int columns_, rows_;  // room on each side of the planes: as far as labels move a pixel
  std::ptrdiff_t pitch_ = 0;  // values from one row of the planes to the next
  FramePlanes frames_[slots];
  FramePlanes fresh_[slots];  // luma and colors of new frames, before they are averaged
  View<float> counts_[slots], changes_[slots], smooth_changes_[slots];
  View<float> unsmoothed_[3];
  EdgeWeights edges_;
  Volume volume_;
  CostsAround costs_, at_labels_;  // at_labels_: data costs of the labels of all blocks
  std::optional<BlockPropagation<Backend>> beliefs_;
  LabelField<Backend> field_;
  Progress<Backend> progress_;
};

}  // namespace parafield
