// Candidate scoring: the twin posterior's evidence over D x H x W candidates, for a batch of observations.
//
// Three kernels, one after the other on one stream:
//   trace_candidates   one thread a fine position: traces it to the RX by the image method and compares every path with
//                      the arrivals: all that depends on neither heading nor the sum over paths
//   score_candidates   one thread a fine position and fine heading: the likelihood of the arrivals there
//   gather_evidence    one thread a candidate: the weighted sum of the fine likelihoods it stands for
//
// This restates crates/magnetar-posterior/src/twin (geometry.rs, likelihood.rs, scorer.rs), function by function and
// under the same names; its docs/posterior.md has the derivations, and a test holds both to each other.
//
// Layout. `rows[r]` is observation r; its fine positions are numbered line by line (y), and `candidates`, `base` and
// `likelihoods` hold them one after another, row by row: a candidate's record is contiguous, because the 36 threads of
// its headings read it together, and a position's likelihoods lie heading by heading, because neighbouring threads
// write neighbouring headings. `gains` holds the TX gain of a departure for all headings in one piece, for the same
// reason. Boxes are numbered over the batch; row r owns `first_box` .. `first_box + box_count`.
//
// Precision. Geometry is f64, as on the CPU, and products are not fused with sums (--fmad=false): a path is then blocked,
// and a direction falls into a table's bin, exactly where the CPU says so. The likelihood is smooth, and uses the GPU's
// own fast functions.

#define THREADS 128
#define MAX_PATHS 12
#define MAX_MERGES 66 // pairs of MAX_PATHS
#define USED 2
#define AZIMUTH_STEPS 360
#define COSINE_STEPS 256
#define LANES 8

#define PI_F 3.14159265f
#define TAU_F 6.28318531f
#define LOG2_E 1.44269504f
#define DB_PER_OCTAVE 3.0103f
#define FADING_DB2 37.722f
#define NEPERS_PER_DB 0.2302585f
#define INV_SQRT_TAU 0.3989423f

enum Class { DIRECT, WALL, CEILING, FLOOR, BOX };

// One observation and what its receiver knows; `TwinRow` on the host.
struct Row {
    double room_min[3], room_max[3];
    double rx[3];
    double rx_sin, rx_cos;
    double low[2], spacing[2];   // of the strata, x and y
    double inside[4];            // where a TX may stand: xmin, xmax, ymin, ymax
    unsigned first_box, box_count;
    float rx_heading, patch2;
    unsigned seen;               // arrivals used
    float phase[USED], snr_db[USED], phase_variance[USED];
    float cut_db;
};

// One box in its own frame; `TwinBox` on the host.
struct Block {
    double center[3], half[3], rx_local[3];
    double sin, cos;
};

// What all rows share; `TwinShared` on the host.
struct Shared {
    double tx_height, separation_min;
    float snr_at_one_metre_db, kappa;
    float los_variance, reflection_variance;
    float merge_m, merge_softness_m, fading, rank_variance;
    float outlier_first, outlier_second, offset_max, stray;
    unsigned columns, lines;     // fine positions along x and y
    unsigned grain;              // of them in a cell, along each axis
    unsigned headings, heading_grain, lanes; // candidate headings, fine ones in each, floats of a gain row
    unsigned materials;
    unsigned support_rows, support_columns;
    unsigned ranking, shared_offset; // terms that an ablation leaves out
    unsigned unused;
};

struct Merge {
    unsigned short a, b;
    float weight, turn;
};

// What one fine position offers to explain the arrivals.
struct Candidate {
    unsigned state; // 0: no TX can be here; 1: only strays explain what was seen; 2: to be scored
    unsigned count, direct, merge_count;
    unsigned near[USED]; // bit i: path i can explain the arrival
    unsigned row[MAX_PATHS];
    float mismatch2[USED][MAX_PATHS], variance[USED][MAX_PATHS];
    Merge merges[MAX_MERGES];
};

// The paths of one position.
struct Paths {
    unsigned count;
    unsigned class_of[MAX_PATHS], row[MAX_PATHS];
    float across[MAX_PATHS], length[MAX_PATHS], snr_db[MAX_PATHS];
    float cos_incidence[MAX_PATHS], te[MAX_PATHS], tm[MAX_PATHS];
};

