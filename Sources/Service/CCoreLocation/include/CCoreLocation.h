// The C part of the module CoreLocation.
#ifndef TORPOR_CCORELOCATION_H
#define TORPOR_CCORELOCATION_H

#include "TorporExecutor.h"

#endif
