// Kernels with known faults, and sound ones beside them: the emulator must tell them apart.

// Sound: reverses 128 numbers through shared memory.
extern "C" __global__ void selftest_reverse(const int *in, int *out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

// The same without the barrier.
extern "C" __global__ void selftest_race(const int *in, int *out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

// Half of the block never reaches the barrier.
extern "C" __global__ void selftest_divergent(const int *in, int *out) {
    if (threadIdx.x < 64) __syncthreads();
    out[threadIdx.x] = in[threadIdx.x];
}

// Writes one element past the end.
extern "C" __global__ void selftest_overrun(const int *in, int *out) { out[threadIdx.x + 1] = in[threadIdx.x]; }

// Sound: every lane of a warp gets the warp's sum.
extern "C" __global__ void selftest_shuffle(const int *in, int *out) {
    int sum = in[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    out[threadIdx.x] = sum;
}

// Sound, and of a known number of operations: in f32 three sums, a product, a fused operation, a division, a
// reciprocal, two kinds of root and an exponential; in f64 a sum and a product.
extern "C" __global__ void selftest_arithmetic(const int *in, int *out) {
    const float x = (float)in[threadIdx.x];
    float sum = fmaf(x, 2.0f, 1.0f) + 3.0f * x;
    sum += 1.0f / x - x / 7.0f;
    const float small = expf(-x) < 1.0f && sqrtf(x) > rsqrtf(x) ? fabsf(-sum) : 0.0f;
    const double wide = x;
    out[threadIdx.x] = (int)(0.5 * wide + small);
}
