// The C library's mathematics, declared alone: the core may not import Glibc.
// Angles in radians. Results may differ in the last bits between libms.
//
// Nobody here reads errno, so the functions are told to depend on their arguments alone: the
// compiler may then leave out one whose result is not used and put sin and cos together.
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
