# Compares what a document says (first file) with what the command printed (second file). `where` and `first`: the
# document and the line in which the output begins. Lines are compared with runs of spaces as one. Numbers:
#   ~12.3     measured, or out of training: there must be such a number, of any value
#   1,234     the same
#   0.25      the last digit may differ by one
# Prints the first line that differs, and fails.

BEGIN { kNumber = "~?[-+]?[0-9][0-9,]*([.][0-9]+)?([eE][-+]?[0-9]+)?" }

function squeezed(line) {
  gsub(/[ \t]+/, " ", line)
  sub(/^ /, "", line)
  sub(/ $/, "", line)
  return line
}

# One in the last digit that is written.
function last_digit(number,   exponent, decimals) {
  exponent = 0
  if (match(number, /[eE]/)) {
    exponent = substr(number, RSTART + 1) + 0
    number = substr(number, 1, RSTART - 1)
  }
  decimals = index(number, ".") ? length(number) - index(number, ".") : 0
  return 10 ^ (exponent - decimals)
}

function same_number(a, b,   difference) {
  if (a ~ /^~/ || b ~ /^~/) return a ~ /^~/ && b ~ /^~/
  if (a == b) return 1
  gsub(/,/, "", a)
  gsub(/,/, "", b)
  if (a !~ /[.eE]/ || b !~ /[.eE]/) return a == b
  difference = a - b
  if (difference < 0) difference = -difference
  return difference <= last_digit(a) * 1.001 && (index(a, ".") > 0) == (index(b, ".") > 0)
}

function same_line(a, b,   text_a, text_b) {
  a = squeezed(a)
  b = squeezed(b)
  while (match(a, kNumber)) {
    text_a = substr(a, 1, RSTART - 1)
    number_a = substr(a, RSTART, RLENGTH)
    a = substr(a, RSTART + RLENGTH)
    if (!match(b, kNumber)) return 0
    text_b = substr(b, 1, RSTART - 1)
    number_b = substr(b, RSTART, RLENGTH)
    b = substr(b, RSTART + RLENGTH)
    # Beside a number that was measured, its neighbours move.
    gsub(/ /, "", text_a)
    gsub(/ /, "", text_b)
    if (text_a != text_b || !same_number(number_a, number_b)) return 0
  }
  return a == b
}

FILENAME == ARGV[1] { expected[++n_expected] = $0; next }
{ found[++n_found] = $0 }
END {
  for (i = 1; i <= n_expected || i <= n_found; i++) {
    if (i <= n_expected && i <= n_found && same_line(expected[i], found[i])) continue
    printf "%s:%d: the document says:\n    %s\n  the command prints:\n    %s\n", where, first + i - 1,
      i <= n_expected ? expected[i] : "(nothing more)", i <= n_found ? found[i] : "(nothing more)"
    exit 1
  }
}