struct Vec { double x[3]; };

// ---- functions of one number, as crates/magnetar-posterior/src/twin/lanes.rs has them ----

static __device__ __forceinline__ float log2_of(float x) {
    const unsigned bits = __float_as_int(x);
    const float exponent = (float)((int)(bits >> 23) - 127);
    const float m = __int_as_float((bits & 0x007fffffu) | 0x3f800000u);
    const float s = (m - 1.41421354f) / (m + 1.41421354f);
    const float s2 = s * s;
    const float ln = 2.0f * s * (1.0f + s2 * (0.3333333f + s2 * (0.2f + s2 * 0.142857f)));
    return exponent + 0.5f + ln * LOG2_E;
}

static __device__ __forceinline__ float angle(float y, float x) {
    const float ax = fabsf(x), ay = fabsf(y);
    const float low = ax < ay ? ax : ay, high = ax < ay ? ay : ax;
    const float t = low / (high + 1e-30f);
    const float t2 = t * t;
    float p = t * (0.9999773f +
                   t2 * (-0.3326235f + t2 * (0.1935435f + t2 * (-0.1164329f + t2 * (0.0526533f - t2 * 0.0117212f)))));
    p = ax < ay ? 1.57079637f - p : p;
    p = x < 0.0f ? PI_F - p : p;
    return y < 0.0f ? -p : p;
}

static __device__ __forceinline__ float exponential(float x) {
    return exp2f(fminf(fmaxf(x, -87.0f), 87.0f) * LOG2_E);
}

static __device__ __forceinline__ float logistic(float x) { return __fdividef(1.0f, 1.0f + exponential(-x)); }

static __device__ __forceinline__ float normal_cdf(float x) { return logistic(1.702f * x); }

// ---- geometry ----

static __device__ __forceinline__ Vec local(const Block &block, const Vec &p) {
    const double dx = p.x[0] - block.center[0], dy = p.x[1] - block.center[1], dz = p.x[2] - block.center[2];
    return {{block.cos * dx + block.sin * dy, block.cos * dy - block.sin * dx, dz}};
}

// Whether the segment between two points of the box's frame passes through its inside.
static __device__ bool blocks(const Block &block, const Vec &a, const Vec &b) {
    double enter = 0.0, leave = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double half = block.half[axis], from = a.x[axis], step = b.x[axis] - a.x[axis];
        if (step == 0.0) {
            if (fabs(from) >= half) return false;
            continue;
        }
        const double inverse = 1.0 / step;
        const double t0 = (-half - from) * inverse, t1 = (half - from) * inverse;
        enter = fmax(enter, fmin(t0, t1));
        leave = fmin(leave, fmax(t0, t1));
    }
    return enter + 1e-9 < leave;
}

static __device__ bool clear(const Block *boxes, unsigned count, unsigned except, const Vec &a, const Vec &b) {
    for (unsigned n = 0; n < count; ++n) {
        if (n != except && blocks(boxes[n], local(boxes[n], a), local(boxes[n], b))) return false;
    }
    return true;
}

static __device__ __forceinline__ unsigned elevation_index(float sin_elevation) {
    const float s = fminf(fmaxf(sin_elevation, -1.0f), 1.0f);
    return (unsigned)(angle(s, sqrtf(1.0f - s * s)) * (180.0f / PI_F) * 0.5f + 45.5f);
}

static __device__ __forceinline__ float rx_gain_at(const float *db, float azimuth, unsigned elevation) {
    const float degrees = azimuth * (180.0f / PI_F) + 720.0f;
    const unsigned whole = (unsigned)degrees;
    const float t = degrees - (float)whole;
    const float *row = db + elevation * AZIMUTH_STEPS;
    const float low = row[whole % AZIMUTH_STEPS], high = row[(whole + 1) % AZIMUTH_STEPS];
    return low + t * (high - low);
}

