// Runs the blocks of a kernel on one CPU core.
//
// A CUDA thread is a fiber, a block runs on one OS thread. The fibers of a block run in the order that `emulator::order`
// asks for: a race that one order hides shows in another. A barrier gives the processor away with its source line as a
// tag; a block whose threads wait at different lines, or whose threads have partly ended, is an error, not a hang.
#pragma once

#include "counts.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

struct uint3 { unsigned x, y, z; };

namespace emulator {

// How the fibers of a block take turns: forward, backward, or shuffled anew at every turn (any other number is a seed).
extern unsigned order;

// What kernels have performed so far, in f32 and in f64; only the counting build tallies.
extern Operations performed32, performed64;

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
