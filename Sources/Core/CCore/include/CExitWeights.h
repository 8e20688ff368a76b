// The weights of the network that tells when a wearer will have gone too far (MovementModel).
// Constants in flash: no memory, no start-up code. How they came about: ../Training/README.md.
#ifndef TORPOR_EXIT_WEIGHTS_H
#define TORPOR_EXIT_WEIGHTS_H

// For a board without a motion line (31 features) or with one (36): means of the features, their
// inverse deviations, then for each of three layers (24, 16 and 24 wide) the weights, a row for each
// output, and the biases.
const float *torpor_exit_weights(int has_line);

#endif
