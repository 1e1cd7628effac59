// Bulk path summation: a batch of path lists to a batch of observations.
//
//   signal[bin][element] = factor[bin][element] * sum over paths of
//       amplitude[path][element] * exp(j 2 pi (start[path][element] + bin * step[path][element]))
//   observation += signal * sqrt(energy before the factors / energy after)
//
// `factor` is the RF chain, evaluated here from its few coefficients a row; the square root keeps the row's energy.
//
// Layout. Row r owns the paths first[r] .. first[r + 1] and chains[r]. Its observation is four planes of `bins` floats:
// re and im of element 0, re and im of element 1, so that neighbouring threads touch neighbouring words. On entry the
// planes hold the noise, on return noise and signal.
//
// Noise is not drawn here: it is uploaded from the host's own streams, so that a row has the same noise, to the bit,
// whichever backend made it.
//
// Phases are fixed-point turns, 2^32 to a turn, reduced in f64 on the host. `start + bin * step` then wraps in the
// integer unit, exactly: in f32 turns the product with bin 511 would lose nine bits of the step and miss the 1e-5 bound.
//
// Work. A block takes one row, in tiles of 512 bins, a thread four bins of a tile that lie 128 apart. It evaluates one
// phasor a path and element and turns it three times by exp(j 2 pi 128 step), which the block shares. Four bins keep
// the rounding of the turns under 4 * 2^-24. The last tile (the only one of the default band) stays in registers until
// the row's energy is known; earlier ones wait in `parked`, which has the layout of `observations` and may be null when
// there is one tile.

#define THREADS 128
#define BINS_PER_THREAD 4
#define TILE (THREADS * BINS_PER_THREAD)
#define PATHS_PER_TILE 32
#define RIPPLE_TERMS 8

// One path as the two elements receive it.
struct PathTerm {
    float amplitude[2];
    unsigned start[2];
    unsigned step[2];
};

// The RF chain of one row: amplitude[element] * exp(j 2 pi (start[element] + bin * step)) times the ripple
// exp(sum over n of (nepers[element][n] + j pi half_turns[element][n]) cos(pi (n + 1) (bin + 1/2) / bins)).
struct RfChain {
    float amplitude[2];
    unsigned start[2];
    unsigned step;
    unsigned terms;
    float nepers[2][RIPPLE_TERMS];
    float half_turns[2][RIPPLE_TERMS];
};

// Fixed-point turns as half turns in [-1, 1).
static __device__ __forceinline__ float half_turns(unsigned turns) { return (float)(int)turns * 4.656612873077393e-10f; }

// exp(j pi half_turns).
static __device__ __forceinline__ float2 phasor(float half_turns) {
    float2 z;
    sincospif(half_turns, &z.y, &z.x);
    return z;
}

static __device__ __forceinline__ float2 product(float2 a, float2 b) {
    return make_float2(fmaf(a.x, b.x, -(a.y * b.y)), fmaf(a.x, b.y, a.y * b.x));
}

// Multiplies both elements of one bin by their factors.
static __device__ __forceinline__ void apply(const RfChain &chain, unsigned bin, unsigned bins, float2 z[2]) {
    // cos(n x) by Chebyshev's recurrence from cos(x).
    const float once = cospif(((float)bin + 0.5f) / (float)bins);
    float before = 1.0f, cosine = once;
    float nepers[2] = {0.0f, 0.0f}, turned[2] = {0.0f, 0.0f};
    for (unsigned n = 0; n < chain.terms; ++n) {
        for (int m = 0; m < 2; ++m) {
            nepers[m] = fmaf(chain.nepers[m][n], cosine, nepers[m]);
            turned[m] = fmaf(chain.half_turns[m][n], cosine, turned[m]);
        }
        const float next = fmaf(2.0f * once, cosine, -before);
        before = cosine;
        cosine = next;
    }
    for (int m = 0; m < 2; ++m) {
        const float amplitude = chain.amplitude[m] * expf(nepers[m]);
        const float2 factor = phasor(half_turns(chain.start[m] + bin * chain.step) + turned[m]);
        z[m] = product(z[m], make_float2(amplitude * factor.x, amplitude * factor.y));
    }
}

static __device__ __forceinline__ float energy(const float2 z[2]) {
    return fmaf(z[0].x, z[0].x, z[0].y * z[0].y) + fmaf(z[1].x, z[1].x, z[1].y * z[1].y);
}

