// What the parts of the stand-in driver share. Everything here is guarded by `lock`.
#pragma once

#include "emulator.h"
#include "kernels.h"

#include <deque>
#include <map>
#include <mutex>
#include <set>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;

enum : CUresult {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218,
    UNSUPPORTED_PTX_VERSION = 222,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_FAILED = 719,
};

struct Stream;
struct Event {
    uint64_t recorded = 0, completed = 0;
    Stream *stream = nullptr;
};
struct Stream {
    std::deque<std::function<CUresult()>> queue;
};
struct Function {
    const Kernel *kernel;
};
struct Module {
    std::map<std::string, Function> functions;
};

#define LOCKED std::lock_guard<std::recursive_mutex> guard(standin::lock)
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace standin {

extern std::recursive_mutex lock;
extern int contexts;
extern std::set<Stream *> streams;
extern std::set<Event *> events;
extern std::set<Module *> modules;
extern std::map<CUdeviceptr, size_t> device_memory;
extern std::map<char *, size_t> pinned_memory;
extern std::set<CUdeviceptr> uploaded; // allocations that the host has written
extern size_t device_bytes, peak_bytes;
extern uint64_t bus_up, bus_down;
extern uint64_t launches;
extern CUresult sticky; // an asynchronous failure poisons the context, as on a GPU

// A setting of the environment, or of a test in the same process.
uint64_t setting(const char *name, uint64_t otherwise);
uint64_t total_bytes();
uint64_t devices();
uint64_t compute_capability();
// Counts a setting down to the call that is to fail; zero is never.
bool fails(const char *name);

// The stream of a handle; null is the default stream.
Stream *resolve(void *stream);
// Runs what is queued, on one stream or on all.
CUresult drain(Stream *stream);
CUresult drain_all();
// Runs a stream up to a mark; after a failure the marks behind it are never written, but the waiting must end.
void reach(Event *event, uint64_t mark);

// Adds one launch and the allocations it was given: what it can write counts as written, everything else, and what the
// host had filled, as read. Each once, and whole: caches and records that are used in part are not seen.
void count_launch(const Kernel &kernel, void **arguments);
// Runs a kernel and adds the operations it performed.
std::string run_counted(const Kernel &kernel, uint3 grid, uint3 block, const std::function<void()> &body);

} // namespace standin
