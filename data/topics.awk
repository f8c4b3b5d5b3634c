# topics.tsv to the texts of src/why/topic.c, with texts.awk.

# In the form in which lines are compared: topic.c.
function plain(text)
{
	text = tolower(text)
	gsub(/_/, "-", text)
	return text
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
	read_causes(causes)
	when["always"] = when["alone"] = when["before"] = 1
}

/^#/ { next }
/[^\t -~]/ { fail("a byte that is no printable ASCII") }
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
	text[rows] = string($1) string($2) string($6) optional(expand($7)) optional(elsewhere($8, $7)) string($9) string(plain($4)) \
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
