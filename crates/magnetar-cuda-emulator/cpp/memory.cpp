// The stand-in driver's memory: on the "device", pinned on the host, and copies between them.
#include "state.h"

#include <algorithm>
#include <cstdlib>

using namespace standin;

static bool pinned(const void *host, size_t bytes) {
    auto next = pinned_memory.upper_bound((char *)host);
    if (next == pinned_memory.begin()) return false;
    auto block = std::prev(next);
    return (char *)host + bytes <= block->first + block->second;
}
static bool on_device(CUdeviceptr pointer, size_t bytes) {
    auto next = device_memory.upper_bound(pointer);
    if (next == device_memory.begin()) return bytes == 0;
    auto block = std::prev(next);
    return pointer + bytes <= block->first + block->second;
}

EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    LOCKED;
    *total = total_bytes();
    *free = *total - std::min<size_t>(*total, device_bytes);
    return sticky;
}
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
    uploaded.erase(pointer);
    return SUCCESS;
}
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) { return allocate(pointer, bytes); }
EXPORT CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, void *) { return allocate(pointer, bytes); }
EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer) {
    LOCKED;
    drain_all();
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
    bus_up += bytes;
    if (bytes > 0) uploaded.insert(std::prev(device_memory.upper_bound(to))->first);
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
    bus_down += bytes;
    resolve(stream)->queue.push_back([=] { std::memcpy(to, (void *)from, bytes); return SUCCESS; });
    return pinned(to, bytes) ? SUCCESS : drain(resolve(stream));
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, void *stream) {
    LOCKED;
    if (!on_device(to, bytes)) return INVALID_VALUE;
    resolve(stream)->queue.push_back([=] { std::memset((void *)to, value, bytes); return SUCCESS; });
    return SUCCESS;
}
