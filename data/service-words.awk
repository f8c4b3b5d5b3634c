# service-words.tsv to rows of struct service_word (src/parse/service-words.c).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 4 || $0 ~ /"|\\/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{ printf "{ \"%s\", \"%s\", \"%s\", \"%s\" },\n", $1, $2, $3, $4 }
