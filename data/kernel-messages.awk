# kernel-messages.tsv to rows of struct harmless (src/rules/log-unexplained.c).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 4 || $0 ~ /"|\\/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{ printf "{ \"%s\", \"%s\" },\n", $1, $2 }
