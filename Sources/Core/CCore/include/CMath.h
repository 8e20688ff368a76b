// Declarations of the C library's mathematical functions; the core does not import Glibc.
// Angles are in radians. Results may differ in the last bits between implementations of libm.
//
// The core does not read errno, so the functions are declared `const`: the compiler may then remove unused calls
// and combine sin and cos.
#ifndef TORPOR_CMATH_H
#define TORPOR_CMATH_H

#define TORPOR_PURE __attribute__((const))

double sin(double) TORPOR_PURE;
double cos(double) TORPOR_PURE;
double tan(double) TORPOR_PURE;
double atan(double) TORPOR_PURE;
double atan2(double, double) TORPOR_PURE;
double sqrt(double) TORPOR_PURE;
double cbrt(double) TORPOR_PURE;
double log(double) TORPOR_PURE;
double exp(double) TORPOR_PURE;
double fabs(double) TORPOR_PURE;

#endif
