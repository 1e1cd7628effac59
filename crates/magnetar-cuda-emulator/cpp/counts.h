// What a kernel performed and touched; `Operations` and `KernelCounts` of src/counts.rs.
#pragma once

#include <cstdint>

// Of one precision.
struct Operations {
    uint64_t adds, multiplies, fused;
    uint64_t divisions, reciprocals, fast_divisions, roots, reciprocal_roots, hypotenuses;
    uint64_t exponentials, binary_exponentials, cosines, half_turn_cosines, half_turn_phasors;
};

struct KernelCounts {
    uint64_t launches;
    uint64_t read_bytes, written_bytes;
    Operations f32, f64;
};
