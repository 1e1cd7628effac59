// A stand-in for libcuda.so: the driver functions that our host code reaches through cudarc, on the CPU.
//
// A test tool. It makes the real host code run end to end without a GPU, and is stricter than a GPU where that finds
// faults: work given to a stream is only queued and runs when the host waits for it, so that a missing wait shows as
// stale data; device memory is allocated to the exact byte, so that the address sanitizer sees an overrun; live
// handles are counted, so that a leak shows; and any allocation or launch can be made to fail. It counts what
// crosses the bus and what kernels are given.
#include "ptx.h"
#include "state.h"

#include <cstdio>

using namespace standin;

static const int DRIVER_VERSION = 12000;
static const uint64_t NEWEST_PTX = 80; // that a driver of this version reads: 8.0

static int context_object;
static thread_local void *current_context = nullptr;

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
EXPORT CUresult cuCtxSynchronize() { LOCKED; return drain_all(); }

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

EXPORT CUresult cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned, void *stream, void **arguments, void **) {
    LOCKED;
    if (sticky) return sticky;
    if (fails("STANDIN_FAIL_LAUNCH")) return LAUNCH_OUT_OF_RESOURCES;
    if (!gx || !gy || !gz || !bx || !by || !bz || gy > 65535 || gz > 65535 || bx * by * bz > 1024) return INVALID_VALUE;
    const bool breaks = fails("STANDIN_FAIL_ASYNC");
    const Kernel *kernel = static_cast<Function *>(function)->kernel;
    auto body = kernel->bind(arguments);
    count_launch(*kernel, arguments);
    resolve(stream)->queue.push_back([=]() -> CUresult {
        if (breaks) return LAUNCH_FAILED;
        ++launches;
        const std::string failure = run_counted(*kernel, {gx, gy, gz}, {bx, by, bz}, body);
        if (failure.empty()) return SUCCESS;
        std::fprintf(stderr, "stand-in: %s: %s\n", kernel->name.c_str(), failure.c_str());
        return LAUNCH_FAILED;
    });
    return SUCCESS;
}