static __device__ void push(const Row &row, const Shared &shared, const float *rx_gain, Paths &paths, unsigned class_of,
                            const Vec &departure, const Vec &arrival, double length, double cos_incidence, double te,
                            double tm) {
    const float azimuth = angle((float)arrival.x[1], (float)arrival.x[0]);
    const float gain = rx_gain_at(rx_gain, azimuth - row.rx_heading, elevation_index((float)arrival.x[2]));
    const float snr_db = shared.snr_at_one_metre_db - 2.0f * DB_PER_OCTAVE * log2_of((float)length) + gain;
    unsigned slot = paths.count;
    if (slot < MAX_PATHS) {
        ++paths.count;
    } else { // full: the new path takes the place of the weakest if it is stronger
        slot = 0;
        for (unsigned n = 1; n < MAX_PATHS; ++n) slot = paths.snr_db[n] < paths.snr_db[slot] ? n : slot;
        if (paths.snr_db[slot] >= snr_db) return;
    }
    const float leaving = angle((float)departure.x[1], (float)departure.x[0]);
    const unsigned degrees = (unsigned)(leaving * (180.0f / PI_F) + 720.5f) % AZIMUTH_STEPS;
    paths.class_of[slot] = class_of;
    paths.across[slot] = (float)(row.rx_cos * arrival.x[1] - row.rx_sin * arrival.x[0]);
    paths.length[slot] = (float)length;
    paths.snr_db[slot] = snr_db;
    paths.row[slot] = elevation_index((float)departure.x[2]) * AZIMUTH_STEPS + degrees;
    paths.cos_incidence[slot] = (float)cos_incidence;
    paths.te[slot] = (float)te;
    paths.tm[slot] = (float)tm;
}

