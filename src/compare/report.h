// What a comparison found out, as tables and figures. Jobs that were not done have no place in them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compare/contest.h"
#include "compare/table.h"
#include "plot/heat_map.h"
#include "plot/line_figure.h"

namespace orrery {

// The longest distance up to which the share of right answers stays at `enough` or above; -1: not even the first.
double reach_of(const std::vector<double>& distances, const std::vector<double>& right, double enough = 0.9);
// When a curve first was at `enough` or above, in its x; NaN: never.
double arrival_of(const std::vector<double>& x, const std::vector<double>& judged, double enough = 0.9);

std::vector<Table> tables_of(const ContestSettings& settings, const ResultStore& store);
// Who is best at what, recurrent networks and transformers alike.
Table verdicts_of(const ContestSettings& settings, const ResultStore& store);

// With the names of their files: "recall.png".
std::vector<std::pair<std::string, LineFigure>> figures_of(const ContestSettings& settings, const ResultStore& store);
std::vector<std::pair<std::string, HeatMap>> alignments_of(const ContestSettings& settings, const ResultStore& store);

}  // namespace orrery
