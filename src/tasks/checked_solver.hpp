#pragma once
#include "blocks/consistency/consistency.hpp"
#include "parafield/flow.hpp"

namespace parafield {

/// A method's solver with what FlowOptions adds, for a session. The frames of its slots go both ways.
template <template <class> class Solver>
struct Checked {
  template <class Backend>
  class Type {
   public:
    static constexpr int slots = Solver<Backend>::slots;

    template <class Method>
    Type(Backend& backend, Workspace& workspace, const Method& method, Size size, const FlowOptions& options)
        : backend_(backend), options_(options), solver_(backend, workspace, method, size) {
      if (options.fb_check > 0) backward_ = workspace.flow(size);
    }

    void prepare(const Frame* frames, int slot, int count) { solver_.prepare(frames, slot, count); }

    void solve(int first, const FlowView* start, FlowField& result) {
      const FlowPlanes forward{result.u, result.v};
      solver_.solve(first, start, forward, {result.valid, result.confidence});
      if (!(options_.fb_check > 0)) return;
      solver_.solve(1 - first, nullptr, backward_, {});
      check_consistency<Backend>(backend_, forward, backward_, options_.fb_check, result.valid);
    }

    bool starts_from_last() const { return solver_.starts_from_last(); }

   private:
    Backend& backend_;
    const FlowOptions options_;
    Solver<Backend> solver_;
    FlowPlanes backward_;  // flow of the second frame to the first
  };
};

}  // namespace parafield
