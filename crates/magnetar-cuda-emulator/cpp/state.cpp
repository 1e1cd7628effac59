// The stand-in driver's state, its settings and counts, and what tests steer and ask.
#include "state.h"

#include <algorithm>
#include <cstdlib>

namespace standin {

std::recursive_mutex lock;
int contexts = 0;
std::set<Stream *> streams;
std::set<Event *> events;
std::set<Module *> modules;
std::map<CUdeviceptr, size_t> device_memory;
std::map<char *, size_t> pinned_memory;
std::set<CUdeviceptr> uploaded;
size_t device_bytes = 0, peak_bytes = 0;
uint64_t bus_up = 0, bus_down = 0;
uint64_t launches = 0;
CUresult sticky = SUCCESS;

static Stream default_stream;
static std::map<std::string, KernelCounts> counts;
static std::map<std::string, uint64_t> settings;

uint64_t setting(const char *name, uint64_t otherwise) {
    LOCKED;
    auto found = settings.find(name);
    if (found != settings.end()) return found->second;
    const char *text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}
uint64_t total_bytes() { return setting("STANDIN_MEMORY_BYTES", 1ull << 30); }
uint64_t devices() { return setting("STANDIN_DEVICES", 1); }
uint64_t compute_capability() { return setting("STANDIN_COMPUTE_CAPABILITY", 70); }

bool fails(const char *name) {
    const uint64_t left = setting(name, 0);
    if (left > 0) settings[name] = left - 1;
    return left == 1;
}

static CUresult step(Stream *stream) {
    auto work = std::move(stream->queue.front());
    stream->queue.pop_front();
    const CUresult result = sticky ? sticky : work();
    if (result) sticky = result;
    return result;
}
CUresult drain(Stream *stream) {
    while (!stream->queue.empty()) step(stream);
    return sticky;
}
CUresult drain_all() {
    drain(&default_stream);
    for (Stream *stream : streams) drain(stream);
    return sticky;
}
void reach(Event *event, uint64_t mark) {
    while (event->completed < mark && !event->stream->queue.empty()) step(event->stream);
    event->completed = std::max(event->completed, mark);
}
Stream *resolve(void *stream) { return stream ? static_cast<Stream *>(stream) : &default_stream; }

void count_launch(const Kernel &kernel, void **arguments) {
    KernelCounts &own = counts[kernel.name];
    ++own.launches;
    for (size_t i = 0; i < kernel.parameter_bytes.size(); ++i) {
        if (kernel.parameter_bytes[i] != sizeof(CUdeviceptr)) continue;
        auto memory = device_memory.find(*static_cast<CUdeviceptr *>(arguments[i]));
        if (memory == device_memory.end()) continue;
        if (kernel.writes[i]) own.written_bytes += memory->second;
        if (!kernel.writes[i] || uploaded.count(memory->first)) own.read_bytes += memory->second;
    }
}
static void add_difference(Operations &sum, const Operations &after, const Operations &before) {
    auto *to = reinterpret_cast<uint64_t *>(&sum);
    auto *a = reinterpret_cast<const uint64_t *>(&after), *b = reinterpret_cast<const uint64_t *>(&before);
    for (size_t i = 0; i < sizeof(Operations) / sizeof(uint64_t); ++i) to[i] += a[i] - b[i];
}
std::string run_counted(const Kernel &kernel, uint3 grid, uint3 block, const std::function<void()> &body) {
    const Operations before32 = emulator::performed32, before64 = emulator::performed64;
    const std::string failure = emulator::run(grid, block, body);
    add_difference(counts[kernel.name].f32, emulator::performed32, before32);
    add_difference(counts[kernel.name].f64, emulator::performed64, before64);
    return failure;
}

} // namespace standin

using namespace standin;

// What the tests steer and ask.
EXPORT void standin_order(unsigned order) { emulator::order = order; }
EXPORT void standin_set(const char *name, uint64_t value) { LOCKED; settings[name] = value; }
EXPORT void standin_recover() { LOCKED; sticky = SUCCESS; }
EXPORT uint64_t standin_launches() { LOCKED; return launches; }
EXPORT void standin_counts(const char *kernel, KernelCounts *out) { LOCKED; *out = counts[kernel]; }
EXPORT void standin_bus_bytes(uint64_t *up, uint64_t *down) { LOCKED; *up = bus_up; *down = bus_down; }
EXPORT void standin_forget_counts() { LOCKED; counts.clear(); bus_up = bus_down = 0; }
EXPORT uint64_t standin_take_peak_bytes() {
    LOCKED;
    const uint64_t peak = peak_bytes;
    peak_bytes = device_bytes;
    return peak;
}
EXPORT uint64_t standin_live() {
    LOCKED;
    return device_memory.size() + pinned_memory.size() + streams.size() + events.size() + modules.size() + contexts;
}

// Runs one of the emulator's own kernels on a block of 128 threads, on memory of the exact size.
EXPORT int standin_selftest(const char *name, const int *in, int *out) {
    LOCKED;
    for (const Kernel &kernel : kernels()) {
        if (kernel.name != name) continue;
        int *device = static_cast<int *>(std::calloc(128, sizeof(int)));
        void *arguments[] = {&in, &device};
        const std::string failure = run_counted(kernel, {1, 1, 1}, {128, 1, 1}, kernel.bind(arguments));
        std::memcpy(out, device, 128 * sizeof(int));
        std::free(device);
        return failure.empty() ? 0 : 1;
    }
    return 2;
}
