// How this program was built: what `orrery doctor` and bug reports say.
#pragma once

namespace orrery {

struct BuildInfo {
  const char* version;   // git describe, "unknown" outside a git work tree
  const char* compiler;  // first line of its --version
  const char* flags;     // as for most files; kernels have a few more
  const char* build;     // release, debug or asan
  bool openmp;
  bool openblas;
};

const BuildInfo& build_info();

}  // namespace orrery
