# nvreg.tsv to rows of struct nvreg_param (src/query/nvreg.h).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 3 || $1 !~ /^[A-Za-z0-9]+$/ || $2 !~ /^[A-Za-z0-9]*$/ || ($3 != "watched" && $3 != "-") {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{ printf "{ \"%s\", \"%s\", %s },\n", $1, $2, $3 == "watched" ? "true" : "false" }
