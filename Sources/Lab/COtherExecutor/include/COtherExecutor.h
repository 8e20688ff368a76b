// Another user of the hook with which Swift's executor can be replaced.
#ifndef TORPOR_OTHER_EXECUTOR_H
#define TORPOR_OTHER_EXECUTOR_H

/// Number of jobs that went through the hook of this module; 0 unless `PROBE_EXECUTOR` is in the environment.
long other_executor_jobs(void);

#endif
