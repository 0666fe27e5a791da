// SPDX-License-Identifier: MIT
#include "emulated/emulated_cuda.hpp"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace parafield {
namespace emulated {

uint3 thread, block;
dim3 threads_of_block, blocks_of_grid;

namespace {

constexpr int lanes = 32;

enum class State { runs, waits_for_warp, waits_for_block, has_ended };

/// A thread. It begins in a context of its own; from then on _setjmp and _longjmp switch to it and back, because
/// swapcontext makes two system calls for each switch. A fiber that has ended runs the next block's thread.
struct Fiber {
  bool begun = false;
  jmp_buf at{};
  std::vector<char> stack = std::vector<char>(96 * 1024);
  State state = State::runs;
  std::uint64_t value = 0;
  bool bit = false;
};

std::vector<Fiber> fibers;  // one for each thread of a block
jmp_buf scheduler;
int current = 0;
const std::function<void()>* body = nullptr;

void leave(State state) {
  Fiber& fiber = fibers[std::size_t(current)];
  fiber.state = state;
  if (_setjmp(fiber.at) == 0) _longjmp(scheduler, 1);
}

void begin_fiber() {
  while (true) {
    (*body)();
    leave(State::has_ended);
  }
}

/// Runs the current thread until it leaves.
void resume() {
  if (_setjmp(scheduler) != 0) return;
  Fiber& fiber = fibers[std::size_t(current)];
  if (fiber.begun) _longjmp(fiber.at, 1);
  fiber.begun = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack.data();
  context.uc_stack.ss_size = fiber.stack.size();
  context.uc_link = nullptr;
  makecontext(&context, begin_fiber, 0);
  setcontext(&context);
}

Fiber& of_warp(int lane) { return fibers[std::size_t(current / lanes * lanes + lane)]; }

/// Lets threads go on if some of them wait and no other one runs. Returns whether it did.
bool release(std::size_t first, std::size_t end, State waiting) {
  bool some = false;
  for (std::size_t i = first; i < end; ++i) {
    if (fibers[i].state == State::has_ended) continue;
    if (fibers[i].state != waiting) return false;
    some = true;
  }
  for (std::size_t i = first; some && i < end; ++i)
    if (fibers[i].state == waiting) fibers[i].state = State::runs;
  return some;
}

void run_block(std::vector<int>& order, ThreadOrder kind, std::mt19937& random) {
  const std::size_t count = order.size();
  for (std::size_t i = 0; i < count; ++i) fibers[i].state = State::runs;
  while (true) {
    if (kind == ThreadOrder::random) std::ranges::shuffle(order, random);
    for (const int i : order) {
      if (fibers[std::size_t(i)].state != State::runs) continue;
      current = i;
      const unsigned at = unsigned(i), width = threads_of_block.x, height = threads_of_block.y;
      thread = {at % width, at / width % height, at / (width * height)};
      resume();
    }
    bool goes_on = false;
    for (std::size_t first = 0; first < count; first += lanes)
      goes_on |= release(first, std::min(first + lanes, count), State::waits_for_warp);
    if (goes_on || release(0, count, State::waits_for_block)) continue;
    if (std::ranges::all_of(order, [](int i) { return fibers[std::size_t(i)].state == State::has_ended; }))
      return;
    fibers.clear();
    throw std::logic_error("threads of a block wait for each other");
  }
}

}  // namespace

int lane() { return current % lanes; }
void synchronize_block() { leave(State::waits_for_block); }

int synchronize_count(bool bit) {
  static int count;
  count += bit;
  synchronize_block();
  const int result = count;
  synchronize_block();  // all have read it
  count = 0;
  synchronize_block();
  return result;
}

void synchronize_warp() { leave(State::waits_for_warp); }

std::uint64_t exchange(std::uint64_t value, int lane) {
  fibers[std::size_t(current)].value = value;
  synchronize_warp();
  const std::uint64_t result = of_warp(lane).value;
  synchronize_warp();
  return result;
}

unsigned ballot(bool bit) {
  fibers[std::size_t(current)].bit = bit;
  synchronize_warp();
  unsigned bits = 0;
  for (int i = 0; i < lanes; ++i)
    if (of_warp(i).state != State::has_ended && of_warp(i).bit) bits |= 1u << i;
  synchronize_warp();
  return bits;
}

}  // namespace emulated

void EmulatedCuda::run(dim3 grid, dim3 block, const std::function<void()>& thread) {
  using namespace emulated;
  threads_of_block = block, blocks_of_grid = grid;
  body = &thread;
  std::vector<int> order(std::size_t(block.x) * block.y * block.z);
  std::iota(order.begin(), order.end(), 0);
  if (order_ == ThreadOrder::backward) std::ranges::reverse(order);
  fibers.resize(std::max(fibers.size(), (order.size() + lanes - 1) / lanes * lanes));
  for (std::size_t i = order.size(); i < fibers.size(); ++i) fibers[i].state = State::has_ended;
  std::mt19937 random(1);
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        emulated::block = {x, y, z};
        run_block(order, order_, random);
      }
}

}  // namespace parafield
