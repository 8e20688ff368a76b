#ifndef TORPOR_BUILD_DATE_H
#define TORPOR_BUILD_DATE_H

// The day on which this was compiled, or that of SOURCE_DATE_EPOCH where a build shall be reproducible.

int build_year(void);
// 1 to 12.
int build_month(void);
// 1 to 31.
int build_day(void);

#endif
