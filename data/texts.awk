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
