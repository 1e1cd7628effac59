// Bulk path summation: a batch of path lists to a batch of observations.
//
//   observation[row][bin][element] = rf[row][bin][element] * sum over paths of
//       amplitude[path][element] * exp(j 2 pi (start[path][element] + bin * step[path][element]))
//       + noise[row][bin][element]
//
// Layout. Rows lie one after another. A row of `rf`, `noise` and `observation` is `bins` float4: (re, im) of element 0,
// then (re, im) of element 1, which is the [bins, 2, 2] f32 layout of the `csi` column, so that thread t and thread t + 1
// touch neighbouring 16-byte words. Row r owns the paths first[r] .. first[r + 1]. `rf` and `noise` may be null: no
// RF chain, no noise.
//
// Phases are fixed-point turns, 2^32 to a turn, reduced in f64 on the host. `start + bin * step` then wraps in the
// integer unit, exactly: in f32 turns the product with bin 511 would lose seven bits of the step and miss the 1e-5 bound.
//
// Work. A block takes one row and a tile of 512 bins, a thread four bins that lie 128 apart. It evaluates one phasor a
// path and element and turns it three times by exp(j 2 pi 128 step), which the block shares. Four bins keep the
// rounding of the turns under 4 * 2^-24.
//
// Noise is not drawn here: it is uploaded from the host's own streams, so that a row has the same noise, to the bit,
// whichever backend made it.

#define THREADS 128
#define BINS_PER_THREAD 4
#define PATHS_PER_TILE 32

// One path as the two elements receive it.
struct PathTerm {
    float amplitude[2];
    unsigned start[2];
    unsigned step[2];
};

// exp(j 2 pi turns / 2^32).
static __device__ __forceinline__ float2 phasor(unsigned turns) {
    float2 z;
    sincospif((float)(int)turns * 4.656612873077393e-10f, &z.y, &z.x); // 2^-31: half turns, in [-1, 1)
    return z;
}

static __device__ __forceinline__ float2 product(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

extern "C" __global__ void __launch_bounds__(THREADS)
sum_paths(const unsigned *__restrict__ first, const PathTerm *__restrict__ paths, const float4 *__restrict__ rf,
          const float4 *__restrict__ noise, float4 *__restrict__ observation, unsigned bins) {
    __shared__ PathTerm term[PATHS_PER_TILE];
    __shared__ float2 turn[PATHS_PER_TILE][2];

    const unsigned row = blockIdx.x;
    const unsigned bin = blockIdx.y * (THREADS * BINS_PER_THREAD) + threadIdx.x;
    const unsigned begin = first[row], end = first[row + 1];

    float2 sum[BINS_PER_THREAD][2];
    for (int i = 0; i < BINS_PER_THREAD; ++i) sum[i][0] = sum[i][1] = make_float2(0.0f, 0.0f);

    for (unsigned tile = begin; tile < end; tile += PATHS_PER_TILE) {
        const unsigned count = min(end - tile, (unsigned)PATHS_PER_TILE);
        __syncthreads(); // the last tile has been read
        if (threadIdx.x < count) {
            const PathTerm path = paths[tile + threadIdx.x];
            term[threadIdx.x] = path;
            for (int m = 0; m < 2; ++m) turn[threadIdx.x][m] = phasor(THREADS * path.step[m]);
        }
        __syncthreads();
        for (unsigned p = 0; p < count; ++p) {
            for (int m = 0; m < 2; ++m) {
                const float amplitude = term[p].amplitude[m];
                float2 z = phasor(term[p].start[m] + bin * term[p].step[m]);
                z.x *= amplitude;
                z.y *= amplitude;
#pragma unroll
                for (int i = 0; i < BINS_PER_THREAD; ++i) {
                    sum[i][m].x += z.x;
                    sum[i][m].y += z.y;
                    if (i + 1 < BINS_PER_THREAD) z = product(z, turn[p][m]);
                }
            }
        }
    }

    const size_t row_start = (size_t)row * bins;
#pragma unroll
    for (int i = 0; i < BINS_PER_THREAD; ++i) {
        const unsigned k = bin + i * THREADS;
        if (k >= bins) break;
        float4 h = make_float4(sum[i][0].x, sum[i][0].y, sum[i][1].x, sum[i][1].y);
        if (rf) {
            const float4 g = rf[row_start + k];
            const float2 a = product(make_float2(h.x, h.y), make_float2(g.x, g.y));
            const float2 b = product(make_float2(h.z, h.w), make_float2(g.z, g.w));
            h = make_float4(a.x, a.y, b.x, b.y);
        }
        if (noise) {
            const float4 w = noise[row_start + k];
            h = make_float4(h.x + w.x, h.y + w.y, h.z + w.z, h.w + w.w);
        }
        observation[row_start + k] = h;
    }
}
