// What is known about the BLAS library that matrix products of many rows go through.
#pragma once

#include <string>

namespace orrery {

// "OpenBLAS 0.3.21 (pthread build, Zen kernels, held to one thread)", or that there is none.
std::string blas_description();

}  // namespace orrery
