// Weights of the neural network that predicts for which share of a time bin the device is farther from the last
// reported position than the accuracy bound, for `ExitNetwork` of LocationPolicy.
// Constants in flash: they use no RAM and need no start-up code. Training: Sources/Lab/Training/README.md.
#ifndef TORPOR_EXIT_WEIGHTS_H
#define TORPOR_EXIT_WEIGHTS_H

// Weights for a board without a motion line (31 features) or with one (36): means of the features, their inverse
// standard deviations, then for each of three layers (24, 16 and 24 outputs) the weight matrix, one row for each
// output, and the biases.
const float *torpor_exit_weights(int has_line);

#endif