static __device__ __forceinline__ double dot(const Vec &a, const Vec &b) {
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}
static __device__ __forceinline__ Vec cross(const Vec &a, const Vec &b) {
    return {{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}
static __device__ __forceinline__ Vec vertical(const Vec &k) {
    const double horizontal = fmax(sqrt(k.x[0] * k.x[0] + k.x[1] * k.x[1]), 1e-12);
    const double ratio = k.x[2] / horizontal;
    return {{ratio * k.x[0], ratio * k.x[1], -horizontal}};
}

// Weights of R_te and R_tm between vertically polarised isotropic antennas.
static __device__ void polarisation(const Vec &k1, const Vec &k2, const Vec &normal, double &te, double &tm) {
    te = 1.0;
    tm = 0.0;
    if (k1.x[2] == 0.0 && normal.x[2] == 0.0) return;
    if (fabs(normal.x[2]) == 1.0) {
        te = 0.0;
        tm = 1.0;
        return;
    }
    Vec s = cross(k1, normal);
    const double square = dot(s, s);
    if (square < 1e-12) return;
    const double root = sqrt(square);
    for (int axis = 0; axis < 3; ++axis) s.x[axis] /= root;
    const Vec v1 = vertical(k1), v2 = vertical(k2);
    te = dot(v2, s) * dot(s, v1);
    tm = dot(v2, cross(k2, s)) * dot(cross(k1, s), v1);
}

static __device__ void push_reflection(const Row &row, const Shared &shared, const float *rx_gain, Paths &paths,
                                       unsigned class_of, const Vec &step, const Vec &normal, double tx_height,
                                       double rx_height) {
    Vec k1, k2, arrival;
    for (int axis = 0; axis < 3; ++axis) k1.x[axis] = step.x[axis] - normal.x[axis] * (2.0 * rx_height);
    const double length = sqrt(dot(k1, k1));
    for (int axis = 0; axis < 3; ++axis) k1.x[axis] /= length;
    const double cos_incidence = (tx_height + rx_height) / length;
    for (int axis = 0; axis < 3; ++axis) {
        k2.x[axis] = k1.x[axis] + normal.x[axis] * (2.0 * cos_incidence);
        arrival.x[axis] = -k2.x[axis];
    }
    double te, tm;
    polarisation(k1, k2, normal, te, tm);
    push(row, shared, rx_gain, paths, class_of, k1, arrival, length, cos_incidence, te, tm);
}

static __device__ void trace(const Row &row, const Shared &shared, const Block *boxes, const float *rx_gain,
                             const Vec &tx, Paths &paths) {
    paths.count = 0;
    Vec rx, step;
    for (int axis = 0; axis < 3; ++axis) {
        rx.x[axis] = row.rx[axis];
        step.x[axis] = row.rx[axis] - tx.x[axis];
    }
    const double distance = sqrt(dot(step, step));
    if (distance < 1e-6) return;
    if (clear(boxes, row.box_count, ~0u, tx, rx)) {
        Vec departure, arrival;
        for (int axis = 0; axis < 3; ++axis) {
            departure.x[axis] = step.x[axis] / distance;
            arrival.x[axis] = -step.x[axis] / distance;
        }
        push(row, shared, rx_gain, paths, DIRECT, departure, arrival, distance, 1.0, 1.0, 0.0);
    }
    for (int face = 0; face < 6; ++face) {
        const int axis = face / 2;
        const bool is_max = face % 2;
        const double plane = is_max ? row.room_max[axis] : row.room_min[axis];
        const double tx_height = fabs(tx.x[axis] - plane), rx_height = fabs(rx.x[axis] - plane);
        if (row.box_count > 0) {
            Vec vertex;
            const double fraction = tx_height / (tx_height + rx_height);
            for (int n = 0; n < 3; ++n) vertex.x[n] = n == axis ? plane : tx.x[n] + step.x[n] * fraction;
            if (!clear(boxes, row.box_count, ~0u, tx, vertex) || !clear(boxes, row.box_count, ~0u, vertex, rx)) continue;
        }
        Vec normal = {{0.0, 0.0, 0.0}};
        normal.x[axis] = is_max ? -1.0 : 1.0;
        const unsigned class_of = axis < 2 ? WALL : is_max ? CEILING : FLOOR;
        push_reflection(row, shared, rx_gain, paths, class_of, step, normal, tx_height, rx_height);
    }
    for (unsigned index = 0; index < row.box_count; ++index) {
        const Block &block = boxes[index];
        const Vec t = local(block, tx);
        for (int axis = 0; axis < 3; ++axis) {
            const double half = block.half[axis], ours = t.x[axis], theirs = block.rx_local[axis];
            const double side = ours > half && theirs > half ? 1.0 : ours < -half && theirs < -half ? -1.0 : 0.0;
            if (side == 0.0) continue;
            const double tx_height = ours * side - half, rx_height = theirs * side - half;
            const double fraction = tx_height / (tx_height + rx_height);
            bool on_face = true;
            for (int a = 0; a < 3; ++a) {
                const double at = t.x[a] + fraction * (block.rx_local[a] - t.x[a]);
                on_face = on_face && (a == axis || fabs(at) <= block.half[a]);
            }
            if (!on_face) continue;
            double n[3] = {0.0, 0.0, 0.0};
            n[axis] = side;
            const Vec normal = {{block.cos * n[0] - block.sin * n[1], block.sin * n[0] + block.cos * n[1], n[2]}};
            const double dip = 2.0 * tx_height * rx_height / (tx_height + rx_height);
            Vec vertex;
            bool inside = true;
            for (int a = 0; a < 3; ++a) {
                vertex.x[a] = tx.x[a] + step.x[a] * fraction - normal.x[a] * dip;
                inside = inside && row.room_min[a] <= vertex.x[a] && vertex.x[a] <= row.room_max[a];
            }
            if (inside && clear(boxes, row.box_count, index, tx, vertex) &&
                clear(boxes, row.box_count, index, vertex, rx)) {
                push_reflection(row, shared, rx_gain, paths, BOX, step, normal, tx_height, rx_height);
            }
        }
    }
}

// ---- comparison with the arrivals ----

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
    bool any = row.seen == 0;
    for (unsigned k = 0; k < USED; ++k) {
        unsigned near = 0;
        for (unsigned i = 0; k < row.seen && i < paths.count; ++i) {
            const float across = paths.across[i];
            const float turns = (shared.kappa * across - row.phase[k]) * (1.0f / TAU_F);
            const float mismatch = (turns - roundf(turns)) * TAU_F;
            const float length2 = paths.length[i] * paths.length[i];
            const float swing = shared.kappa * shared.kappa * (1.0f - across * across) / length2;
            const float variance = row.phase_variance[k] + swing * row.patch2;
            candidate.mismatch2[k][i] = mismatch * mismatch;
            candidate.variance[k][i] = variance;
            if (mismatch * mismatch < 12.25f * variance + 4.0f * shared.fading * fades[i]) near |= 1u << i;
        }
        candidate.near[k] = near;
        any = any || near != 0;
    }
    candidate.count = paths.count;
    candidate.direct = 0;
    for (unsigned i = 0; i < paths.count; ++i) {
        candidate.row[i] = paths.row[i];
        if (paths.class_of[i] == DIRECT) candidate.direct |= 1u << i;
    }
    candidate.state = any ? 2 : 1;
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
            if (paths.class_of[i] != DIRECT) {
                const float4 *table = reflections + (m * 4 + paths.class_of[i] - 1) * (COSINE_STEPS + 1);
                const float power = reflected_power(table, paths.cos_incidence[i], paths.te[i], paths.tm[i]);
                level[i] += DB_PER_OCTAVE * log2_of(power + 1e-9f);
            }
        }
    }
}

