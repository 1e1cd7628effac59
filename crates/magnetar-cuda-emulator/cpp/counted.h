// A number that counts what is done with it, for the counting build of the kernels.
//
// It holds a plain float or double and nothing else, so that structs keep their layout, and follows C++ in what a mixed
// expression becomes. Counted are additions and subtractions, products, fused operations, divisions, roots and the
// functions below, as the source has them. Signs, absolute values, comparisons, minima, rounding and conversions are not:
// the usual way to count floating-point operations.
#pragma once

#include "emulator.h"

#include <cmath>
#include <type_traits>

template <class T> struct Counted;

template <class A> struct Plain { typedef A type; };
template <class T> struct Plain<Counted<T>> { typedef T type; };
template <class A> using plain_t = typename Plain<A>::type;
template <class A> constexpr bool is_counted = !std::is_same<plain_t<A>, A>::value;
// What an operation of A and B is done in, if one of them counts.
template <class A, class B>
using common_t = std::enable_if_t<(is_counted<A> || is_counted<B>) && std::is_arithmetic<plain_t<A>>::value &&
                                      std::is_arithmetic<plain_t<B>>::value,
                                  std::common_type_t<plain_t<A>, plain_t<B>>>;

template <class T> inline Operations &performed();
template <> inline Operations &performed<float>() { return emulator::performed32; }
template <> inline Operations &performed<double>() { return emulator::performed64; }

template <class T> struct Counted {
    T value;

    Counted() = default;
    template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>> Counted(A a) : value((T)a) {}
    template <class U> Counted(const Counted<U> &other) : value((T)other.value) {}
    template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>> explicit operator A() const {
        return (A)value;
    }
    Counted operator-() const { return -value; }
    template <class A> Counted &operator+=(const A &a) { return *this = Counted(*this + a); }
    template <class A> Counted &operator*=(const A &a) { return *this = Counted(*this * a); }
    template <class A> Counted &operator/=(const A &a) { return *this = Counted(*this / a); }
};

template <class A> plain_t<A> plain(const A &a) { return (plain_t<A>)a; }

#define ARITHMETIC(sign, tally)                                                                                        \
    template <class A, class B, class T = common_t<A, B>> inline Counted<T> operator sign(const A &a, const B &b) {     \
        ++performed<T>().tally;                                                                                        \
        return (T)plain(a) sign (T)plain(b);                                                                           \
    }
ARITHMETIC(+, adds)
ARITHMETIC(-, adds)
ARITHMETIC(*, multiplies)
#undef ARITHMETIC

template <class A, class B, class T = common_t<A, B>> inline Counted<T> operator/(const A &a, const B &b) {
    if (!is_counted<A> && (T)plain(a) == (T)1) ++performed<T>().reciprocals; // a literal one
    else ++performed<T>().divisions;
    return (T)plain(a) / (T)plain(b);
}

#define COMPARISON(sign)                                                                                               \
    template <class A, class B, class T = common_t<A, B>> inline bool operator sign(const A &a, const B &b) {           \
        return (T)plain(a) sign (T)plain(b);                                                                           \
    }
COMPARISON(<)
COMPARISON(>)
COMPARISON(<=)
COMPARISON(>=)
COMPARISON(==)
#undef COMPARISON

typedef Counted<float> Counted32;
typedef Counted<double> Counted64;

static inline Counted32 fabsf(Counted32 x) { return std::fabs(x.value); }
static inline Counted32 fminf(Counted32 x, Counted32 y) { return std::fmin(x.value, y.value); }
static inline Counted32 fmaxf(Counted32 x, Counted32 y) { return std::fmax(x.value, y.value); }
static inline Counted32 roundf(Counted32 x) { return std::round(x.value); }
static inline Counted64 fabs(Counted64 x) { return std::fabs(x.value); }
static inline Counted64 fmin(Counted64 x, Counted64 y) { return std::fmin(x.value, y.value); }
static inline Counted64 fmax(Counted64 x, Counted64 y) { return std::fmax(x.value, y.value); }

static inline Counted32 fmaf(Counted32 x, Counted32 y, Counted32 z) {
    ++emulator::performed32.fused;
    return std::fma(x.value, y.value, z.value);
}
static inline Counted32 __fdividef(Counted32 x, Counted32 y) {
    ++emulator::performed32.fast_divisions;
    return x.value / y.value;
}
static inline Counted32 sqrtf(Counted32 x) { ++emulator::performed32.roots; return std::sqrt(x.value); }
static inline Counted64 sqrt(Counted64 x) { ++emulator::performed64.roots; return std::sqrt(x.value); }
static inline Counted32 rsqrtf(Counted32 x) {
    ++emulator::performed32.reciprocal_roots;
    return 1.0f / std::sqrt(x.value);
}
static inline Counted64 hypot(Counted64 x, Counted64 y) {
    ++emulator::performed64.hypotenuses;
    return std::hypot(x.value, y.value);
}
static inline Counted32 expf(Counted32 x) { ++emulator::performed32.exponentials; return std::exp(x.value); }
static inline Counted32 exp2f(Counted32 x) { ++emulator::performed32.binary_exponentials; return std::exp2(x.value); }
static inline Counted32 cosf(Counted32 x) { ++emulator::performed32.cosines; return std::cos(x.value); }
static inline Counted32 cospif(Counted32 x) {
    ++emulator::performed32.half_turn_cosines;
    return std::cos(M_PI * (double)x.value);
}
static inline void sincospif(Counted32 x, Counted32 *s, Counted32 *c) {
    ++emulator::performed32.half_turn_phasors;
    *s = std::sin(M_PI * (double)x.value);
    *c = std::cos(M_PI * (double)x.value);
}
static inline Counted32 __int_as_float(int x) { Counted32 y; std::memcpy(&y, &x, 4); return y; }
static inline int __float_as_int(Counted32 x) { int y; std::memcpy(&y, &x, 4); return y; }