static __device__ __forceinline__ void add(float *observation, size_t plane, unsigned bin, const float2 z[2], float scale) {
    observation[bin] = fmaf(scale, z[0].x, observation[bin]);
    observation[plane + bin] = fmaf(scale, z[0].y, observation[plane + bin]);
    observation[2 * plane + bin] = fmaf(scale, z[1].x, observation[2 * plane + bin]);
    observation[3 * plane + bin] = fmaf(scale, z[1].y, observation[3 * plane + bin]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
sum_paths(const unsigned *__restrict__ first, const PathTerm *__restrict__ paths, const RfChain *__restrict__ chains,
          float *__restrict__ observations, float *__restrict__ parked, unsigned bins) {
    __shared__ PathTerm term[PATHS_PER_TILE];
    __shared__ float2 turn[PATHS_PER_TILE][2];
    __shared__ RfChain chain;
    __shared__ float2 energies[THREADS / 32];

    const size_t row = blockIdx.x;
    const unsigned begin = first[row], end = first[row + 1];
    float *observation = observations + row * 4 * bins;
    float *waiting = parked ? parked + row * 4 * bins : parked;
    const unsigned *from = (const unsigned *)(chains + row);
    for (unsigned i = threadIdx.x; i < sizeof(RfChain) / 4; i += THREADS) ((unsigned *)&chain)[i] = from[i];
    __syncthreads();

    float2 z[BINS_PER_THREAD][2];
    float2 sums = make_float2(0.0f, 0.0f); // energy before and after the RF chain
    const unsigned tiles = (bins + TILE - 1) / TILE;
    for (unsigned tile = 0; tile < tiles; ++tile) {
        const unsigned bin = tile * TILE + threadIdx.x;
#pragma unroll
        for (int i = 0; i < BINS_PER_THREAD; ++i) z[i][0] = z[i][1] = make_float2(0.0f, 0.0f);

        for (unsigned group = begin; group < end; group += PATHS_PER_TILE) {
            const unsigned count = min(end - group, (unsigned)PATHS_PER_TILE);
            __syncthreads(); // the last group has been read
            if (threadIdx.x < count) {
                const PathTerm path = paths[group + threadIdx.x];
                term[threadIdx.x] = path;
                for (int m = 0; m < 2; ++m) turn[threadIdx.x][m] = phasor(half_turns(THREADS * path.step[m]));
            }
            __syncthreads();
            for (unsigned p = 0; p < count; ++p) {
#pragma unroll
                for (int m = 0; m < 2; ++m) {
                    const float amplitude = term[p].amplitude[m];
                    const float2 by = turn[p][m];
                    float2 phase = phasor(half_turns(term[p].start[m] + bin * term[p].step[m]));
                    phase = make_float2(amplitude * phase.x, amplitude * phase.y);
#pragma unroll
                    for (int i = 0; i < BINS_PER_THREAD; ++i) {
                        z[i][m].x += phase.x;
                        z[i][m].y += phase.y;
                        if (i + 1 < BINS_PER_THREAD) phase = product(phase, by);
                    }
                }
            }
        }

#pragma unroll
        for (int i = 0; i < BINS_PER_THREAD; ++i) {
            const unsigned k = bin + i * THREADS;
            if (k < bins) {
                sums.x += energy(z[i]);
                apply(chain, k, bins, z[i]);
                sums.y += energy(z[i]);
                if (tile + 1 < tiles) {
                    waiting[k] = z[i][0].x;
                    waiting[bins + k] = z[i][0].y;
                    waiting[2 * bins + k] = z[i][1].x;
                    waiting[3 * bins + k] = z[i][1].y;
                }
            }
        }
    }

    for (int distance = 16; distance > 0; distance /= 2) {
        sums.x += __shfl_xor_sync(0xffffffffu, sums.x, distance);
        sums.y += __shfl_xor_sync(0xffffffffu, sums.y, distance);
    }
    if (threadIdx.x % 32 == 0) energies[threadIdx.x / 32] = sums;
    __syncthreads();
    sums = make_float2(0.0f, 0.0f);
    for (int warp = 0; warp < THREADS / 32; ++warp) {
        sums.x += energies[warp].x;
        sums.y += energies[warp].y;
    }
    const float scale = sums.y > 0.0f ? sqrtf(sums.x / sums.y) : 1.0f; // a row of zeros stays one

    for (unsigned k = threadIdx.x; k < (tiles - 1) * TILE; k += THREADS) {
        const float2 kept[2] = {make_float2(waiting[k], waiting[bins + k]),
                                make_float2(waiting[2 * bins + k], waiting[3 * bins + k])};
        add(observation, bins, k, kept, scale);
    }
#pragma unroll
    for (int i = 0; i < BINS_PER_THREAD; ++i) {
        const unsigned k = (tiles - 1) * TILE + threadIdx.x + i * THREADS;
        if (k < bins) add(observation, bins, k, z[i], scale);
    }
}
