// The paths of one fine position by the image method, in f64: crates/magnetar-trace/src/world.rs and block.rs, decision by
// decision and in the same order of operations, and what crates/magnetar-posterior/src/twin/geometry.rs makes of them.
#pragma once

#include "candidate.cuh"

#define AZIMUTH_STEPS 360
#define PI_F 3.14159265f
#define DB_PER_OCTAVE 3.0103f

// Surfaces by number: none, the room's six from 1 on, then boxes (each carries its own number).
#define DIRECT 0u

// Faces closer than this (metres) lie in one plane; normals this close to one direction are one.
#define SAME_PLANE_M 1e-9
#define SAME_DIRECTION 1e-12

// A stretch inside a box up to this long, metres, is one point.
#define POINT_M 1e-9

// The paths of one position.
// Half the arc over which the slope of the RX gain is taken, radians.
#define SLOPE_STEP 0.08726646f

struct Paths {
    unsigned count;
    unsigned surface[MAX_PATHS], row[MAX_PATHS];
    float across[MAX_PATHS], length[MAX_PATHS], snr_db[MAX_PATHS], slope2[MAX_PATHS];
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

// ---- geometry ----

static __device__ __forceinline__ Vec local(const Block &block, const Vec &p) {
    const double dx = p.x[0] - block.center[0], dy = p.x[1] - block.center[1], dz = p.x[2] - block.center[2];
    return {{block.cos * dx + block.sin * dy, block.cos * dy - block.sin * dx, dz}};
}

// The outward normal of the face on a side of an axis of the box's own frame.
static __device__ __forceinline__ Vec outward_normal(const Block &block, int axis, double side) {
    double n[3] = {0.0, 0.0, 0.0};
    n[axis] = side;
    return {{block.cos * n[0] - block.sin * n[1], block.sin * n[0] + block.cos * n[1], n[2]}};
}

// Whether a stretch of the segment between two points of the box's frame lies in it, its surface included; one point
// does not block.
static __device__ bool blocks(const Block &block, const Vec &a, const Vec &b) {
    double enter = 0.0, leave = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double half = block.half[axis], from = a.x[axis], to = b.x[axis], step = to - from;
        if ((from > half && to > half) || (from < -half && to < -half)) return false;
        if (!(step == 0.0)) {
            const double t0 = (-half - from) / step, t1 = (half - from) / step;
            enter = fmax(enter, fmin(t0, t1));
            leave = fmin(leave, fmax(t0, t1));
        }
    }
    if (!(enter < leave)) return false;
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) square += (b.x[axis] - a.x[axis]) * (b.x[axis] - a.x[axis]);
    return sqrt(square) * (leave - enter) > POINT_M;
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

static __device__ void push(const Row &row, const Shared &shared, const float *rx_gain, Paths &paths, unsigned surface,
                            const Vec &departure, const Vec &arrival, double length, double cos_incidence, double te,
                            double tm) {
    const float azimuth = angle((float)arrival.x[1], (float)arrival.x[0]);
    const float turned = azimuth - row.rx_heading;
    const unsigned up = elevation_index((float)arrival.x[2]);
    const float gain = rx_gain_at(rx_gain, turned, up);
    const float snr_db = shared.snr_at_one_metre_db - 2.0f * DB_PER_OCTAVE * log2_of((float)length) + gain;
    unsigned slot = paths.count;
    if (slot < MAX_PATHS) {
        ++paths.count;
    } else { // full: the new path takes the place of the weakest if it is stronger
        slot = 0;
        for (unsigned n = 1; n < MAX_PATHS; ++n) slot = paths.snr_db[n] < paths.snr_db[slot] ? n : slot;
        if (paths.snr_db[slot] >= snr_db) return;
    }
    const float leaving = angle((float)departure.x[1], (float)departure.x[0]) - row.first_heading;
    const float rise = rx_gain_at(rx_gain, turned + SLOPE_STEP, up) - rx_gain_at(rx_gain, turned - SLOPE_STEP, up);
    const float slope = rise * (0.5f / SLOPE_STEP);
    const unsigned degrees = (unsigned)(leaving * (180.0f / PI_F) + 720.5f) % AZIMUTH_STEPS;
    paths.surface[slot] = surface;
    paths.across[slot] = (float)(row.rx_cos * arrival.x[1] - row.rx_sin * arrival.x[0]);
    paths.length[slot] = (float)length;
    paths.snr_db[slot] = snr_db;
    paths.slope2[slot] = slope * slope;
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
    const double horizontal = sqrt(k.x[0] * k.x[0] + k.x[1] * k.x[1]);
    if (horizontal == 0.0) return {{k.x[2], 0.0, 0.0}};
    const double ratio = k.x[2] / horizontal;
    return {{ratio * k.x[0], ratio * k.x[1], -horizontal}};
}

