// A stand-in for libcuda.so: the driver functions that our host code reaches through cudarc, on the CPU.
//
// A test tool. It makes the real host code run end to end without a GPU, and is stricter than a GPU where that finds
// faults: work given to a stream is only queued and runs when the host waits for it, so that a missing wait shows as
// stale data; device memory is allocated to the exact byte, so that the address sanitizer sees an overrun; live
// handles are counted, so that a leak shows; and any allocation or launch can be made to fail.
#include "cuda_shim.h"

#include "kernels.h"

#include <cstdio>
#include <cstdlib>
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

namespace {

std::recursive_mutex lock;
#define LOCKED std::lock_guard<std::recursive_mutex> guard(lock)

int context_object;
thread_local void *current_context = nullptr;
int contexts = 0;
Stream default_stream;
std::set<Stream *> streams;
std::set<Event *> events;
std::set<Module *> modules;
std::map<CUdeviceptr, size_t> device_memory;
std::map<char *, size_t> pinned_memory;
size_t device_bytes = 0, peak_bytes = 0;
CUresult sticky = SUCCESS; // an asynchronous failure poisons the context, as on a GPU
uint64_t launches = 0;

// Settings come from the environment, or from a test in the same process.
std::map<std::string, uint64_t> settings;
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

const int DRIVER_VERSION = 12000;
const uint64_t NEWEST_PTX = 80; // that a driver of this version reads: 8.0

// Counts a setting down to the call that is to fail; zero is never.
bool fails(const char *name) {
    const uint64_t left = setting(name, 0);
    if (left > 0) settings[name] = left - 1;
    return left == 1;
}

CUresult step(Stream *stream) {
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
// Runs a stream up to a mark; after a failure the marks behind it are never written, but the waiting must end.
void reach(Event *event, uint64_t mark) {
    while (event->completed < mark && !event->stream->queue.empty()) step(event->stream);
    event->completed = std::max(event->completed, mark);
}
Stream *resolve(void *stream) { return stream ? static_cast<Stream *>(stream) : &default_stream; }

bool pinned(const void *host, size_t bytes) {
    auto next = pinned_memory.upper_bound((char *)host);
    if (next == pinned_memory.begin()) return false;
    auto block = std::prev(next);
    return (char *)host + bytes <= block->first + block->second;
}
bool on_device(CUdeviceptr pointer, size_t bytes) {
    auto next = device_memory.upper_bound(pointer);
    if (next == device_memory.begin()) return bytes == 0;
    auto block = std::prev(next);
    return pointer + bytes <= block->first + block->second;
}

// A number of a PTX text's head, such as 80 of `.target sm_80` or of `.version 8.0`; zero if it is not there.
uint64_t number_after(const std::string &ptx, const char *what) {
    const size_t at = ptx.find(what);
    uint64_t number = 0;
    for (size_t i = at + std::strlen(what); at != std::string::npos && i < ptx.size() && ptx[i] != '\n'; ++i) {
        if (std::isdigit((unsigned char)ptx[i])) number = number * 10 + (uint64_t)(ptx[i] - '0');
        else if (ptx[i] != '.') break;
    }
    return number;
}

// The entry points of a PTX text and the bytes of each of their parameters.
std::map<std::string, std::vector<size_t>> entries(const std::string &ptx) {
    std::map<std::string, std::vector<size_t>> found;
    for (size_t at = ptx.find(".entry "); at != std::string::npos; at = ptx.find(".entry ", at + 1)) {
        const size_t open = ptx.find('(', at), close = ptx.find("\n)", at);
        std::string name = ptx.substr(at + 7, open - at - 7);
        while (!name.empty() && std::isspace((unsigned char)name.back())) name.pop_back();
        std::vector<size_t> bytes;
        const std::string list = ptx.substr(open, close - open);
        for (size_t p = list.find(".param "); p != std::string::npos; p = list.find(".param ", p + 1)) {
            const std::string parameter = list.substr(p, list.find('\n', p) - p);
            const size_t bracket = parameter.find('[');
            if (bracket != std::string::npos) bytes.push_back(std::strtoull(&parameter[bracket + 1], nullptr, 10));
            else if (parameter.find("64 ") != std::string::npos) bytes.push_back(8);
            else if (parameter.find("32 ") != std::string::npos) bytes.push_back(4);
            else bytes.push_back(0);
        }
        found[name] = bytes;
    }
    return found;
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// What the tests steer and ask.
EXPORT void standin_order(unsigned order) { emulator::order = order; }
EXPORT void standin_set(const char *name, uint64_t value) { LOCKED; settings[name] = value; }
EXPORT void standin_recover() { LOCKED; sticky = SUCCESS; }
EXPORT uint64_t standin_launches() { LOCKED; return launches; }
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
        const std::string failure = emulator::run({1, 1, 1}, {128, 1, 1}, kernel.bind(arguments));
        std::memcpy(out, device, 128 * sizeof(int));
        std::free(device);
        return failure.empty() ? 0 : 1;
    }
    return 2;
}

EXPORT CUresult cuInit(unsigned) { return devices() ? SUCCESS : NO_DEVICE; }
EXPORT CUresult cuDriverGetVersion(int *version) { *version = DRIVER_VERSION; return SUCCESS; }
EXPORT CUresult cuGetErrorName(CUresult code, const char **name) {
    switch (code) {
    case SUCCESS: *name = "CUDA_SUCCESS"; break;
    case INVALID_VALUE: *name = "CUDA_ERROR_INVALID_VALUE"; break;
    case OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case NO_DEVICE: *name = "CUDA_ERROR_NO_DEVICE"; break;
    case NO_BINARY_FOR_GPU: *name = "CUDA_ERROR_NO_BINARY_FOR_GPU"; break;
    case INVALID_PTX: *name = "CUDA_ERROR_INVALID_PTX"; break;
    case UNSUPPORTED_PTX_VERSION: *name = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"; break;
    case LAUNCH_OUT_OF_RESOURCES: *name = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"; break;
    case LAUNCH_FAILED: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
    default: *name = "CUDA_ERROR"; break;
    }
    return SUCCESS;
}
EXPORT CUresult cuGetErrorString(CUresult code, const char **text) { return cuGetErrorName(code, text); }
EXPORT CUresult cuGetExportTable(const void **, const void *) { return NOT_FOUND; }

EXPORT CUresult cuDeviceGetCount(int *count) { *count = (int)devices(); return SUCCESS; }
EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    if (ordinal < 0 || (uint64_t)ordinal >= devices()) return INVALID_DEVICE;
    *device = ordinal;
    return SUCCESS;
}
EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice) {
    std::snprintf(name, (size_t)length, "stand-in (CPU emulation for tests)");
    return SUCCESS;
}
EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) { *bytes = total_bytes(); return SUCCESS; }
EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
    switch (attribute) {
    case 75: *value = (int)compute_capability() / 10; break;
    case 76: *value = (int)compute_capability() % 10; break;
    case 16: *value = 1; break; // multiprocessors
    case 115: *value = (int)setting("STANDIN_MEMORY_POOLS", 1); break;
    default: *value = 0; break;
    }
    return SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRetain(void **context, CUdevice) {
    LOCKED;
    ++contexts;
    *context = &context_object;
    return SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { LOCKED; --contexts; return SUCCESS; }
EXPORT CUresult cuCtxGetCurrent(void **context) { *context = current_context; return SUCCESS; }
EXPORT CUresult cuCtxSetCurrent(void *context) { current_context = context; return SUCCESS; }
EXPORT CUresult cuCtxSynchronize() {
    LOCKED;
    drain(&default_stream);
    for (Stream *stream : streams) drain(stream);
    return sticky;
}
EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    LOCKED;
    *total = total_bytes();
    *free = *total - std::min<size_t>(*total, device_bytes);
    return sticky;
}

