#include "CMath.h"  // declarations only; libm has the bodies
