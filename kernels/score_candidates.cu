// The likelihood of the arrivals for every fine position and fine heading; see candidate.cuh.
//
// crates/magnetar-posterior/src/twin/likelihood.rs, with the GPU's own fast functions: the likelihood is smooth.

#include "candidate.cuh"

#define FADING_DB2 37.722f
#define NEPERS_PER_DB 0.2302585f
#define INV_SQRT_TAU 0.3989423f

static __device__ __forceinline__ float logistic(float x) { return __fdividef(1.0f, 1.0f + exponential(-x)); }

static __device__ __forceinline__ float normal_cdf(float x) { return logistic(1.702f * x); }

// The normal distribution function by a polynomial, 0 and 1 beyond 2.6.
static __device__ __forceinline__ float soft_step(float x) {
    const float t = fmaxf(fminf(x, 2.6f), -2.6f), t2 = t * t;
    return 0.5f + t * (0.39569f + t2 * (-0.059769f + t2 * (0.0061024f - t2 * 0.00025317f)));
}

static __device__ __forceinline__ float stray_likelihood(const Row &row, const Shared &shared) {
    if (row.seen == 0) return 1e-3f;
    const float first = shared.outlier_first * shared.stray;
    return row.seen == 1 ? first : shared.outlier_first * shared.outlier_second * shared.stray * shared.stray;
}

static __device__ __forceinline__ float phase_density(const Candidate &candidate, unsigned k, unsigned i, float blur) {
    const float inverse = __fdividef(1.0f, candidate.variance[k][i] + blur);
    return exponential(inverse * (-0.5f * candidate.mismatch2[k][i])) * sqrtf(inverse) * INV_SQRT_TAU;
}

// Density, per dB, of an SNR excess `d` of this variance plus a power offset uniform within the limit.
static __device__ __forceinline__ float offset_density(float d, float variance, float limit) {
    const float scale = rsqrtf(variance);
    const float upper = normal_cdf((limit - d) * scale), lower = normal_cdf((-limit - d) * scale);
    return __fdividef(fmaxf(upper - lower, 0.0f), fmaxf(limit + limit, 1e-3f));
}

