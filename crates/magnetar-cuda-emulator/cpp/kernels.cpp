// The project's kernels, compiled for the CPU from the very files that NVRTC compiles for the GPU, and the table the
// stand-in driver launches them from.
#include "kernels.h"

#include "cuda_shim.h"

namespace sum_paths_file {
#include "sum_paths.cu"
}
namespace candidate_files { // one for the three, which share headers
#undef THREADS
#include "trace_candidates.cu"

#include "score_candidates.cu"

#include "gather_evidence.cu"
}
static_assert(sizeof(candidate_files::Candidate) == 1104, "the host allocates this many bytes a position");
namespace selftest_file {
#include "selftest.cu"
}

#undef threadIdx
#undef blockIdx

namespace {

template <class... A, size_t... I>
std::function<void()> bound(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
    // The driver copies the arguments when the kernel is launched, not when it runs.
    std::tuple<std::decay_t<A>...> copies(*static_cast<std::decay_t<A> *>(arguments[I])...);
    return [=] { kernel(std::get<I>(copies)...); };
}

// Whether an argument is memory that the kernel may write.
template <class A>
constexpr bool writes = std::is_pointer<A>::value && !std::is_const<std::remove_pointer_t<A>>::value;

template <class... A> Kernel entry(const char *name, void (*kernel)(A...)) {
    return {name, {sizeof(std::decay_t<A>)...}, {writes<A>...}, [=](void **arguments) {
                return bound(kernel, arguments, std::index_sequence_for<A...>());
            }};
}

} // namespace

const std::vector<Kernel> &kernels() {
    static const std::vector<Kernel> table = {
        entry("sum_paths", sum_paths_file::sum_paths),
        entry("trace_candidates", candidate_files::trace_candidates),
        entry("score_candidates", candidate_files::score_candidates),
        entry("gather_evidence", candidate_files::gather_evidence),
        entry("selftest_race", selftest_file::selftest_race),
        entry("selftest_divergent", selftest_file::selftest_divergent),
        entry("selftest_reverse", selftest_file::selftest_reverse),
        entry("selftest_overrun", selftest_file::selftest_overrun),
        entry("selftest_shuffle", selftest_file::selftest_shuffle),
        entry("selftest_arithmetic", selftest_file::selftest_arithmetic),
    };
    return table;
}
