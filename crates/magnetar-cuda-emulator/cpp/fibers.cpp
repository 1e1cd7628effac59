// Fibers for the threads of one block, and the rendezvous between them.
#include "emulator.h"

#include <algorithm>
#include <memory>
#include <ucontext.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulator {

unsigned order = 0;
Operations performed32, performed64;
thread_local Position here;

namespace {

const size_t STACK_BYTES = 256 * 1024;

enum class State { Ready, AtBlockBarrier, AtWarpBarrier, Done };

struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    void *sanitizer_stack = nullptr;
    State state = State::Ready;
    int line = 0;
    uint3 thread;
};

struct Block {
    std::vector<Fiber> fibers;
    std::vector<uint64_t> slots;
    ucontext_t scheduler;
    void *scheduler_sanitizer_stack = nullptr;
    const void *scheduler_bottom = nullptr;
    size_t scheduler_size = 0;
    size_t running = 0;
    const std::function<void()> *kernel = nullptr;
};
thread_local Block *current = nullptr;

// The address sanitizer must be told which stack is in use.
void before_switch(void **save, const void *bottom, size_t size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(save, bottom, size);
#else
    (void)save, (void)bottom, (void)size;
#endif
}
void after_switch(void *saved, const void **bottom, size_t *size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(saved, bottom, size);
#else
    (void)saved, (void)bottom, (void)size;
#endif
}

void to_scheduler(bool for_good) {
    Block &block = *current;
    Fiber &fiber = block.fibers[block.running];
    before_switch(for_good ? nullptr : &fiber.sanitizer_stack, block.scheduler_bottom, block.scheduler_size);
    swapcontext(&fiber.context, &block.scheduler);
    after_switch(fiber.sanitizer_stack, &block.scheduler_bottom, &block.scheduler_size);
}

void fiber_main() {
    Block &block = *current;
    after_switch(nullptr, &block.scheduler_bottom, &block.scheduler_size);
    (*block.kernel)();
    block.fibers[block.running].state = State::Done;
    to_scheduler(true);
}

void resume(Block &block, size_t index) {
    Fiber &fiber = block.fibers[index];
    block.running = index;
    here.thread = fiber.thread;
    before_switch(&block.scheduler_sanitizer_stack, fiber.stack.get(), STACK_BYTES);
    swapcontext(&block.scheduler, &fiber.context);
    after_switch(block.scheduler_sanitizer_stack, nullptr, nullptr);
}

void wait(State state, int line) {
    Fiber &fiber = current->fibers[current->running];
    fiber.state = state;
    fiber.line = line;
    to_scheduler(false);
}

// Releases fibers [begin, end) if all of them wait in `state` at one line.
bool release(Block &block, size_t begin, size_t end, State state) {
    for (size_t i = begin; i < end; ++i) {
        if (block.fibers[i].state != state || block.fibers[i].line != block.fibers[begin].line) return false;
    }
    for (size_t i = begin; i < end; ++i) block.fibers[i].state = State::Ready;
    return true;
}

std::vector<size_t> turn_order(size_t count, uint64_t &random) {
    std::vector<size_t> turns(count);
    for (size_t i = 0; i < count; ++i) turns[i] = order == 1 ? count - 1 - i : i;
    if (order > 1) {
        for (size_t i = count; i > 1; --i) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            std::swap(turns[i - 1], turns[(random >> 33) % i]);
        }
    }
    return turns;
}

std::string run_block(Block &block, uint64_t &random) {
    const size_t count = block.fibers.size();
    for (Fiber &fiber : block.fibers) {
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = STACK_BYTES;
        fiber.context.uc_link = nullptr;
        fiber.state = State::Ready;
        makecontext(&fiber.context, fiber_main, 0);
    }
    for (;;) {
        bool ran = false, done = true;
        for (size_t index : turn_order(count, random)) {
            if (block.fibers[index].state != State::Ready) continue;
            resume(block, index);
            ran = true;
        }
        for (const Fiber &fiber : block.fibers) done = done && fiber.state == State::Done;
        if (done) return "";
        bool released = release(block, 0, count, State::AtBlockBarrier);
        for (size_t warp = 0; !released && warp < count; warp += 32) {
            released = release(block, warp, std::min(warp + 32, count), State::AtWarpBarrier) || released;
        }
        if (!ran && !released) {
            for (const Fiber &fiber : block.fibers) {
                if (fiber.state != State::Done) {
                    return "divergent barrier: a thread waits at line " + std::to_string(std::abs(fiber.line)) +
                           " and not all others do";
                }
            }
        }
    }
}

} // namespace

void wait_block(int line) { wait(State::AtBlockBarrier, line); }
void wait_warp(int line) { wait(State::AtWarpBarrier, line); }
unsigned lane() { return (unsigned)(current->running & 31); }
uint64_t *warp_slots() { return &current->slots[current->running & ~(size_t)31]; }

std::string run(uint3 grid, uint3 dim, const std::function<void()> &kernel) {
    const size_t count = (size_t)dim.x * dim.y * dim.z;
    Block block;
    block.fibers.resize(count);
    block.slots.resize((count + 31) & ~(size_t)31);
    block.kernel = &kernel;
    for (size_t i = 0; i < count; ++i) {
        block.fibers[i].stack.reset(new char[STACK_BYTES]);
        block.fibers[i].thread = {(unsigned)(i % dim.x), (unsigned)(i / dim.x % dim.y), (unsigned)(i / dim.x / dim.y)};
    }
    current = &block;
    here.block_dim = dim;
    here.grid_dim = grid;
    uint64_t random = order;
    std::string failure;
    for (unsigned z = 0; z < grid.z && failure.empty(); ++z) {
        for (unsigned y = 0; y < grid.y && failure.empty(); ++y) {
            for (unsigned x = 0; x < grid.x && failure.empty(); ++x) {
                here.block = {x, y, z};
                failure = run_block(block, random);
            }
        }
    }
    current = nullptr;
    return failure;
}

} // namespace emulator
