# kernel-arguments.tsv to rows of struct harmful (src/rules/boot-argument-harmful.c).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 5 || $1 !~ /^[a-z0-9_.]+$/ || $2 == "" || $3 !~ /^(warn|note)$/ || $4 == "" || $5 == "" || /["\\]/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{
	printf "{ \"%s\", %s, %s, \"%s\", \"%s\" },\n", $1, $2 == "-" ? "NULL" : "\"" $2 "\"",
		$3 == "warn" ? "SEVERITY_WARN" : "SEVERITY_INFO", $4, $5
}
