# topics.tsv to the texts of src/why/topic.c, with texts.awk.

# In the form in which lines are compared: topic.c.
function plain(text)
{
	text = tolower(text)
	gsub(/_/, "-", text)
	return text
}

function is_rules(text)
{
	return text ~ /^[a-z]+\/[a-z0-9*-]+(,[a-z]+\/[a-z0-9*-]+)*$/
}

# @NAME to its rules; each rule once.
function expand(text,    i, n, k, m, part, own, had, out)
{
	if (text == "-")
		return text
	n = split(text, part, ",")
	for (i = 1; i <= n; i++) {
		if (part[i] ~ /^@/ && !(substr(part[i], 2) in list))
			fail("\"" part[i] "\" is not defined")
		m = split(part[i] ~ /^@/ ? list[substr(part[i], 2)] : part[i], own, ",")
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

function check_words(text,    i, n, part)
{
	n = split(text, part, "|")
	for (i = 1; i <= n; i++)
		if (part[i] !~ /^[^*|]+\*?$/ || part[i] ~ /^[ ]|[ ]$/ || length(part[i]) < 2)
			fail("\"" part[i] "\" is no word")
}

BEGIN {
	FS = "\t"
	when["always"] = when["alone"] = when["before"] = 1
}

/^#/ { next }
/[^\t -~]/ { fail("a byte that is no printable ASCII") }
/^= / {
	if (NF != 2 || !is_rules($2))
		fail("not a name and its rules")
	list[substr($1, 3)] = $2
	next
}
NF != 9 { fail("not a row of 9 columns") }
$1 !~ /^topic-[a-z0-9]+(-[a-z0-9]+)*$/ || ($1 in seen) { fail("\"" $1 "\" is no id, or one that is there already") }
$2 !~ /^[a-z0-9]+([-.][a-z0-9]+)*$/ { fail("\"" $2 "\" is no component") }
!($3 in when) { fail("\"" $3 "\" is not one of always, alone, before") }
$6 !~ /^[A-Za-z\/-].+\.$/ || $8 !~ /^(-|[A-Za-z\/-].+\.)$/ { fail("meaning and elsewhere are sentences") }
$9 == "" { fail("no source") }
{
	seen[$1] = 1
	check_words($4)
	if ($5 != "-")
		check_words($5)
	head[++rows] = "TOPIC_" toupper($3)
	text[rows] = string($1) string($2) string($6) optional(expand($7)) optional($8) string($9) string(plain($4)) \
		     optional(plain($5))
}

END {
	if (failed)
		exit 1
	print "#define TOPICS " rows
	print "static const uint8_t topic_whens[TOPICS] = {"
	for (row = 1; row <= rows; row++)
		print head[row] ","
	print "};"
	print_texts("topic_texts", text, rows)
}
