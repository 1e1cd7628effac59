// The part of CUDA C++ that our kernels use, on one CPU core (see emulator.h). `__shared__` is thread_local.
//
// With COUNTING defined, `float` and `double` in what follows are numbers that count their operations (counted.h).
// What this cannot see: GPU rounding, shared-memory limits, memory order.
#pragma once

#include "emulator.h"

#include <algorithm>
#include <cmath>

static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }

#if defined(COUNTING)
#include "counted.h"
#define float Counted<float>
#define double Counted<double>
#else
static inline void sincospif(float x, float *s, float *c) {
    *s = (float)std::sin(M_PI * (double)x);
    *c = (float)std::cos(M_PI * (double)x);
}
static inline float cospif(float x) { return (float)std::cos(M_PI * (double)x); }
static inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __int_as_float(int x) { float y; std::memcpy(&y, &x, 4); return y; }
static inline int __float_as_int(float x) { int y; std::memcpy(&y, &x, 4); return y; }
#endif

struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
static inline float2 make_float2(float x, float y) { return {x, y}; }

#define __global__
#define __device__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __syncthreads() emulator::wait_block(__LINE__)
#define __shfl_xor_sync(mask, value, distance) emulator::exchange(value, emulator::lane() ^ (distance), __LINE__)
#define threadIdx (emulator::here.thread)
#define blockIdx (emulator::here.block)
