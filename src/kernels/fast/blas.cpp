#include "kernels/fast/blas.h"

#ifdef ORRERY_OPENBLAS
#include <cblas.h>
#endif

namespace orrery {

std::string blas_description() {
#ifdef ORRERY_OPENBLAS
  // "OpenBLAS 0.3.21 NO_AFFINITY DYNAMIC_ARCH ...": the first two words say it.
  const std::string config = openblas_get_config();
  const size_t space = config.find(' ', config.find(' ') + 1);
  const int parallel = openblas_get_parallel();
  const std::string variant = parallel == 0 ? "serial" : parallel == 1 ? "pthread" : "OpenMP";
  return config.substr(0, space) + " (" + variant + " build, " + openblas_get_corename() +
         " kernels, held to one thread)";
#else
  return "none: Orrery's own matrix product";
#endif
}

}  // namespace orrery