EXPORT CUresult cuModuleLoadData(void **module, const void *image) {
    LOCKED;
    if (fails("STANDIN_FAIL_LOAD")) return INVALID_PTX;
    const std::string ptx = static_cast<const char *>(image);
    const uint64_t target = number_after(ptx, ".target sm_"), version = number_after(ptx, ".version ");
    if (target == 0 || version == 0) return INVALID_PTX;
    if (version > NEWEST_PTX) return UNSUPPORTED_PTX_VERSION;
    if (target > compute_capability()) return NO_BINARY_FOR_GPU;
    auto *loaded = new Module;
    for (const auto &[name, bytes] : entries(ptx)) {
        for (const Kernel &kernel : kernels()) {
            if (kernel.name != name) continue;
            if (kernel.parameter_bytes != bytes) {
                std::fprintf(stderr, "stand-in: the PTX of %s takes other parameters than its source\n", name.c_str());
                delete loaded;
                return INVALID_PTX;
            }
            loaded->functions[name] = Function{&kernel};
        }
    }
    modules.insert(loaded);
    *module = loaded;
    return SUCCESS;
}
EXPORT CUresult cuModuleUnload(void *module) {
    LOCKED;
    if (!modules.erase(static_cast<Module *>(module))) return INVALID_HANDLE;
    delete static_cast<Module *>(module);
    return SUCCESS;
}
EXPORT CUresult cuModuleGetFunction(void **function, void *module, const char *name) {
    LOCKED;
    auto &functions = static_cast<Module *>(module)->functions;
    auto found = functions.find(name);
    if (found == functions.end()) return NOT_FOUND;
    *function = &found->second;
    return SUCCESS;
}
EXPORT CUresult cuFuncGetAttribute(int *value, int, void *) { *value = 0; return SUCCESS; }

