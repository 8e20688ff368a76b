#ifndef TORPOR_CTOML_H
#define TORPOR_CTOML_H
#endif
