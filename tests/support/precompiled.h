// The same for tests, with the test library.

#include <fstream>
#include <set>

#include <doctest/doctest.h>

#include "base/precompiled.h"
