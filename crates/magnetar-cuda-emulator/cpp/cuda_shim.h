// The part of CUDA C++ that our kernels use, on one CPU core.
//
// A CUDA thread is a fiber, a block runs on one OS thread, `__shared__` is thread_local. The fibers of a block run in
// the order that `emulator::order` asks for: a race that one order hides shows in another. `__syncthreads` gives the
// processor away with its source line as a tag; a block whose threads wait at different lines, or whose threads have
// partly ended, is an error, not a hang. What this cannot see: GPU rounding, shared-memory limits, memory order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

struct float2 { float x, y; };
struct float3 { float x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct uint3 { unsigned x, y, z; };
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

namespace emulator {

// How the fibers of a block take turns: forward, backward, or shuffled anew at every turn (any other number is a seed).
extern unsigned order;

// Where the running fiber is.
struct Position { uint3 thread, block, block_dim, grid_dim; };
extern thread_local Position here;

// Runs `kernel` for every thread of every block. Returns an empty string or what went wrong.
std::string run(uint3 grid, uint3 block, const std::function<void()> &kernel);

// The running fiber waits for the whole block (or for its warp) at source line `line`.
void wait_block(int line);
void wait_warp(int line);

// A 64-bit slot for each lane of the running fiber's warp.
uint64_t *warp_slots();
unsigned lane();

template <class T> T exchange(T value, unsigned from, int line) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 64 bits");
    uint64_t *slots = warp_slots();
    std::memcpy(&slots[lane()], &value, sizeof(T));
    wait_warp(line);
    T result;
    std::memcpy(&result, &slots[from & 31], sizeof(T));
    wait_warp(-line);
    return result;
}

} // namespace emulator

#define __global__
#define __device__
#define __constant__ static const
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __syncthreads() emulator::wait_block(__LINE__)
#define __syncwarp() emulator::wait_warp(__LINE__)
#define __shfl_xor_sync(mask, value, distance) emulator::exchange(value, emulator::lane() ^ (distance), __LINE__)
#define __shfl_down_sync(mask, value, distance) emulator::exchange(value, emulator::lane() + (distance), __LINE__)
#define __shfl_sync(mask, value, from) emulator::exchange(value, (from), __LINE__)
#define threadIdx (emulator::here.thread)
#define blockIdx (emulator::here.block)
#define blockDim (emulator::here.block_dim)
#define gridDim (emulator::here.grid_dim)

static inline void sincospif(float x, float *s, float *c) {
    *s = (float)std::sin(M_PI * (double)x);
    *c = (float)std::cos(M_PI * (double)x);
}
static inline float cospif(float x) { return (float)std::cos(M_PI * (double)x); }
static inline float sinpif(float x) { return (float)std::sin(M_PI * (double)x); }
static inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __int_as_float(int x) { float y; std::memcpy(&y, &x, 4); return y; }
static inline int __float_as_int(float x) { int y; std::memcpy(&y, &x, 4); return y; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
