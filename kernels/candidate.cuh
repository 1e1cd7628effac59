// What the three kernels of candidate scoring share: their data and its layout.
//
// The twin posterior's evidence over D x H x W candidates, for a batch of observations, takes three kernels, one after
// the other on one stream:
//   trace_candidates   one thread a fine position: traces it to the RX by the image method (geometry.cuh) and compares
//                      every path with the arrivals: all that depends on neither heading nor the sum over paths
//   score_candidates   one thread a fine position and fine heading: the likelihood of the arrivals there
//   gather_evidence    one thread per candidate: the weighted sum of the fine likelihoods it stands for
//
// They restate the geometry of crates/magnetar-trace (world.rs, block.rs) and crates/magnetar-posterior/src/twin
// (geometry.rs, likelihood.rs, evidence.rs), function by function and under the same names; docs/posterior.md has the
// derivations, and tests hold both to each other.
//
// Layout. `rows[r]` is observation r; its fine positions are numbered line by line (y), and `candidates`, `base` and
// `likelihoods` hold them one after another, row by row: a candidate's record is contiguous, because the threads of its
// headings read it together, and a position's likelihoods lie heading by heading, because neighbouring threads
// write neighbouring headings. `gains` holds the TX gain of a departure for all headings in one piece, for the same
// reason. Boxes are numbered over the batch; row r owns `first_box` .. `first_box + box_count`.
//
// Precision. Geometry is f64, as on the CPU, and products are not fused with sums (--fmad=false): a path is then blocked,
// and a direction falls into a table's bin, exactly where the CPU says so. The likelihood is smooth, and uses the GPU's
// own fast functions.
#pragma once

#define THREADS 128
#define MAX_PATHS 12
#define MAX_MERGES 66 // pairs of MAX_PATHS
#define USED 2

#define LOG2_E 1.44269504f

// One observation and what its receiver knows; `TwinRow` on the host.
struct Row {
    double room_min[3], room_max[3];
    double rx[3];
    double rx_sin, rx_cos;
    double low[2], spacing[2];   // of the strata, x and y
    double inside[4];            // where a TX may stand: xmin, xmax, ymin, ymax
    unsigned first_box, box_count;
    float rx_heading, patch2;
    float first_heading, unused; // of candidate heading 0
    unsigned seen;               // arrivals used
    float phase[USED], snr_db[USED], phase_variance[USED];
    float cut_db;
};

// One box in its own frame; `TwinBox` on the host.
struct Block {
    double center[3], half[3], rx_local[3];
    double sin, cos;
    unsigned surface; // its number among the reflection tables
    unsigned unused;
};

// What all rows share; `TwinShared` on the host.
struct Shared {
    double tx_height, separation_min;
    float snr_at_one_metre_db, kappa;
    float los_variance, reflection_variance;
    float merge_m, merge_softness_m, fading, rank_variance;
    float outlier_first, outlier_second, offset_max, stray;
    float heading_variance, position_variance, map_variance, unused; // of what is reported: rad^2, m^2
    unsigned columns, lines;     // fine positions along x and y
    unsigned grain;              // of them in a cell, along each axis
    unsigned headings, heading_grain, lanes; // candidate headings, fine ones in each, floats of a gain row
    unsigned materials;
    unsigned support_rows, support_columns;
    unsigned ranking, shared_offset; // terms that an ablation leaves out
    unsigned surfaces; // reflection tables of an assignment
};

struct Merge {
    unsigned short a, b;
    float weight, turn;
};

// What one fine position offers to explain the arrivals.
struct Candidate {
    unsigned state; // 0: no TX can be here; 1: to be scored
    unsigned count, direct, merge_count;
    unsigned near[USED]; // bit i: path i can explain the arrival
    unsigned row[MAX_PATHS];
    float mismatch2[USED][MAX_PATHS], variance[USED][MAX_PATHS], level_variance[MAX_PATHS];
    Merge merges[MAX_MERGES];
};

static __device__ __forceinline__ float exponential(float x) {
    return exp2f(fminf(fmaxf(x, -87.0f), 87.0f) * LOG2_E);
}
