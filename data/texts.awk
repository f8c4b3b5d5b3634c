# What the writers of tables share that put all texts of a table into one array. The array has no pointers: every run of
# the program would relocate those. src/base/packed.h takes the texts out of it.
function fail(why)
{
	print FILENAME ":" FNR ": " why > "/dev/stderr"
	failed = 1
	exit 1
}

function words(list, text,    i, n, part)
{
	n = split(text, part, " ")
	for (i = 1; i <= n; i++)
		list[part[i]] = 1
}

function string(text)
{
	gsub(/[\\"]/, "\\\\&", text)
	return "\"" text "\\0\"\n"
}

# "" is NULL.
function optional(text)
{
	return string(text == "-" ? "" : text)
}

# How many bytes the compiler makes of such strings.
function bytes(strings)
{
	gsub(/\\./, "x", strings)
	gsub(/["\n]/, "", strings)
	return length(strings)
}

function print_texts(name, text, rows,    i)
{
	print "static const char " name "[] ="
	for (i = 1; i <= rows; i++)
		printf "%s", text[i]
	print ";"
}

function is_rules(text)
{
	return text ~ /^[a-z]+\/[a-z0-9*-]+(,[a-z]+\/[a-z0-9*-]+)*$/
}

# The lines of data/causes.txt to causes_of[] and elsewhere_of[].
function read_causes(file,    line, part)
{
	while ((getline line < file) > 0)
		if (line !~ /^(#|$)/) {
			split(line, part, "\t")
			causes_of[part[1]] = expand(part[2])
			elsewhere_of[part[1]] = part[3]
		}
	close(file)
}

# @NAME to its rules; each rule once.
function expand(text,    i, n, k, m, part, own, had, out)
{
	if (text == "-")
		return text
	n = split(text, part, ",")
	for (i = 1; i <= n; i++) {
		if (part[i] ~ /^@/ && !(substr(part[i], 2) in causes_of))
			fail("\"" part[i] "\" is not defined in data/causes.txt")
		m = split(part[i] ~ /^@/ ? causes_of[substr(part[i], 2)] : part[i], own, ",")
		for (k = 1; k <= m; k++) {
			if (!(own[k] in had))
				out = out (out == "" ? "" : ",") own[k]
			had[own[k]] = 1
		}
	}
	if (!is_rules(out))
		fail("\"" text "\" is no list of rules")
	return out
}

# What else it can be: TEXT, or that of the first list in RULES.
function elsewhere(text, rules,    name)
{
	if (text != "-" || !match(rules, /@[a-z0-9]+/))
		return text
	name = substr(rules, RSTART + 1, RLENGTH - 1)
	return elsewhere_of[name]
}
