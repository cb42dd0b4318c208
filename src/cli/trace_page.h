// orrery trace --html: a run as a page for a browser.
#pragma once

#include "cli/session.h"
#include "inspect/page_recorder.h"

namespace orrery::cli {

// Continues the text that the options give, and writes what happened as a page, patched and stopped as asked. The
// attention of the layers chosen is kept. Returns the exit status.
int write_page(const PageOptions& options, const InspectionOptions& what_if, Session& session,
               std::span<const TokenId> prompt, const PageRecorder::Choice& choice);

}  // namespace orrery::cli