// ---- likelihood ----

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
        variance[i] = candidate.direct >> i & 1 ? shared.los_variance : shared.reflection_variance;
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
        const float alone = offset_density(row.snr_db[1] - snr[j], variance[j], limit);
        total += second[j] * alone * (shared.outlier_first * shared.stray);
    }
    return total + stray_likelihood(row, shared);
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
        sum = stray_likelihood(row, shared);
    } else if (candidate.state == 2) {
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

// The weight a fine point gives to representative `i`, which is its lower neighbour or the one after it.
static __device__ __forceinline__ float weight_of(const unsigned *lower, const float *weight, unsigned fine, unsigned i) {
    return lower[fine] == i ? weight[2 * fine] : weight[2 * fine + 1];
}

// grid: (candidates / THREADS, rows). `lower` holds, for each row, the columns' and then the lines' entries; `weight`
// the same, doubled; `range` the first and last-plus-one fine point of every support column and then of every row.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
gather_evidence(const float *__restrict__ likelihoods, const unsigned *__restrict__ lower,
                const float *__restrict__ weight, const unsigned *__restrict__ range, float *__restrict__ evidence,
                const Shared shared) {
    const unsigned plane = shared.support_rows * shared.support_columns;
    const unsigned candidate = blockIdx.x * THREADS + threadIdx.x;
    if (candidate >= plane * shared.headings) return;
    const unsigned bin = candidate / plane, i = candidate % plane / shared.support_columns;
    const unsigned j = candidate % shared.support_columns;
    const unsigned headings = shared.headings * shared.heading_grain;

    const size_t row = blockIdx.y, fine = shared.columns + shared.lines;
    const unsigned *lower_x = lower + row * fine, *lower_y = lower_x + shared.columns;
    const float *weight_x = weight + row * 2 * fine, *weight_y = weight_x + 2 * shared.columns;
    const unsigned *range_x = range + row * 2 * (shared.support_columns + shared.support_rows);
    const unsigned *range_y = range_x + 2 * shared.support_columns;
    const float *own = likelihoods + row * shared.columns * shared.lines * headings;

    double sum = 0.0;
    for (unsigned line = range_y[2 * i]; line < range_y[2 * i + 1]; ++line) {
        const double across = weight_of(lower_y, weight_y, line, i);
        for (unsigned column = range_x[2 * j]; column < range_x[2 * j + 1]; ++column) {
            const float *point = own + (size_t)(line * shared.columns + column) * headings;
            const double area = across * weight_of(lower_x, weight_x, column, j);
            // Fine heading h = bin * grain + part belongs to `bin` by 1 - part / grain, and to the next bin by the rest.
            for (unsigned part = 0; part < shared.heading_grain; ++part) {
                const double next = (double)part / shared.heading_grain;
                const unsigned before = (bin + shared.headings - 1) % shared.headings;
                sum += area * ((1.0 - next) * point[bin * shared.heading_grain + part] +
                               next * point[before * shared.heading_grain + part]);
            }
        }
    }
    evidence[row * plane * shared.headings + candidate] = (float)sum;
}
