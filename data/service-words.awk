# service-words.tsv to rows of struct service_word (src/parse/service-words.c).
BEGIN {
	FS = "\t"
	needs["-"] = "NEEDS_NOTHING"
	needs["driver"] = "NEEDS_DRIVER"
	needs["versions"] = "NEEDS_VERSIONS"
}
/^#/ { next }
NF != 5 || !($5 in needs) || $0 ~ /"|\\/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{ printf "{ \"%s\", \"%s\", \"%s\", \"%s\", %s },\n", $1, $2, $3, $4, needs[$5] }
