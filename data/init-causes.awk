# init-causes.tsv to calls of INIT_CAUSE (src/probes/log.c, src/query/init-cause.c).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 7 || $0 ~ /"|\\/ || $3 !~ /^(admin|firmware|hardware|host)$/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{
	guest = $6 == "-" ? "NULL" : "\"" $6 "\""
	printf "INIT_CAUSE(\"init-%s\", \"%s\", %s, \"%s\", \"%s\", %s)\n", $1, $2, toupper($3), $4, $5, guest
}