EXPORT CUresult cuStreamCreate(void **stream, unsigned) {
    LOCKED;
    *stream = *streams.insert(new Stream).first;
    return SUCCESS;
}
EXPORT CUresult cuStreamDestroy_v2(void *stream) {
    LOCKED;
    drain(resolve(stream));
    if (!streams.erase(static_cast<Stream *>(stream))) return INVALID_HANDLE;
    delete static_cast<Stream *>(stream);
    return SUCCESS;
}
EXPORT CUresult cuStreamSynchronize(void *stream) { LOCKED; return drain(resolve(stream)); }
EXPORT CUresult cuEventCreate(void **event, unsigned) {
    LOCKED;
    *event = *events.insert(new Event).first;
    return SUCCESS;
}
EXPORT CUresult cuEventDestroy_v2(void *event) {
    LOCKED;
    auto *ended = static_cast<Event *>(event);
    if (ended->recorded) reach(ended, ended->recorded);
    if (!events.erase(ended)) return INVALID_HANDLE;
    delete ended;
    return SUCCESS;
}
EXPORT CUresult cuEventRecord(void *event, void *stream) {
    LOCKED;
    auto *recorded = static_cast<Event *>(event);
    if (recorded->stream && recorded->stream != resolve(stream)) reach(recorded, recorded->recorded);
    const uint64_t mark = ++recorded->recorded;
    recorded->stream = resolve(stream);
    recorded->stream->queue.push_back([=] { recorded->completed = mark; return SUCCESS; });
    return SUCCESS;
}
EXPORT CUresult cuStreamWaitEvent(void *stream, void *event, unsigned) {
    LOCKED;
    auto *awaited = static_cast<Event *>(event);
    if (awaited->recorded == 0 || awaited->stream == resolve(stream)) return SUCCESS;
    const uint64_t mark = awaited->recorded;
    resolve(stream)->queue.push_back([=] { reach(awaited, mark); return SUCCESS; });
    return SUCCESS;
}
EXPORT CUresult cuEventSynchronize(void *event) {
    LOCKED;
    reach(static_cast<Event *>(event), static_cast<Event *>(event)->recorded);
    return sticky;
}
EXPORT CUresult cuEventQuery(void *event) {
    LOCKED;
    auto *asked = static_cast<Event *>(event);
    return asked->completed < asked->recorded ? NOT_READY : sticky;
}
EXPORT CUresult cuEventElapsedTime(float *milliseconds, void *, void *) { *milliseconds = 0.0f; return SUCCESS; }

