// What a model is tried with before the first frame.
#pragma once

#include <vector>

#include "stages/network/net.h"
#include "stages/network/tensor.h"

namespace contorno {

/// Runs the check beside the model, if there is one, with the net as it says; then plans the net for `plan`
/// again. Without one runs an image of noise, and looks at what comes: finite, and where it is meant to be
/// probabilities from 0 to 1, with a sum of 1 a pixel behind a softmax. Throws Error(BadConfig) with what is
/// wrong. What has passed once is not tried again.
void self_test(Net& net, const TensorPlan& plan, const NetworkParams& params,
               const ReadNetworkCheck& read_check);

}  // namespace contorno
