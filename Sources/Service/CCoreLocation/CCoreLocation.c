#include "CCoreLocation.h"
