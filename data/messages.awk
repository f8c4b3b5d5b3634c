# messages.tsv to the rows and texts of src/why/message.c, with texts.awk.
BEGIN {
	FS = "\t"
	read_causes(causes)
	words(kind, "failure symptom cause loss unwarned consequence fallback choice harmless")
	words(failures, "failure symptom cause loss unwarned")
	WINDOW = 8
	PARTS = 16
}

# The pattern to literals[] and variables[]; "{{" is a brace.
function take_apart(pattern,    rest, n, close_at, name)
{
	parts = 1
	literals[1] = ""
	delete variables
	rest = pattern
	while ((n = index(rest, "{"))) {
		literals[parts] = literals[parts] substr(rest, 1, n - 1)
		rest = substr(rest, n + 1)
		if (substr(rest, 1, 1) == "{") {
			literals[parts] = literals[parts] "{"
			rest = substr(rest, 2)
			continue
		}
		close_at = index(rest, "}")
		name = substr(rest, 1, close_at - 1)
		if (name !~ /^[a-z][a-z0-9_-]*$/)
			fail("pattern: no variable is called \"" name "\"")
		for (n = 1; n < parts; n++)
			if (variables[n] == name)
				fail("pattern: two variables are called \"" name "\"")
		variables[parts++] = name
		literals[parts] = ""
		rest = substr(rest, close_at + 1)
	}
	literals[parts] = literals[parts] rest
	if (literals[parts] == "" && parts > 1)
		parts--
	if (parts > PARTS)
		fail("pattern: more than " PARTS " parts")
}

function check_facts(text,    i, k, n, m, fact, used, ok)
{
	if (text == "-")
		return
	n = split(text, fact, ";")
	for (i = 1; i <= n; i++) {
		if (fact[i] !~ /^[A-Za-z][A-Za-z0-9_.:-]*(\{[^{}=;]*\}[A-Za-z0-9_.:-]*)?=[^=;]+$/)
			fail("\"" fact[i] "\" is no fact")
		while (match(fact[i], /\{[^}]*\}/)) {
			used = substr(fact[i], RSTART + 1, RLENGTH - 2)
			ok = 0
			for (k = 1; k <= parts; k++)
				ok = ok || variables[k] == used
			if (!ok)
				fail("fact \"" fact[i] "\": the pattern has no variable \"" used "\"")
			fact[i] = substr(fact[i], RSTART + RLENGTH)
		}
	}
}

# How seldom a window is, in any text: few small letters and blanks. What JSON writes otherwise is avoided.
function cost(window,    i, c, sum)
{
	for (i = 1; i <= WINDOW; i++) {
		c = substr(window, i, 1)
		sum += c ~ /[ eatoinsr0-9]/ ? 6 : c ~ /[a-z]/ ? 3 : 1
		sum += c ~ /[\\"<>&'\/]/ ? 40 : 0
	}
	return sum
}

/^#/ { next }
NF != 11 { fail("not a row of 11 columns") }
$1 !~ /^[a-z0-9]+(-[a-z0-9]+)*$/ || ($1 in seen) { fail("\"" $1 "\" is no id, or one that is there already") }
$2 !~ /^[a-z0-9]+([-.][a-z0-9]+)*$/ { fail("\"" $2 "\" is no component") }
!($3 in kind) { fail("no kind is called \"" $3 "\"") }
$5 !~ /^(-|v?[0-9][0-9A-Za-z.+~-]*)$/ || $6 !~ /^(-|v?[0-9][0-9A-Za-z.+~-]*)$/ { fail("\"" $5 "\" or \"" $6 "\" is no version") }
$7 !~ /^[A-Za-z\/-].+\.$/ || $9 !~ /^(-|[A-Za-z\/-].+\.)$/ { fail("meaning and elsewhere are sentences") }
$11 == "" { fail("no source") }
/[^\t -~]/ { fail("a byte that is no printable ASCII") }
{
	seen[$1] = 1
	take_apart($4)
	check_facts($10)
	list = ""
	windows = ""
	rows++
	delete own
	for (i = 1; i <= parts; i++) {
		list = list string(literals[i]) string(variables[i])
		for (k = 1; k + WINDOW - 1 <= length(literals[i]); k++) {
			window = substr(literals[i], k, WINDOW)
			if (window in own)
				continue
			own[window] = 1
			count[window]++
			choices[rows, ++choice[rows]] = window
			places[rows, choice[rows]] = i == 1 ? k - 1 : -1
		}
	}
	if (!choice[rows])
		fail("pattern: fewer than " WINDOW " fixed characters in a row")
	binds = 0
	for (i = 1; i <= parts; i++)
		binds += variables[i] == "rank" || variables[i] == "nranks"
	all_parts += parts
	head[rows] = "{ MESSAGE_" ($3 in failures ? "FAILURE, FAILURE_" : toupper($3) ", FAILURE_") \
		     ($3 in failures && $3 != "failure" ? toupper($3) : "PLAIN") ", " parts ", " (binds == 2 ? "true" : "false") ", " \
		     ($10 == "-" || $10 ~ /\{/ ? "false" : "true") ", "
	text[rows] = string($1) string($2) string($4) optional($5) optional($6) string($7) optional(expand($8)) \
		     optional(elsewhere($9, $8)) optional($10) string($11) list
}

END {
	if (failed)
		exit 1
	for (row = 1; row <= rows; row++) {
		best = ""
		for (i = 1; i <= choice[row]; i++) {
			window = choices[row, i]
			sum = cost(window) + 20 * (count[window] - 1) + (places[row, i] < 0 ? 6 : 0)
			if (best == "" || sum < least) {
				best = window
				least = sum
				place = places[row, i]
			}
		}
		head[row] = head[row] place " },"
		text[row] = text[row] string(best)
	}
	print "#define MESSAGES " rows
	print "#define MESSAGE_PARTS " all_parts
	print "static const struct row rows[MESSAGES] = {"
	for (row = 1; row <= rows; row++)
		print head[row]
	print "};"
	print_texts("texts", text, rows)
}