static __device__ float likelihood(const Row &row, const Shared &shared, const Candidate &candidate,
                                   const float *__restrict__ base, const float *__restrict__ gains, unsigned heading) {
    const unsigned n = candidate.count;
    float snr[MAX_PATHS], variance[MAX_PATHS], blur[MAX_PATHS], own[MAX_PATHS];
    for (unsigned i = 0; i < n; ++i) {
        snr[i] = gains[candidate.row[i] * shared.lanes + heading] + base[i];
        const float kind = candidate.direct >> i & 1 ? shared.los_variance : shared.reflection_variance;
        variance[i] = kind + candidate.level_variance[i];
        blur[i] = 0.0f;
        own[i] = 1.0f;
    }
    for (unsigned m = 0; m < candidate.merge_count; ++m) {
        const Merge merge = candidate.merges[m];
        const float difference = snr[merge.a] - snr[merge.b];
        const float stronger = logistic(difference);
        const float ratio = exponential(fabsf(difference) * -NEPERS_PER_DB);
        const float dilogarithm = ratio * (1.0f + ratio * (0.25f + ratio * 0.395f));
        const float fade = dilogarithm * (merge.weight * shared.fading);
        variance[merge.a] += fade * FADING_DB2;
        variance[merge.b] += fade * FADING_DB2;
        blur[merge.a] += fade * merge.turn;
        blur[merge.b] += fade * merge.turn;
        own[merge.a] *= 1.0f - (1.0f - stronger) * merge.weight;
        own[merge.b] *= 1.0f - stronger * merge.weight;
    }
    const float limit = shared.offset_max;
    float total = 0.0f;
    if (row.seen == 0) {
        for (int step = -2; step <= 2; ++step) {
            float hidden = 1.0f;
            for (unsigned i = 0; i < n; ++i) {
                const float level = 0.4f * (float)step * limit - row.cut_db;
                const float spread = rsqrtf(variance[i] + shared.rank_variance);
                hidden *= 1.0f - own[i] * normal_cdf((snr[i] + level) * spread);
            }
            total += hidden * 0.2f;
        }
        return total + stray_likelihood(row, shared);
    }
    float second[MAX_PATHS];
    for (unsigned j = 0; j < n; ++j) {
        if (candidate.near[1] >> j & 1) second[j] = own[j] * phase_density(candidate, 1, j, blur[j]);
    }
    // Where all arrivals are strays, nothing tells the offset: its variance adds to the spread.
    float unseen = 1.0f;
    const float unknown_level = shared.rank_variance + limit * limit * (1.0f / 3.0f);
    for (unsigned l = 0; shared.ranking && l < n; ++l) {
        const float above = soft_step((snr[l] - row.cut_db) * rsqrtf(variance[l] + unknown_level));
        unseen *= fmaxf(1.0f - own[l] * above, 0.02f);
    }
    for (unsigned i = 0; i < n; ++i) {
        if (!(candidate.near[0] >> i & 1)) continue;
        const float first = own[i] * phase_density(candidate, 0, i, blur[i]);
        const float d1 = row.snr_db[0] - snr[i];
        const float offset = fmaxf(fminf(d1, limit), -limit);
        // Everything else must have stayed below the cut.
        float others = 1.0f, hidden[MAX_PATHS];
        for (unsigned l = 0; l < n; ++l) {
            hidden[l] = 1.0f;
            if (l == i || !shared.ranking) continue;
            const float spread = rsqrtf(variance[l] + shared.rank_variance);
            const float above = soft_step((snr[l] + offset - row.cut_db) * spread);
            hidden[l] = fmaxf(1.0f - own[l] * above, 0.02f);
            others *= hidden[l];
        }
        const float alone = offset_density(d1, variance[i], limit);
        if (row.seen == 1) {
            total += first * others * alone;
            continue;
        }
        float explained = alone * (shared.outlier_second * shared.stray);
        for (unsigned j = 0; j < n; ++j) {
            if (j == i || !(candidate.near[1] >> j & 1)) continue;
            const float d2 = row.snr_db[1] - snr[j];
            const float inverse = __fdividef(1.0f, variance[i] + variance[j]);
            const float gap = d1 - d2;
            const float density = exponential(gap * gap * inverse * -0.5f) * sqrtf(inverse) * INV_SQRT_TAU;
            const float common = (d1 * variance[j] + d2 * variance[i]) * inverse;
            const float within = offset_density(common, variance[i] * variance[j] * inverse, limit);
            const float powers =
                shared.shared_offset ? density * within : alone * offset_density(d2, variance[j], limit);
            explained += __fdividef(second[j] * powers, hidden[j]) * (1.0f - shared.outlier_second);
        }
        total += first * others * explained;
    }
    total *= 1.0f - shared.outlier_first;
    for (unsigned j = 0; row.seen > 1 && j < n; ++j) {
        if (!(candidate.near[1] >> j & 1)) continue;
        const float d2 = row.snr_db[1] - snr[j];
        const float offset = fmaxf(fminf(d2, limit), -limit);
        float others = 1.0f;
        for (unsigned l = 0; shared.ranking && l < n; ++l) {
            if (l == j) continue;
            const float spread = rsqrtf(variance[l] + shared.rank_variance);
            const float above = soft_step((snr[l] + offset - row.cut_db) * spread);
            others *= fmaxf(1.0f - own[l] * above, 0.02f);
        }
        const float alone = offset_density(d2, variance[j], limit);
        const float share = shared.outlier_first * (1.0f - shared.outlier_second) * shared.stray;
        total += second[j] * others * alone * share;
    }
    return total + unseen * stray_likelihood(row, shared);
}

// grid: (fine positions * fine headings / THREADS, rows)
extern "C" __global__ void __launch_bounds__(THREADS, 4)
score_candidates(const Row *__restrict__ rows, const Candidate *__restrict__ candidates, const float *__restrict__ base,
                 const float *__restrict__ gains, float *__restrict__ likelihoods, const Shared shared) {
    const unsigned headings = shared.headings * shared.heading_grain, positions = shared.columns * shared.lines;
    const unsigned pair = blockIdx.x * THREADS + threadIdx.x;
    const unsigned position = pair / headings, heading = pair % headings;
    if (position >= positions) return;
    const Row &row = rows[blockIdx.y];
    const size_t index = (size_t)blockIdx.y * positions + position;
    const Candidate &candidate = candidates[index];
    float sum = 0.0f;
    if (candidate.state == 1) {
        // Where no two paths explain both arrivals, materials make no difference worth its time: the first stands for all.
        const bool complete = row.seen < 2 ? (row.seen == 0 || candidate.near[0] != 0)
                                           : candidate.near[0] != 0 && candidate.near[1] != 0 &&
                                                 !(candidate.near[0] == candidate.near[1] &&
                                                   (candidate.near[0] & (candidate.near[0] - 1)) == 0);
        const unsigned materials = complete ? shared.materials : 1;
        const float share = 1.0f / (float)materials;
        for (unsigned m = 0; m < materials; ++m) {
            const float *level = base + (index * shared.materials + m) * MAX_PATHS;
            sum += share * likelihood(row, shared, candidate, level, gains, heading);
        }
    }
    likelihoods[index * headings + heading] = sum;
}
