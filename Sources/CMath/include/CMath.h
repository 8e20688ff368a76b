// The C library's mathematics, declared alone: the core may not import Glibc.
// Angles in radians. Results may differ in the last bits between libms.
#ifndef TORPOR_CMATH_H
#define TORPOR_CMATH_H

double sin(double);
double cos(double);
double tan(double);
double atan(double);
double atan2(double, double);
double sqrt(double);
double log(double);
double exp(double);
double fabs(double);

#endif
