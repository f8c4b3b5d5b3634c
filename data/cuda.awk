# cuda.tsv to rows of struct cuda_release (src/query/cuda.h).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 3 || $1 !~ /^[0-9]+\.[0-9]+$/ || $2 !~ /^[0-9.]+$/ || $3 !~ /^[0-9.]+$/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{
	split($1, part, ".")
	printf "{ %d, %d, \"%s\", \"%s\" },\n", part[1], part[2], $2, $3
}
