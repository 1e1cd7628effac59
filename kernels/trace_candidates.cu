// Traces every fine position to the RX and compares its paths with the arrivals; see candidate.cuh.

#include "candidate.cuh"
#include "geometry.cuh"

#define COSINE_STEPS 256
#define TAU_F 6.28318531f

// Which paths can explain which arrivals, and how far each pair of paths fades into one.
static __device__ void compare(const Row &row, const Shared &shared, const Paths &paths, Candidate &candidate) {
    float fades[MAX_PATHS];
    for (unsigned i = 0; i < MAX_PATHS; ++i) fades[i] = 0.0f;
    const float reach = shared.merge_m + 3.0f * shared.merge_softness_m;
    unsigned merges = 0;
    for (unsigned a = 0; a < paths.count; ++a) {
        for (unsigned b = 0; b < a; ++b) {
            const float gap = fabsf(paths.length[a] - paths.length[b]);
            if (gap < reach) {
                const float weight = 1.0f / (1.0f + exponential((gap - shared.merge_m) / shared.merge_softness_m));
                const float turn = 1.0f - cosf(shared.kappa * (paths.across[a] - paths.across[b]));
                candidate.merges[merges] = {(unsigned short)a, (unsigned short)b, weight, turn};
                ++merges;
                fades[a] += weight * turn;
                fades[b] += weight * turn;
            }
        }
    }
    candidate.merge_count = merges;
    float swing[MAX_PATHS];
    for (unsigned i = 0; i < paths.count; ++i) {
        const float inverse2 = 1.0f / (paths.length[i] * paths.length[i]);
        const float sine2 = 1.0f - paths.cos_incidence[i] * paths.cos_incidence[i];
        const float image2 = paths.surface[i] == DIRECT ? 0.0f : 4.0f * shared.map_variance * sine2;
        const float turned = shared.heading_variance + shared.position_variance * inverse2;
        swing[i] = turned + (row.patch2 + image2) * inverse2;
        candidate.level_variance[i] = paths.slope2[i] * turned;
    }
    for (unsigned k = 0; k < USED; ++k) {
        unsigned near = 0;
        for (unsigned i = 0; k < row.seen && i < paths.count; ++i) {
            const float across = paths.across[i];
            const float turns = (shared.kappa * across - row.phase[k]) * (1.0f / TAU_F);
            const float mismatch = (turns - roundf(turns)) * TAU_F;
            const float variance =
                row.phase_variance[k] + shared.kappa * shared.kappa * (1.0f - across * across) * swing[i];
            candidate.mismatch2[k][i] = mismatch * mismatch;
            candidate.variance[k][i] = variance;
            if (mismatch * mismatch < 12.25f * variance + 4.0f * shared.fading * fades[i]) near |= 1u << i;
        }
        candidate.near[k] = near;
    }
    candidate.count = paths.count;
    candidate.direct = 0;
    for (unsigned i = 0; i < paths.count; ++i) {
        candidate.row[i] = paths.row[i];
        if (paths.surface[i] == DIRECT) candidate.direct |= 1u << i;
    }
    candidate.state = 1;
}

// |te R_te + tm R_tm|^2 from a table of (re, im) of R_te and R_tm by cosine of incidence.
static __device__ __forceinline__ float reflected_power(const float4 *table, float cos_incidence, float te, float tm) {
    const float position = cos_incidence * COSINE_STEPS;
    const unsigned n = min((unsigned)position, (unsigned)(COSINE_STEPS - 1));
    const float t = position - (float)n;
    const float4 a = table[n], b = table[n + 1];
    const float re = te * (a.x + t * (b.x - a.x)) + tm * (a.z + t * (b.z - a.z));
    const float im = te * (a.y + t * (b.y - a.y)) + tm * (a.w + t * (b.w - a.w));
    return re * re + im * im;
}

// grid: (fine positions / THREADS, rows)
extern "C" __global__ void __launch_bounds__(THREADS, 4)
trace_candidates(const Row *__restrict__ rows, const Block *__restrict__ boxes, const float *__restrict__ rx_gain,
                 const float4 *__restrict__ reflections, Candidate *__restrict__ candidates, float *__restrict__ base,
                 const Shared shared) {
    const unsigned position = blockIdx.x * THREADS + threadIdx.x, positions = shared.columns * shared.lines;
    if (position >= positions) return;
    const Row &row = rows[blockIdx.y];
    const Block *own_boxes = boxes + row.first_box;
    const size_t index = (size_t)blockIdx.y * positions + position;
    Candidate &candidate = candidates[index];
    candidate.state = 0;

    const double column = position % shared.columns, line = position / shared.columns;
    const double x = row.low[0] + (column + 0.5) * row.spacing[0] / shared.grain;
    const double y = row.low[1] + (line + 0.5) * row.spacing[1] / shared.grain;
    const double dx = x - row.rx[0], dy = y - row.rx[1];
    if (x < row.inside[0] || x > row.inside[1] || y < row.inside[2] || y > row.inside[3]) return;
    if (hypot(dx, dy) < shared.separation_min) return;
    const Vec tx = {{x, y, shared.tx_height}};
    for (unsigned n = 0; n < row.box_count; ++n) {
        const Vec l = local(own_boxes[n], tx);
        bool outside = false;
        for (int axis = 0; axis < 3; ++axis) outside = outside || fabs(l.x[axis]) >= own_boxes[n].half[axis];
        if (!outside) return;
    }

    Paths paths;
    trace(row, shared, own_boxes, rx_gain, tx, paths);
    compare(row, shared, paths, candidate);
    for (unsigned m = 0; m < shared.materials; ++m) {
        float *level = base + (index * shared.materials + m) * MAX_PATHS;
        for (unsigned i = 0; i < paths.count; ++i) {
            level[i] = paths.snr_db[i];
            if (paths.surface[i] != DIRECT) {
                const float4 *table = reflections + (m * shared.surfaces + paths.surface[i] - 1) * (COSINE_STEPS + 1);
                const float power = reflected_power(table, paths.cos_incidence[i], paths.te[i], paths.tm[i]);
                level[i] += DB_PER_OCTAVE * log2_of(power + 1e-9f);
            }
        }
    }
}