static CUresult allocate(CUdeviceptr *pointer, size_t bytes) {
    LOCKED;
    if (sticky) return sticky;
    if (bytes == 0) return INVALID_VALUE;
    if (fails("STANDIN_FAIL_ALLOC") || bytes > total_bytes() - std::min<size_t>(total_bytes(), device_bytes)) return OUT_OF_MEMORY;
    void *memory = std::malloc(bytes);
    if (!memory) return OUT_OF_MEMORY;
    std::memset(memory, 0xcd, bytes); // fresh device memory holds anything but what one hopes for
    *pointer = (CUdeviceptr)memory;
    device_memory[*pointer] = bytes;
    device_bytes += bytes;
    peak_bytes = std::max(peak_bytes, device_bytes);
    return SUCCESS;
}
static CUresult release(CUdeviceptr pointer) {
    LOCKED;
    auto found = device_memory.find(pointer);
    if (found == device_memory.end()) return INVALID_VALUE;
    device_bytes -= found->second;
    std::free((void *)pointer);
    device_memory.erase(found);
    return SUCCESS;
}
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) { return allocate(pointer, bytes); }
EXPORT CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, void *) { return allocate(pointer, bytes); }
EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer) {
    cuCtxSynchronize();
    return release(pointer);
}
EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, void *stream) {
    LOCKED;
    drain(resolve(stream));
    return release(pointer);
}
EXPORT CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
    LOCKED;
    if (sticky) return sticky;
    if (bytes == 0) return INVALID_VALUE;
    if (fails("STANDIN_FAIL_PINNED")) return OUT_OF_MEMORY;
    char *memory = static_cast<char *>(std::malloc(bytes));
    if (!memory) return OUT_OF_MEMORY;
    std::memset(memory, 0xcd, bytes);
    pinned_memory[memory] = bytes;
    *pointer = memory;
    return SUCCESS;
}
EXPORT CUresult cuMemFreeHost(void *pointer) {
    LOCKED;
    if (!pinned_memory.erase(static_cast<char *>(pointer))) return INVALID_VALUE;
    std::free(pointer);
    return SUCCESS;
}
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, void *stream) {
    LOCKED;
    if (!on_device(to, bytes)) return INVALID_VALUE;
    if (pinned(from, bytes)) {
        resolve(stream)->queue.push_back([=] { std::memcpy((void *)to, from, bytes); return SUCCESS; });
    } else { // pageable memory is read before the call returns
        std::string staged(static_cast<const char *>(from), bytes);
        resolve(stream)->queue.push_back([=] { std::memcpy((void *)to, staged.data(), bytes); return SUCCESS; });
    }
    return SUCCESS;
}
EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, void *stream) {
    LOCKED;
    if (!on_device(from, bytes)) return INVALID_VALUE;
    resolve(stream)->queue.push_back([=] { std::memcpy(to, (void *)from, bytes); return SUCCESS; });
    return pinned(to, bytes) ? SUCCESS : drain(resolve(stream));
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, void *stream) {
    LOCKED;
    if (!on_device(to, bytes)) return INVALID_VALUE;
    resolve(stream)->queue.push_back([=] { std::memset((void *)to, value, bytes); return SUCCESS; });
    return SUCCESS;
}

EXPORT CUresult cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned, void *stream, void **arguments, void **) {
    LOCKED;
    if (sticky) return sticky;
    if (fails("STANDIN_FAIL_LAUNCH")) return LAUNCH_OUT_OF_RESOURCES;
    if (!gx || !gy || !gz || !bx || !by || !bz || gy > 65535 || gz > 65535 || bx * by * bz > 1024) return INVALID_VALUE;
    const bool breaks = fails("STANDIN_FAIL_ASYNC");
    const Kernel *kernel = static_cast<Function *>(function)->kernel;
    auto body = kernel->bind(arguments);
    const std::string name = kernel->name;
    resolve(stream)->queue.push_back([=]() -> CUresult {
        if (breaks) return LAUNCH_FAILED;
        ++launches;
        const std::string failure = emulator::run({gx, gy, gz}, {bx, by, bz}, body);
        if (failure.empty()) return SUCCESS;
        std::fprintf(stderr, "stand-in: %s: %s\n", name.c_str(), failure.c_str());
        return LAUNCH_FAILED;
    });
    return SUCCESS;
}
