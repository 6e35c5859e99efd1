// The device names that kernels are written against, on the host: every thread of a block is a fiber, which
// gives way at barriers, warp functions and waits. One system thread, so atomics are plain. Slow, exact, and
// needs neither a compiler for the device nor a device: it tests the logic of kernels, not their races.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#define __device__
// A build with CUDA links the real kernels too: these are of their file alone.
#define __global__ [[maybe_unused]] static
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__

struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
struct EmulatedDim {
  unsigned x;
};

namespace contorno::emulated {

struct Barrier {
  int expected = 0, arrived = 0, gathered = 0, result = 0;
  unsigned generation = 0;
};

struct Block;

/// Lanes of a warp that do something together. A result stays until all have met again.
struct Group {
  Barrier barrier;
  unsigned least = 0, result = 0;
};

struct Block {
  Barrier all;
  std::map<std::pair<unsigned, unsigned>, Group> groups;  ///< by warp and lanes
  std::vector<Barrier> warps;
  /// 32 a warp, twice: what lanes give next does not overwrite what slower ones have yet to see.
  std::vector<unsigned long long> lanes;
  std::vector<unsigned char> shared;
};

struct Fiber {
  ucontext_t context;
  std::unique_ptr<unsigned char[]> stack;
  Block* block = nullptr;
  EmulatedDim thread{}, block_index{}, block_size{}, grid{};
  const Barrier* waits_for = nullptr;
  unsigned generation = 0;
  bool done = true;
};

inline Fiber* running = nullptr;
inline ucontext_t scheduler;
inline const std::function<void()>* kernel_body = nullptr;

inline void give_way() {
  swapcontext(&running->context, &scheduler);
}

inline int meet(Barrier& barrier, int value) {
  barrier.gathered |= value;
  if (++barrier.arrived == barrier.expected) {
    barrier.result = barrier.gathered;
    barrier.gathered = barrier.arrived = 0;
    ++barrier.generation;
  } else {
    running->waits_for = &barrier;
    running->generation = barrier.generation;
    give_way();
  }
  return barrier.result;
}

inline void leave(Barrier& barrier) {
  if (--barrier.expected == barrier.arrived && barrier.arrived > 0) {
    barrier.result = barrier.gathered;
    barrier.gathered = barrier.arrived = 0;
    ++barrier.generation;
  }
}

inline void fiber_main() {
  (*kernel_body)();
  running->done = true;
  leave(running->block->all);
  leave(running->block->warps[running->thread.x / 32]);
  for (;;) give_way();
}

/// All lanes of the warp give a value and see those of all.
template <class T>
std::array<T, 32> gather_warp(T value) {
  static_assert(sizeof(T) <= 8);
  Block& block = *running->block;
  const unsigned warp = running->thread.x / 32;
  unsigned long long* lanes = &block.lanes[(2 * warp + block.warps[warp].generation % 2) * 32];
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  lanes[running->thread.x % 32] = bits;
  meet(block.warps[warp], 0);
  std::array<T, 32> all{};
  for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(&all[lane], &lanes[lane], sizeof(T));
  return all;
}

/// Runs `body` for every thread of every block; with `at_once`, all blocks at the same time.
inline void run_grid(unsigned blocks, unsigned threads, std::size_t shared, bool at_once,
                     const std::function<void()>& body) {
  static std::vector<Fiber> fibers;
  constexpr std::size_t kStack = 64 << 10;
  kernel_body = &body;
  const unsigned group = at_once ? blocks : 1;
  for (unsigned first = 0; first < blocks; first += group) {
    std::vector<Block> group_blocks(group);
    if (fibers.size() < static_cast<std::size_t>(group) * threads) fibers.resize(group * threads);
    for (unsigned b = 0; b < group; ++b) {
      Block& block = group_blocks[b];
      block.all.expected = static_cast<int>(threads);
      block.warps.resize(threads / 32);
      for (Barrier& warp : block.warps) warp.expected = 32;
      block.lanes.resize(std::size_t{2} * threads);
      block.shared.assign(shared, 0xA5);
      for (unsigned t = 0; t < threads; ++t) {
        Fiber& fiber = fibers[b * threads + t];
        if (!fiber.stack) fiber.stack = std::make_unique<unsigned char[]>(kStack);
        fiber.block = &block;
        fiber.thread = {t}, fiber.block_index = {first + b}, fiber.block_size = {threads},
        fiber.grid = {blocks};
        fiber.waits_for = nullptr;
        fiber.done = false;
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = kStack;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, fiber_main, 0);
      }
    }
    for (bool alive = true; alive;) {
      alive = false;
      bool moved = false;
      for (std::size_t f = 0; f < static_cast<std::size_t>(group) * threads; ++f) {
        Fiber& fiber = fibers[f];
        if (fiber.done) continue;
        alive = true;
        if (fiber.waits_for != nullptr && fiber.waits_for->generation == fiber.generation) continue;
        fiber.waits_for = nullptr;
        running = &fiber;
        swapcontext(&scheduler, &fiber.context);
        moved = true;
      }
      if (alive && !moved) throw std::logic_error("emulated kernel: threads wait for each other for ever");
    }
  }
}

}  // namespace contorno::emulated

