# build-errors.tsv to rows of struct build_error (src/parse/build-log.c).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 2 || $0 ~ /\\/ || $2 !~ /^[a-z]+$/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{ gsub(/"/, "\\\""); printf "{ \"%s\", BUILD_%s },\n", $1, toupper($2) }
