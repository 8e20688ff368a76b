#include "CBytes.h"  // all of it is inline