// Weights of R_te and R_tm between vertically polarised isotropic antennas; the two common cases first.
static __device__ void weights(const Vec &k1, const Vec &k2, const Vec &normal, double &te, double &tm) {
    te = 1.0;
    tm = 0.0;
    if (k1.x[2] == 0.0 && normal.x[2] == 0.0) return;
    if (fabs(normal.x[2]) == 1.0) {
        te = 0.0;
        tm = 1.0;
        return;
    }
    Vec s = cross(k1, normal);
    double square = dot(s, s);
    if (square < 1e-12) { // normal incidence: any s orthogonal to k1
        const Vec x_or_z = fabs(k1.x[2]) < 0.9 ? Vec{{0.0, 0.0, 1.0}} : Vec{{1.0, 0.0, 0.0}};
        s = cross(k1, x_or_z);
        square = dot(s, s);
    }
    const double root = sqrt(square);
    for (int axis = 0; axis < 3; ++axis) s.x[axis] /= root;
    const Vec v1 = vertical(k1), v2 = vertical(k2);
    te = dot(v2, s) * dot(s, v1);
    tm = dot(v2, cross(k2, s)) * dot(cross(k1, s), v1);
}

static __device__ void push_reflection(const Row &row, const Shared &shared, const float *rx_gain, Paths &paths,
                                       unsigned surface, const Vec &step, const Vec &normal, double tx_height,
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
    weights(k1, k2, normal, te, tm);
    push(row, shared, rx_gain, paths, surface, k1, arrival, length, cos_incidence, te, tm);
}

// Whether a face of the box with this outward normal holds the point.
static __device__ bool has_face_at(const Block &block, const Vec &point, const Vec &normal) {
    const Vec p = local(block, point);
    for (int axis = 0; axis < 3; ++axis) {
        bool holds = fabs(fabs(p.x[axis]) - block.half[axis]) <= SAME_PLANE_M;
        for (int a = 0; a < 3; ++a) holds = holds && (a == axis || fabs(p.x[a]) <= block.half[a]);
        const Vec outward = outward_normal(block, axis, p.x[axis] < 0.0 ? -1.0 : 1.0);
        if (holds && dot(outward, normal) > 1.0 - SAME_DIRECTION) return true;
    }
    return false;
}

// Whether it is this box that reflects at a point of its face, and neither a surface of the room in whose plane the face
// lies nor an earlier box.
static __device__ bool reflects_itself(const Row &row, const Block *boxes, unsigned index, const Vec &vertex,
                                       const Vec &normal) {
    for (int axis = 0; axis < 3; ++axis) {
        const double plane = normal.x[axis] > 0.0 ? row.room_min[axis] : row.room_max[axis];
        if (fabs(normal.x[axis]) > 1.0 - SAME_DIRECTION && fabs(vertex.x[axis] - plane) <= SAME_PLANE_M) return false;
    }
    for (unsigned n = 0; n < index; ++n) {
        if (has_face_at(boxes[n], vertex, normal)) return false;
    }
    return true;
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
        if (row.box_count > 0) { // else nothing is in the way
            Vec vertex;
            const double fraction = tx_height / (tx_height + rx_height);
            for (int n = 0; n < 3; ++n) vertex.x[n] = n == axis ? plane : tx.x[n] + step.x[n] * fraction;
            if (!clear(boxes, row.box_count, ~0u, tx, vertex) || !clear(boxes, row.box_count, ~0u, vertex, rx)) continue;
        }
        Vec normal = {{0.0, 0.0, 0.0}};
        normal.x[axis] = is_max ? -1.0 : 1.0;
        push_reflection(row, shared, rx_gain, paths, 1 + face, step, normal, tx_height, rx_height);
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
            const Vec normal = outward_normal(block, axis, side);
            const double dip = 2.0 * tx_height * rx_height / (tx_height + rx_height);
            Vec vertex;
            bool inside = true;
            for (int a = 0; a < 3; ++a) {
                vertex.x[a] = tx.x[a] + step.x[a] * fraction - normal.x[a] * dip;
                inside = inside && row.room_min[a] <= vertex.x[a] && vertex.x[a] <= row.room_max[a];
            }
            if (inside && clear(boxes, row.box_count, index, tx, vertex) &&
                clear(boxes, row.box_count, index, vertex, rx) && reflects_itself(row, boxes, index, vertex, normal)) {
                push_reflection(row, shared, rx_gain, paths, block.surface, step, normal, tx_height, rx_height);
            }
        }
    }
}