#define threadIdx (::contorno::emulated::running->thread)
#define blockIdx (::contorno::emulated::running->block_index)
#define blockDim (::contorno::emulated::running->block_size)
#define gridDim (::contorno::emulated::running->grid)

inline void __syncthreads() {
  contorno::emulated::meet(contorno::emulated::running->block->all, 0);
}
inline int __syncthreads_or(int value) {
  return contorno::emulated::meet(contorno::emulated::running->block->all, value != 0 ? 1 : 0);
}
inline unsigned __ballot_sync(unsigned, bool value) {
  unsigned bits = 0;
  const auto all = contorno::emulated::gather_warp<int>(value ? 1 : 0);
  for (unsigned lane = 0; lane < 32; ++lane) bits |= static_cast<unsigned>(all[lane]) << lane;
  return bits;
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned step) {
  const unsigned lane = threadIdx.x % 32;
  const auto all = contorno::emulated::gather_warp(value);
  return lane >= step ? all[lane - step] : value;
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned step) {
  const unsigned lane = threadIdx.x % 32;
  const auto all = contorno::emulated::gather_warp(value);
  return lane + step < 32 ? all[lane + step] : value;
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  const unsigned lane = threadIdx.x % 32;
  return contorno::emulated::gather_warp(value)[lane ^ static_cast<unsigned>(mask)];
}
template <class T>
T __shfl_sync(unsigned, T value, int source) {
  return contorno::emulated::gather_warp(value)[static_cast<unsigned>(source)];
}
inline int __any_sync(unsigned, int value) {
  int any = 0;
  for (const int v : contorno::emulated::gather_warp(value)) any |= v != 0 ? 1 : 0;
  return any;
}
inline void __syncwarp(unsigned = ~0U) {
  contorno::emulated::meet(contorno::emulated::running->block->warps[threadIdx.x / 32], 0);
}
inline void __threadfence() {}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
/// Each nibble of `selector` picks one of the eight bytes of `high` and `low`.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(high) << 32 | low;
  unsigned result = 0;
  for (unsigned k = 0; k < 4; ++k)
    result |= static_cast<unsigned>(bytes >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k;
  return result;
}
/// f of both halves, as numbers of type T.
template <class T, class F>
unsigned by_halves(unsigned a, unsigned b, const F& f) {
  const auto half = [](unsigned v, unsigned k) { return static_cast<T>(v >> 16 * k); };
  return static_cast<std::uint16_t>(f(half(a, 0), half(b, 0))) |
         static_cast<unsigned>(static_cast<std::uint16_t>(f(half(a, 1), half(b, 1)))) << 16;
}
inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return by_halves<std::uint16_t>(a, b, [](auto x, auto y) { return std::max(x, y); });
}
inline unsigned __vmaxs2(unsigned a, unsigned b) {
  return by_halves<std::int16_t>(a, b, [](auto x, auto y) { return std::max(x, y); });
}
inline unsigned __vimax3_u16x2(unsigned a, unsigned b, unsigned c) {
  return __vmaxu2(__vmaxu2(a, b), c);
}
inline unsigned __vimax3_s16x2(unsigned a, unsigned b, unsigned c) {
  return __vmaxs2(__vmaxs2(a, b), c);
}
inline unsigned __vabsdiffu4(unsigned a, unsigned b) {
  unsigned result = 0;
  for (int at = 0; at < 32; at += 8) {
    const int x = static_cast<int>(a >> at & 255), y = static_cast<int>(b >> at & 255);
    result |= static_cast<unsigned>(std::abs(x - y)) << at;
  }
  return result;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline int __popc(unsigned v) {
  return std::popcount(v);
}
inline int __clz(int v) {
  return std::countl_zero(static_cast<unsigned>(v));
}
inline int __popcll(unsigned long long v) {
  return std::popcount(v);
}
inline int __ffs(int v) {
  return v == 0 ? 0 : std::countr_zero(static_cast<unsigned>(v)) + 1;
}
inline int __ffsll(long long v) {
  return v == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(v)) + 1;
}
template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T>
T __ldcs(const T* p) {
  return *p;
}
template <class T>
T __ldcg(const T* p) {
  return *p;
}
template <class T>
T atomicXor(T* p, T v) {
  const T old = *p;
  *p ^= v;
  return old;
}
template <class T>
T atomicExch(T* p, T v) {
  const T old = *p;
  *p = v;
  return old;
}
template <class T>
T atomicAdd(T* p, T v) {
  const T old = *p;
  *p += v;
  return old;
}
template <class T>
T atomicOr(T* p, T v) {
  const T old = *p;
  *p |= v;
  return old;
}
template <class T>
T atomicMin(T* p, T v) {
  const T old = *p;
  *p = std::min(*p, v);
  return old;
}
template <class T>
T atomicMax(T* p, T v) {
  const T old = *p;
  *p = std::max(*p, v);
  return old;
}
inline float __fdividef(float a, float b) {
  return a / b;
}
inline float __saturatef(float v) {
  return v > 0 ? std::min(v, 1.0F) : 0;  // NaN becomes 0
}
inline unsigned __float_as_uint(float v) {
  return std::bit_cast<unsigned>(v);
}
inline float __uint_as_float(unsigned v) {
  return std::bit_cast<float>(v);
}
inline float __double2float_ru(double v) {
  const float f = static_cast<float>(v);
  return static_cast<double>(f) < v ? std::nextafterf(f, INFINITY) : f;
}
inline long long __double_as_longlong(double v) {
  return std::bit_cast<long long>(v);
}

