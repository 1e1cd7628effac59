// The evidence of every candidate from the fine likelihoods it stands for; see candidate.cuh.

#include "candidate.cuh"

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
