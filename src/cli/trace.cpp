// orrery trace: the intermediate tensors of a prompt, for a file, for diff, or for NumPy.
#include "inspect/trace.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/format.h"
#include "base/sha256.h"
#include "cli/inspection.h"
#include "cli/positions.h"
#include "cli/trace_page.h"
#include "inspect/name_filter.h"
#include "inspect/planted_bugs.h"
#include "inspect/trace_export.h"

namespace orrery::cli {
namespace {

// Hashing takes a second for each 200 MB: larger files are named without.
constexpr uintmax_t kMostHashedBytes = uintmax_t{2} << 30;

// The model's file, or what matters of a folder.
std::string checksum_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::directory_iterator(path)) {
      const std::string name = entry.path().filename().string();
      if (name == "config.json" || name.ends_with(".safetensors")) files.push_back(entry.path());
    }
    std::ranges::sort(files);
  } else {
    files.emplace_back(path);
  }
  std::vector<std::string> lines;
  for (const fs::path& file : files) {
    const bool is_hashed = fs::file_size(file) <= kMostHashedBytes;
    lines.push_back((is_hashed ? sha256_of_file(file) : "(larger than 2 GiB)") + "  " + file.filename().string());
  }
  return join(lines, "\n");
}

// Breaks the session in one of the exercise's ways. Returns the kernels that the broken ones call.
std::unique_ptr<Kernels> plant(PlantedBug bug, Session& session, std::vector<TokenId>& prompt) {
  check_planted_bug(bug, session.model->config());
  prompt = planted_prompt(bug, prompt, session.checkpoint->vocabulary.bos);
  auto sound = std::move(session.kernels);
  session.kernels = std::make_unique<PlantedKernels>(bug, *sound);
  return sound;
}

}  // namespace

int trace(const TraceOptions& options) {
  TraceRequest request;
  if (!options.filter.empty()) request.wants = NameFilter(options.filter);
  ModelOptions model = options.model;
  if (options.precision == "f64") model.kernels = "double";
  const auto session = open_session(model, !options.text.ids);
  auto prompt = prompt_ids(*session, options.text, {.bos = true, .parse_special = options.special});
  std::optional<PlantedBug> bug;
  if (options.planted_bug > 0) bug = planted_bug(options.planted_bug);
  const std::unique_ptr<Kernels> sound = bug ? plant(*bug, *session, prompt) : nullptr;
  if (!options.positions.empty()) {
    request.positions = parse_positions(options.positions, static_cast<int>(prompt.size()));
  }
  print_banner(*session, model);
  if (!options.page.path.empty()) {
    const int status = write_page(options.page, options.inspection, *session, prompt, request.wants);
    const bool is_all = options.output.empty() && options.npy.empty() && !options.as_text;
    if (status != kDone || is_all) return status;
  }
  catch_interrupt();
  request.goes_on = [] { return !interrupted(); };
  const Inspection inspection(options.inspection, *session);
  request.observers = inspection.observers();
  const auto state = bug ? planted_sequence(*bug, *session->model, *session->kernels) : session->model->new_sequence();
  Trace recorded = record_trace(*session->model, *state, prompt, *session->kernels, request);
  if (interrupted()) return kInterrupted;
  inspection.print_notes();
  if (recorded.tensors.empty()) {
    throw Error({.what = "the pattern matches no name of a tensor",
                 .where = "--filter",
                 .expected = "names as in src/model/PROBES.md: embed, blk.0.attn.q, logits",
                 .found = options.filter});
  }
  const Checkpoint& checkpoint = *session->checkpoint;
  if (recorded.header.model.empty()) recorded.header.model = checkpoint.path;
  if (!options.output.empty()) {
    recorded.header.checksum = checksum_of(checkpoint.path);
    write_trace(options.output, recorded);
    uint64_t bytes = 0;
    for (const TraceTensor& tensor : recorded.tensors) bytes += tensor.bytes.size();
    std::fprintf(stderr, "%s: %zu tensors of %zu positions, %s\n", options.output.c_str(), recorded.tensors.size(),
                 recorded.header.positions.size(), bytes_text(bytes).c_str());
  }
  if (!options.npy.empty()) write_npy_files(options.npy, recorded);
  if (options.as_text) print(trace_text(recorded));
  return kDone;
}

}  // namespace orrery::cli
