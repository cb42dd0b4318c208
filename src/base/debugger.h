// Whether somebody watches this process from outside.
#pragma once

namespace orrery {

// A debugger is attached, or anything else that traces the process. Asked anew at each call, for one may come and go.
// Known on Linux; elsewhere there is none.
bool is_debugged();

}  // namespace orrery