/// IEEE binary16, by its bits.
struct __half {
  std::uint16_t bits;
};
inline float __half2float(__half h) {
  const int exponent = h.bits >> 10 & 31;
  const int mantissa = h.bits & 1023;
  const float sign = (h.bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

namespace contorno {

using std::fabs;
using std::floor;
using std::fmax;
using std::fmin;
using std::max;
using std::min;

template <class T>
T& block_shared() {
  return *reinterpret_cast<T*>(emulated::running->block->shared.data());
}
template <class T>
T load_acquire(const T* address) {
  return *address;
}
template <class T>
T load_relaxed(const T* address) {
  return *address;
}
template <class T>
void store_relaxed(T* address, T value) {
  *address = value;
}
template <class N>
N fetch_add(N* counter, N count) {
  const N before = *counter;
  *counter += count;
  return before;
}
template <class N>
N fetch_add_if(bool adds, N* counter, N count) {
  return adds ? fetch_add(counter, count) : 0;
}
inline uint4 load_whole(const uint4* address) {
  return *address;
}
inline void store_whole(uint4* address, const uint4& value) {
  *address = value;
}
template <class T>
void copy_once(T* to, const T* from) {
  *to = *from;
}
inline void wait_for_copies() {}
inline unsigned peers_with(unsigned value) {
  const auto all = emulated::gather_warp(value);
  unsigned peers = 0;
  for (unsigned lane = 0; lane < 32; ++lane) peers |= (all[lane] == value ? 1U : 0U) << lane;
  return peers;
}
/// Called by the peers, whatever the other lanes do: each gives its value, the last one says which is least.
inline unsigned lowest_among(unsigned peers, unsigned value) {
  emulated::Block& block = *emulated::running->block;
  emulated::Group& group = block.groups[{threadIdx.x / 32, peers}];
  group.barrier.expected = std::popcount(peers);
  group.least = group.barrier.arrived == 0 ? value : std::min(group.least, value);
  if (group.barrier.arrived == group.barrier.expected - 1) group.result = group.least;
  emulated::meet(group.barrier, 0);
  return group.result;
}
inline unsigned highest_of_warp(unsigned value) {
  return ~lowest_among(~0U, ~value);
}
inline unsigned bits_of_warp(unsigned bits) {
  unsigned all = 0;
  for (const unsigned one : emulated::gather_warp(bits)) all |= one;
  return all;
}
template <class V>
V greater_or_nan(V a, V b) {
  return a != a || a > b ? a : b;
}
inline unsigned highest_among(unsigned peers, unsigned value) {
  return ~lowest_among(peers, ~value);
}
inline void wait_for_previous() {}
inline void let_next_begin() {}
inline void spin_pause() {
  emulated::give_way();
}

}  // namespace contorno
